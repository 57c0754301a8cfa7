//! The public words for what a session is doing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The public word for what a session is doing.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It exists; no process was started yet.
    Created,
    Busy,
    /// The agent waits for the next message.
    Idle,
    Waiting,
    /// A pause was promised and is under way.
    Pausing,
    /// Nothing runs, by the user's will.
    Paused,
    /// The process is being brought back.
    Resuming,
    /// Nothing runs, to save resources; the next message resumes it.
    Suspended,
    Interrupted,
    Completed,
    /// The command or the first start failed.
    Failed,
    /// Removed; kept for its history.
    Archived,
}

impl Status {
    /// Every status, in the order of the contract.
    pub const ALL: [Self; 12] = [
        Self::Created,
        Self::Busy,
        Self::Idle,
        Self::Waiting,
        Self::Pausing,
        Self::Paused,
        Self::Resuming,
        Self::Suspended,
        Self::Interrupted,
        Self::Completed,
        Self::Failed,
        Self::Archived,
    ];

    /// The word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Busy => "busy",
            Self::Idle => "idle",
            Self::Waiting => "waiting",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Resuming => "resuming",
            Self::Suspended => "suspended",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Archived => "archived",
        }
    }
}
