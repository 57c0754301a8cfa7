//! How much a session needs a person: the groups that every face shows, in their order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a session needs a person, most first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// It asks something, or nobody has said how it goes on.
    You,
    /// Its process or its last turn came to no good end.
    Failed,
    /// It has come to an end that no person has looked at.
    New,
    /// It does something.
    Working,
    /// It waits for words, and what it did was looked at.
    Idle,
    /// Nothing of it runs.
    #[default]
    Rest,
}

impl Need {
    /// All of them, most first.
    pub const ALL: [Self; 6] =
        [Self::You, Self::Failed, Self::New, Self::Working, Self::Idle, Self::Rest];

    /// What stands above a group.
    pub fn words(self) -> &'static str {
        match self {
            Self::You => "needs you",
            Self::Failed => "failed",
            Self::New => "new",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Rest => "at rest",
        }
    }
}
