//! What a person may say about a task.

use serde::{Deserialize, Serialize};

/// What a person says about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// Its work is merged as it is.
    Accept,
    /// Its work is judged once more.
    Judge,
    /// Its work is not wanted; what needs it waits.
    Reject,
    /// It is not done, and counts as done for what needs it.
    Skip,
}

impl Ruling {
    pub const ALL: [Self; 4] = [Self::Accept, Self::Judge, Self::Reject, Self::Skip];

    /// The verb of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Judge => "judge",
            Self::Reject => "reject",
            Self::Skip => "skip",
        }
    }

    /// What follows from it, said of the task.
    pub fn means(self) -> &'static str {
        match self {
            Self::Accept => "is taken as it is, and merged",
            Self::Judge => "is judged again",
            Self::Reject => "is rejected; what needs it waits",
            Self::Skip => "is skipped; what needs it goes on",
        }
    }
}
