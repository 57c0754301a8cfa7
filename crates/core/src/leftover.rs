//! What a process leaves behind: other processes of its session that were ended with it, kept on
//! purpose, or could not be ended.

use crate::reason::Why;
use serde::{Deserialize, Serialize};

/// A process that belongs to a session beside its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Companion {
    /// Process id; 0 where only the command was recorded.
    pub pid: i32,
    /// Start time in clock ticks since boot; 0 if it is not known.
    pub start_ticks: u64,
    pub command: String,
    /// Its working directory, where it could be read.
    pub cwd: Option<String>,
    pub ports: Vec<u16>,
}

/// The forms in which a companion is stored. The first logs have the command line alone.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Command(String),
    Whole {
        pid: i32,
        #[serde(default, skip_serializing_if = "is_unknown")]
        start_ticks: u64,
        command: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ports: Vec<u16>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_unknown(ticks: &u64) -> bool {
    *ticks == 0
}

impl From<Stored> for Companion {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Command(command) => Self { command, ..Self::default() },
            Stored::Whole { pid, start_ticks, command, cwd, ports } => {
                Self { pid, start_ticks, command, cwd, ports }
            }
        }
    }
}

impl From<Companion> for Stored {
    fn from(companion: Companion) -> Self {
        let Companion { pid, start_ticks, command, cwd, ports } = companion;
        if pid == 0 {
            return Self::Command(command);
        }
        Self::Whole { pid, start_ticks, command, cwd, ports }
    }
}

impl Companion {
    /// Command and process id, as a person would name it.
    pub fn named(&self) -> String {
        match (self.pid, self.command.trim()) {
            (0, command) => command.to_owned(),
            (pid, "") => format!("pid {pid}"),
            (pid, command) => format!("{command} (pid {pid})"),
        }
    }
}

/// Everything that is known about what a process left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftovers {
    /// Processes that were ended with it.
    pub killed: Vec<Companion>,
    /// Processes that could not be ended: they are still there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<Companion>,
    /// Processes that were left running on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Companion>,
    /// Why it is not known whether anything is left, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
    /// What had to be done beyond the usual, for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Leftovers {
    /// Processes that were ended, and nothing else.
    pub fn ended(killed: Vec<Companion>) -> Self {
        Self { killed, ..Self::default() }
    }

    /// Why it cannot be said that no process is left.
    pub fn trouble(&self) -> Option<Why> {
        if !self.stuck.is_empty() {
            let named: Vec<_> = self.stuck.iter().map(Companion::named).collect();
            return Some(Why::NotEnded(named.join(", ")));
        }
        self.unclear.clone().map(Why::Unclear)
    }
}
