//! The fold, as far as the gate is concerned.

use crate::event::Event;
use crate::gate::{Gate, GateEvent, GateStep, Shut};
use crate::ids::SessionId;
use crate::session::{AfterStop, WallMs};
use crate::subject::Subject;
use std::collections::BTreeSet;

impl Gate {
    /// Changes what is known of it while it is shut.
    fn change(&mut self, change: impl FnOnce(&mut Shut)) {
        match self {
            Self::Pausing(shut) | Self::Paused(shut) => change(shut),
            Self::Open { .. } => {}
        }
    }

    pub(crate) fn apply(&mut self, at: WallMs, subject: &Subject, event: &Event) {
        match (subject, event) {
            (_, Event::Gate(event)) => self.take(at, event),
            (Subject::Session(id), event) => self.learn(id, event),
            (Subject::House | Subject::Plan(_), _) => {}
        }
    }

    fn take(&mut self, at: WallMs, event: &GateEvent) {
        match event {
            GateEvent::Shut { op, wish, stops } => {
                *self = Self::Pausing(Shut {
                    op: *op,
                    since: at,
                    wish: wish.clone(),
                    set: stops.iter().cloned().collect(),
                    failed: BTreeSet::new(),
                    step: GateStep::Stopping,
                    overdue: false,
                });
            }
            GateEvent::Opened { op, resumes, .. } => {
                let told = matches!(self, Self::Paused(_));
                let returning = resumes.iter().cloned().collect();
                *self = Self::Open { op: *op, returning, told };
            }
            GateEvent::Resumed { .. } => {
                if let Self::Open { told, .. } = self {
                    *told = false;
                }
            }
            GateEvent::Paused { .. } => {
                if let Self::Pausing(shut) = self {
                    *self = Self::Paused(shut.clone());
                }
            }
            GateEvent::Released { session } => match self {
                Self::Open { returning, .. } => drop(returning.remove(session)),
                Self::Pausing(shut) | Self::Paused(shut) => drop(shut.set.remove(session)),
            },
            GateEvent::Hastened { mode, on_timeout, .. } => self.change(|shut| {
                (shut.wish.mode, shut.wish.on_timeout) = (*mode, *on_timeout);
                (shut.overdue, shut.failed) = (false, BTreeSet::new());
            }),
            GateEvent::Joined { session } => self.change(|shut| {
                shut.set.insert(session.clone());
                shut.step = GateStep::Stopping;
            }),
            GateEvent::Overdue { .. } => self.change(|shut| shut.overdue = true),
            GateEvent::Stopped { .. } => self.change(|shut| shut.step = GateStep::Keeping),
            GateEvent::NotKept { .. } => self.change(|shut| shut.step = GateStep::Stopping),
        }
    }

    /// What happens to a session that was stopped by the gate, or is on its way back.
    fn learn(&mut self, session: &SessionId, event: &Event) {
        match self {
            Self::Open { returning, .. } => {
                if is_back(event) {
                    returning.remove(session);
                }
            }
            Self::Pausing(shut) | Self::Paused(shut) => {
                if matches!(event, Event::PauseFailed { .. } | Event::PauseBarred { .. }) {
                    shut.failed.insert(session.clone());
                }
                if matches!(event, Event::PauseBegan { .. }) {
                    shut.failed.remove(session);
                }
                // What a person stops or removes, or what has come to its end, is not brought back.
                let gone = matches!(
                    event,
                    Event::StopBegan { then: AfterStop::Rest | AfterStop::Remove, .. }
                        | Event::Completed
                        | Event::Failed { .. }
                        | Event::RemovalBegan { .. }
                );
                if gone {
                    shut.set.remove(session);
                }
            }
        }
    }
}

/// Whether a session that was to come back has, or will not.
fn is_back(event: &Event) -> bool {
    matches!(
        event,
        Event::StartEnded { .. }
            | Event::StartFailed { .. }
            | Event::StartCancelled { .. }
            | Event::PauseFailed { .. }
            | Event::PauseRefused { .. }
            | Event::PauseBarred { .. }
            | Event::PauseCancelled { .. }
            | Event::Suspended { .. }
            | Event::Interrupted { .. }
            | Event::Completed
            | Event::Failed { .. }
            | Event::RemovalBegan { .. }
            | Event::ProcessAdopted { .. }
            | Event::Emptied { .. }
    )
}
