//! Who calls, by which face, and what that may do.

pub use glis_core::caller::{Face, Origin};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a caller may do. Each includes those before it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Look at everything, change nothing.
    Watch,
    /// Send messages as well.
    Send,
    /// Answer what agents ask as well.
    Answer,
    /// Everything. A process that can open the daemon's socket can do everything, so this is what a call has
    /// that states nothing; a face that serves others states less for them.
    #[default]
    Manage,
}

impl Scope {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Send => "send",
            Self::Answer => "answer",
            Self::Manage => "manage",
        }
    }
}
