//! Whether the bot works, for `doctor`: a lock that says that it runs, and a file that says how it is.

use crate::channel::ChannelFault;
use crate::thread::locked;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub use glis_wire::home::{CHAT_LOCK, CHAT_STATUS};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Its name on the network, once that is known.
    pub name: Option<String>,
    pub trouble: Option<String>,
    pub hint: Option<String>,
}

impl Health {
    pub fn good(name: &str) -> Self {
        Self { name: Some(name.to_owned()), trouble: None, hint: None }
    }

    /// It works, and something is to be seen to.
    pub fn troubled(name: &str, what: &str) -> Self {
        let hint = "`glis config check` has more".to_owned();
        Self { name: Some(name.to_owned()), trouble: Some(what.to_owned()), hint: Some(hint) }
    }

    pub fn trouble(what: &str, hint: &str) -> Self {
        Self { name: None, trouble: Some(what.to_owned()), hint: Some(hint.to_owned()) }
    }

    /// It does not, because the network does not do what it is asked.
    pub fn of(fault: &ChannelFault) -> Self {
        Self::trouble(&fault.to_string(), fault.remedy())
    }
}

/// Why there is no place for the bot.
#[derive(Debug, thiserror::Error)]
pub enum NoPlace {
    /// Another one runs.
    #[error("a bot runs already for this house")]
    Taken,
    #[error("the bot's files cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// The place of the one bot of a house.
pub struct Status {
    path: PathBuf,
    known: Mutex<Option<Health>>,
    /// Held as long as the process lives.
    _lock: File,
}

impl Status {
    pub fn take(state: &Path) -> Result<Self, NoPlace> {
        std::fs::create_dir_all(state)?;
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(state.join(CHAT_LOCK))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(NoPlace::Taken),
            Err(fault) => return Err(io::Error::from(fault).into()),
        }
        Ok(Self { path: state.join(CHAT_STATUS), known: Mutex::default(), _lock: lock })
    }

    /// Writes how it is, if that is another than before.
    pub fn tell(&self, health: &Health) {
        let mut known = locked(&self.known);
        if known.as_ref() == Some(health) {
            return;
        }
        *known = Some(health.clone());
        // A look that finds no file, or an old one, is told by the lock that a bot runs.
        drop(self.write(health));
    }

    fn write(&self, health: &Health) -> io::Result<()> {
        let text = serde_json::to_string(health)?;
        let fresh = self.path.with_extension("new");
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&fresh)?.write_all(text.as_bytes())?;
        std::fs::rename(fresh, &self.path)
    }
}

#[cfg(test)]
mod tests;
