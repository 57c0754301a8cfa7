//! Typing into an agent's terminal: only where its screen shows that it is meant, and looked at again
//! until it shows that it was taken.

use super::link::Link;
use super::pending::{Answering, DIALOG, Occasion, OnScreen, Typing, Waits};
use crate::screens;
use glis_agent::{ScreenPrompt, Shown};
use glis_core::event::Spot;
use glis_core::input::{Outcome, Sign};
use glis_core::talk::{Ask, AskKind};
use glis_core::verdict::Answerer;
use glis_core::{AskId, MessageId};
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// How long a screen may take to show what is to be typed into. An agent that has just ended its
/// turn paints for some milliseconds more; past this a person is typing there, or it hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// Some programs swallow a key that comes right after they have painted a question.
const PRESSES_MAX: u8 = 5;
/// Before a key is taken for swallowed. One that was only slow to be taken would be pressed twice, and
/// the second would meet whatever comes after the question.
const PRESS_PACE: Duration = Duration::from_millis(1500);
/// A screen that has not moved for so long shows what there is. One that has just taken a message may
/// show an empty prompt for a moment, and for longer where the machine is busy.
const STILL_TIME: Duration = Duration::from_secs(2);
/// Between two looks at a screen that something waits for.
const LOOK_PACE: Duration = Duration::from_millis(150);

impl Link {
    /// Types a message as soon as the prompt is there.
    pub(super) async fn type_message(
        &mut self,
        message: MessageId,
        text: String,
    ) -> io::Result<()> {
        self.typing = Some(Typing { message, text, until: Instant::now() + PATIENCE });
        self.attend(Occasion::Moved).await
    }

    /// Gives up to type what was not typed yet.
    pub(super) fn forget_typing(&mut self) -> Option<MessageId> {
        self.typing.take().map(|typing| typing.message)
    }

    /// Presses the keys of an answer as soon as the question is there.
    pub(super) async fn press(&mut self, ask: &Ask, keys: Vec<u8>) -> io::Result<()> {
        let open = self.listener.on_screen.as_mut().filter(|open| open.ask.id == ask.id);
        let Some(open) = open else {
            let why = "the question is no longer on the screen".to_owned();
            self.outcome(Outcome::AnswerNotGiven { ask: ask.id.clone(), why: why.into() }).await;
            return Ok(());
        };
        let now = Instant::now();
        let answer = Answering { keys, presses: 0, again_at: now, until: now + PATIENCE };
        open.answer = Some(answer);
        // Who answers decides how exactly the screen is looked at.
        open.ask.answerer = ask.answerer;
        self.attend(Occasion::Moved).await
    }

    /// Looks at the screen if anything depends on it.
    pub(super) async fn attend(&mut self, occasion: Occasion) -> io::Result<()> {
        let asks = self.listener.on_screen.is_some() || self.dialog.is_some();
        let waits = self.typing.is_some() || self.held.is_some() || asks;
        if self.listener.ready && !waits && occasion == Occasion::Moved {
            return Ok(());
        }
        let (dir, from) = (self.listener.supervisor.dir(&self.listener.id), self.began_at);
        let lines = self
            .listener
            .supervisor
            .run_blocking(move || screens::glance(&dir, from))
            .await
            .unwrap_or_default();
        let shown = self.listener.dialect.shows(&lines);
        if shown == Shown::Prompt && !self.listener.ready {
            self.listener.ready = true;
            self.listener.sign(Spot::Screen, Sign::Ready).await;
        }
        if occasion == Occasion::Rested {
            let still_at = self.moved_at + STILL_TIME;
            if Instant::now() < still_at {
                self.rest_at = Some(still_at);
            } else if let Some(sign) = self.listener.dialect.at_rest(&shown) {
                if sign == Sign::TurnCut {
                    self.listener.note_cut()?;
                }
                self.listener.sign(Spot::Screen, sign).await;
            }
            self.judge_sent(&shown).await;
        }
        self.judge_held(&shown).await?;
        self.judge_dialog(&shown).await;
        self.judge_question(&lines, occasion).await?;
        if let Shown::Asking(prompt) = &shown {
            self.raise_question(prompt).await;
        }
        self.judge_prompt(&shown).await?;
        if self.typing.is_some()
            || self.listener.on_screen.as_ref().is_some_and(OnScreen::is_answered)
        {
            self.look_at = Some(Instant::now() + LOOK_PACE);
        }
        Ok(())
    }

    /// A dialog of the program itself is shown as a question that is answered at the terminal.
    async fn judge_dialog(&mut self, shown: &Shown) {
        match (shown, self.dialog.take()) {
            (Shown::Dialog(_), Some(id)) => self.dialog = Some(id),
            (Shown::Dialog(text), None) => {
                let id =
                    AskId(format!("{DIALOG}{}-{}", self.listener.generation, self.listener.end));
                self.dialog = Some(id.clone());
                let ask = Ask::new(id, AskKind::Question, text.as_str()).among::<&str>([]);
                self.listener.sign(Spot::Screen, Sign::Asked(ask)).await;
            }
            (Shown::Prompt | Shown::Draft | Shown::Asking(_) | Shown::Other, Some(id)) => {
                self.listener.sign(Spot::Screen, Sign::AskGone(id)).await;
            }
            (Shown::Prompt | Shown::Draft | Shown::Asking(_) | Shown::Other, None) => {}
        }
    }

    /// A question that the agent asks on its screen and nowhere else.
    async fn raise_question(&mut self, prompt: &ScreenPrompt) {
        if self.listener.on_screen.is_some() {
            return;
        }
        let place = || AskId(format!("{LEAVE}{}-{}", self.listener.generation, self.listener.end));
        let id = prompt.id.clone().unwrap_or_else(place);
        let ask = Ask::new(id, AskKind::Approval, prompt.text.as_str());
        let ask = ask.among(prompt.choices.iter().copied()).wanting(prompt.wants.clone());
        self.listener.on_screen = Some(OnScreen::seen(ask.clone()));
        self.listener.sign(Spot::Screen, Sign::Asked(ask)).await;
    }

    async fn judge_question(&mut self, lines: &[String], occasion: Occasion) -> io::Result<()> {
        let Some(open) = &mut self.listener.on_screen else { return Ok(()) };
        let id = open.ask.id.clone();
        match self.listener.dialect.shows_ask(&open.ask, lines) {
            Some(true) => {
                open.seen = true;
                let Some(answer) = &mut open.answer else { return Ok(()) };
                let by_rule = open.ask.answerer == Answerer::Rules;
                if by_rule && !self.listener.dialect.shows_exactly(&open.ask, lines) {
                    return self.give_up_if_late().await;
                }
                let may = occasion == Occasion::Rested && answer.presses < PRESSES_MAX;
                if may && Instant::now() < answer.again_at {
                    self.rest_at = Some(answer.again_at);
                    return Ok(());
                }
                if answer.presses > 0 && !may {
                    return Ok(());
                }
                let waits = if answer.presses == 0 { Waits::Answer(id) } else { Waits::Nothing };
                answer.presses += 1;
                answer.again_at = Instant::now() + PRESS_PACE;
                self.rest_at = Some(answer.again_at);
                let keys = answer.keys.clone();
                self.write(waits, &keys).await
            }
            Some(false) if open.seen => {
                self.listener.on_screen = None;
                self.listener.sign(Spot::Screen, Sign::AskGone(id)).await;
                Ok(())
            }
            // It is asked before it is painted.
            Some(false) => self.give_up_if_late().await,
            None => Ok(()),
        }
    }

    /// An answer whose question does not come to the screen in time is not given.
    async fn give_up_if_late(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.listener.on_screen else { return Ok(()) };
        let late = |answer: &mut Answering| answer.presses == 0 && Instant::now() > answer.until;
        if open.answer.take_if(late).is_some() {
            let (ask, why) = (open.ask.id.clone(), "the question is not on the screen".to_owned());
            self.outcome(Outcome::AnswerNotGiven { ask, why: why.into() }).await;
        }
        Ok(())
    }

    async fn judge_prompt(&mut self, shown: &Shown) -> io::Result<()> {
        let Some(Typing { message, text, until }) = self.typing.take() else { return Ok(()) };
        if *shown == Shown::Prompt {
            let keys = self.listener.dialect.say(&text);
            self.listener.hand_over(&text);
            return self.write(Waits::Delivery(message, text), &keys).await;
        }
        if Instant::now() > until {
            let why = "its screen shows no empty prompt".to_owned();
            self.outcome(Outcome::NotDelivered { message, why }).await;
        } else {
            self.typing = Some(Typing { message, text, until });
        }
        Ok(())
    }
}

/// How the names of questions begin that have none but their place on the screen.
const LEAVE: &str = "leave-";
