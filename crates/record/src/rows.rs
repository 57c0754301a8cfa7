//! Conversations that an agent keeps as rows of a database: read, and never written.
//!
//! The database may be in use, or left as a killed process left it: then `SQLite` reads what lies in
//! the log beside it. One that was closed in good order has no such log, and reading it the usual way
//! would put two empty files beside it. So it is read as it stands, and once more if it has changed
//! meanwhile.

use crate::durable;
use glis_agent::{Database, Rows};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A writer keeps readers out for moments only, when it tidies up at its start or end.
const BUSY_TIME: Duration = Duration::from_secs(2);

/// Rows that could not be read. That does not mean that they are gone.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", database.display())]
pub struct RowsFault {
    database: PathBuf,
    fault: rusqlite::Error,
}

impl From<RowsFault> for io::Error {
    fn from(fault: RowsFault) -> Self {
        Self::other(fault)
    }
}

/// What a conversation is like at one moment: a line that another moment does not share, and the ids
/// of its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State(pub(crate) String);

impl State {
    /// Whether a message is not there that was there before.
    pub fn lacks_of(&self, former: &Self) -> bool {
        let here: std::collections::HashSet<&str> = self.messages().collect();
        former.messages().any(|message| !here.contains(message))
    }

    fn messages(&self) -> impl Iterator<Item = &str> {
        self.0.lines().skip(1)
    }
}

/// The state of a conversation; `None` if the agent does not know it.
pub fn state(rows: &Rows) -> Result<Option<State>, RowsFault> {
    look(rows, |database| {
        let state = select(database, rows.state, &rows.id)?;
        Ok(state.map(State))
    })
}

/// A conversation, and the state that it is in.
pub fn text(rows: &Rows) -> Result<Option<(State, String)>, RowsFault> {
    look(rows, |database| {
        // One transaction: what is written meanwhile is in both or in none.
        let moment = database.unchecked_transaction()?;
        let state = select(&moment, rows.state, &rows.id)?;
        let text = select(&moment, rows.text, &rows.id)?;
        Ok(state.map(State).zip(text))
    })
}

/// How the last turn ended, if that is told by nothing else.
pub fn ending(rows: &Rows) -> Result<Option<String>, RowsFault> {
    look(rows, |database| select(database, rows.ending, &rows.id))
}

/// Makes last what the agent has written: it leaves that to the next time it tidies up. The database
/// itself must not be opened for that. Closing it again would take away the locks that another thread
/// reads it under.
pub fn sync(rows: &Rows) -> io::Result<()> {
    candidates(&rows.database).iter().try_for_each(|path| durable::sync(&log_of(path)))
}

/// Where one would look for it, for a person.
pub fn describe(rows: &Rows) -> String {
    match &rows.database {
        Database::At(path) => format!("{} in {path}", rows.id),
        Database::Among { folder, beginning, ending } => {
            format!("{} in {folder}/{beginning}\u{2026}{ending}", rows.id)
        }
    }
}

/// Asks each database that it may be, until one knows.
fn look<T>(
    rows: &Rows,
    ask: impl Fn(&Connection) -> rusqlite::Result<Option<T>>,
) -> Result<Option<T>, RowsFault> {
    let mut failed = None;
    for database in candidates(&rows.database) {
        match look_into(&database, &ask) {
            Ok(Some(found)) => return Ok(Some(found)),
            Ok(None) => {}
            Err(fault) => failed = Some(RowsFault { database, fault }),
        }
    }
    failed.map_or(Ok(None), Err)
}

fn candidates(database: &Database) -> Vec<PathBuf> {
    match database {
        Database::At(path) => vec![PathBuf::from(path)],
        Database::Among { folder, beginning, ending } => {
            let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
            let fits = |name: &str| name.starts_with(beginning) && name.ends_with(ending);
            let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(fits));
            let mut paths: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
            // The usual one has the shortest name.
            paths.sort_unstable_by_key(|path| path.as_os_str().len());
            paths
        }
    }
}

fn look_into<T>(
    path: &Path,
    ask: impl Fn(&Connection) -> rusqlite::Result<Option<T>>,
) -> rusqlite::Result<Option<T>> {
    let Some(before) = stamp(path) else { return Ok(None) };
    if !log_of(path).exists() {
        let found = open(path, "&immutable=1").and_then(|database| asked(&database, &ask));
        if !log_of(path).exists() && stamp(path) == Some(before) {
            return found;
        }
    }
    asked(&open(path, "")?, &ask)
}

/// A database without any table was never used, or is being made: it knows nothing. One with other
/// tables than ours is no answer.
fn asked<T>(
    database: &Connection,
    ask: impl Fn(&Connection) -> rusqlite::Result<Option<T>>,
) -> rusqlite::Result<Option<T>> {
    let tables = "SELECT count(*) FROM sqlite_schema";
    match database.query_row(tables, [], |row| row.get::<_, i64>(0))? {
        0 => Ok(None),
        _ => ask(database),
    }
}

fn select(database: &Connection, statement: &str, id: &str) -> rusqlite::Result<Option<String>> {
    database.query_row(statement, [id], |row| row.get(0)).optional()
}

fn open(path: &Path, more: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // In an address these three have a meaning of their own.
    let shown = path.to_string_lossy();
    let plain = shown.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let database = Connection::open_with_flags(format!("file:{plain}?mode=ro{more}"), flags)?;
    database.busy_timeout(BUSY_TIME)?;
    Ok(database)
}

/// What tells one state of a file from another; `None` if there is no file.
fn stamp(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let facts = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((facts.ino(), facts.len(), facts.mtime(), facts.mtime_nsec()))
}

/// The log beside a database, with what was not yet written into it.
fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
