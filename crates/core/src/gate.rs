//! The gate of the house: whether anything may start, and what was stopped when it was shut.

use crate::ids::{OpId, SessionId};
use crate::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use crate::reason::Why;
use crate::session::{Session, WallMs};
use crate::tree::Clearing;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The gate, and what is under way at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Open {
        /// The operation that opened it.
        op: OpId,
        /// What was stopped and has not come back yet.
        returning: BTreeSet<SessionId>,
        /// It was told that everything is paused, and not yet that it is no more.
        told: bool,
    },
    /// Nothing starts; some agents may not have come to a boundary yet.
    Pausing(Shut),
    /// Nothing runs and nothing starts, and that is on the disk.
    Paused(Shut),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shut {
    pub op: OpId,
    pub since: WallMs,
    /// How it stops what runs.
    pub wish: GateWish,
    /// What it has stopped or is stopping: what comes back when it is opened.
    pub set: BTreeSet<SessionId>,
    /// Those whose pause failed; tried again at the end of their next turn.
    pub failed: BTreeSet<SessionId>,
    /// How far it is, while not everything is paused.
    pub step: GateStep,
    /// Its time was over before everything had stopped.
    pub overdue: bool,
}

/// How far the shutting of the gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateStep {
    /// Agents are coming to their boundaries.
    Stopping,
    /// Everything has stopped; which sessions that were is being written down.
    Keeping,
}

/// How everything is to be paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateWish {
    /// How much it may disturb.
    pub mode: PauseMode,
    pub reason: PauseReason,
    /// What happens when an agent that was interrupted does not come to a safe state.
    pub on_timeout: OnTimeout,
    /// What becomes of the worktrees, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clearing: Option<Clearing>,
    /// Whether a worktree goes where neither the request nor the session says anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removes: bool,
    /// Those whose disk is nearly full: there it goes as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full: Vec<SessionId>,
}

impl GateWish {
    pub(crate) fn of(&self, session: &Session) -> PauseWish {
        let usually = || self.removes || self.full.contains(&session.id);
        let removes = session.spec.remove_worktree.unwrap_or_else(usually);
        let usual = if removes { Clearing::IfPossible } else { Clearing::Keep };
        let clearing = self.clearing.unwrap_or(usual);
        // Neither the user's own folder is removed nor one that a kept process stands in, and that is no
        // reason not to pause.
        let stays = session.spec.in_place || session.spec.keep_process;
        let clearing = if stays { Clearing::Keep } else { clearing };
        let Self { mode, reason, on_timeout, .. } = *self;
        PauseWish { mode, reason, on_timeout, clearing }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateCommand {
    /// Pause everything; nothing starts until it is opened.
    Shut(GateWish),
    /// Let what was stopped come back.
    Open(Kept),
}

/// What the file beside the log says about which sessions come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    Set(Vec<SessionId>),
    /// It is not there: the log knows.
    Missing,
    /// It is not to be asked.
    FromLog,
}

/// By what it was known which sessions come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateSource {
    /// By the file and the log alike.
    Snapshot,
    /// By the log: the file was not there.
    Missing,
    Log,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateEvent {
    /// It is shut: nothing starts. These are stopped, and come back when it is opened.
    Shut {
        op: OpId,
        #[serde(flatten)]
        wish: GateWish,
        stops: Vec<SessionId>,
    },
    /// What runs may be disturbed more than at first.
    Hastened { op: OpId, mode: PauseMode, on_timeout: OnTimeout },
    /// A session runs that was not known to, and is stopped as well.
    Joined { session: SessionId },
    /// A session does not come back with the others: a person decided on it, or it cannot.
    Released { session: SessionId },
    /// The time for all of them is over; these have not come to a boundary yet, and still will.
    Overdue { op: OpId, stuck: Vec<SessionId> },
    /// Nothing runs any more; that is being written down.
    Stopped { op: OpId },
    /// It could not be written down.
    NotKept { op: OpId, why: Why },
    /// Everything is paused, and durable.
    #[serde(rename = "orchestrator:paused")]
    Paused {
        op: OpId,
        #[serde(rename = "activeAgentIds")]
        active: Vec<SessionId>,
    },
    /// It is open. These come back.
    Opened { op: OpId, source: GateSource, resumes: Vec<SessionId> },
    /// What was stopped has come back, or cannot. These run.
    #[serde(rename = "orchestrator:resumed")]
    Resumed {
        op: OpId,
        #[serde(rename = "activeAgentIds")]
        active: Vec<SessionId>,
    },
}

impl GateEvent {
    /// The operation that this is a step of.
    pub fn op(&self) -> Option<OpId> {
        match self {
            Self::Shut { op, .. }
            | Self::Hastened { op, .. }
            | Self::Overdue { op, .. }
            | Self::Stopped { op }
            | Self::NotKept { op, .. }
            | Self::Paused { op, .. }
            | Self::Opened { op, .. }
            | Self::Resumed { op, .. } => Some(*op),
            Self::Joined { .. } | Self::Released { .. } => None,
        }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::Open { op: OpId(0), returning: BTreeSet::new(), told: false }
    }
}

impl Gate {
    /// The word of the contract.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open { .. } => "running",
            Self::Pausing(_) => "pausing",
            Self::Paused(_) => "paused",
        }
    }

    /// What is known of it while it is shut.
    pub fn shut(&self) -> Option<&Shut> {
        match self {
            Self::Pausing(shut) | Self::Paused(shut) => Some(shut),
            Self::Open { .. } => None,
        }
    }

    /// Whether a session comes back with the gate.
    pub fn holds(&self, session: &SessionId) -> bool {
        match self {
            Self::Open { returning, .. } => returning.contains(session),
            Self::Pausing(shut) | Self::Paused(shut) => shut.set.contains(session),
        }
    }
}
