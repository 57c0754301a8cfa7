//! Pictures of what an agent is doing: a draft where the network knows those, and else a message that is edited
//! and goes when the words are here. One that cannot be shown is not shown later.

use crate::bot::Bot;
use crate::channel::{Channel, ChannelFault};
use crate::outbox::Draft;
use crate::policy::Place;
use crate::store::{Change, StoreFault};
use std::collections::{BTreeMap, BTreeSet};

/// What came of a request, with the number of a message.
type Answer = Result<Option<i64>, ChannelFault>;

/// A server that fails at so many drafts in a row does not know them.
const FAILED_MAX: u32 = 3;
/// A draft goes by itself after half a minute.
const FADES_MS: u64 = 20_000;

/// What is known of the ways to show one.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    /// The server does not know drafts.
    draftless: bool,
    /// Drafts in a row at which it failed.
    failed: u32,
    /// These chats do not.
    chats: BTreeSet<i64>,
    /// What was last shown, by chat and session, and when: the same is not shown again while it is to be seen.
    last: BTreeMap<(i64, String), (String, u64)>,
}

impl Pictures {
    /// Shows one.
    pub(super) fn show(
        &mut self,
        (bot, channel): (&Bot, &dyn Channel),
        (chat, draft): (i64, &Draft),
        now: u64,
    ) -> Result<Answer, StoreFault> {
        let place = Place { chat, thread: draft.thread };
        let answer = if self.fades(chat) {
            self.draft(channel, place, draft)
        } else {
            preview((bot, channel), place, draft)?
        };
        if answer.is_ok() {
            let name = (chat, draft.session.clone());
            self.last.insert(name, (draft.text.text.clone(), now));
        }
        Ok(answer)
    }

    /// Whether it is to be seen already.
    pub(super) fn is_seen(&self, chat: i64, draft: &Draft, now: u64) -> bool {
        let last = self.last.get(&(chat, draft.session.clone()));
        last.is_some_and(|(text, at)| {
            let is_gone = self.fades(chat) && now.saturating_sub(*at) >= FADES_MS;
            *text == draft.text.text && !is_gone
        })
    }

    /// Whether it is shown as what goes by itself. Groups have negative numbers, and no drafts.
    fn fades(&self, chat: i64) -> bool {
        chat > 0 && !self.draftless && !self.chats.contains(&chat)
    }

    /// Shows it as a draft, and learns who knows none.
    fn draft(&mut self, channel: &dyn Channel, place: Place, draft: &Draft) -> Answer {
        let answer = channel.draft(place, number(&draft.session), &draft.text);
        let failed = matches!(answer, Err(ChannelFault::Server(_)));
        self.failed = if failed { self.failed + 1 } else { 0 };
        match &answer {
            Err(ChannelFault::Unknown) => self.draftless = true,
            Err(ChannelFault::Server(_)) => self.draftless = self.failed >= FAILED_MAX,
            Err(ChannelFault::Refused(_)) => drop(self.chats.insert(place.chat)),
            Ok(())
            | Err(
                ChannelFault::TooMany(_)
                | ChannelFault::Unreachable(_)
                | ChannelFault::Moved(_)
                | ChannelFault::TopicGone
                | ChannelFault::Blocked
                | ChannelFault::Unauthorized
                | ChannelFault::Conflict,
            ) => {}
        }
        answer.map(|()| None)
    }

    /// The next picture of a session is another one, whatever it shows.
    pub(super) fn begin_anew(&mut self, chat: i64, session: &str) {
        self.last.remove(&(chat, session.to_owned()));
    }
}

/// A number for the drafts of a session, which is never zero.
fn number(session: &str) -> i64 {
    let sum = session.bytes().fold(7_i64, |sum, byte| {
        (sum.wrapping_mul(31).wrapping_add(i64::from(byte))) & 0x7fff_ffff
    });
    sum.max(1)
}

/// Shows it as a message, or changes the one that is there.
fn preview(
    (bot, channel): (&Bot, &dyn Channel),
    place: Place,
    draft: &Draft,
) -> Result<Answer, StoreFault> {
    let Some(message) = shown(bot, place.chat, &draft.session)? else {
        // Where its number cannot be kept there is to be none: nobody would take it away again.
        let name = key(place.chat, &draft.session);
        bot.store().change(|change| change.set_meta(&name, ""))?;
        let answer = channel.preview(place, &draft.text);
        if let Ok(message) = answer {
            bot.store().change(|change| {
                change.note_said(place.chat, message, &draft.session)?;
                change.set_meta(&name, &message.to_string())
            })?;
        }
        return Ok(answer.map(Some));
    };
    let answer = channel.edit(place.chat, message, &draft.text);
    if matches!(answer, Err(ChannelFault::Refused(_))) {
        // A person has taken it away.
        bot.store().change(|change| forget(change, place.chat, &draft.session))?;
    }
    Ok(answer.map(|()| None))
}

/// The message that shows what a session does.
pub(super) fn shown(bot: &Bot, chat: i64, session: &str) -> Result<Option<i64>, StoreFault> {
    let known = bot.store().look().meta(&key(chat, session))?;
    Ok(known.and_then(|number| number.parse().ok()))
}

/// It is gone.
pub(super) fn forget(change: &Change<'_>, chat: i64, session: &str) -> Result<(), StoreFault> {
    change.forget_meta(&key(chat, session))
}

fn key(chat: i64, session: &str) -> String {
    format!("preview-{chat}-{session}")
}
