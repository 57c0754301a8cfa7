//! The fold, as far as idle sessions are concerned.

use crate::event::Event;
use crate::rule::Rule;
use crate::session::{Phase, Session};
use crate::spec::IdleLimit;
use crate::status::Status;

impl Session {
    /// Gives it another time; a spell that has begun begins anew.
    pub(super) fn limit_idle(&mut self, limit: IdleLimit) {
        self.spec.limit_idle(limit);
        self.idle_spells += 1;
    }

    /// A session that has become idle has all of its time again.
    pub(super) fn count_idle_spell(&mut self, former: Status) {
        if former != Status::Idle && self.status() == Status::Idle {
            self.idle_spells += 1;
        }
    }

    /// Whether an event is something that the agent or the user has done. That an idle session is
    /// suspended, with everything that belongs to it, is not: it stays as old as it is.
    pub(super) fn is_activity(&self, event: &Event) -> bool {
        let suspends = matches!(&self.phase, Phase::Stopping { cause, .. } if !cause.is_asked());
        let by_us = matches!(self.rule, Rule::Idled | Rule::MadeRoom);
        let suspended = matches!(self.phase, Phase::Rest(_)) && by_us;
        let begins = matches!(event, Event::StopBegan { cause, .. } if !cause.is_asked());
        let ends = matches!(event, Event::ProcessEnded { .. } | Event::Suspended { .. });
        let saves = matches!(
            event,
            Event::WorktreeSaved { op: None, .. } | Event::WorktreeNotSaved { op: None, .. }
        );
        let limits = matches!(event, Event::IdleLimitSet { .. });
        !(begins || limits || event.is_upkeep() || ends && suspends || saves && suspended)
    }
}
