//! What a session is doing, with what that needs, and what it rests in.

use crate::ids::OpId;
use crate::pause::{OnTimeout, PauseMode, PauseReason, PauseRecord, PauseStep};
use crate::reason::Why;
use crate::status::Status;
use crate::tree::Clearing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session is doing, with what that needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The process is being brought up.
    Starting(Start),
    Live,
    /// A pause is under way.
    Pausing(Box<Pause>),
    /// The process is being ended; the session stays.
    Stopping {
        op: OpId,
        /// A message came meanwhile, which wakes it afterwards.
        awaited: bool,
        /// What follows once the process is gone and its worktree was saved.
        then: AfterStop,
        cause: StopCause,
    },
    /// Nothing runs.
    Rest(Rest),
    /// Something is done with what it holds, while nothing runs; it falls back to what it comes from.
    Chore {
        op: OpId,
        chore: Chore,
        from: Rest,
    },
}

/// What a stop is followed by, as one operation with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterStop {
    /// Nothing: the session is suspended.
    #[default]
    Rest,
    /// A fresh conversation, under the agent's next session id where we choose it, with this first message.
    Restart { agent_ref: Option<String>, prompt: Option<String> },
    /// The session goes into the trash.
    Remove,
    /// A forced pause, of a start that was called off for it.
    Pause { reason: PauseReason, clearing: Clearing },
    /// Nothing: a process that its pause has kept is ended, and the pause goes on without it.
    StayPaused(Box<PauseRecord>),
}

/// Why a process is ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    #[default]
    Asked,
    /// It was idle for as long as it may be.
    Idle,
    /// It was idle, and memory ran short.
    Memory,
    /// The daemon ends, and its agents with it.
    Shutdown,
}

impl StopCause {
    pub fn is_asked(&self) -> bool {
        *self == Self::Asked
    }
}

impl AfterStop {
    pub fn is_rest(&self) -> bool {
        *self == Self::Rest
    }

    /// Whether the worktree is saved between the end of the process and what follows. A pause saves
    /// by itself.
    pub(crate) fn saves_first(&self) -> bool {
        match self {
            Self::Restart { .. } | Self::Remove => true,
            Self::Rest | Self::Pause { .. } | Self::StayPaused(_) => false,
        }
    }
}

/// What is done with what a session holds, while nothing runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chore {
    /// Everything it holds is put aside; nothing is deleted.
    PutAside,
    /// The worktree is brought back to what this snapshot holds.
    Restore(String),
    /// Everything is taken out of the trash; it will have this name.
    Return(String),
    /// What the trash has of it is deleted.
    Empty,
}

/// A state in which nothing runs and nothing is under way. A card has it in this form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// By the user's will.
    Paused(Box<PauseRecord>),
    /// Stopped to save resources; the next message resumes it.
    Suspended,
    /// After an unclean death.
    Interrupted,
    Completed,
    /// It failed; why, as far as it is known.
    Failed(Why),
    Archived,
    /// Never started.
    Created,
}

/// A process on its way up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    pub op: OpId,
    pub cause: StartCause,
    pub step: StartStep,
    /// Where the session falls back to if it fails.
    pub from: Rest,
}

/// Why a process is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartCause {
    New,
    Message,
    Resume,
    Restart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartStep {
    Worktree,
    /// Directory, program and transcript are being looked at.
    Check,
    /// The holder is being started.
    Process,
    /// The agent runs and is not ready yet.
    Ready,
    /// A process that was stopped in place is let go on.
    Thaw,
}

/// A start that has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deferred {
    pub cause: StartCause,
    pub why: Deferral,
    /// Its place among those that wait: the lowest comes first.
    pub turn: u64,
}

/// What a start waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deferral {
    Gate,
    /// As many agents run as may.
    Limit,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    pub op: OpId,
    /// How much it may disturb.
    pub mode: PauseMode,
    /// Why it was asked for.
    pub reason: PauseReason,
    /// What happens when the agent does not come to a safe state.
    pub on_timeout: OnTimeout,
    pub step: PauseStep,
    /// What it will have to tell.
    pub record: PauseRecord,
    /// Where a session without a process falls back to.
    pub from: Option<Rest>,
    /// What becomes of the worktree.
    pub clearing: Clearing,
}

impl Pause {
    /// Whether the session was paused already, and only its worktree is still to go.
    pub(crate) fn is_again(&self) -> bool {
        matches!(self.from, Some(Rest::Paused(_)))
    }
}

impl Rest {
    pub fn status(&self) -> Status {
        match self {
            Self::Paused(_) => Status::Paused,
            Self::Suspended => Status::Suspended,
            Self::Interrupted => Status::Interrupted,
            Self::Completed => Status::Completed,
            Self::Failed(_) => Status::Failed,
            Self::Archived => Status::Archived,
            Self::Created => Status::Created,
        }
    }
}
