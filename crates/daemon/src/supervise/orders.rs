//! What a holder is told, and what it answers: each order has a number, and its sender waits for that.

use super::link::{Link, complain};
use super::pending::Waits;
use super::rate::WINDOW;
use crate::holder::reads_terminal;
use crate::links::HolderCommand;
use crate::{locks, screens};
use glis_agent::Source;
use glis_core::AskId;
use glis_core::input::Outcome;
use glis_core::safe::{ScreenState, judge_quiet};
use glis_core::talk::Ask;
use glis_core::verdict::Answerer;
use glis_wire::hold::Order;
use std::io;
use std::path::Path;
use tokio::time::Instant;

/// Why an answer comes too late.
pub(super) const OFF_SCREEN: &str = "the question is no longer on the screen";

impl Link {
    pub(super) async fn run_command(&mut self, command: HolderCommand) -> io::Result<()> {
        match command {
            HolderCommand::Deliver { message, text }
                if self.listener.dialect.source() == Source::Transcript =>
            {
                self.type_message(message, text).await
            }
            HolderCommand::Deliver { message, text } => {
                let keys = self.listener.dialect.say(&text);
                self.listener.hand_over(&text);
                self.write(Waits::Delivery(message, text), &keys).await
            }
            HolderCommand::Answer { ask, answer, reason } => {
                let by_rule = ask.answerer == Answerer::Rules;
                if by_rule && !self.rules_still_say(&ask.id, &answer).await {
                    return self.tell_withdrawn(ask.id).await;
                }
                if self.listener.dialect.source() == Source::Screen && !self.still_asks(&ask).await
                {
                    return self.not_given(ask.id, OFF_SCREEN.to_owned()).await;
                }
                let dialect = &self.listener.dialect;
                let keys = match &reason {
                    Some(reason) => dialect.deny_because(&ask, reason),
                    None => dialect.answer(&ask, &answer),
                };
                let keys = match keys {
                    Ok(keys) => keys,
                    Err(why) => return self.not_given(ask.id, why).await,
                };
                self.listener.dialect.answered(&ask, &answer);
                if self.listener.dialect.shows_ask(&ask, &[]).is_some() {
                    return self.press(&ask, answer, keys).await;
                }
                self.write(Waits::Answer(ask, answer), &keys).await
            }
            HolderCommand::Interrupt => self.interrupt().await,
            HolderCommand::Freeze(op) => {
                let order = self.owed.number(Waits::Freeze(op));
                self.peer.send(&Order::Freeze { order }).await
            }
            HolderCommand::Thaw(op) => {
                let order = self.owed.number(Waits::Thaw(op));
                self.peer.send(&Order::Thaw { order }).await
            }
            HolderCommand::CheckIdle(cause, answer) => {
                answer.send(self.look_for_use(cause).await).ok();
                Ok(())
            }
            HolderCommand::Stop { ladder, children } => {
                self.peer.send(&Order::Children(children)).await?;
                self.peer.send(&Order::Stop(ladder)).await
            }
        }
    }

    /// The agent goes by another id than we thought: that one is locked as well.
    pub(super) async fn lock(&mut self, ids: Vec<String>) -> io::Result<()> {
        for id in ids {
            let path = locks::of_ref(&self.listener.supervisor.home, &self.agent, &id);
            self.peer.send(&Order::Lock { path: path.to_string_lossy().into_owned() }).await?;
        }
        Ok(())
    }

    pub(super) async fn write(&mut self, waits: Waits, bytes: &[u8]) -> io::Result<()> {
        let order = self.owed.number(waits);
        self.peer.send_raw(order, bytes).await
    }

    /// A holder that has not answered in time is looked after.
    pub(super) async fn wake_holder(&mut self) {
        let process = Some(self.process.clone());
        self.listener.supervisor.wake_holder(&self.listener.id, process).await;
        self.owed.wait_on();
    }

    pub(super) async fn written(&mut self, order: u64) {
        match self.owed.answered(order) {
            Some(Waits::Paste(message, text)) => self.enter_soon(message, text),
            Some(Waits::Delivery(message, text)) => {
                // An agent with words of its own confirms in its own words what it took.
                if self.listener.dialect.source() == Source::Screen {
                    let noted = self.listener.note_message(text);
                    // An agent that got a message counts as busy until its screen says otherwise.
                    self.flows().await;
                    self.rest_at = Some(Instant::now() + WINDOW);
                    if let Err(fault) = noted {
                        complain(&self.listener.id, &fault);
                        self.owed.unnoted = Some(message);
                        return;
                    }
                }
                self.outcome(Outcome::Delivered { message }).await;
            }
            Some(Waits::Answer(ask, answer)) => {
                if let Err(fault) = self.listener.note_answer(&ask, &answer) {
                    complain(&self.listener.id, &fault);
                }
                // What was answered is at work until its screen says otherwise, also if that asks the
                // same once more.
                if self.listener.dialect.source() == Source::Screen {
                    self.flows().await;
                }
                self.outcome(Outcome::AnswerGiven { ask: ask.id }).await;
            }
            Some(Waits::Freeze(op)) => {
                self.outcome(Outcome::Frozen { op, result: Ok(()) }).await;
            }
            Some(Waits::Thaw(op)) => {
                // Its screen was not listened to while it was stopped.
                self.rest_at = Some(Instant::now() + WINDOW);
                self.outcome(Outcome::Thawed { op, result: Ok(()) }).await;
            }
            Some(Waits::Nothing) | None => {}
        }
    }

    /// Writes down what a plain program was told while the disk was full. It is delivered with that and not before:
    /// a daemon that dies meanwhile would leave its text nowhere.
    pub(super) async fn note_late(&mut self) {
        let Some(message) = self.owed.unnoted.take() else { return };
        if self.listener.conversation.catch_up().is_ok() {
            return self.outcome(Outcome::Delivered { message }).await;
        }
        self.owed.unnoted = Some(message);
        self.keep_at = Some(Instant::now() + self.listener.vault_pace);
    }

    pub(super) async fn refused(&mut self, order: u64, why: String) {
        let waits = self.owed.answered(order);
        self.give_up(waits, why).await;
    }

    async fn give_up(&mut self, waits: Option<Waits>, why: String) {
        match waits {
            Some(Waits::Paste(message, _) | Waits::Delivery(message, _)) => {
                self.outcome(Outcome::NotDelivered { message, why }).await;
            }
            Some(Waits::Answer(ask, _)) => {
                self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why: why.into() }).await;
            }
            Some(Waits::Freeze(op)) => {
                self.outcome(Outcome::Frozen { op, result: Err(why.into()) }).await;
            }
            Some(Waits::Thaw(op)) => {
                self.outcome(Outcome::Thawed { op, result: Err(why.into()) }).await;
            }
            Some(Waits::Nothing) | None => complain(&self.listener.id, &io::Error::other(why)),
        }
    }

    /// What can never be handed over as it is.
    pub(super) async fn refused_for_good(&mut self, order: u64, why: String) {
        let waits = self.owed.answered(order);
        if let Some(Waits::Paste(message, text) | Waits::Delivery(message, text)) = &waits {
            // It leaves the queue with this: its text is kept first.
            match self.listener.note_unsent(text, &why).await {
                Ok(()) => {
                    let message = *message;
                    return self.outcome(Outcome::Undeliverable { message, why }).await;
                }
                Err(fault) => complain(&self.listener.id, &fault),
            }
        }
        self.give_up(waits, why).await;
    }

    /// The screen is looked at again right before anything is typed into it, and for a rule also
    /// whether its program still reads: a person has seen what they answer, a rule has not.
    async fn still_asks(&self, ask: &Ask) -> bool {
        let state = self.look_at_screen().await;
        if !matches!(state, ScreenState::Asking { line, .. } if line == ask.text) {
            return false;
        }
        match ask.answerer {
            Answerer::Person => true,
            Answerer::Rules | Answerer::Before => {
                reads_terminal(&self.listener.dir(), &self.process).await
            }
        }
    }

    /// Looks at the screen of this run.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        look: fn(&Path, u64) -> io::Result<T>,
    ) -> io::Result<T> {
        let (dir, from) = (self.listener.dir(), self.began_at);
        self.listener.supervisor.run_blocking(move || look(&dir, from)).await
    }

    pub(super) async fn look_at_screen(&self) -> ScreenState {
        let look = self.look(screens::look_at_cursor).await.unwrap_or_default();
        judge_quiet(&look, &self.listener.supervisor.config().patterns())
    }

    /// Tells why an answer is not given.
    pub(super) async fn not_given(&self, ask: AskId, why: String) -> io::Result<()> {
        self.outcome(Outcome::AnswerNotGiven { ask, why: why.into() }).await;
        Ok(())
    }

    pub(super) async fn outcome(&self, outcome: Outcome) {
        self.listener.supervisor.tell(&self.listener.id, outcome).await;
    }
}
