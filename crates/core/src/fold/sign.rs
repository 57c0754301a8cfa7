//! The fold, as far as an agent's signs are concerned.

use crate::event::Event;
use crate::ids::AskId;
use crate::safe::ScreenState;
use crate::session::{Phase, Run, Session, Spoken};
use crate::talk::{Ask, Tool};

/// Why an agent with a used-up allowance does nothing, or nothing yet.
const LIMIT_RULE: &str = "the agent's usage limit is reached";

impl Session {
    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    pub(super) fn apply_sign(&mut self, event: &Event) {
        // Only a process gives signs.
        let Some(run) = &mut self.run else { return };
        match event {
            Event::BecameReady { .. } => {
                run.ready = true;
                run.turn.due = false;
                "the agent is ready".clone_into(&mut self.rule);
            }
            Event::TurnBegan { .. } => {
                run.spoken = Spoken::Something;
                // If it lasts, the turn will say so.
                self.limit_until = None;
                run.turn.open = true;
                run.turn.due = false;
                "the agent began a turn".clone_into(&mut self.rule);
            }
            Event::ToolBegan { tool, what, .. } => {
                run.turn.tools.push(Tool { id: tool.clone(), what: what.clone() });
            }
            Event::ToolEnded { tool, .. } => run.turn.tools.retain(|t| t.id != *tool),
            Event::BackgroundChanged { running, .. } => {
                run.turn.background = *running;
                if !run.turn.open {
                    self.note_turn_ended();
                }
            }
            Event::TurnEnded { cut, .. } => {
                // Who cut it off at the agent's own terminal knows; who did it through us has to
                // tell the agent.
                let by_us = matches!(self.phase, Phase::Pausing(_) | Phase::Stopping { .. });
                self.cut_off |= *cut && by_us;
                run.turn.open = false;
                run.turn.due = false;
                run.turn.tools.clear();
                self.note_turn_ended();
            }
            Event::Asked { ask, .. } => {
                run.asks.retain(|a| a.id != ask.id);
                run.asks.push(ask.clone());
                self.tell_that_it_asks();
            }
            Event::AskGone { ask, .. } => {
                run.asks.retain(|a| a.id != *ask);
                if !self.is_asked_about() {
                    "the agent asks no more".clone_into(&mut self.rule);
                }
            }
            Event::AnswerBegan { ask, .. } => {
                run.asks_of(ask).for_each(|ask| ask.answering = true);
            }
            Event::AnswerFailed { ask, .. } => {
                run.asks_of(ask).for_each(|ask| ask.answering = false);
            }
            Event::LimitReached { reset_at, .. } => {
                self.limit_until = Some(reset_at.clone());
                LIMIT_RULE.clone_into(&mut self.rule);
            }
            Event::ScreenJudged { state } => {
                run.screen = state.clone();
                self.note_screen(state);
            }
            _ => {}
        }
    }

    /// The agent may have asked before its start was over.
    pub(super) fn tell_that_it_asks(&mut self) {
        if let Some(ask) = self.asked().last() {
            let program = ask.only_at_terminal();
            let who = if program { "its program itself asks" } else { "the agent asks" };
            self.rule = format!("{who} something");
        }
    }

    fn note_screen(&mut self, state: &ScreenState) {
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
        let rule = match self.turn().background {
            _ if self.limit_until.is_some() => LIMIT_RULE,
            0 => "the agent ended its turn",
            _ => "the agent ended its turn and has work in the background",
        };
        rule.clone_into(&mut self.rule);
    }
}

impl Run {
    fn asks_of(&mut self, id: &AskId) -> impl Iterator<Item = &mut Ask> {
        self.asks.iter_mut().filter(move |ask| ask.id == *id)
    }
}
