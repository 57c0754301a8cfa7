//! The fold, as far as an agent's signs are concerned. Only a process gives signs.

use crate::ids::AskId;
use crate::safe::ScreenState;
use crate::session::{Phase, Session, Spoken};
use crate::talk::{Ask, Tool};

/// Why an agent with a used-up allowance does nothing, or nothing yet.
const LIMIT_RULE: &str = "the agent's usage limit is reached";

impl Session {
    pub(super) fn become_ready(&mut self) {
        let Some(run) = &mut self.run else { return };
        run.ready = true;
        run.turn.due = false;
        "the agent is ready".clone_into(&mut self.rule);
    }

    pub(super) fn begin_turn(&mut self) {
        let Some(run) = &mut self.run else { return };
        run.spoken = Spoken::Something;
        run.turn.open = true;
        run.turn.due = false;
        // If it lasts, the turn will say so.
        self.limit_until = None;
        "the agent began a turn".clone_into(&mut self.rule);
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

    pub(super) fn end_turn(&mut self, cut: bool) {
        let Some(run) = &mut self.run else { return };
        run.turn.open = false;
        run.turn.due = false;
        run.turn.tools.clear();
        // Who cut it off at the agent's own terminal knows; who did it through us has to tell the
        // agent.
        let by_us = matches!(self.phase, Phase::Pausing(_) | Phase::Stopping { .. });
        self.cut_off |= cut && by_us;
        self.note_turn_ended();
    }

    pub(super) fn add_ask(&mut self, ask: &Ask) {
        let Some(run) = &mut self.run else { return };
        run.asks.retain(|a| a.id != ask.id);
        run.asks.push(ask.clone());
        self.tell_that_it_asks();
    }

    pub(super) fn drop_ask(&mut self, ask: &AskId) {
        let Some(run) = &mut self.run else { return };
        run.asks.retain(|a| a.id != *ask);
        if !self.is_asked_about() {
            "the agent asks no more".clone_into(&mut self.rule);
        }
    }

    pub(super) fn set_answering(&mut self, id: &AskId, answering: bool) {
        let Some(run) = &mut self.run else { return };
        for ask in run.asks.iter_mut().filter(|ask| ask.id == *id) {
            ask.answering = answering;
        }
    }

    pub(super) fn reach_limit(&mut self, reset_at: &str) {
        self.limit_until = Some(reset_at.to_owned());
        LIMIT_RULE.clone_into(&mut self.rule);
    }

    /// The agent may have asked before its start was over.
    pub(super) fn tell_that_it_asks(&mut self) {
        if let Some(ask) = self.asked().last() {
            let program = ask.only_at_terminal();
            let who = if program { "its program itself asks" } else { "the agent asks" };
            self.rule = format!("{who} something");
        }
    }

    pub(super) fn judge_screen(&mut self, state: &ScreenState) {
        let Some(run) = &mut self.run else { return };
        run.screen = state.clone();
        self.rule = match state {
            ScreenState::Flowing => "its output flows".to_owned(),
            ScreenState::Silent => "no output for 5 s, no prompt in the last line".to_owned(),
            ScreenState::AtPrompt { pattern } => {
                format!("quiet, and the last line ends in {pattern:?}")
            }
            ScreenState::Asking { pattern, .. } => {
                format!("quiet, and the last line asks with {pattern:?}")
            }
        };
    }

    fn note_turn_ended(&mut self) {
        let rule = if self.limit_until.is_some() {
            LIMIT_RULE
        } else if self.turn().background == 0 {
            "the agent ended its turn"
        } else {
            "the agent ended its turn and has work in the background"
        };
        rule.clone_into(&mut self.rule);
    }
}
