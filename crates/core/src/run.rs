//! One run of an agent's process: what is known of it, from its start to its end.

use crate::safe::ScreenState;
use crate::session::Session;
use crate::talk::{Ask, Turn};
use serde::{Deserialize, Serialize};

/// A process, beyond the reuse of its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// The boot that both belong to.
    pub boot_id: String,
}

/// What is known of a process that lives. Nothing of it says anything about the next one, so it
/// begins with the process and goes with it, all of it at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The agent's process.
    pub process: Process,
    /// The agent showed that it takes messages.
    pub ready: bool,
    /// The agent refused to begin, for this reason, and is being ended.
    pub rejected: Option<String>,
    /// What was said to it.
    pub spoken: Spoken,
    /// Its turn, by structured signs.
    pub turn: Turn,
    /// Its screen, where that is all there is.
    pub screen: ScreenState,
    /// What the agent asks, oldest first.
    pub asks: Vec<Ask>,
}

/// Whether anything was said to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spoken {
    /// Nothing, for sure.
    Nothing,
    /// Something, or that is unknown.
    Something,
}

/// Where nothing runs, no turn is under way.
static NO_TURN: Turn = Turn { due: false, open: false, tools: Vec::new(), background: 0 };

impl Run {
    /// A process that has only just begun.
    pub(crate) fn of(process: Process) -> Self {
        Self {
            process,
            ready: false,
            rejected: None,
            spoken: Spoken::Nothing,
            turn: Turn::default(),
            screen: ScreenState::Flowing,
            asks: Vec::new(),
        }
    }
}

impl Session {
    /// The agent's process, while one is known to live.
    pub fn process(&self) -> Option<&Process> {
        self.run.as_ref().map(|run| &run.process)
    }

    /// Whether a process is known to live.
    pub fn runs(&self) -> bool {
        self.run.is_some()
    }

    /// Whether the agent showed that it takes messages.
    pub fn is_ready(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.ready)
    }

    /// Why the agent refused to begin, if it did.
    pub(crate) fn rejected(&self) -> Option<&str> {
        self.run.as_ref()?.rejected.as_deref()
    }

    /// The agent's turn, by structured signs.
    pub fn turn(&self) -> &Turn {
        self.run.as_ref().map_or(&NO_TURN, |run| &run.turn)
    }

    /// The screen of a program that gives no better sign.
    pub fn screen(&self) -> &ScreenState {
        self.run.as_ref().map_or(&ScreenState::Flowing, |run| &run.screen)
    }

    /// What the agent asks, oldest first. Our own doubts are not among it.
    pub fn asked(&self) -> &[Ask] {
        self.run.as_ref().map_or(&[], |run| &run.asks)
    }
}
