//! What a session's agent does, and whether one that iterates goes on.

use crate::looping::{Loop, LoopPause, LoopStage};
use crate::safe::ScreenState;
use crate::session::{Phase, Rest, Session};
use crate::spec::SignSource;
use crate::status::Status;
use crate::talk::Delivery;

impl Loop {
    /// The word of the contract. Whatever waits for a person is paused, however it came to that.
    pub fn word(&self, session: &Session) -> &'static str {
        match self.stage {
            LoopStage::Done(_) => return "done",
            LoopStage::Stopped { .. } => return "stopped",
            LoopStage::Open | LoopStage::Looking { .. } | LoopStage::Due { .. } => {}
        }
        let goes_on = match &session.phase {
            Phase::Pausing(_) => return "pausing",
            Phase::Rest(Rest::Paused(_)) => session.deferred.is_some(),
            Phase::Rest(Rest::Archived) => return "stopped",
            Phase::Rest(_) | Phase::Chore { .. } => {
                session.deferred.is_some() || matches!(self.stage, LoopStage::Looking { .. })
            }
            Phase::Live => self.broke.is_none(),
            Phase::Starting(_) | Phase::Stopping { .. } => true,
        };
        match (goes_on, self.pausing) {
            (false, _) => "paused",
            (true, Some(_)) => "pausing",
            (true, None) => "running",
        }
    }
}

impl Session {
    /// What its agent does, whatever else is wanted of it.
    pub(crate) fn live_status(&self) -> Status {
        if self.waits_for_person() {
            return Status::Waiting;
        }
        // The rules are about to say something, or have said it and the agent is about to go on.
        if !self.asked().is_empty() {
            return Status::Busy;
        }
        match self.spec.traits.signs {
            SignSource::Structured => {
                // A message on its way, or about to be, is work that is about to begin.
                let comes = self.queue.iter().any(|message| message.delivery != Delivery::Doubtful);
                let works = !self.is_ready() || self.turn().under_way() || comes;
                if works { Status::Busy } else { Status::Idle }
            }
            SignSource::Screen => match self.screen() {
                ScreenState::Flowing => Status::Busy,
                ScreenState::Silent | ScreenState::AtPrompt { .. } => Status::Idle,
                ScreenState::Asking { .. } => Status::Waiting,
            },
        }
    }

    /// Whether it iterates, and is not done with that.
    pub fn iterates(&self) -> bool {
        self.looped.as_ref().is_some_and(|looped| looped.goes_on())
    }

    /// Whether it iterates and nothing has stopped that: another iteration follows by itself.
    pub fn goes_on_iterating(&self) -> bool {
        self.looped.as_ref().is_some_and(|looped| looped.word(self) == "running")
    }

    /// Whether it goes on although nobody asks for anything: it iterates, or is paused until a time.
    pub(crate) fn goes_on_by_itself(&self) -> bool {
        let loops = |looped: &Loop| matches!(looped.word(self), "running" | "pausing");
        self.looped.as_deref().is_some_and(loops)
            || self.comes_back()
            || self.is_to_be_tried_again()
    }

    /// Whether the daemon looks back at an iteration, or is to.
    pub fn is_looked_back_at(&self) -> bool {
        let looking = |looped: &Loop| matches!(looped.stage, LoopStage::Looking { .. });
        self.looped.as_deref().is_some_and(looking)
    }

    /// Whether a daemon that has just started has to see to it although nothing of it runs: what it left
    /// is saved, its conversation made short, a time waited for, an iteration looked back at.
    pub fn needs_a_daemon(&self) -> bool {
        self.is_left_unsaved()
            || self.may_be_compacted()
            || self.appointment().is_some()
            || self.parked().is_some()
            || self.is_looked_back_at()
    }

    /// The pause that waits for the end of an iteration.
    pub fn pause_to_come(&self) -> Option<LoopPause> {
        self.looped.as_ref().and_then(|looped| looped.pausing)
    }
}
