//! What a session is a run of, and what a run is called.

use crate::ids::{PlanId, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session is a run of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRef {
    pub plan: PlanId,
    pub task: String,
    pub run: RunId,
}

/// What a run is, in the words of its record.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    Waiting,
    Paused,
    Succeeded,
    Failed,
    Canceled,
}

impl RunState {
    /// The word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}
