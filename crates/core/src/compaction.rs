//! What is known of the compaction of a session's conversation.

use crate::ids::OpId;
use crate::reason::Why;
use crate::timer::WallMs;
use serde::{Deserialize, Serialize};

/// One failure may be chance; what fails twice in a row is not tried again by itself.
pub const FAILURES_MAX: u32 = 2;

/// How the compaction of a conversation stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// When it was last made short, if ever.
    pub at: Option<WallMs>,
    /// A caller waits for it by this operation.
    pub asked: Option<OpId>,
    /// How often in a row it has failed.
    pub failures: u32,
    /// Why it failed last, until it succeeds.
    pub why: Option<Why>,
}

impl Compaction {
    /// Whether only a person has it tried again.
    pub fn is_given_up(&self) -> bool {
        self.failures >= FAILURES_MAX
    }
}
