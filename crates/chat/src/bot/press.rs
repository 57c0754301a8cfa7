//! Buttons, pressed: each counts once, for its user, in its chat, in its time, for its own request.

use super::asks::note_where;
use super::{Asked, Bot, Dealt, Fresh, unfit};
use crate::button::{Act, Stale};
use crate::outbox::{Lane, What as Sent};
use crate::policy::{Admitted, Pressed};
use crate::store::{CardState, Change, StoreFault};
use crate::words;
use glis_core::input::IfRunning;
use glis_core::pause::PauseMode;
use glis_wire::client::{Action, Request, Response};

impl Bot {
    pub(super) fn press(&self, asked: &Asked, fresh: &Fresh, pressed: &Pressed) -> Dealt {
        let Ok(act) = self.claim(&fresh.what, pressed)? else { return Ok(()) };
        match act.ends().filter(|_| fresh.late) {
            Some(label) => {
                let session = act.session().map(str::to_owned);
                self.offer(asked, session, (words::late_press(&label), "Do it now"))
            }
            None => self.carry_out(asked, act),
        }
    }

    /// Whether a press counts. It is looked at and used up in one go: of two, one counts. Claimed again, also
    /// after a crash, it counts as before and is not told a second time.
    pub(super) fn claim(
        &self,
        what: &Admitted,
        pressed: &Pressed,
    ) -> Result<Result<Act, Stale>, StoreFault> {
        let Admitted { update, user, place, message, .. } = *what;
        let now = self.now();
        self.change(|change| {
            let keyboard = change.look().keyboard(&pressed.data)?;
            let judged = keyboard.as_ref().ok_or(Stale::Unknown).and_then(|keys| {
                keys.press(&pressed.data, update, (place.chat, user), now).cloned()
            });
            let known = keyboard.as_ref().is_some_and(|keys| keys.used_by == Some(update));
            let judged = match judged {
                Err(Stale::Used) if went_unanswered(change, pressed)? => Err(Stale::Gone),
                judged => judged,
            };
            if let (Ok(act), Some(keyboard), false) = (&judged, &keyboard, known) {
                change.use_up(keyboard, update)?;
                if act.is_for_once() && !matches!(act, Act::Answer { .. }) {
                    let used = Sent::Used { message };
                    change.push((place.chat, place.thread), Lane::Reply, used)?;
                }
            }
            if !known {
                note_where(change, what, &pressed.data)?;
                let words = judged.as_ref().err().map_or("", |stale| why(*stale)).to_owned();
                let ack = Sent::Ack { query: pressed.query.clone(), words };
                // One that comes too late is refused, and goes.
                change.push((place.chat, place.thread), Lane::Approval, ack)?;
            }
            if judged.is_err() {
                change.done(update)?;
            }
            Ok(judged)
        })
    }

    /// Puts a session into the trash. A chat that hears of it is told by that.
    fn put_away(&self, asked: &Asked, session: &str) -> Dealt {
        let hears = self.store().look().follow_in(session, asked.place.chat)?.is_some();
        let action = Action::Remove { running: IfRunning::Stop };
        let request = Request::Act { session: session.to_owned(), action };
        let Response::Done { session, .. } = self.call(asked, request)? else {
            return Err(unfit());
        };
        if hears {
            return self.answer(asked, &[], |_| Ok(()));
        }
        self.reply(asked, words::archived(&session.name))
    }

    fn carry_out(&self, asked: &Asked, act: Act) -> Dealt {
        match act {
            Act::Answer { session, request, generation, asked: text, answer } => {
                let question = (session, request, generation, text);
                self.answer_question(asked, &question, (&answer, None))
            }
            Act::Switch { session } => self.switch(asked, &session),
            Act::Resume { session } => self.resume(asked, &session),
            Act::ResumeAll => self.gate(asked, Request::ResumeAll { from_log: false }),
            Act::Restart { session } => {
                let action = Action::Restart { with_context: false };
                self.done(asked, &session, action, |session, (_, about)| {
                    words::restarted(session, about)
                })
            }
            Act::ForcePause { session } => self.pause(asked, &session, Some(PauseMode::Force)),
            Act::Archive { session } => self.put_away(asked, &session),
            Act::Plan { place, verb } => self.work_on_plan(asked, &place, verb),
            Act::RunLate { update, session } => {
                let late = self.change(|change| {
                    change.edit_update(update, |late| {
                        (late.done, late.late) = (false, false);
                        late.meant = session.or(late.meant.take());
                    })?;
                    change.done(asked.update)?;
                    change.look().update(update)
                })?;
                let late = late.map(|late| self.taken(&late)).transpose()?.flatten();
                late.map_or(Ok(()), |late| self.deal_with(&late))
            }
            Act::Leave => self.reply(asked, "Left as it is."),
        }
    }
}

/// Whether the question of a button is not asked any more, and nobody has answered it.
fn went_unanswered(change: &Change<'_>, pressed: &Pressed) -> Result<bool, StoreFault> {
    let card = change.look().card_of_button(&pressed.data)?;
    Ok(card.is_some_and(|card| card.state == CardState::Closed && card.resolution.is_none()))
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
