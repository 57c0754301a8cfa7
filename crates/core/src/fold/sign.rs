//! The fold, as far as an agent's signs are concerned.

use crate::event::Event;
use crate::ids::AskId;
use crate::safe::ScreenState;
use crate::session::{Phase, Session, Spoken};
use crate::talk::{Ask, AskKind, Tool};

/// Why an agent with a used-up allowance does nothing, or nothing yet.
const LIMIT_RULE: &str = "the agent's usage limit is reached";

impl Session {
    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    pub(super) fn apply_sign(&mut self, event: &Event) {
        match event {
            Event::BecameReady { .. } => {
                self.ready = true;
                self.turn.due = false;
                "the agent is ready".clone_into(&mut self.rule);
            }
            Event::TurnBegan { .. } => {
                self.spoken = Spoken::Something;
                // If it lasts, the turn will say so.
                self.limit_until = None;
                self.turn.open = true;
                self.turn.due = false;
                "the agent began a turn".clone_into(&mut self.rule);
            }
            Event::ToolBegan { tool, what, .. } => {
                self.turn.tools.push(Tool { id: tool.clone(), what: what.clone() });
            }
            Event::ToolEnded { tool, .. } => self.turn.tools.retain(|t| t.id != *tool),
            Event::BackgroundChanged { running, .. } => {
                self.turn.background = *running;
                if !self.turn.open {
                    self.note_turn_ended();
                }
            }
            Event::TurnEnded { cut, .. } => {
                // Who cut it off at the agent's own terminal knows; who did it through us has to
                // tell the agent.
                let by_us = matches!(self.phase, Phase::Pausing(_) | Phase::Stopping { .. });
                self.cut_off |= *cut && by_us;
                self.turn.open = false;
                self.turn.due = false;
                self.turn.tools.clear();
                self.note_turn_ended();
            }
            Event::Asked { ask, .. } => {
                self.asks.retain(|a| a.id != ask.id);
                self.asks.push(ask.clone());
                self.tell_that_it_asks();
            }
            Event::AskGone { ask, .. } => {
                self.asks.retain(|a| a.id != *ask);
                if self.asks.is_empty() {
                    "the agent asks no more".clone_into(&mut self.rule);
                }
            }
            Event::AnswerBegan { ask, .. } => {
                self.asks_of(ask).for_each(|ask| ask.answering = true);
            }
            Event::AnswerFailed { ask, .. } => {
                self.asks_of(ask).for_each(|ask| ask.answering = false);
            }
            Event::LimitReached { reset_at, .. } => {
                self.limit_until = Some(reset_at.clone());
                LIMIT_RULE.clone_into(&mut self.rule);
            }
            Event::ScreenJudged { state } => self.judge_screen(state),
            _ => {}
        }
    }

    /// The agent may have asked before its start was over.
    pub(super) fn tell_that_it_asks(&mut self) {
        let open = self.asks.iter().rev().find(|ask| ask.kind != AskKind::Doubt);
        if let Some(ask) = open {
            let program = ask.only_at_terminal();
            let who = if program { "its program itself asks" } else { "the agent asks" };
            self.rule = format!("{who} something");
        }
    }

    fn judge_screen(&mut self, state: &ScreenState) {
        self.screen = state.clone();
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
        let rule = match self.turn.background {
            _ if self.limit_until.is_some() => LIMIT_RULE,
            0 => "the agent ended its turn",
            _ => "the agent ended its turn and has work in the background",
        };
        rule.clone_into(&mut self.rule);
    }

    fn asks_of(&mut self, id: &AskId) -> impl Iterator<Item = &mut Ask> {
        self.asks.iter_mut().filter(move |ask| ask.id == *id)
    }
}
