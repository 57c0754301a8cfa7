//! What is asked of a plan, and what comes of its effects.

use super::{Pace, PlanSpec, Ruling};
use crate::ids::{PlanId, RunId};
use crate::merge::Unmerged;
use crate::pause::PauseMode;

/// What a person can ask of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanCommand {
    /// Begin it, or go on with it.
    Execute { id: PlanId, spec: Box<PlanSpec>, pace: Pace, before: Before },
    /// Take in what its file has by now.
    Revise { id: PlanId, spec: Box<PlanSpec> },
    /// Tell that a task is proposed.
    Propose { id: PlanId, task: String, title: Option<String> },
    /// Let nothing begin, and pause what runs.
    Pause { id: PlanId, mode: PauseMode },
    /// Go on with a task that is paused or waits.
    Resume { id: PlanId, task: String, prompt: Option<String> },
    /// Begin another run of a task, as the plan's file has it now where that is known.
    Restart { id: PlanId, task: String, spec: Option<Box<PlanSpec>> },
    /// Say what becomes of a task.
    Rule { id: PlanId, task: String, ruling: Ruling },
}

/// What of a plan that begins the plan before it, of the same file, has settled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    /// These tasks are done.
    pub done: Vec<String>,
    /// These a person did not want done.
    pub skipped: Vec<String>,
}

impl PlanCommand {
    pub fn plan(&self) -> &PlanId {
        match self {
            Self::Execute { id, .. }
            | Self::Revise { id, .. }
            | Self::Propose { id, .. }
            | Self::Pause { id, .. }
            | Self::Resume { id, .. }
            | Self::Restart { id, .. }
            | Self::Rule { id, .. } => id,
        }
    }
}

/// What came of an effect about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanOutcome {
    /// The session of a run could not be made.
    NotBegun { run: RunId, why: String },
    /// Its session has cost so much by now.
    Cost { run: RunId, micros: u64 },
    /// Its work is this commit, and accepted.
    Accepted { run: RunId, commit: String },
    /// The work of a run is in the plan's branch.
    Merged { run: RunId, commit: String },
    /// It cannot be, as it is.
    Unmerged { run: RunId, why: Unmerged },
    /// The plan's own command says that it is not done. An agent may be told so often in a row by itself.
    NotAccepted { run: RunId, why: String, retries: u32 },
}

impl PlanOutcome {
    pub fn run(&self) -> &RunId {
        match self {
            Self::NotBegun { run, .. }
            | Self::Cost { run, .. }
            | Self::Accepted { run, .. }
            | Self::Merged { run, .. }
            | Self::Unmerged { run, .. }
            | Self::NotAccepted { run, .. } => run,
        }
    }
}
