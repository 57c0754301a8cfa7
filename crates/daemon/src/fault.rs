//! Why the daemon does not run.

use std::io;
use std::path::PathBuf;

/// Why the daemon does not run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonFault {
    /// Another one serves this house.
    #[error("already running (pid {pid})")]
    AlreadyRunning { pid: String },
    /// The state folder is not usable.
    #[error("{}: {why}", path.display())]
    Folder { path: PathBuf, why: String },
    #[error("{0}")]
    Config(String),
    /// The event log cannot be used.
    #[error("{0}")]
    Log(String),
    #[error("{0}")]
    Broken(String),
    /// The operating system refused something.
    #[error("{0}")]
    System(#[from] io::Error),
}
