//! The event log: one `SQLite` file, one writer, durable before anybody is told.

pub(crate) mod backup;
mod carve;
pub(crate) mod checkpoint;
mod mark;
mod salvage;

pub(crate) use backup::Backup;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use mark::{Checked, Mark};

use glis_core::{Event, House, Recorded, Subject};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
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

/// Beside the records: what is to be known of the log as a whole.
const FACTS: &str =
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;";

/// What can go wrong with the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogFault {
    #[error("the event log {} cannot be opened: {why}", path.display())]
    Open { path: PathBuf, why: String },
    #[error(
        "the event log was written by a newer version (form {found}, known {FORM}); it was left untouched"
    )]
    Newer { found: i64 },
    #[error("the event log {} was moved or deleted while the daemon ran: {why}", path.display())]
    Away { path: PathBuf, why: String },
    #[error("{0} could not be made durable")]
    Beside(String),
    /// A decision was not possible, for a fault of ours.
    #[error("{0}")]
    Broken(String),
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
    sum: i64,
    recorded: Option<Recorded>,
}

/// What there is beside the log when it is opened.
#[derive(Default)]
pub(crate) struct Aids<'a> {
    /// A state to go on from.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// Where copies of its records are, which are put in where it has lost its own.
    pub(crate) copies: Option<&'a Path>,
    /// How much of the log is looked at.
    pub(crate) scope: Scope,
}

impl Aids<'_> {
    /// Copies of its records: read only where they are needed, since they are all there ever were.
    fn spare(&self) -> Vec<Recorded> {
        self.copies.map(backup::read).unwrap_or_default().records
    }
}

/// How much of the log is looked at when it is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What follows the checkpoint. What lies before it is read when somebody asks for it.
    #[default]
    Rest,
    /// Every record, since somebody has found a damaged one.
    Everything,
}

/// A log that was opened, and the state that it leads to.
pub(crate) struct Opened {
    pub(crate) log: EventLog,
    pub(crate) house: House,
    pub(crate) salvage: Option<Salvage>,
    /// Whether the checkpoint counted.
    pub(crate) shortcut: Shortcut,
}

/// What became of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortcut {
    /// There was none.
    None,
    /// The log goes on from it.
    Taken,
    /// The log does not hold the record that it ends with: it was made beside another log, or this
    /// one has lost its end since.
    Refuted,
}

/// The log, open for writing. There is one in a house.
pub(crate) struct EventLog {
    db: Connection,
    path: PathBuf,
    /// Device and number of the file that is open.
    file: (u64, u64),
    /// Device and number of the folder that it is in.
    folder: (u64, u64),
    /// Names this log. One that was made from a copy has another.
    id: String,
    /// The last record.
    end: Mark,
}

impl EventLog {
    /// Opens the log and folds it, from the checkpoint on if the log holds what that was made of. A
    /// damaged log is kept under another name and what can be read is carried over.
    pub(crate) fn open(path: &Path, aids: Aids<'_>) -> Result<Opened, LogFault> {
        may_use(path)?;
        let orphan = salvage::settle(path).and_then(|()| salvage::orphan(path));
        let orphan = orphan.map_err(|f| LogFault::Open {
            path: path.to_owned(),
            why: format!("an earlier salvage cannot be finished: {f}"),
        })?;
        if let Some(kept) = orphan {
            return Self::salvaged(path, salvage::carry_over(path, kept, &aids.spare())?, aids);
        }
        // `SQLite` ends a journal silently at its first damaged page, and throws one away that has
        // no file beside it. What was in it is known before it gets the chance.
        let journal = std::fs::read(beside(path, "-wal")).unwrap_or_default();
        let in_journal = carved(&[], &journal).last().map_or(0, |recorded| recorded.seq);
        if in_journal > 0 && !has_head(path) {
            return Self::salvaged(path, salvage::salvage(path, &journal, &aids.spare())?, aids);
        }
        match Self::open_sound(path) {
            Ok(mut log) => match log.fold(&aids) {
                Ok(Folded::Whole(house, shortcut)) if log.end.seq >= in_journal => {
                    let house = *house;
                    log.end_journal_on_close().map_err(LogFault::Read)?;
                    log.name(shortcut).map_err(LogFault::Write)?;
                    return Ok(Opened { log, house, salvage: None, shortcut });
                }
                Ok(Folded::Whole(..) | Folded::Damaged) => {}
                Err(fault) if is_damage(&fault) => {}
                Err(fault) => return Err(LogFault::Read(fault)),
            },
            Err(LogFault::Read(fault)) if is_damage(&fault) => {}
            Err(fault) => return Err(fault),
        }
        Self::salvaged(path, salvage::salvage(path, &journal, &aids.spare())?, aids)
    }

    /// The log that now has what could be read of a damaged one.
    fn salvaged(
        path: &Path,
        (salvage, found): (Salvage, Vec<Recorded>),
        aids: Aids<'_>,
    ) -> Result<Opened, LogFault> {
        let mut log = Self::open_sound(path)?;
        log.end_journal_on_close().map_err(LogFault::Read)?;
        log.name(Shortcut::None).map_err(LogFault::Write)?;
        let sums = found.iter().map(|recorded| Ok((recorded.seq, sum_of_record(recorded)?)));
        let sums: Vec<_> = sums.collect::<Result<_, _>>().map_err(LogFault::Read)?;
        let holds = |mark: &Mark| sums.contains(&(mark.seq, mark.sum));
        let (mut house, mut shortcut) = (House::default(), Shortcut::None);
        if let Some(checkpoint) = aids.checkpoint {
            shortcut = Shortcut::Refuted;
            if holds(&checkpoint.mark) {
                (house, shortcut) = (checkpoint.house, Shortcut::Taken);
            }
        }
        let known = house.last_seq();
        for recorded in found.iter().filter(|recorded| recorded.seq > known) {
            house.apply(recorded);
        }
        for (seq, sum) in sums {
            log.end.add(seq, sum);
        }
        Ok(Opened { log, house, salvage: Some(salvage), shortcut })
    }

    /// A log of exactly these records, under a name of its own, in the place of whatever is there.
    pub(crate) fn rebuild(path: &Path, records: &[Recorded]) -> Result<(), LogFault> {
        salvage::put_in_place(path, records)
    }

    /// Folds what follows the checkpoint, or everything.
    fn fold(&mut self, aids: &Aids<'_>) -> rusqlite::Result<Folded> {
        let (mut house, mut end, mut shortcut) =
            (House::default(), Mark::default(), Shortcut::None);
        if let Some(checkpoint) = &aids.checkpoint {
            shortcut = Shortcut::Refuted;
            if self.holds(&checkpoint.mark)? {
                (house, shortcut) = (checkpoint.house.clone(), Shortcut::Taken);
                end = checkpoint.mark;
            }
        }
        if aids.scope == Scope::Everything
            && !self.check(Mark::default(), u64::MAX, u32::MAX)?.damaged.is_empty()
        {
            return Ok(Folded::Damaged);
        }
        let mut damaged = false;
        self.each_after(end.seq, |row| {
            end.add(row.seq, row.sum);
            match row.recorded {
                Some(recorded) if !damaged => house.apply(&recorded),
                Some(_) => {}
                None => damaged = true,
            }
        })?;
        self.end = end;
        Ok(if damaged { Folded::Damaged } else { Folded::Whole(Box::new(house), shortcut) })
    }

    /// Whether this record is in the log, as it was.
    fn holds(&self, mark: &Mark) -> rusqlite::Result<bool> {
        let mut query =
            self.db.prepare("SELECT seq, at, session, body, sum FROM events WHERE seq = ?1")?;
        let row = query.query_row([signed(mark.seq)], row_of).optional()?;
        Ok(row.is_some_and(|row| row.sum == mark.sum && row.recorded.is_some()))
    }

    /// Looks at up to `max` records behind a mark and up to a number, by their sums alone.
    pub(crate) fn check(&self, after: Mark, to: u64, max: u32) -> rusqlite::Result<Checked> {
        let mut checked = Checked { end: after, damaged: Vec::new() };
        let mut query = self.db.prepare_cached(
            "SELECT seq, at, session, body, sum FROM events WHERE seq > ?1 AND seq <= ?2 \
             ORDER BY seq LIMIT ?3",
        )?;
        let mut rows = query.query(params![signed(after.seq), signed(to), max])?;
        while let Some(row) = rows.next()? {
            let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
            let sound = || -> Option<i64> {
                let (session, body) = (row.get_ref(2).ok()?.as_str().ok()?, row.get_ref(3).ok()?);
                let (at, sum) = (row.get(1).ok()?, row.get(4).ok()?);
                is_sound(sum, seq, at, session, body.as_str().ok()?).then_some(sum)
            };
            let sum = sound();
            if sum.is_none() {
                checked.damaged.push(seq);
            }
            checked.end.add(seq, sum.unwrap_or_default());
        }
        Ok(checked)
    }

    /// From here on closing carries the journal over into the log, instead of leaving it.
    fn end_journal_on_close(&self) -> rusqlite::Result<()> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
    }

    /// Learns the name of this log, or gives it one: a fresh one if a checkpoint tells that it has
    /// been another before, since its numbers may come again.
    fn name(&mut self, shortcut: Shortcut) -> rusqlite::Result<()> {
        self.db.execute_batch(FACTS)?;
        let query = "SELECT value FROM facts WHERE name = 'log_id'";
        let known: Option<String> = self.db.query_row(query, [], |row| row.get(0)).optional()?;
        match (known, shortcut) {
            (Some(id), Shortcut::None | Shortcut::Taken) => {
                self.id = id;
                Ok(())
            }
            (Some(_), Shortcut::Refuted) | (None, _) => self.rename(),
        }
    }

    /// Gives this log a name that no other has.
    fn rename(&mut self) -> rusqlite::Result<()> {
        let id = uuid::Uuid::new_v4().to_string();
        let insert = "INSERT OR REPLACE INTO facts (name, value) VALUES ('log_id', ?1)";
        self.db.execute(insert, [&id])?;
        self.id = id;
        Ok(())
    }

    /// The name of this log. Under another name, numbers mean other records.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The last record.
    pub(crate) fn end(&self) -> Mark {
        self.end
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
        let folder = path.parent().map_or(Ok((0, 0)), identity).map_err(|f| open(f.to_string()))?;
        let (id, end) = (String::new(), Mark::default());
        Ok(Self { db, path: path.to_owned(), file, folder, id, end })
    }

    /// Whether the file under the log's name is another one, or there is none.
    pub(crate) fn is_away(&self) -> bool {
        identity(&self.path).ok() != Some(self.file)
    }

    /// Writes the log anew in its place, from the file that is still open; says so. The numbers go on.
    /// In a folder that is another one nothing is written: nobody would look there.
    pub(crate) fn put_back(&mut self) -> Result<String, LogFault> {
        let away = |why: String| LogFault::Away { path: self.path.clone(), why };
        if self.path.parent().map(identity).and_then(Result::ok) != Some(self.folder) {
            return Err(away("its folder is gone too".to_owned()));
        }
        let kept = salvage::exchange(&self.path, |fresh| {
            let name = fresh.to_str().ok_or("its path is not valid UTF-8")?;
            self.db.execute("VACUUM INTO ?1", [name]).map(drop).map_err(|f| f.to_string())
        });
        let kept = kept.map_err(away)?;
        let mut log = Self::open_sound(&self.path)?;
        log.end_journal_on_close().map_err(LogFault::Read)?;
        log.rename().map_err(LogFault::Write)?;
        log.end = self.end;
        // The former one has nothing to carry over any more, and the journal has its name.
        self.db
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(LogFault::Read)?;
        *self = log;
        let strange = kept.map_or(String::new(), |kept| {
            format!("; what was in its place is kept as {}", kept.display())
        });
        Ok(format!(
            "the event log {} was deleted, moved or replaced; it was written anew, nothing is \
             missing{strange}",
            self.path.display()
        ))
    }

    /// Makes the events durable, all of them or none. In a file that was moved away or deleted
    /// nothing is: nobody would ever find it there.
    pub(crate) fn append(&mut self, events: &[Recorded]) -> Result<(), LogFault> {
        if self.is_away() {
            let why = "it is another file".to_owned();
            return Err(LogFault::Away { path: self.path.clone(), why });
        }
        let write = |db: &mut Connection, mut end: Mark| -> rusqlite::Result<Mark> {
            let tx = db.transaction()?;
            {
                let mut insert = tx.prepare_cached(
                    "INSERT INTO events (seq, at, session, body, sum) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?;
                for Recorded { seq, at, subject, event } in events {
                    let body = body_of(event)?;
                    let subject = subject.stored();
                    let sum = sum_of(*seq, *at, &subject, &body);
                    insert.execute(params![signed(*seq), at, subject, body, sum])?;
                    end.add(*seq, sum);
                }
            }
            tx.commit()?;
            Ok(end)
        };
        self.end = write(&mut self.db, self.end).map_err(LogFault::Write)?;
        Ok(())
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

    fn each_after(&self, seq: u64, mut see: impl FnMut(Row)) -> rusqlite::Result<()> {
        let mut query = self.db.prepare(
            "SELECT seq, at, session, body, sum FROM events WHERE seq > ?1 ORDER BY seq",
        )?;
        let mut rows = query.query([signed(seq)])?;
        while let Some(row) = rows.next()? {
            see(row_of(row)?);
        }
        Ok(())
    }
}

/// What a look at the log led to.
enum Folded {
    Whole(Box<House>, Shortcut),
    /// Not every record is what was written.
    Damaged,
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
            subject: Subject::of(carved.session),
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
        Some(Recorded { seq, at, subject: Subject::of(session), event })
    };
    Ok(Row { seq, sum: row.get(4).unwrap_or_default(), recorded: recorded() })
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

/// The sum of a record as it is written.
fn sum_of_record(recorded: &Recorded) -> rusqlite::Result<i64> {
    let body = body_of(&recorded.event)?;
    Ok(sum_of(recorded.seq, recorded.at, &recorded.subject.stored(), &body))
}

fn body_of(event: &Event) -> rusqlite::Result<String> {
    serde_json::to_string(event).map_err(|f| rusqlite::Error::ToSqlConversionFailure(Box::new(f)))
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
