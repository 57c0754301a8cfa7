//! Loops and plans: what is executed, and how far it is.

use super::{Model, Rows};
use glis_core::Status;
use glis_wire::view::SessionRow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Executed {
    /// A loop, by its session.
    Loop(String),
    Plan(String),
}

/// How far it is. What is the furthest from rest counts for a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    AtRest,
    Pausing,
    Runs,
}

impl Executed {
    /// What a session is a part of, if it is.
    pub(crate) fn of(session: &SessionRow) -> Option<Self> {
        let plan = || session.plan.clone().map(Self::Plan);
        session.looped.as_ref().map(|_| Self::Loop(session.id.clone())).or_else(plan)
    }
}

impl Rows {
    pub(crate) fn executing(&self, what: &Executed) -> impl Iterator<Item = &SessionRow> {
        self.all.values().filter(move |session| Executed::of(session).as_ref() == Some(what))
    }

    pub(crate) fn stage_of(&self, what: &Executed) -> Stage {
        self.executing(what).map(stage).max().unwrap_or(Stage::AtRest)
    }
}

impl Model {
    /// What an interrupt is about: the loop or plan of the session in hand, else all of its repository.
    pub(crate) fn executed_here(&self) -> Vec<Executed> {
        let Some(session) = self.session() else { return Vec::new() };
        if let Some(own) = Executed::of(session) {
            return vec![own];
        }
        let here = self.rows.all.values().filter(|other| other.repo_root == session.repo_root);
        let mut all: Vec<Executed> = Vec::new();
        for executed in here.filter_map(Executed::of) {
            if !all.contains(&executed) {
                all.push(executed);
            }
        }
        all
    }
}

/// How far a session is with what it is a part of.
pub(crate) fn stage(session: &SessionRow) -> Stage {
    let own = session.looped.as_deref().map(|own| own.state.as_str());
    match (own, session.status) {
        (None, _) if session.plan.is_none() => Stage::AtRest,
        // Between two tasks nobody is at work, and the plan goes on.
        (None, _) if session.judging => Stage::Runs,
        // An event tells the status at once; what the loop is at is looked at a moment later.
        (Some("paused" | "done" | "stopped"), _) | (_, Status::Paused) => Stage::AtRest,
        (Some("pausing"), _) | (_, Status::Pausing) => Stage::Pausing,
        // Between two iterations it is idle, suspended or without a process, and goes on.
        (Some(_), _) | (_, Status::Busy | Status::Waiting | Status::Resuming) => Stage::Runs,
        (
            _,
            Status::Created
            | Status::Idle
            | Status::Suspended
            | Status::Interrupted
            | Status::Completed
            | Status::Failed
            | Status::Archived,
        ) => Stage::AtRest,
    }
}
