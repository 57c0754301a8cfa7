//! What an agent was heard to say or do.

use glis_core::input::Sign;
use glis_wire::view::Voice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a turn came to nothing whose answer is not whole, where the agent has no words of its own for it.
pub const CUT_OFF: &str =
    "the answer was cut off at the greatest length that the model may give it";
/// The same of one that the model does not give.
pub(crate) const REFUSED: &str = "the model refused to go on with this";

/// One thing that an agent was heard to say or do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Offset just behind it, unique among all signs, and among all words, from one source.
    pub at: u64,
    /// What it means for the lifecycle.
    pub sign: Option<Sign>,
    /// What it adds to the conversation.
    pub said: Option<Said>,
}

/// Something worth keeping in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub voice: Voice,
    pub content: String,
    pub tool: Option<String>,
    /// What it changes in files, in the agent's own form, where that is short.
    pub edit: Option<Value>,
    /// Tasks that are still to do, where the agent keeps a list.
    pub pending: Option<Vec<String>>,
    /// How many tasks of that list are done, worked on and left.
    pub tally: Option<Tally>,
    /// What became of one task, where it keeps them by number.
    pub task: Option<TaskChange>,
    /// What the agent has used so far, where it says.
    pub usage: Option<Usage>,
    /// How the tool, or the turn that this tells of, came to an end that it was not to have.
    pub outcome: Option<Outcome>,
}

/// An end that a tool or a turn was not to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A tool was not allowed: it did not run.
    Denied,
    /// A tool ran, and came to no good end.
    Failed,
    /// A turn was broken off. What it was doing may have had its effect.
    Interrupted,
}

impl Outcome {
    /// The word for it in a conversation.
    pub fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What becomes of one task on an agent's list, by the agent's number for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskChange {
    /// It is to do, and called this.
    Opened { id: String, subject: String },
    /// It is worked on.
    Begun { id: String },
    /// It is done.
    Done { id: String },
    /// It is no longer wanted.
    Closed { id: String },
}

/// How many tasks of a list are done, worked on and left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub done: u32,
    /// Those that are worked on.
    pub active: u32,
    /// Those that are left.
    pub open: u32,
}

impl Tally {
    /// Counts a list by what it says of each task, in the words that agents have for it.
    pub fn of<'a>(statuses: impl Iterator<Item = &'a str>) -> Self {
        let mut tally = Self::default();
        for status in statuses {
            match status {
                "completed" => tally.done += 1,
                "cancelled" | "deleted" => {}
                "in_progress" | "inProgress" => tally.active += 1,
                _ => tally.open += 1,
            }
        }
        tally
    }
}

/// What an agent has used: of one turn, or since its conversation began, as it tells it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of this turn that went in.
    pub tokens_in: u64,
    /// Tokens of this turn that came out.
    pub tokens_out: u64,
    /// Millionths of a dollar that the whole conversation has cost, by the agent's own count.
    pub cost_micros: Option<u64>,
    /// How much of what its vendor allows in a time is used up.
    pub window_percent: Option<u8>,
}

impl Said {
    /// Words without anything else to them.
    pub fn new(voice: Voice, content: impl Into<String>) -> Self {
        Self {
            voice,
            content: content.into(),
            tool: None,
            edit: None,
            pending: None,
            tally: None,
            task: None,
            usage: None,
            outcome: None,
        }
    }

    /// That a tool was not allowed, in the words by which it was told before.
    pub fn denied(name: &str, content: impl Into<String>) -> Self {
        Self { outcome: Some(Outcome::Denied), ..Self::tool(name, content) }
    }

    /// That a tool failed, in the words by which it was told before.
    pub fn failed(name: &str, content: impl Into<String>) -> Self {
        Self { outcome: Some(Outcome::Failed), ..Self::tool(name, content) }
    }

    pub fn tool(name: &str, content: impl Into<String>) -> Self {
        Self { tool: Some(name.to_owned()), ..Self::new(Voice::Tool, content) }
    }
}
