//! A loop: an agent runs on the same prompt repeatedly, until a condition holds.
//!
//! An iteration is open from the moment its words are queued until the agent has nothing to do any
//! more, messages that came meanwhile included. Then the daemon looks back at what it has left, and
//! only after that the next one is due. A pause waits for that point.

use crate::ids::OpId;
pub use crate::loop_spec::{
    FAILURES_MAX, LoopChange, LoopContext, LoopSpec, SPEC_BYTES_MAX, SpecFile,
};
use crate::pause::PauseWish;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often in a row an iteration may leave everything as it was.
pub const STALE_MAX: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// What it was asked to be, as of now.
    pub spec: LoopSpec,
    /// The iteration that is open, or was last; counted from one.
    pub iteration: u32,
    /// How far that one is.
    pub stage: LoopStage,
    /// Its agent has worked since it began.
    pub worked: bool,
    /// The agent has taken a message, and has not been seen to work on it yet.
    pub awaited: bool,
    /// How many in a row have failed.
    pub failures: u32,
    /// How many in a row have left everything as it was.
    pub stale: u32,
    /// What the last one has left.
    pub left: Option<LoopTrace>,
    /// What all of them have cost, in millionths of a dollar, where the agent tells.
    pub cost_micros: u64,
    /// A pause waits for the end of the iteration.
    pub pausing: Option<LoopPause>,
    /// Why it was paused by itself, until it is resumed.
    pub broke: Option<Breaker>,
    /// What could not be done or seen after the last one.
    pub note: Option<String>,
}

/// How far an iteration is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopStage {
    /// The agent works on it, or is about to.
    Open,
    /// It is over, and is being looked back at.
    Looking {
        /// Its agent did not live to its end.
        failed: bool,
        /// It was looked back at before, and counts no second time.
        again: bool,
    },
    /// The next one may begin, in a conversation of this id where the agent's is chosen for it.
    Due { agent_ref: Option<String> },
    /// There is none after it.
    Done(LoopEnd),
    /// A person has stopped it, while it was open or after.
    Stopped { open: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopEnd {
    /// There were as many iterations as were asked for.
    Max,
    /// What it was to reach is reached.
    Until,
    /// Nothing in its check list is open.
    List,
}

/// Why a loop was paused by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Breaker {
    /// Too many iterations in a row have failed.
    Failures,
    /// Too many in a row have changed nothing.
    NoProgress,
    /// Its agent cannot be started, or leaves without taking its words.
    NotResumable,
    /// It reached its cost limit.
    Cost,
}

/// What an iteration has left, as far as two can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopTrace {
    /// A sum over the worktree.
    pub tree: String,
    /// A sum over the agent's last words.
    pub words: String,
}

/// A pause that waits for the end of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopPause {
    pub op: OpId,
    #[serde(flatten)]
    pub wish: PauseWish,
}

/// What a look back at an iteration has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedBack {
    pub iteration: u32,
    /// What ends it, if something does: what was to be reached is, or its list is done.
    pub reached: Option<LoopEnd>,
    /// What it has left, if that could be seen.
    pub left: Option<LoopTrace>,
    /// What the session has cost so far, where the agent tells.
    pub cost_micros: u64,
    /// An id for the conversation of the next one, where the agent's is chosen for it.
    pub agent_ref: Option<String>,
    /// What could not be done or seen.
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopEvent {
    /// The next iteration begins.
    Began { iteration: u32 },
    /// It did not begin after all: its agent did not start.
    NotBegun { iteration: u32 },
    /// It is over.
    Ended { iteration: u32, failed: bool },
    /// It was looked back at.
    LookedBack {
        iteration: u32,
        left: Option<LoopTrace>,
        cost_micros: u64,
        agent_ref: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// There is none after it.
    Done { by: LoopEnd },
    /// It is paused by itself.
    Broke { by: Breaker },
    /// A person has stopped it.
    Stopped,
    /// It goes on after all.
    Reopened,
    /// A pause is wanted at the end of the iteration.
    PauseAsked(LoopPause),
    /// It is not wanted any more.
    PauseWithdrawn { op: OpId },
    /// Its limits are these from now on.
    Set { spec: LoopSpec },
}

impl LoopEvent {
    /// The operation that this is a step of.
    pub fn op(&self) -> Option<OpId> {
        match self {
            Self::PauseAsked(LoopPause { op, .. }) | Self::PauseWithdrawn { op } => Some(*op),
            Self::Began { .. }
            | Self::NotBegun { .. }
            | Self::Ended { .. }
            | Self::LookedBack { .. }
            | Self::Done { .. }
            | Self::Broke { .. }
            | Self::Stopped
            | Self::Reopened
            | Self::Set { .. } => None,
        }
    }
}

impl Loop {
    /// A loop whose first iteration is open: its words are the session's first message.
    pub fn begin(spec: LoopSpec) -> Self {
        Self {
            spec,
            iteration: 1,
            stage: LoopStage::Open,
            worked: false,
            awaited: false,
            failures: 0,
            stale: 0,
            left: None,
            cost_micros: 0,
            pausing: None,
            broke: None,
            note: None,
        }
    }

    /// Whether another iteration follows by itself, or the present one goes on.
    pub fn goes_on(&self) -> bool {
        match self.stage {
            LoopStage::Open | LoopStage::Looking { .. } | LoopStage::Due { .. } => true,
            LoopStage::Done(_) | LoopStage::Stopped { .. } => false,
        }
    }

    /// Whether there have been as many iterations as were asked for.
    pub fn is_full(&self) -> bool {
        self.spec.max.is_some_and(|max| self.iteration >= max)
    }

    /// What keeps it from going on by itself, if something does.
    pub fn breaker(&self) -> Option<Breaker> {
        let cost = self.spec.max_cost_micros;
        if cost.is_some_and(|max| self.cost_micros >= max) {
            Some(Breaker::Cost)
        } else if self.failures >= self.spec.max_failures {
            Some(Breaker::Failures)
        } else if self.stale >= STALE_MAX {
            Some(Breaker::NoProgress)
        } else {
            None
        }
    }
}
