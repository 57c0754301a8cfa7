//! What is known of the compaction of a session's conversation.

use crate::ids::OpId;
use crate::reason::Why;
use serde::{Deserialize, Serialize};

/// One failure may be chance; what fails twice in a row is not tried again by itself.
pub const FAILURES_MAX: u32 = 2;

/// How the compaction of a conversation stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
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

    pub(crate) fn succeed(&mut self, op: Option<OpId>) {
        self.end(op);
        *self = Self { asked: self.asked, ..Self::default() };
    }

    pub(crate) fn fail(&mut self, op: Option<OpId>, why: &Why) {
        self.end(op);
        self.failures += 1;
        self.why = Some(why.clone());
    }

    /// What another caller waits for goes on.
    fn end(&mut self, op: Option<OpId>) {
        self.asked.take_if(|asked| Some(*asked) == op);
    }
}
