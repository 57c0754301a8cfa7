//! What a session waits for: a person, a time, the end of a spell of idleness, its next iteration.

use crate::ids::AskId;
use crate::looping::{Loop, LoopPause, LoopStage};
use crate::pause::{PauseReason, PauseRecord};
use crate::safe::ScreenState;
use crate::session::{Phase, Rest, Session, Spoken, WallMs};
use crate::spec::{IdleLimit, RefOrigin, SignSource};
use crate::spending::{GRANT, LEAVE};
use crate::status::Status;
use crate::talk::{Ask, AskKind, BUDGET, Delivery, Message};

impl Session {
    /// What the agent asks, oldest first. Our own doubts are not among it.
    pub fn asked(&self) -> &[Ask] {
        self.run.as_ref().map_or(&[], |run| &run.asks)
    }

    /// Everything that waits for a person: our doubts, whose messages are older than whatever the
    /// agent does, and then what the agent asks. What is stopped in place takes no answer.
    pub fn asks(&self) -> Vec<Ask> {
        let asked = if self.is_frozen() { &[] } else { self.asked() };
        let own = self.doubts().map(Message::doubt).chain(self.budget_question());
        own.chain(asked.iter().cloned()).collect()
    }

    /// What is asked where a budget is used up.
    fn budget_question(&self) -> Option<Ask> {
        let Phase::Rest(Rest::Paused(record)) = &self.phase else { return None };
        let what = self.spending.reached.as_ref();
        let what = what.filter(|_| record.reason == PauseReason::Budget)?;
        let text = format!("The budget is used up ({what}). Grant as much again?");
        let id = AskId(format!("{BUDGET}{}", record.at));
        Some(Ask::new(id, AskKind::Question, text).among([GRANT, LEAVE]))
    }

    /// Messages of which a person has to say what becomes of them: perhaps taken, or refused again and again.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = &Message> {
        let live = self.phase == Phase::Live;
        let doubted = move |m: &&Message| m.delivery == Delivery::Doubtful || live && m.is_stuck();
        self.talk.queue.iter().filter(doubted)
    }

    /// Whether anything is asked, and the next message has to wait for the answer.
    pub fn is_asked_about(&self) -> bool {
        !self.asked().is_empty() || self.doubts().any(|m| m.delivery == Delivery::Doubtful)
    }

    /// Whether a person has allowed the very same for the session. What is being paused, stopped or started
    /// takes no answer.
    pub(crate) fn allows_again(&self, ask: &Ask) -> bool {
        self.phase == Phase::Live && self.starts.allowed.iter().any(|known| known.is_alike(ask))
    }

    /// Whether something waits for a person that no rule is about to answer.
    pub fn waits_for_person(&self) -> bool {
        let asked = self.asked().iter().any(|ask| ask.answerer.is_person());
        asked || self.doubts().next().is_some()
    }

    /// The pause that it is in, if that is for a usage limit.
    pub fn parked(&self) -> Option<&PauseRecord> {
        self.pause_record().filter(|record| record.reason == PauseReason::RateLimit)
    }

    /// Whether it is paused, and goes on by itself: at a time that is set, or that is about to be.
    pub fn comes_back(&self) -> bool {
        self.appointment().is_some() || self.parked().is_some() && !self.course.stays
    }

    /// When it is resumed by itself, if it is paused until then.
    pub fn appointment(&self) -> Option<WallMs> {
        self.ahead.resume_at.filter(|_| self.pause_record().is_some())
    }

    /// Whether it is paused, was to be resumed by itself in vain, and is to be once more.
    pub fn is_to_be_tried_again(&self) -> bool {
        self.pause_record().is_some() && self.course.by_itself.tries_again()
    }

    /// Whether it is parked, and goes on at this time.
    pub(crate) fn is_parked_until(&self, at: WallMs) -> bool {
        self.parked().is_some() && self.appointment() == Some(at)
    }

    /// When the limit that it is parked for may be over; nothing if it was tried often enough.
    pub fn limit_over_at(&self) -> Option<WallMs> {
        self.ahead.limits.over_at(self.parked()?.at, self.starts.limit_until.as_deref())
    }

    /// The spell of idleness that it is in, if it may be suspended at the end of one.
    ///
    /// Where an agent has no conversation to come back to, ending it loses what it holds: then only
    /// who has asked for it gets it. A program that is known by its screen alone is idle only at its
    /// empty prompt.
    pub fn idle_spell(&self) -> Option<u64> {
        let run = self.run.as_ref()?;
        let idle = self.phase == Phase::Live
            && self.status() == Status::Idle
            && self.talk.queue.is_empty()
            // It stands still in the middle of something, until a person says how it goes on.
            && !self.talk.cut_off
            && !self.iterates()
            && self.upkeep.barred.is_none()
            && run.rejected.is_none();
        let known = match self.spec.traits.signs {
            SignSource::Structured => true,
            SignSource::Screen => matches!(run.screen, ScreenState::AtPrompt { .. }),
        };
        let comes_back = match self.spec.traits.refs {
            RefOrigin::Chosen | RefOrigin::Learned => {
                self.agent.agent_ref.is_some() || run.spoken != Spoken::Something
            }
            RefOrigin::None => false,
        };
        let wanted = match self.spec.idle_limit() {
            IdleLimit::Usual => comes_back,
            // A command starts anew; an agent whose conversation has no name could not be resumed.
            IdleLimit::Secs(_) => comes_back || self.spec.traits.refs == RefOrigin::None,
            IdleLimit::Never => false,
        };
        (idle && known && wanted).then_some(self.course.idle_spells)
    }

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
                let comes =
                    self.talk.queue.iter().any(|message| message.delivery != Delivery::Doubtful);
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
        self.ahead.looped.as_ref().is_some_and(|looped| looped.goes_on())
    }

    /// Whether it iterates and nothing has stopped that: another iteration follows by itself.
    pub fn goes_on_iterating(&self) -> bool {
        self.ahead.looped.as_ref().is_some_and(|looped| looped.word(self) == "running")
    }

    /// Whether it goes on although nobody asks for anything: it iterates, or is paused until a time.
    pub(crate) fn goes_on_by_itself(&self) -> bool {
        let loops = |looped: &Loop| matches!(looped.word(self), "running" | "pausing");
        self.ahead.looped.as_deref().is_some_and(loops)
            || self.comes_back()
            || self.is_to_be_tried_again()
    }

    /// Whether the daemon looks back at an iteration, or is to.
    pub fn is_looked_back_at(&self) -> bool {
        let looking = |looped: &Loop| matches!(looped.stage, LoopStage::Looking { .. });
        self.ahead.looped.as_deref().is_some_and(looking)
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
        self.ahead.looped.as_ref().and_then(|looped| looped.pausing)
    }
}

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
            Phase::Rest(Rest::Paused(_)) => session.starts.deferred.is_some(),
            Phase::Rest(Rest::Archived) => return "stopped",
            Phase::Rest(_) | Phase::Chore { .. } => {
                session.starts.deferred.is_some() || matches!(self.stage, LoopStage::Looking { .. })
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
