//! Typing into an agent's terminal: only where its screen shows that it is meant, and looked at again
//! until it shows that it was taken.

use super::link::Link;
use super::orders::OFF_SCREEN;
use super::pending::{Answering, DIALOG, Entering, Occasion, OnScreen, Typing, Waits};
use crate::screens;
use glis_agent::{ENTER, ScreenPrompt, Shown, Source};
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
/// The same where the screen shows another question that was asked at once with this one: until that is
/// answered, this one does not come, and the caller is told so while it still waits.
const IN_A_ROW: Duration = Duration::from_secs(2);
/// Some programs swallow a key that comes right after they have painted a question.
const PRESSES_MAX: u8 = 5;
/// How long a program waits for keys before one is taken for swallowed. One that was only slow to be taken
/// would be pressed twice, and the second would meet whatever comes after the question.
const PRESS_PACE: Duration = Duration::from_millis(1500);
/// A screen that has not moved for so long shows what there is. One that has just taken a message may
/// show an empty prompt for a moment, and for longer where the machine is busy.
const STILL_TIME: Duration = Duration::from_secs(2);
/// How long Enter waits for the screen to show what was pasted. Some programs lose a key that they read
/// together with a paste (Claude Code up to 2.1.197), and read it apart after 20 ms at rest, later where the
/// machine is busy. What shows nothing in this time is entered all the same.
const ECHO_TIME: Duration = Duration::from_millis(250);
/// Before a screen is looked at again that could not be: it may have said its last word, and nothing else would tell
/// of it.
const AGAIN_PACE: Duration = Duration::from_millis(500);
/// Between two looks at a screen that something waits for.
const LOOK_PACE: Duration = Duration::from_millis(150);

impl Link {
    /// Types a message as soon as the prompt is there.
    pub(super) async fn type_message(
        &mut self,
        message: MessageId,
        text: String,
    ) -> io::Result<()> {
        self.typed.typing = Some(Typing { message, text, until: Instant::now() + PATIENCE });
        self.attend(Occasion::Moved).await
    }

    /// Presses the keys of an answer as soon as the question is there.
    pub(super) async fn press(
        &mut self,
        ask: &Ask,
        answer: String,
        keys: Vec<u8>,
    ) -> io::Result<()> {
        let open = self.listener.on_screen.iter_mut().find(|open| open.ask.id == ask.id);
        let Some(open) = open else {
            return self.not_given(ask.id.clone(), OFF_SCREEN.to_owned()).await;
        };
        let now = Instant::now();
        let until = now + PATIENCE;
        let answer = Answering { answer, keys, presses: 0, again_at: now, until };
        open.answer = Some(answer);
        // Who answers decides how exactly the screen is looked at.
        open.ask.answerer = ask.answerer;
        self.attend(Occasion::Moved).await
    }

    /// Whether anything waits for what the screen shows.
    pub(super) fn waits_for_screen(&self) -> bool {
        self.typed.waits() || self.dialog.is_some() || !self.listener.on_screen.is_empty()
    }

    /// Looks at the screen if anything depends on it.
    pub(super) async fn attend(&mut self, occasion: Occasion) -> io::Result<()> {
        if self.listener.ready && !self.waits_for_screen() && occasion == Occasion::Moved {
            return Ok(());
        }
        let Ok(lines) = self.look(screens::glance).await else {
            let again = match occasion {
                Occasion::Moved => &mut self.look_at,
                Occasion::Rested => &mut self.rest_at,
            };
            *again = Some(Instant::now() + AGAIN_PACE);
            return Ok(());
        };
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
            self.judge_sent(&shown, &lines).await?;
        }
        self.note_prompt(&shown, occasion).await;
        self.judge_held(&shown, &lines).await?;
        self.judge_swallowed(&lines).await?;
        self.judge_dialog(&shown).await;
        self.judge_questions(&lines, occasion).await?;
        if let Shown::Asking(prompt) = &shown {
            self.raise_question(prompt).await;
        }
        self.judge_entering(&shown).await?;
        self.judge_prompt(&shown, &lines).await?;
        if let Some(entering) = &self.typed.entering {
            self.look_at = Some(entering.by);
        } else if self.typed.typing.is_some()
            || self.listener.on_screen.iter().any(OnScreen::is_answered)
        {
            self.look_at = Some(Instant::now() + LOOK_PACE);
        }
        Ok(())
    }

    /// Notes what stands at the prompt, unless it is what was typed for a message. What has waited behind a
    /// person's draft is handed over once that is gone.
    async fn note_prompt(&mut self, shown: &Shown, occasion: Occasion) {
        if self.typed.sent.is_some() || self.listener.dialect.source() != Source::Transcript {
            return;
        }
        let before = self.listener.supervisor.live.note_prompt(&self.listener.id, shown);
        let is_cleared = *shown == Shown::Prompt && before == Some(Shown::Draft);
        if is_cleared && occasion == Occasion::Rested {
            self.listener.sign(Spot::Screen, Sign::Ready).await;
        }
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
        if !self.listener.on_screen.is_empty() {
            return;
        }
        let place = || AskId(format!("{LEAVE}{}-{}", self.listener.generation, self.listener.end));
        let id = prompt.id.clone().unwrap_or_else(place);
        let ask = Ask::new(id, AskKind::Approval, prompt.text.as_str());
        let ask = ask.among(prompt.choices.iter().copied()).wanting(prompt.wants.clone());
        self.listener.on_screen.push(OnScreen::seen(ask.clone()));
        self.listener.sign(Spot::Screen, Sign::Asked(ask)).await;
    }

    /// Each has a screen of its own at some time: what is not shown yet waits for that.
    async fn judge_questions(&mut self, lines: &[String], occasion: Occasion) -> io::Result<()> {
        let ids: Vec<AskId> = self.listener.on_screen.iter().map(|o| o.ask.id.clone()).collect();
        for id in ids {
            self.judge_question(id, lines, occasion).await?;
        }
        Ok(())
    }

    async fn judge_question(
        &mut self,
        id: AskId,
        lines: &[String],
        occasion: Occasion,
    ) -> io::Result<()> {
        let of_it = |open: &&mut OnScreen| open.ask.id == id;
        let by_rule = |open: &OnScreen| open.ask.id == id && open.is_answered_by_rule();
        if self.listener.on_screen.iter().any(by_rule) && !self.is_for_rules(&id).await {
            return self.withdraw(id).await;
        }
        let pressed = |open: &OnScreen| open.ask.id == id && open.is_pressed();
        let deaf = self.listener.on_screen.iter().any(pressed) && self.is_deaf().await;
        let Some(open) = self.listener.on_screen.iter_mut().find(of_it) else { return Ok(()) };
        match self.listener.dialect.shows_ask(&open.ask, lines) {
            Some(true) => {
                open.seen = true;
                let Some(answer) = &mut open.answer else { return Ok(()) };
                let by_rule = open.ask.answerer == Answerer::Rules;
                let seen_by_nobody = !open.ask.answerer.is_person();
                if seen_by_nobody && !self.listener.dialect.shows_exactly(&open.ask, lines) {
                    return self.give_up_if_late(&id, lines).await;
                }
                if deaf {
                    answer.again_at = Instant::now() + PRESS_PACE;
                }
                let may = occasion == Occasion::Rested && answer.presses < PRESSES_MAX;
                if may && Instant::now() < answer.again_at {
                    self.rest_at = Some(answer.again_at);
                    return Ok(());
                }
                if answer.presses > 0 && !may {
                    return Ok(());
                }
                let words = answer.answer.clone();
                if by_rule && !self.rules_still_say(&id, &words).await {
                    return self.withdraw(id).await;
                }
                let Some(open) = self.listener.on_screen.iter_mut().find(of_it) else {
                    return Ok(());
                };
                let Some(answer) = &mut open.answer else { return Ok(()) };
                let waits = if answer.presses == 0 {
                    Waits::Answer(Box::new(open.ask.clone()), words)
                } else {
                    Waits::Nothing
                };
                answer.presses += 1;
                answer.again_at = Instant::now() + PRESS_PACE;
                self.rest_at = Some(answer.again_at);
                let keys = answer.keys.clone();
                self.write(waits, &keys).await
            }
            Some(false) if open.seen => {
                self.listener.on_screen.retain(|open| open.ask.id != id);
                self.listener.sign(Spot::Screen, Sign::AskGone(id)).await;
                Ok(())
            }
            // It is asked before it is painted.
            Some(false) => self.give_up_if_late(&id, lines).await,
            None => Ok(()),
        }
    }

    /// An answer whose question does not come to the screen in time is not given.
    async fn give_up_if_late(&mut self, id: &AskId, lines: &[String]) -> io::Result<()> {
        let (dialect, all) = (&self.listener.dialect, &mut self.listener.on_screen);
        let is_shown = |open: &&OnScreen| dialect.shows_ask(&open.ask, lines) == Some(true);
        let shown = all.iter().find(is_shown).map(|open| open.ask.id.clone());
        let before = shown.filter(|shown| shown != id);
        let least =
            if before.is_some() { PATIENCE.saturating_sub(IN_A_ROW) } else { Duration::ZERO };
        let late =
            |answer: &mut Answering| answer.presses == 0 && Instant::now() + least > answer.until;
        let Some(open) = all.iter_mut().find(|open| open.ask.id == *id) else { return Ok(()) };
        if open.answer.take_if(late).is_some() {
            let why = match before {
                Some(before) => format!("the screen shows another question first: {}", before.0),
                None => "the question is not on the screen".to_owned(),
            };
            return self.not_given(id.clone(), why).await;
        }
        Ok(())
    }

    /// What was pasted is shown next, and then entered.
    pub(super) fn enter_soon(&mut self, message: MessageId, text: String) {
        crate::failpoint::reach("enter", &self.agent);
        let now = Instant::now();
        self.typed.entering = Some(Entering { message, text, by: now + ECHO_TIME });
        self.look_at = Some(now);
    }

    async fn judge_entering(&mut self, shown: &Shown) -> io::Result<()> {
        let due =
            |entering: &mut Entering| *shown != Shown::Prompt || entering.by <= Instant::now();
        match self.typed.entering.take_if(due) {
            Some(Entering { message, text, .. }) => {
                self.write(Waits::Delivery(message, text), ENTER).await
            }
            None => Ok(()),
        }
    }

    async fn judge_prompt(&mut self, shown: &Shown, lines: &[String]) -> io::Result<()> {
        let Some(Typing { message, text, until }) = self.typed.typing.take() else { return Ok(()) };
        // It may stand there already, of a time when its Enter was lost.
        let stands = *shown == Shown::Draft && self.listener.dialect.holds(&text, lines);
        if *shown == Shown::Prompt || stands {
            self.listener.hand_over(&text);
            self.note_sent(message, text.clone());
            if stands {
                return self.write(Waits::Delivery(message, text), ENTER).await;
            }
            let keys = self.listener.dialect.say(&text);
            return self.write(Waits::Paste(message, text), &keys).await;
        }
        if Instant::now() > until {
            let why = match shown {
                Shown::Draft => "text at its prompt was not sent",
                Shown::Prompt | Shown::Asking(_) | Shown::Dialog(_) | Shown::Other => {
                    "its screen shows no empty prompt"
                }
            };
            let why = why.to_owned();
            self.outcome(Outcome::NotDelivered { message, why }).await;
        } else {
            self.typed.typing = Some(Typing { message, text, until });
        }
        Ok(())
    }
}

/// How the names of questions begin that have none but their place on the screen.
const LEAVE: &str = "leave-";
