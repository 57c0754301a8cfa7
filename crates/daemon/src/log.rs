//! The event log: one `SQLite` file, one writer, durable before anybody is told.

mod carve;
mod salvage;

use glis_core::{Event, Recorded, SessionId};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};
use std::path::{Path, PathBuf};

/// Form of the log. A larger number on disk was written by a newer program. In the first form a
/// record's sum was that of its body alone; such records stay as they are and stay readable.
const FORM: i64 = 2;

const TABLES: &str = "CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    body TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;";

/// What can go wrong with the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogFault {
    #[error("the event log {} cannot be opened: {why}", path.display())]
    Open { path: PathBuf, why: String },
    #[error(
        "the event log was written by a newer version (form {found}, known {FORM}); it was left untouched"
    )]
    Newer { found: i64 },
    #[error("the event log {} was moved or deleted while the daemon ran", path.display())]
    Away { path: PathBuf },
    #[error("{0} could not be made durable")]
    Beside(String),
    #[error("the event log cannot be written: {0}")]
    Write(rusqlite::Error),
    #[error("the event log cannot be read: {0}")]
    Read(rusqlite::Error),
}

/// What was wrong with a damaged log, after it was salvaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Salvage {
    /// Where the damaged file was kept.
    pub(crate) kept: PathBuf,
    /// Records that could not be read.
    pub(crate) lost: Vec<u64>,
}

/// One row as it is stored; `None` where the record is damaged.
struct Row {
    seq: u64,
    recorded: Option<Recorded>,
}

/// The log, open for writing. There is one in a house.
pub(crate) struct EventLog {
    db: Connection,
    path: PathBuf,
    /// Device and number of the file that is open.
    file: (u64, u64),
}

impl EventLog {
    /// Opens the log and hands every event to `fold`, oldest first. A damaged log is kept under
    /// another name and what can be read is carried over.
    pub(crate) fn open(
        path: &Path,
        mut fold: impl FnMut(&Recorded),
    ) -> Result<(Self, Option<Salvage>), LogFault> {
        may_use(path)?;
        let orphan = salvage::settle(path).and_then(|()| salvage::orphan(path));
        let orphan = orphan.map_err(|f| LogFault::Open {
            path: path.to_owned(),
            why: format!("an earlier salvage cannot be finished: {f}"),
        })?;
        if let Some(kept) = orphan {
            return Self::salvaged(path, salvage::carry_over(path, kept)?, fold);
        }
        // `SQLite` ends a journal silently at its first damaged page, and throws one away that has
        // no file beside it. What was in it is known before it gets the chance.
        let journal = std::fs::read(beside(path, "-wal")).unwrap_or_default();
        let in_journal = carved(&[], &journal).last().map_or(0, |recorded| recorded.seq);
        if in_journal > 0 && !has_head(path) {
            return Self::salvaged(path, salvage::salvage(path, &journal)?, fold);
        }
        match Self::open_sound(path) {
            Ok(log) => {
                let mut lost = Vec::new();
                let mut last = 0;
                let read = log.each(|row| {
                    last = row.seq;
                    match row.recorded {
                        Some(recorded) if lost.is_empty() => fold(&recorded),
                        Some(_) => {}
                        None => lost.push(row.seq),
                    }
                });
                match read {
                    Ok(()) if lost.is_empty() && last >= in_journal => {
                        log.end_journal_on_close().map_err(LogFault::Read)?;
                        return Ok((log, None));
                    }
                    Ok(()) => {}
                    Err(fault) if is_damage(&fault) => {}
                    Err(fault) => return Err(LogFault::Read(fault)),
                }
            }
            Err(LogFault::Read(fault)) if is_damage(&fault) => {}
            Err(fault) => return Err(fault),
        }
        // `fold` has seen a prefix at most; it sees the rest once the salvaged log is read.
        Self::salvaged(path, salvage::salvage(path, &journal)?, fold)
    }

    /// The log that now has what could be read of a damaged one.
    fn salvaged(
        path: &Path,
        (salvage, found): (Salvage, Vec<Recorded>),
        mut fold: impl FnMut(&Recorded),
    ) -> Result<(Self, Option<Salvage>), LogFault> {
        let log = Self::open_sound(path)?;
        log.end_journal_on_close().map_err(LogFault::Read)?;
        for recorded in &found {
            fold(recorded);
        }
        Ok((log, Some(salvage)))
    }

    /// From here on closing carries the journal over into the log, instead of leaving it.
    fn end_journal_on_close(&self) -> rusqlite::Result<()> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
    }

    fn open_sound(path: &Path) -> Result<Self, LogFault> {
        let open = |why: String| LogFault::Open { path: path.to_owned(), why };
        if path.is_dir() {
            return Err(open("it is a folder".to_owned()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let db = Connection::open_with_flags(path, flags).map_err(|f| open(f.to_string()))?;
        let set = |db: &Connection| -> rusqlite::Result<()> {
            // Alone with its file, `SQLite` needs no shared memory beside it.
            db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            db.pragma_update(None, "journal_mode", "WAL")?;
            db.pragma_update(None, "synchronous", "FULL")?;
            db.pragma_update(None, "cache_size", -512)
        };
        // Until it has proved sound, a journal is evidence: closing must not begin it anew.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(LogFault::Read)?;
        set(&db).map_err(LogFault::Read)?;
        let found: i64 = db
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(LogFault::Read)?;
        if found > FORM {
            return Err(LogFault::Newer { found });
        }
        if found < FORM {
            db.execute_batch(TABLES).map_err(LogFault::Write)?;
            db.pragma_update(None, "user_version", FORM).map_err(LogFault::Write)?;
        }
        let file = identity(path).map_err(|f| open(f.to_string()))?;
        Ok(Self { db, path: path.to_owned(), file })
    }

    /// Makes the events durable, all of them or none. In a file that was moved away or deleted
    /// nothing is: nobody would ever find it there.
    pub(crate) fn append(&mut self, events: &[Recorded]) -> Result<(), LogFault> {
        if identity(&self.path).ok() != Some(self.file) {
            return Err(LogFault::Away { path: self.path.clone() });
        }
        let write = |db: &mut Connection| -> rusqlite::Result<()> {
            let tx = db.transaction()?;
            {
                let mut insert = tx.prepare_cached(
                    "INSERT INTO events (seq, at, session, body, sum) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?;
                for recorded in events {
                    let body = serde_json::to_string(&recorded.event)
                        .map_err(|f| rusqlite::Error::ToSqlConversionFailure(Box::new(f)))?;
                    insert.execute(params![
                        signed(recorded.seq),
                        recorded.at,
                        recorded.session.0,
                        body,
                        sum_of(recorded.seq, recorded.at, &recorded.session.0, &body)
                    ])?;
                }
            }
            tx.commit()
        };
        write(&mut self.db).map_err(LogFault::Write)
    }

    /// Reads up to `max` events from `from` on.
    pub(crate) fn read(&self, from: u64, max: u32) -> Result<Vec<Recorded>, LogFault> {
        let read = |db: &Connection| -> rusqlite::Result<Vec<Recorded>> {
            let mut query = db.prepare_cached(
                "SELECT seq, at, session, body, sum FROM events WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
            )?;
            let rows = query.query_map(params![signed(from), max], row_of)?;
            rows.filter_map(|row| row.map(|row| row.recorded).transpose()).collect()
        };
        read(&self.db).map_err(LogFault::Read)
    }

    fn each(&self, mut see: impl FnMut(Row)) -> rusqlite::Result<()> {
        let mut query =
            self.db.prepare("SELECT seq, at, session, body, sum FROM events ORDER BY seq")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            see(row_of(row)?);
        }
        Ok(())
    }
}

/// Whether the files may be read and written at all. What may not be read is no damage, and must
/// not be taken for any.
fn may_use(path: &Path) -> Result<(), LogFault> {
    for path in [path.to_owned(), beside(path, "-wal")] {
        match std::fs::File::options().read(true).write(true).open(&path) {
            Err(fault) if fault.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(LogFault::Open { path, why: fault.to_string() });
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Every sound record in the bytes of a log and its journal, oldest first.
fn carved(main: &[u8], journal: &[u8]) -> Vec<Recorded> {
    let records = carve::carve(main, journal, is_whole).into_values();
    let recorded = records.filter_map(|carved| {
        Some(Recorded {
            seq: u64::try_from(carved.seq).ok()?,
            at: carved.at,
            event: serde_json::from_str(&carved.body).ok()?,
            session: SessionId(carved.session),
        })
    });
    recorded.collect()
}

/// Whether a carved record is what was written.
fn is_whole(carved: &carve::Carved) -> bool {
    u64::try_from(carved.seq).is_ok_and(|seq| {
        seq > 0 && is_sound(carved.sum, seq, carved.at, &carved.session, &carved.body)
    })
}

/// Whether there is nothing to begin from: no log, no journal, nothing that was salvaged or kept.
pub(crate) fn is_missing(path: &Path) -> bool {
    let empty =
        |path: &Path| path.metadata().map_or(true, |facts| facts.len() == 0 && !facts.is_dir());
    let nothing = |found: std::io::Result<Option<PathBuf>>| found.is_ok_and(|kept| kept.is_none());
    empty(path) && empty(&beside(path, "-wal")) && nothing(salvage::left_over(path))
}

/// Whether the file begins as one of `SQLite` does.
fn has_head(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"SQLite format 3\0"
}

fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
    let recorded = || -> Option<Recorded> {
        let (at, session, body): (i64, String, String) =
            (row.get(1).ok()?, row.get(2).ok()?, row.get(3).ok()?);
        let event: Event = serde_json::from_str(&body).ok()?;
        is_sound(row.get(4).ok()?, seq, at, &session, &body).then_some(())?;
        Some(Recorded { seq, at, session: SessionId(session), event })
    };
    Ok(Row { seq, recorded: recorded() })
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().map(|facts| (facts.dev(), facts.ino()))
}

fn is_damage(fault: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(fault.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// Whether a record is what was written, by the sum of the present form or by that of the first. A
/// damaged record of the one has the sum of the other as seldom as any other number.
fn is_sound(sum: i64, seq: u64, at: i64, session: &str, body: &str) -> bool {
    sum == sum_of(seq, at, session, body) || sum == fnv(FNV_START, body.as_bytes()).cast_signed()
}

/// The sum over everything that a record says. What stands before the body has a fixed length or
/// an end, so that no two records run together.
fn sum_of(seq: u64, at: i64, session: &str, body: &str) -> i64 {
    let hash = fnv(FNV_START, &seq.to_le_bytes());
    let hash = fnv(hash, &at.to_le_bytes());
    let hash = fnv(fnv(hash, session.as_bytes()), &[0]);
    fnv(hash, body.as_bytes()).cast_signed()
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: enough to notice a flipped bit, cheap enough to check at every start.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
