//! What can go wrong with a snapshot, told apart by what the caller may do about it.

use crate::git::GitFault;
use std::io;
use std::path::{Path, PathBuf};

/// Why a snapshot was not made, not found or not restored. Nothing was changed unless the text
/// says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotFault {
    /// There is no room. Nothing was published; the same call works once there is.
    #[error("the disk is full ({0})")]
    DiskFull(String),
    /// A file that git tracks has changed and cannot be read, so a snapshot would lack it.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// Git's own files are damaged or missing.
    #[error("the repository is broken: {0}")]
    Broken(String),
    /// There is no git, or it cannot be run.
    #[error("cannot run git: {0}")]
    GitMissing(#[source] io::Error),
    #[error("there is no snapshot {0}")]
    Missing(String),
    /// The snapshot is there, but something that belongs to it is not.
    #[error("the snapshot {reference} is incomplete: {what}")]
    Incomplete { reference: String, what: String },
    /// Something is where the worktree should go, and it cannot be put aside.
    #[error("{} is in the way: {why}", .path.display())]
    InTheWay { path: PathBuf, why: String },
    /// There is no worktree at the place.
    #[error("there is no worktree at {}", .0.display())]
    Gone(PathBuf),
    /// A session's or a snapshot's name that cannot be part of a ref.
    #[error("{0:?} cannot be part of a ref's name")]
    BadName(String),
    /// The system refused something with a file.
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    /// Git refused something for a reason of its own.
    #[error(transparent)]
    Git(GitFault),
}

impl From<GitFault> for SnapshotFault {
    fn from(fault: GitFault) -> Self {
        match fault {
            GitFault::NotRun(source) if source.kind() == io::ErrorKind::NotFound => {
                Self::GitMissing(source)
            }
            GitFault::NotRun(source) => said_by_system(Path::new("git"), source),
            GitFault::Refused { verb, message } => said_by_git(&verb, &message),
            GitFault::NoRepository(path) => Self::Gone(path),
        }
    }
}

/// Sorts what the system said about `path`.
pub(crate) fn said_by_system(path: &Path, source: io::Error) -> SnapshotFault {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    if full.contains(&source.kind()) {
        return SnapshotFault::DiskFull(path.display().to_string());
    }
    SnapshotFault::File { path: path.to_owned(), source }
}

/// Sorts what git said on its error stream. Git's messages are stable under `LC_ALL=C`.
pub(crate) fn said_by_git(verb: &str, message: &str) -> SnapshotFault {
    const FULL: [&str; 3] = ["No space left on device", "Disk quota exceeded", "Out of diskspace"];
    const BROKEN: [&str; 8] = [
        "not a git repository",
        "corrupt",
        "bad object",
        "missing blob",
        "missing tree",
        "unable to read",
        "not found",
        "Not a commit",
    ];
    let text = format!("git {verb}: {}", last_words(message));
    if FULL.iter().any(|words| message.contains(words)) {
        return SnapshotFault::DiskFull(text);
    }
    if BROKEN.iter().any(|words| message.contains(words)) {
        return SnapshotFault::Broken(text);
    }
    SnapshotFault::Git(GitFault::Refused {
        verb: verb.to_owned(),
        message: last_words(message).to_owned(),
    })
}

/// The line that says why. Fast-import talks on after it, about its crash report.
fn last_words(message: &str) -> &str {
    let lines = || message.lines().map(str::trim).filter(|line| !line.is_empty());
    let why = lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    why.or_else(|| lines().next_back()).unwrap_or("no reason given")
}

/// Turns the system's answer about `path` into a fault.
pub(crate) trait About<T> {
    fn about(self, path: &Path) -> Result<T, SnapshotFault>;
}

impl<T> About<T> for io::Result<T> {
    fn about(self, path: &Path) -> Result<T, SnapshotFault> {
        self.map_err(|source| said_by_system(path, source))
    }
}

impl<T> About<T> for Result<T, rustix::io::Errno> {
    fn about(self, path: &Path) -> Result<T, SnapshotFault> {
        self.map_err(|errno| said_by_system(path, errno.into()))
    }
}
