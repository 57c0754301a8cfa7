//! What a holder is told, and what it answers: each order has a number, and its sender waits for that.

use super::link::{Link, complain};
use super::pending::Waits;
use super::rate::WINDOW;
use crate::holder::reads_terminal;
use crate::links::HolderCommand;
use crate::{locks, screens};
use glis_agent::Source;
use glis_core::input::Outcome;
use glis_core::safe::{ScreenState, judge_quiet};
use glis_core::talk::Ask;
use glis_core::verdict::Answerer;
use glis_wire::hold::Order;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// A holder answers an order at once; after this long it is looked at whether it was stopped.
const ANSWER_TIME: Duration = Duration::from_secs(5);

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
                    let why = "the question is no longer on the screen".to_owned();
                    self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why: why.into() }).await;
                    return Ok(());
                }
                let dialect = &self.listener.dialect;
                let keys = match &reason {
                    Some(reason) => dialect.deny_because(&ask, reason),
                    None => dialect.answer(&ask, &answer),
                };
                let keys = match keys {
                    Ok(keys) => keys,
                    Err(why) => {
                        self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why: why.into() })
                            .await;
                        return Ok(());
                    }
                };
                self.listener.dialect.answered(&ask, &answer);
                if self.listener.dialect.shows_ask(&ask, &[]).is_some() {
                    return self.press(&ask, answer, keys).await;
                }
                self.write(Waits::Answer(ask, answer), &keys).await
            }
            HolderCommand::Interrupt => self.interrupt().await,
            HolderCommand::Freeze(op) => {
                let order = self.number(Waits::Freeze(op));
                self.peer.send(&Order::Freeze { order }).await
            }
            HolderCommand::Thaw(op) => {
                let order = self.number(Waits::Thaw(op));
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
        let order = self.number(waits);
        self.peer.send_raw(order, bytes).await
    }

    /// A number for an order that is waited for.
    fn number(&mut self, waits: Waits) -> u64 {
        let order = self.next_order;
        self.next_order += 1;
        self.orders.insert(order, waits);
        self.wake_at.get_or_insert(Instant::now() + ANSWER_TIME);
        order
    }

    /// A holder that has not answered in time is looked after.
    pub(super) async fn wake_holder(&mut self) {
        let process = Some(self.process.clone());
        self.listener.supervisor.wake_holder(&self.listener.id, process).await;
        self.wake_at = Some(Instant::now() + ANSWER_TIME);
    }

    /// The wait for the answer to an order, if there was one.
    fn answered(&mut self, order: u64) -> Option<Waits> {
        let waits = self.orders.remove(&order);
        self.wake_at = (!self.orders.is_empty()).then(|| Instant::now() + ANSWER_TIME);
        waits
    }

    pub(super) async fn written(&mut self, order: u64) {
        match self.answered(order) {
            Some(Waits::Paste(message, text)) => self.enter_soon(message, text),
            Some(Waits::Delivery(message, text)) => {
                // An agent with words of its own confirms in its own words what it took.
                if self.listener.dialect.source() == Source::Screen {
                    if let Err(fault) = self.listener.note_message(text) {
                        complain(&self.listener.id, &fault);
                    }
                    // An agent that got a message counts as busy until its screen says otherwise.
                    self.flows().await;
                    self.rest_at = Some(Instant::now() + WINDOW);
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
            Some(Waits::Freeze(op)) => self.outcome(Outcome::ProcessFrozen { op }).await,
            Some(Waits::Thaw(op)) => {
                // Its screen was not listened to while it was stopped.
                self.rest_at = Some(Instant::now() + WINDOW);
                self.outcome(Outcome::Thawed { op }).await;
            }
            Some(Waits::Nothing) | None => {}
        }
    }

    pub(super) async fn refused(&mut self, order: u64, why: String) {
        match self.answered(order) {
            Some(Waits::Paste(message, _) | Waits::Delivery(message, _)) => {
                self.outcome(Outcome::NotDelivered { message, why }).await;
            }
            Some(Waits::Answer(ask, _)) => {
                self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why: why.into() }).await;
            }
            Some(Waits::Freeze(op)) => {
                self.outcome(Outcome::NotFrozen { op, why: why.into() }).await;
            }
            Some(Waits::Thaw(op)) => {
                self.outcome(Outcome::NotThawed { op, why: why.into() }).await;
            }
            Some(Waits::Nothing) | None => complain(&self.listener.id, &io::Error::other(why)),
        }
    }

    /// What can never be handed over as it is.
    pub(super) async fn refused_for_good(&mut self, order: u64, why: String) {
        match self.answered(order) {
            Some(Waits::Paste(message, text) | Waits::Delivery(message, text)) => {
                // It leaves the queue with this: its text is kept first.
                if let Err(fault) = self.listener.note_unsent(&text, &why).await {
                    complain(&self.listener.id, &fault);
                    return self.outcome(Outcome::NotDelivered { message, why }).await;
                }
                self.outcome(Outcome::Undeliverable { message, why }).await;
            }
            Some(Waits::Answer(ask, _)) => {
                self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why: why.into() }).await;
            }
            Some(Waits::Freeze(op)) => {
                self.outcome(Outcome::NotFrozen { op, why: why.into() }).await;
            }
            Some(Waits::Thaw(op)) => {
                self.outcome(Outcome::NotThawed { op, why: why.into() }).await;
            }
            Some(Waits::Nothing) | None => complain(&self.listener.id, &io::Error::other(why)),
        }
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
                let dir = self.listener.supervisor.dir(&self.listener.id);
                reads_terminal(&dir, &self.process).await
            }
        }
    }

    pub(super) async fn look_at_screen(&self) -> ScreenState {
        let (dir, from) = (self.listener.supervisor.dir(&self.listener.id), self.began_at);
        let look = self
            .listener
            .supervisor
            .run_blocking(move || screens::look_at_cursor(&dir, from))
            .await;
        let look = look.unwrap_or_default();
        judge_quiet(&look, &self.listener.supervisor.config().patterns())
    }

    pub(super) async fn outcome(&self, outcome: Outcome) {
        self.listener.supervisor.tell(&self.listener.id, outcome).await;
    }
}
