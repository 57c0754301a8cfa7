//! The fold, as far as an agent's signs are concerned. Only a process gives signs.

use crate::ids::AskId;
use crate::rule::Rule;
use crate::run::Repeated;
use crate::safe::ScreenState;
use crate::session::{Phase, Session, Spoken};
use crate::talk::{Ask, Tool};
use crate::timer::WallMs;
use crate::verdict::{Answerer, Verdict};

/// More than a person allows in a day. Each may be as large as an edit.
const ALLOWED_MAX: usize = 32;

impl Session {
    pub(super) fn become_ready(&mut self) {
        let Some(run) = &mut self.run else { return };
        run.ready = true;
        run.turn.due = false;
        self.rule = Rule::Ready;
    }

    pub(super) fn begin_turn(&mut self) {
        self.was_asking.clear();
        self.turn_failed = None;
        let Some(run) = &mut self.run else { return };
        run.spoken = Spoken::Something;
        run.turn.open = true;
        run.turn.due = false;
        run.limited = false;
        run.repeated = None;
        // If it lasts, the turn will say so.
        self.limit_until = None;
        self.rule = Rule::TurnBegan;
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
        self.turn_failed = failed.cloned();
        run.turn.open = false;
        run.turn.due = false;
        run.turn.tools.clear();
        // Who cut it off at the agent's own terminal knows; who did it through us has to tell the
        // agent.
        let by_us = matches!(self.phase, Phase::Pausing(_) | Phase::Stopping { .. });
        self.cut_off |= cut && by_us;
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
            self.was_asking.retain(|kept| kept.id != *ask);
        }
        let Some(run) = &mut self.run else { return };
        run.asks.retain(|a| a.id != *ask);
        if !self.is_asked_about() {
            self.rule = Rule::AsksNoMore;
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
        self.allowed.retain(|known| !known.is_alike(&asked));
        self.allowed.push(asked);
        // The oldest is asked about again.
        if self.allowed.len() > ALLOWED_MAX {
            self.allowed.remove(0);
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

    pub(super) fn reach_limit(&mut self, reset_at: &str) {
        self.limit_until = Some(reset_at.to_owned());
        self.rule = Rule::LimitReached;
    }

    /// The agent may have asked before its start was over.
    pub(super) fn tell_that_it_asks(&mut self) {
        if let Some(ask) = self.asked().last() {
            let program = ask.only_at_terminal();
            self.rule = if program { Rule::ProgramAsks } else { Rule::AgentAsks };
        }
    }

    pub(super) fn judge_screen(&mut self, state: &ScreenState) {
        let Some(run) = &mut self.run else { return };
        run.screen = state.clone();
        self.rule = Rule::Screen(state.clone());
    }

    fn note_turn_ended(&mut self) {
        self.rule = if self.limit_until.is_some() {
            Rule::LimitReached
        } else if self.turn_failed.is_some() {
            Rule::TurnFailed
        } else if self.turn().background == 0 {
            Rule::TurnEnded
        } else {
            Rule::WorksInBackground
        };
    }
}
