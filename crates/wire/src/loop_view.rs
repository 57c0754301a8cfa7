//! A loop as front ends and scripts see it.

use glis_core::looping::{Breaker, LoopContext, LoopEnd};
use serde::{Deserialize, Serialize};

/// A loop as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopView {
    /// The iteration that is open, or was last; counted from one.
    pub iteration: u32,
    /// How many there are at most.
    pub max: Option<u32>,
    /// `running`, `pausing`, `paused`, `done` or `stopped`.
    pub state: String,
    /// How many in a row have failed.
    pub failures: u32,
    /// What it has cost, in dollars; none where the agent does not tell.
    pub cost: Option<f64>,
    /// What it may cost.
    pub max_cost: Option<f64>,
    /// After how many failures in a row it is paused.
    pub max_failures: u32,
    /// How many in a row have left everything as it was.
    pub without_progress: u32,
    /// The line for the shell that ends it when it succeeds.
    pub until: Option<String>,
    /// What an iteration knows of those before it.
    pub context: LoopContext,
    /// Whether the work of every iteration is committed.
    pub auto_commit: bool,
    /// The file that it works from, seen from its worktree.
    pub spec: Option<String>,
    /// What has ended it.
    pub done_by: Option<LoopEnd>,
    /// Why it was paused by itself, until it is resumed.
    pub broke: Option<Breaker>,
    /// What could not be done or seen after the last iteration.
    pub note: Option<String>,
}
