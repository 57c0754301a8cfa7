//! What the world looks like, and how a process came to its end.

use crate::event::Ending;
use crate::leftover::Leftovers;
use crate::session::Process;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// By itself or by a signal.
    pub ending: Ending,
    pub ordered: bool,
    pub left: Leftovers,
    /// The last lines that it wrote for a person, if its end was not ordered; few and short.
    pub last_words: String,
}

impl Exit {
    /// An end that was not seen.
    pub fn unseen(left: Leftovers) -> Self {
        Self { ending: Ending::Unknown, ordered: false, left, last_words: String::new() }
    }

    /// An end with the machine's. Nothing that ran before it is left.
    pub fn with_the_machine() -> Self {
        Self { ending: Ending::Reboot, ..Self::unseen(Leftovers::default()) }
    }
}

/// What was found of a session after a start of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum World {
    /// A holder lives, and its agent too. `untouched`: what is on its way was never sent to it,
    /// which its holder knows.
    Alive { generation: u32, process: Process, began_at: u64, untouched: bool },
    /// The process has ended and left a record.
    Ended { generation: u32, exit: Exit },
    /// Neither holder nor record; leftovers were ended, as far as this tells.
    Gone { left: Leftovers },
}
