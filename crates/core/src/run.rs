//! One run of an agent's process: what is known of it, from its start to its end.

use crate::safe::ScreenState;
use crate::talk::{Ask, Turn};
use serde::{Deserialize, Serialize};

/// A process, beyond the reuse of its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
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
    pub process: Process,
    /// The agent showed that it takes messages.
    pub ready: bool,
    /// What the agent refused, and why; it is being ended.
    pub rejected: Option<Rejection>,
    /// What was said to it.
    pub spoken: Spoken,
    /// Its turn, by structured signs.
    pub turn: Turn,
    /// Its screen, where that is all there is.
    pub screen: ScreenState,
    /// What the agent asks, oldest first.
    pub asks: Vec<Ask>,
    /// A usage limit has ended its last turn.
    pub limited: bool,
    /// What the rules have answered last in its turn, and how often in a row.
    pub repeated: Option<Repeated>,
    /// How far the agent's transcript was known when it began: what stands before that is of former
    /// processes.
    #[serde(default)]
    pub transcript_at: u64,
}

impl Run {
    /// How often in a row the rules have answered this, and nothing else.
    pub(crate) fn answered_in_a_row(&self, text: &str) -> u32 {
        let repeated = self.repeated.as_ref().filter(|repeated| repeated.text == text);
        repeated.map_or(0, |repeated| repeated.times)
    }
}

/// The same question, answered by the rules again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    pub text: String,
    /// How often in a row.
    pub times: u32,
}

/// What an agent refused at its start, with the reason in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The conversation that it was given.
    Conversation(String),
    /// To begin at all.
    Start(String),
}

impl Rejection {
    pub fn why(&self) -> &str {
        match self {
            Self::Conversation(why) | Self::Start(why) => why,
        }
    }
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
            limited: false,
            repeated: None,
            transcript_at: 0,
        }
    }
}
