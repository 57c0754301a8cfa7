//! The open log: records are appended and read, and it knows whether it still lies in its place.

use super::fault::{FORM, LogFault};
use super::mark::{Checked, Mark};
use super::row::{Row, body_of, is_sound, row_of, signed, sum_of};
use glis_core::Recorded;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::path::{Path, PathBuf};

pub(super) const TABLES: &str = "CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    body TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;";

/// Beside the records: what is to be known of the log as a whole.
const FACTS: &str =
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;";

/// What became of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortcut {
    None,
    /// The log goes on from it.
    Taken,
    /// The log does not hold the record that it ends with: it was made beside another log, or this
    /// one has lost its end since.
    Refuted,
}

/// The log, open for writing. There is one in a house.
pub(crate) struct EventLog {
    pub(super) db: Connection,
    pub(super) path: PathBuf,
    /// Device and number of the file that is open.
    pub(super) file: (u64, u64),
    /// Device and number of the folder that it is in.
    pub(super) folder: (u64, u64),
    /// Names this log. One that was made from a copy has another.
    pub(super) id: String,
    pub(super) end: Mark,
}

const IS_FOLDER: &str = "it is a folder; move it away, and the log is made anew from its copies";

impl EventLog {
    pub(super) fn open_sound(path: &Path) -> Result<Self, LogFault> {
        let open = |why: String| LogFault::Open { path: path.to_owned(), why };
        if path.is_dir() {
            return Err(open(IS_FOLDER.to_owned()));
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

    /// The name of this log. Under another name, numbers mean other records.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn end(&self) -> Mark {
        self.end
    }

    /// Makes the events durable, all of them or none. In a file that was moved away or deleted
    /// nothing is: it would never be found there.
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
                for recorded in events {
                    let (seq, at) = (recorded.seq, recorded.at);
                    let body = body_of(recorded)?;
                    let subject = recorded.subject.stored();
                    let sum = sum_of(seq, at, &subject, &body);
                    insert.execute(params![signed(seq), at, subject, body, sum])?;
                    end.add(seq, sum);
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

    pub(super) fn each_after(&self, seq: u64, mut see: impl FnMut(Row)) -> rusqlite::Result<()> {
        let mut query = self.db.prepare(
            "SELECT seq, at, session, body, sum FROM events WHERE seq > ?1 ORDER BY seq",
        )?;
        let mut rows = query.query([signed(seq)])?;
        while let Some(row) = rows.next()? {
            see(row_of(row)?);
        }
        Ok(())
    }

    /// Whether this record is in the log, as it was.
    pub(super) fn holds(&self, mark: &Mark) -> rusqlite::Result<bool> {
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
    pub(super) fn end_journal_on_close(&self) -> rusqlite::Result<()> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
    }

    /// Learns the name of this log, or gives it one: a fresh one if a checkpoint tells that it has
    /// been another before, since its numbers may come again.
    pub(super) fn name(&mut self, shortcut: Shortcut) -> rusqlite::Result<()> {
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
    pub(super) fn rename(&mut self) -> rusqlite::Result<()> {
        let id = uuid::Uuid::new_v4().to_string();
        let insert = "INSERT OR REPLACE INTO facts (name, value) VALUES ('log_id', ?1)";
        self.db.execute(insert, [&id])?;
        self.id = id;
        Ok(())
    }

    /// Whether the file under the log's name is another one, or there is none.
    pub(crate) fn is_away(&self) -> bool {
        identity(&self.path).ok() != Some(self.file)
    }
}

pub(super) fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().map(|facts| (facts.dev(), facts.ino()))
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
