//! Who says something, and which session is meant by it.

use super::{Asked, Bot, Dealt, Fresh, Topic};
use crate::command::{self, Typed};
use crate::policy::{Place, Said};
use crate::store::{StoreFault, Update};
use crate::words::{self, About};
use glis_client::Fault;
use glis_core::Refusal;
use glis_wire::view::SessionView;
use serde_json::Value;

/// So much of a user's name is shown.
const NAME_CHARS: usize = 40;

/// The user whom an update is from, and what they are called.
pub(super) fn called(update: &Value) -> Option<(i64, String)> {
    let from =
        update.pointer("/message/from").or_else(|| update.pointer("/callback_query/from"))?;
    let name = from.get("first_name")?.as_str()?;
    Some((from.get("id")?.as_i64()?, words::short(name, NAME_CHARS)))
}

impl Bot {
    /// Whether something is said to the bot: all that is said in a private chat and in the topic of a session, and
    /// elsewhere in a group what is a command, answers the bot or names it. The rest people say to each other.
    pub(super) fn is_addressed(&self, asked: &Asked, said: &Said) -> Result<bool, StoreFault> {
        let Place { chat, thread } = asked.place;
        let name = &self.its.me.name;
        // The number of a group is below zero.
        if chat > 0
            || said.reply_to_user == Some(self.its.me.number)
            || command::read(&said.text, name) != Typed::Words
            || command::named(&said.text, name).is_some()
        {
            return Ok(true);
        }
        let Some(thread) = thread else { return Ok(false) };
        Ok(self.store().look().of_topic(chat, thread)?.is_some())
    }

    /// What was said is for the session that is meant now, whichever is when it is carried out.
    pub fn settle_meaning(&self, fresh: &Fresh) -> Dealt {
        let meant = self.meant(&self.asked(&fresh.what))?.unwrap_or_default();
        let settle = |update: &mut Update| update.meant = Some(meant);
        Ok(self.change(|change| change.edit_update(fresh.what.update, settle))?)
    }

    /// The session that is meant: the one that this was settled to be for, that has said what is answered, whose topic
    /// it is, or the current one.
    pub(super) fn meant(&self, asked: &Asked) -> Result<Option<String>, StoreFault> {
        let settled = self.store().look().update(asked.update)?;
        if let Some(settled) = settled.and_then(|update| update.meant) {
            return Ok(Some(settled).filter(|id| !id.is_empty()));
        }
        let speaker = match asked.reply_to {
            Some(message) => self.store().look().said_by(asked.place.chat, message)?,
            None => None,
        };
        if speaker.is_some() { Ok(speaker) } else { self.here(asked) }
    }

    /// Whether a session is the one that is talked to in this place now, for words that tell what to type.
    pub(super) fn about<'s>(
        &self,
        asked: &Asked,
        session: &'s SessionView,
    ) -> Result<About<'s>, StoreFault> {
        let is_here = self.here(asked)?.as_deref() == Some(session.id.as_str());
        Ok(About::Session(is_here.then_some(session.name.as_str())))
    }

    /// The session that is talked to in this place: the one whose topic it is, or the current one.
    pub(super) fn here(&self, asked: &Asked) -> Result<Option<String>, StoreFault> {
        let store = self.store();
        let look = store.look();
        let Place { chat, thread } = asked.place;
        let topic = match thread {
            Some(thread) => look.of_topic(chat, thread)?,
            None => None,
        };
        match (topic, asked.topic, thread) {
            (Some(id), ..) => Ok(Some(id)),
            // The topic of a session that was archived, or one of people: what is written there is for no other
            // session.
            (None, Topic::Own, Some(_)) => Ok(None),
            (None, ..) => look.current(chat),
        }
    }

    /// Does something with the session that is meant in this place.
    pub(super) fn with_current(
        &self,
        asked: &Asked,
        act: impl FnOnce(SessionView) -> Dealt,
    ) -> Dealt {
        let shown = match self.meant(asked)? {
            Some(id) => self.show(asked, &id),
            None => Err(Fault::Refused(Refusal::NoSuchSession { given: String::new() })),
        };
        match shown {
            Ok(session) => act(session),
            Err(Fault::Refused(Refusal::NoSuchSession { .. })) => {
                match (asked.topic, asked.place.thread) {
                    (Topic::Own, Some(_)) => self.reply(asked, words::NO_SESSION_IN_TOPIC),
                    (Topic::Own, None) | (Topic::None, _) => self.reply(asked, words::NO_SESSION),
                }
            }
            Err(fault) => Err(fault.into()),
        }
    }
}
