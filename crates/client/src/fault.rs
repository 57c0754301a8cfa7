//! Why a call has no response. The faces have the sentences for it.

use glis_core::Refusal;
use glis_wire::build::Build;
use glis_wire::client::Trouble;
use std::path::PathBuf;
use std::time::Duration;

/// Why a call has no response that could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Fault {
    /// It is not known which house is meant.
    #[error("no home: {0:?}")]
    Home(HomeFault),
    /// The daemon's files cannot be made.
    #[error("cannot start the daemon in {}: {why}", state.display())]
    NotStarted {
        /// The folder that the daemon's files are in.
        state: PathBuf,
        why: String,
    },
    /// The daemon was started and has ended at once.
    #[error("the daemon does not start: {}", why.as_deref().unwrap_or("it ended without a word"))]
    DoesNotStart {
        /// Its last words, if it had any.
        why: Option<String>,
        /// Where it may have said more.
        log: PathBuf,
    },
    /// The daemon does not run, or has ended, and the disk that it writes to is full.
    #[error("the disk of {} is full", state.display())]
    NoRoom {
        /// The folder that the daemon's files are in.
        state: PathBuf,
    },
    /// Something takes longer than it ever should.
    #[error("the daemon is stuck: {what:?}")]
    Stuck {
        what: Stuck,
        /// Where the daemon may have said why.
        log: PathBuf,
    },
    /// The daemon is of a newer build; nothing was asked of it.
    #[error("the daemon is newer: {daemon}, this is {own}")]
    NewerDaemon { daemon: Build, own: Build },
    /// The daemon speaks another protocol.
    #[error("the daemon {daemon} speaks another protocol")]
    OtherProtocol { daemon: Build },
    /// What the daemon said makes no sense.
    #[error("{0}")]
    Garbled(String),
    /// The connection ended before the response.
    #[error("the daemon went away: {0}")]
    Lost(String),
    /// The reader that the call was made for has gone.
    #[error("the reader is gone")]
    ReaderGone,
    /// Not in this state.
    #[error("refused: {0:?}")]
    Refused(Refusal),
    /// What was asked for cannot be.
    #[error("{message}")]
    Unusable { message: String, hint: String },
    /// Something else went wrong.
    #[error("{message}")]
    Trouble { kind: Trouble, message: String },
}

impl Fault {
    /// The daemon has answered something else than was asked.
    pub fn unfit() -> Self {
        Self::Garbled("the daemon gave an answer that does not fit".to_owned())
    }

    /// Whether the same call may well succeed on another connection: the daemon ended meanwhile.
    /// One that ended without a word while it started was killed; one that cannot start says why.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::NoRoom { .. } | Self::DoesNotStart { why: None, .. })
    }
}

/// Why it is not known which house is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HomeFault {
    /// The variable is no text.
    NotText,
    /// The variable has a relative path, which would be another house in every folder.
    Relative {
        /// What it is.
        value: String,
        /// What it means in this folder.
        meant: PathBuf,
    },
    /// Neither variable is set.
    Unset,
}

/// What takes longer than it ever should.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Stuck {
    /// The daemon was started, and cannot be reached.
    StartedUnreachable,
    /// A daemon runs, and cannot be reached.
    RunsUnreachable,
    /// A daemon does not greet.
    Silent {
        /// Its process, as its lock file tells.
        pid: String,
        after: Duration,
    },
    /// Another command starts the daemon.
    OtherStart { after: Duration },
    /// The daemon is not ready.
    NotReady { after: Duration },
    /// A daemon of another build could not be ended.
    NotReplaced { daemon: Build, why: String },
    /// A daemon of another build was killed and is still there.
    Unkillable { daemon: Build },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_is_killed_at_its_start_is_lost_and_one_that_cannot_start_is_not() {
        let fault = |why: Option<&str>| Fault::DoesNotStart {
            why: why.map(str::to_owned),
            log: PathBuf::new(),
        };
        assert!(fault(None).is_lost());
        assert!(!fault(Some("the log is of a newer build")).is_lost());
    }
}
