//! Buttons, pressed: each counts once, for its user, in its chat, in its time, for its own request.

use super::asks::note_where;
use super::say::Say;
use super::{Asked, Bot};
use crate::button::{Act, Stale};
use crate::outbox::{Lane, What as Sent};
use crate::policy::Pressed;
use crate::store::{CardState, Change, StoreFault, Update};
use crate::words;
use glis_client::Fault;
use glis_core::input::IfRunning;
use glis_core::pause::PauseMode;
use glis_wire::client::{Action, Request, Response};

impl Bot {
    pub(super) fn press(&self, update: &Update, pressed: &Pressed) -> Result<(), StoreFault> {
        let is_late = update.late;
        let caller = self.caller(pressed.user, pressed.update);
        let Pressed { update, user, place, .. } = *pressed;
        let topic = self.topic_in(pressed.forum);
        let asked = Asked { update, user, place, reply_to: None, topic, caller };
        match self.claim(pressed)? {
            Ok(act) => match act.ends().filter(|_| is_late) {
                Some(label) => {
                    let session = act.session().map(str::to_owned);
                    self.offer(&asked, session, (words::late_press(&label), "Do it now"))
                }
                None => self.carry_out(&asked, act),
            },
            Err(_) => Ok(()),
        }
    }

    /// Whether a press counts. It is looked at and used up in one go: of two, one counts. Claimed again, also
    /// after a crash, it counts as before and is not told a second time.
    pub(super) fn claim(&self, pressed: &Pressed) -> Result<Result<Act, Stale>, StoreFault> {
        let Pressed { update, user, place, .. } = *pressed;
        let now = self.now();
        self.change(|change| {
            let button = change.look().button(&pressed.data)?;
            let (judged, known) = match &button {
                Some(button) => {
                    let judged = button.press(update, place.chat, user, now).cloned();
                    (judged, button.used_by == Some(update))
                }
                None => (Err(Stale::Unknown), false),
            };
            let judged = match judged {
                Err(Stale::Used) if went_unanswered(change, pressed)? => Err(Stale::Gone),
                judged => judged,
            };
            match &judged {
                Ok(act) if !known && act.is_for_once() => {
                    change.use_up(&pressed.data, update)?;
                    if !act.is_answer() {
                        let used = Sent::Used { message: pressed.message };
                        change.push((place.chat, place.thread), Lane::Reply, &used, None)?;
                    }
                }
                Ok(_) if !known => change.note_press(&pressed.data, update)?,
                Ok(_) | Err(_) => {}
            }
            if !known {
                note_where(change, pressed)?;
                let words = judged.as_ref().err().map_or("", |stale| why(*stale));
                Say::ack(place, &pressed.query, words).put(change, user, now)?;
            }
            if judged.is_err() {
                change.done(update)?;
            }
            Ok(judged)
        })
    }

    /// Puts a session into the trash. A chat that hears of it is told by that.
    fn put_away(&self, asked: &Asked, session: &str) -> Result<(), StoreFault> {
        let follows = self.store().look().follows_of(session)?;
        let hears = follows.iter().any(|follow| follow.chat == asked.place.chat);
        let action = Action::Remove { running: IfRunning::Stop };
        let request = Request::Act { session: session.to_owned(), action };
        match self.carry(asked, &request)? {
            Ok(Response::Done { .. }) if hears => self.answer(asked, &[], |_| Ok(())),
            Ok(Response::Done { session, .. }) => self.reply(asked, words::archived(&session.name)),
            Ok(_) => self.complain(asked, Fault::unfit()),
            Err(fault) => self.complain(asked, fault),
        }
    }

    fn carry_out(&self, asked: &Asked, act: Act) -> Result<(), StoreFault> {
        match act {
            Act::Answer { session, request, generation, asked: text, answer } => {
                let question = (session, request, generation, text);
                self.answer_question(asked, &question, (&answer, None))
            }
            Act::Switch { session } => self.switch(asked, &session),
            Act::Resume { session } => self.resume(asked, &session),
            Act::ResumeAll => self.gate(asked, &Request::ResumeAll { from_log: false }),
            Act::Restart { session } => {
                let action = Action::Restart { with_context: false };
                self.done(asked, &session, action, |session, (_, about)| {
                    words::restarted(session, about)
                })
            }
            Act::ForcePause { session } => self.pause(asked, &session, Some(PauseMode::Force)),
            Act::Archive { session } => self.put_away(asked, &session),
            Act::ExecutePlan { place } => self.execute_plan(asked, &place),
            Act::PausePlan { place } => self.pause_plan(asked, &place, PauseMode::Interrupt),
            Act::ResumeTask { place, task } => self.resume_task(asked, &place, &task),
            Act::RestartTask { place, task } => self.restart_task(asked, &place, &task),
            Act::RuleTask { place, task, ruling } => self.rule_task(asked, &place, &task, ruling),
            Act::RunLate { update, session } => {
                self.answer(asked, &[], |change| {
                    change.take_up(update)?;
                    session.iter().try_for_each(|session| change.mean(update, session))
                })?;
                self.deal_with(update)
            }
            Act::Leave => {
                let say = Say::text(asked.place, Lane::Reply, "Left as it is.");
                self.answer(asked, &[say], |_| Ok(()))
            }
        }
    }
}

/// Whether the question of a button is not asked any more, and nobody has answered it.
fn went_unanswered(change: &Change<'_>, pressed: &Pressed) -> Result<bool, StoreFault> {
    let card = change.look().card_of_button(&pressed.data)?;
    Ok(card.is_some_and(|card| card.state == CardState::Closed && card.fate.is_none()))
}

/// What pops up where a press counts for nothing.
fn why(stale: Stale) -> &'static str {
    match stale {
        Stale::Unknown => "This button is not known any more.",
        Stale::Used => "This was answered already.",
        Stale::Gone => "This is not asked any more.",
        Stale::ShownAgain => "This is shown again below.",
        Stale::Expired => "This button is too old.",
        Stale::NotYours => "This button is for another user.",
    }
}
