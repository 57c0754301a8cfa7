//! What goes back and forth between a person and an agent: messages, questions, turns.

use crate::ids::{AskId, MessageId};
use crate::tree::PathList;
use serde::{Deserialize, Serialize};

/// A message on its way to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its number.
    pub id: MessageId,
    /// Its text.
    pub text: String,
    /// How far it is.
    pub leg: Leg,
    /// It carries the note that the last turn was cut off.
    #[serde(default)]
    pub noted: bool,
    /// It carries the note that these were changed behind the agent's back.
    #[serde(default)]
    pub changed: Option<PathList>,
    /// How often the holder has refused it since it was last sent for.
    #[serde(default)]
    pub refused: u32,
}

/// How far a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// Stored.
    Queued,
    /// Perhaps handed over, not yet seen to be taken.
    Sent,
    /// The process ended or we died in between: only a person can tell.
    Doubtful,
}

/// Something an agent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Its name.
    pub id: AskId,
    /// Approval, question, or our own doubt.
    pub kind: AskKind,
    /// What it asks.
    pub text: String,
    /// An answer may be on its way.
    #[serde(default)]
    pub answering: bool,
}

/// What kind of thing is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// Yes or no.
    Approval,
    /// Free text.
    Question,
    /// Ours: whether to deliver a message again whose fate is unknown.
    Doubt,
}

/// A tool that an agent uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The agent's name for this use of it.
    pub id: String,
    /// What it does, for a person.
    pub what: String,
}

/// How far an agent is in its turn, by its own signs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// A message was taken, and the turn it leads to has not begun yet.
    #[serde(default)]
    pub due: bool,
    /// A turn is open.
    pub open: bool,
    /// Tools that were started and have not ended.
    pub tools: Vec<Tool>,
    /// Work that goes on between turns.
    pub background: u32,
}

impl Turn {
    /// Whether the agent works or is about to.
    pub fn under_way(&self) -> bool {
        self.due || self.open || !self.tools.is_empty() || self.background > 0
    }
}
