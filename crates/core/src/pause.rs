//! A pause: how it can be asked for, its steps, what it has to tell afterwards.

use crate::reason::{SafeRule, Why};
use crate::timer::WallMs;
use crate::tree::{Clearing, SnapshotRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What keeping a screen keeps besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captured {
    /// The screen itself, with the output that it shows.
    Screen,
    /// The conversation up to there.
    Conversation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseWish {
    /// How much it may disturb.
    pub mode: PauseMode,
    pub reason: PauseReason,
    /// What happens when the agent does not come to a safe state.
    pub on_timeout: OnTimeout,
    /// What becomes of the worktree.
    #[serde(default, skip_serializing_if = "Clearing::is_keep")]
    pub clearing: Clearing,
}

impl PauseWish {
    /// One that disturbs nothing, for this reason.
    pub(crate) fn plain(reason: PauseReason) -> Self {
        let (mode, on_timeout) = (PauseMode::Boundary, OnTimeout::Refuse);
        Self { mode, reason, on_timeout, clearing: Clearing::Keep }
    }
}

/// What a pause has to tell afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseRecord {
    pub at: WallMs,
    pub reason: PauseReason,
    /// Which rule said that stopping was safe.
    pub rule: SafeRule,
    /// The agent was stopped without having come to a safe state.
    pub forced: bool,
    /// Offset of the output that the screen was captured at.
    pub screen_at: u64,
    /// Snapshot before and after the stop.
    pub snapshots: Vec<SnapshotRef>,
    /// What could not be done, without harm to what was.
    pub warnings: Vec<Why>,
    /// The worktree was removed, as asked; a start brings it back.
    #[serde(default)]
    pub cleared: bool,
}

/// Why a session was paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    User,
    UserInterrupt,
    /// Memory or processes ran short.
    Resource,
    /// Something failed.
    Error,
    IdleTimeout,
    /// The whole house was paused.
    Global,
    /// The agent's usage limit was reached.
    RateLimit,
    Budget,
    /// The machine or the daemon shuts down.
    Shutdown,
    /// Its process died. Only of a run: its session is interrupted, not paused.
    Crash,
}

/// How much a pause may disturb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseMode {
    /// After the current turn.
    Boundary,
    /// Now: interrupt the turn, wait for a safe state.
    Interrupt,
    Force,
}

/// What to do when the safe state does not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// Call the pause off; the agent goes on.
    Refuse,
    /// Stop it all the same, and say so.
    Force,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseStep {
    /// Waiting for the end of the turn.
    Boundary,
    /// The agent was interrupted; waiting for a safe state.
    Interrupting,
    Capturing,
    Saving,
    Ending,
    /// Stopping the process in place.
    Freezing,
    /// Snapshot after every writer is dead, or stopped.
    Sealing,
    Clearing,
}

/// Which of a pause's two snapshots is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// While the agent may still write.
    BeforeStop,
    /// After every writer is dead, or stopped.
    AfterStop,
}
