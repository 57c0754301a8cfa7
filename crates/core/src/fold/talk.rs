//! The fold, as far as messages and an agent's signs are concerned. Only a process gives signs.

use crate::event::{Event, Spot};
use crate::ids::{AskId, MessageId};
use crate::pause::PauseReason;
use crate::rule::Rule;
use crate::run::Repeated;
use crate::safe::ScreenState;
use crate::session::{Phase, Session, Spoken, StartCause};
use crate::talk::{Ask, Delivery, Message, Tool};
use crate::timer::WallMs;
use crate::verdict::{Answerer, Verdict};

/// More than a person allows in a day. Each may be as large as an edit.
const ALLOWED_MAX: usize = 32;

impl Session {
    pub(super) fn become_ready(&mut self) {
        let Some(run) = &mut self.run else { return };
        run.ready = true;
        run.turn.due = false;
        self.course.rule = Rule::Ready;
    }

    pub(super) fn begin_turn(&mut self) {
        self.talk.was_asking.clear();
        self.talk.turn_failed = None;
        // Whoever began it knows: we, who have told the agent, or somebody at its own terminal.
        self.talk.cut_off = false;
        let Some(run) = &mut self.run else { return };
        run.spoken = Spoken::Something;
        run.turn.open = true;
        run.turn.due = false;
        run.limited = false;
        run.repeated = None;
        // If it lasts, the turn will say so.
        self.starts.limit_until = None;
        self.course.rule = Rule::TurnBegan;
    }

    pub(super) fn begin_tool(&mut self, id: &str, what: &str) {
        let Some(run) = &mut self.run else { return };
        run.turn.tools.push(Tool { id: id.to_owned(), what: what.to_owned() });
    }

    pub(super) fn end_tool(&mut self, id: &str) {
        let Some(run) = &mut self.run else { return };
        run.turn.tools.retain(|tool| tool.id != id);
    }

    pub(super) fn change_background(&mut self, running: u32) {
        let Some(run) = &mut self.run else { return };
        run.turn.background = running;
        if !run.turn.open {
            self.note_turn_ended();
        }
    }

    pub(super) fn end_turn(&mut self, cut: bool, failed: Option<&String>) {
        let Some(run) = &mut self.run else { return };
        self.talk.turn_failed = failed.cloned();
        run.turn.open = false;
        run.turn.due = false;
        run.turn.tools.clear();
        // Who cut it off at the agent's own terminal knows; who did it through us has to tell the
        // agent.
        let by_us = matches!(self.phase, Phase::Pausing(_) | Phase::Stopping { .. });
        self.talk.cut_off |= cut && by_us;
        self.note_turn_ended();
    }

    pub(super) fn add_ask(&mut self, at: WallMs, ask: &Ask) {
        let Some(run) = &mut self.run else { return };
        run.asks.retain(|a| a.id != ask.id);
        run.asks.push(Ask { since: Some(at), ..ask.clone() });
        self.tell_that_it_asks();
    }

    pub(super) fn drop_ask(&mut self, ask: &AskId) {
        // While it is being paused or stopped it is the interrupt that takes the question away.
        if !matches!(self.phase, Phase::Pausing(_) | Phase::Stopping { .. }) {
            self.talk.was_asking.retain(|kept| kept.id != *ask);
        }
        let Some(run) = &mut self.run else { return };
        run.asks.retain(|a| a.id != *ask);
        if !self.is_asked_about() {
            self.course.rule = Rule::AsksNoMore;
        }
    }

    pub(super) fn set_answering(&mut self, id: &AskId, answering: bool) {
        let Some(run) = &mut self.run else { return };
        for ask in run.asks.iter_mut().filter(|ask| ask.id == *id) {
            ask.answering = answering;
            // What did not arrive may not be repeated without a person.
            if !answering {
                ask.answerer = Answerer::Person;
            }
        }
    }

    /// From now on the very same is allowed without a question.
    pub(super) fn allow_again(&mut self, id: &AskId) {
        let Some(asked) = self.asked().iter().find(|ask| ask.id == *id).cloned() else { return };
        self.starts.allowed.retain(|known| !known.is_alike(&asked));
        self.starts.allowed.push(asked);
        // The oldest is asked about again.
        if self.starts.allowed.len() > ALLOWED_MAX {
            self.starts.allowed.remove(0);
        }
    }

    pub(super) fn take_verdict(&mut self, id: &AskId, text: &str, verdict: &Verdict) {
        let Some(run) = &mut self.run else { return };
        run.repeated = match verdict {
            Verdict::Accept { .. } | Verdict::Reject { .. } => {
                let former = run.repeated.take().filter(|repeated| repeated.text == text);
                let times = former.map_or(0, |repeated| repeated.times).saturating_add(1);
                Some(Repeated { text: text.to_owned(), times })
            }
            // A person looks at it.
            Verdict::Manual { .. } => None,
        };
        if let Verdict::Manual { .. } = verdict {
            for ask in run.asks.iter_mut().filter(|ask| ask.id == *id) {
                ask.answerer = Answerer::Person;
            }
            self.tell_that_it_asks();
        }
    }

    pub(super) fn set_auto_yes(&mut self, on: bool) {
        self.spec.auto_yes = on;
        let Some(run) = &mut self.run else { return };
        for ask in run.asks.iter_mut().filter(|ask| !ask.answering && ask.is_for_rules()) {
            ask.answerer = if on { Answerer::Rules } else { Answerer::Person };
        }
    }

    /// The agent may have asked before its start was over.
    pub(super) fn tell_that_it_asks(&mut self) {
        if let Some(ask) = self.asked().last() {
            let program = ask.only_at_terminal();
            self.course.rule = if program { Rule::ProgramAsks } else { Rule::AgentAsks };
        }
    }

    pub(super) fn judge_screen(&mut self, state: &ScreenState) {
        let Some(run) = &mut self.run else { return };
        run.screen = state.clone();
        self.course.rule = Rule::Screen(state.clone());
    }

    fn note_turn_ended(&mut self) {
        self.course.rule = if self.starts.limit_until.is_some() {
            Rule::LimitReached
        } else if self.talk.turn_failed.is_some() {
            Rule::TurnFailed
        } else if self.turn().background == 0 {
            Rule::TurnEnded
        } else {
            Rule::WorksInBackground
        };
        // A helper that works beside the turn may ask.
        self.tell_that_it_asks();
    }

    pub(super) fn queue_message(&mut self, id: MessageId, text: &str, first: bool) {
        let (text, delivery) = (text.to_owned(), Delivery::Queued);
        let message = Message {
            id,
            text,
            delivery,
            noted: false,
            changed: None,
            of_former: false,
            refused: 0,
            refusal: None,
        };
        if first {
            self.talk.queue.push_first(message);
        } else {
            self.talk.queue.push(message);
        }
        self.await_message();
    }

    pub(super) fn begin_delivery(&mut self, message: MessageId) {
        if let Some(run) = &mut self.run {
            run.spoken = Spoken::Something;
        }
        self.course.rule = Rule::Delivering;
        self.set_delivery(message, Delivery::Sent);
        let (noted, changed) = (std::mem::take(&mut self.talk.cut_off), self.upkeep.changed.take());
        if let Some(message) = self.talk.queue.get_mut(message) {
            message.noted = noted;
            message.changed = changed;
        }
    }

    pub(super) fn refuse_delivery(&mut self, message: MessageId, why: &str) {
        self.course.rule = Rule::MessageWaits(why.to_owned());
        self.set_delivery(message, Delivery::Queued);
        if let Some(message) = self.talk.queue.get_mut(message) {
            message.refused += 1;
            message.refusal = Some(why.to_owned());
        }
        self.take_note_back(message);
    }

    pub(super) fn take_message(&mut self, message: MessageId, spot: Option<Spot>) {
        if let Some(run) = &mut self.run {
            run.turn.due |= spot.is_some();
        }
        self.starts.undelivered = None;
        self.talk.was_asking.clear();
        self.talk.queue.remove(message);
    }

    pub(super) fn requeue_message(&mut self, message: MessageId) {
        self.set_delivery(message, Delivery::Queued);
        if let Some(message) = self.talk.queue.get_mut(message) {
            (message.refused, message.refusal, message.of_former) = (0, None, false);
        }
        self.take_note_back(message);
        self.await_message();
    }

    pub(super) fn refuse_message(&mut self, message: MessageId, why: &str) {
        self.course.rule = Rule::MessageRefused(why.to_owned());
        self.starts.undelivered = Some(why.to_owned());
        self.drop_message(message);
    }

    pub(super) fn drop_message(&mut self, message: MessageId) {
        self.take_note_back(message);
        self.talk.queue.remove(message);
    }

    pub(super) fn set_delivery(&mut self, message: MessageId, delivery: Delivery) {
        if let Some(message) = self.talk.queue.get_mut(message) {
            message.delivery = delivery;
        }
    }

    /// The note that a message carried may not have got there: the next one carries it again.
    fn take_note_back(&mut self, message: MessageId) {
        if let Some(message) = self.talk.queue.get_mut(message) {
            self.talk.cut_off |= std::mem::take(&mut message.noted);
            self.upkeep.changed = self.upkeep.changed.take().or(message.changed.take());
        }
    }

    /// A message to a session that is being stopped brings it back afterwards.
    fn await_message(&mut self) {
        if let Phase::Stopping { awaited, .. } = &mut self.phase {
            *awaited = true;
        }
    }

    /// Counts how often limits were met, and remembers what one has left unanswered.
    pub(super) fn note_limits(&mut self, event: &Event) {
        let limits = &mut self.ahead.limits;
        if matches!(event, Event::TurnBegan { .. }) {
            limits.unanswered = false;
        }
        if let Event::TurnEnded { limited, .. } = event {
            limits.unanswered |= limited;
            limits.tries = if *limited { limits.tries } else { 0 };
            if let Some(run) = &mut self.run {
                run.limited = *limited;
            }
        }
        if matches!(event, Event::PauseBegan { reason: PauseReason::RateLimit, .. }) {
            limits.tries += 1;
        }
        let starts = matches!(event, Event::StartBegan { .. });
        let by_itself = self.course.by_itself.due;
        // A person has said something, or has it go on. What a loop begins by itself is not a person's.
        let said = matches!(event, Event::MessageQueued { first: false, .. });
        let anew = said || matches!(event, Event::StartBegan { cause: StartCause::Restart, .. });
        let own = anew && self.ahead.looped.as_ref().is_some_and(|looped| looped.goes_on());
        if !own && (said || starts && !by_itself) {
            limits.returns = 0;
        }
    }

    pub(super) fn end_limit(&mut self, at: WallMs) {
        // Tries in vain are of one and the same limit, and so are starts that fail.
        if self.ahead.limits.tries <= 1 && self.course.by_itself.failed == 0 {
            self.ahead.limits.returns += 1;
        }
        self.ahead.limits.returned_at = Some(at);
    }
}
