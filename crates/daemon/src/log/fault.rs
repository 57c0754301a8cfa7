//! What can go wrong with the log, and what was wrong with a damaged one.

use std::path::PathBuf;

/// Form of the log. A larger number on disk was written by a newer program. In the first form a
/// record's sum was that of its body alone, in the second its body was the event alone, in the third
/// nothing happened by itself (no suspension, gate or rule); such records stay as they are and stay
/// readable.
pub(super) const FORM: i64 = 4;

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
