//! The one hand that sends: takes from the outbox what may go, and writes down what came of it.

mod pictures;

use crate::bot::{Bot, settle};
use crate::channel::{Channel, ChannelFault};
use crate::outbox::{Item, Lane, Next, Outbox, Outcome, Settled, What, Worn, together};
use crate::policy::{Place, Policy};
use crate::store::{CardState, Change, Seen, StoreFault};
use crate::words;
use pictures::Pictures;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a sender does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A request was made; there may be more to send at once.
    Again,
    /// Nothing before so many milliseconds have passed.
    Wait(u64),
    /// Nothing until it rings.
    Idle,
}

/// What came of a request. The network has it: it is written down before anything else is asked for.
struct Sent {
    chat: i64,
    /// What was sent; nothing if it was only shown.
    what: Option<What>,
    /// The session whose words it shows.
    speaker: Option<String>,
    outcome: Outcome,
    settled: Settled,
    /// How long the chat is banned for, and from when.
    banned: (i64, u64),
}

/// Sends what waits in the outbox of a bot.
pub struct Sender<'b> {
    bot: &'b Bot,
    channel: &'b dyn Channel,
    outbox: Outbox,
    /// The number of the next item that was not seen yet.
    next: u64,
    pictures: Pictures,
    /// What came of the last request, as long as that is not written down.
    unkept: Option<Sent>,
    /// Who was let in at the last step.
    policy: Arc<Policy>,
    /// Milliseconds that have passed since something in the past.
    clock: fn() -> u64,
    clock_wall: fn() -> i64,
}

impl<'b> Sender<'b> {
    /// A sender that goes on where the last one was ended.
    pub fn new(
        bot: &'b Bot,
        channel: &'b dyn Channel,
        clock_wall: fn() -> i64,
        clock: fn() -> u64,
    ) -> Result<Self, StoreFault> {
        let (outbox, pictures) = (Outbox::new(), Pictures::default());
        let policy = bot.policy();
        let mut sender = Self {
            bot,
            channel,
            outbox,
            next: 0,
            pictures,
            unkept: None,
            policy,
            clock,
            clock_wall,
        };
        let now = sender.now();
        let store = bot.store();
        let look = store.look();
        for (chat, until) in look.bans()? {
            let left = look.ban_left(chat, until, clock_wall())?;
            sender.outbox.ban(chat, now + left);
        }
        drop(store);
        Ok(sender)
    }

    fn now(&self) -> u64 {
        (self.clock)()
    }

    /// Something was said in this chat: it is open again.
    pub fn heard_from(&mut self, chat: i64) {
        self.outbox.heard_from(chat);
    }

    /// Makes at most one request. Where nobody is let in any more, nothing is said.
    pub fn step(&mut self) -> Result<Step, StoreFault> {
        let Some(_sending) = self.bot.sends() else { return Ok(Step::Idle) };
        self.keep()?;
        let policy = self.bot.policy();
        if policy != self.policy {
            self.policy = policy;
            self.outbox.open_all();
        }
        self.take_in()?;
        let now = self.now();
        match self.outbox.next(now) {
            Next::Send(items) => {
                match items.first().map(|item| item.chat) {
                    Some(chat) if !self.policy.speaks_in(chat) => self.outbox.shut(chat),
                    Some(_) | None => self.send(items)?,
                }
                Ok(Step::Again)
            }
            Next::Show(chat, _) if !self.policy.speaks_in(chat) => Ok(Step::Again),
            Next::Show(chat, draft) => {
                let answer = self.pictures.show((self.bot, self.channel), (chat, &draft), now)?;
                if let Err(ChannelFault::Moved(to)) = answer {
                    self.leave(chat, to)?;
                    return Ok(Step::Again);
                }
                let (now, outcome) = (self.now(), outcome(&answer));
                self.outbox.report_draft(chat, now, &outcome);
                self.note(chat, (None, None), outcome, Settled::Waiting);
                self.keep()?;
                Ok(Step::Again)
            }
            Next::Wait(until) => Ok(Step::Wait(until.saturating_sub(now))),
            Next::Idle => Ok(Step::Idle),
        }
    }

    /// Takes what was added since, and lets go of what is too late.
    fn take_in(&mut self) -> Result<(), StoreFault> {
        let now = self.now();
        let wall = (self.clock_wall)().unsigned_abs();
        let fresh = self.bot.store().look().waiting(self.next)?;
        let mut gone = Vec::new();
        for item in fresh {
            self.next = item.id + 1;
            let expires = item.expires.map(|at| now + at.saturating_sub(wall));
            gone.extend(self.outbox.push(Item { expires, ..item }));
        }
        gone.extend(self.outbox.expire(now));
        if !gone.is_empty() {
            self.bot.store().change(|change| gone.iter().try_for_each(|id| change.sent(*id)))?;
        }
        for (chat, draft) in self.bot.take_drafts() {
            // What is to be seen already takes no place from others.
            if !self.pictures.is_seen(chat, &draft, now) {
                self.outbox.draft(chat, draft);
            }
        }
        Ok(())
    }

    fn send(&mut self, items: Vec<Item>) -> Result<(), StoreFault> {
        let waiting: Vec<Item> = {
            let store = self.bot.store();
            let look = store.look();
            let mut waiting = Vec::new();
            for item in items {
                if look.waits(item.id)? {
                    waiting.push(item);
                } else {
                    // It was taken back meanwhile.
                    self.outbox.withdraw(item.id);
                }
            }
            waiting
        };
        let Some(first) = waiting.first() else { return Ok(()) };
        let Some(what) = first.file_due().or_else(|| together(&waiting)) else { return Ok(()) };
        let place = Place { chat: first.chat, thread: first.thread };
        if let What::Clear { session } = &what {
            self.pictures.begin_anew(place.chat, session);
            if pictures::shown(self.bot, place.chat, session)?.is_none() {
                let id = first.id;
                self.outbox.withdraw(id);
                return self.bot.store().change(|change| change.sent(id));
            }
        }
        let is_card = matches!(what, What::Post { card: Some(_), .. });
        let _sending = is_card.then(|| self.bot.sends_card(place.chat));
        let answer = self.request(place, &what);
        if let Err(ChannelFault::Moved(to)) = answer {
            return self.leave(place.chat, to);
        }
        let outcome = outcome(&answer);
        let now = self.now();
        let settled = self.outbox.report(&waiting, now, &outcome);
        let speaker = first.speaker.clone();
        self.note(place.chat, (Some(what), speaker), outcome, settled);
        self.keep()
    }

    /// A group has another number: what waits here waits there from now on.
    fn leave(&mut self, chat: i64, to: i64) -> Result<(), StoreFault> {
        self.bot.move_chat(chat, to)?;
        self.outbox.leave(chat);
        // All of it has another address.
        self.next = 0;
        Ok(())
    }

    fn note(
        &mut self,
        chat: i64,
        (what, speaker): (Option<What>, Option<String>),
        outcome: Outcome,
        settled: Settled,
    ) {
        let left = self.outbox.banned_until(chat).saturating_sub(self.now());
        let banned = ((self.clock_wall)(), left);
        self.unkept = Some(Sent { chat, what, speaker, outcome, settled, banned });
    }

    fn request(&self, place: Place, what: &What) -> Result<Option<i64>, ChannelFault> {
        match what {
            What::Post { text, keys, .. } => self.channel.post(place, text, keys).map(Some),
            What::Edit { message, text } => {
                self.channel.edit(place.chat, *message, text).map(|()| None)
            }
            What::Used { message } => {
                self.channel.take_buttons(place.chat, *message).map(|()| None)
            }
            What::File { name, content, caption } => {
                self.channel.file(place, name, content, caption).map(Some)
            }
            What::Topic { name, .. } => self.channel.thread(place.chat, name).map(Some),
            What::CloseTopic => {
                let closed = place.thread.map(|it| self.channel.close_thread(place.chat, it));
                // Without a number it is gone already.
                closed.unwrap_or(Ok(())).map(|()| None)
            }
            What::Clear { session } => {
                // What is known of it cannot be read only where the disk fails; then it stays.
                let shown = pictures::shown(self.bot, place.chat, session).ok().flatten();
                let gone = shown.map(|message| self.channel.delete(place.chat, message));
                gone.unwrap_or(Ok(())).map(|()| None)
            }
            What::Ack { query, words } => self.channel.ack(query, words).map(|()| None),
        }
    }

    /// Writes down what came of the last request. On a full disk that is tried until it can be: what the network has
    /// would be sent again, and its number would be lost.
    fn keep(&mut self) -> Result<(), StoreFault> {
        let Some(sent) = &self.unkept else { return Ok(()) };
        self.bot.store().change(|change| sent.keep(change))?;
        self.unkept = None;
        Ok(())
    }
}

impl Sent {
    fn keep(&self, change: &Change<'_>) -> Result<(), StoreFault> {
        let chat = self.chat;
        if let Outcome::TooMany(_) = self.outcome {
            change.set_ban(chat, self.banned.0, self.banned.1)?;
        }
        match &self.settled {
            Settled::Gone(ids) => {
                ids.iter().try_for_each(|id| change.sent(*id))?;
                if let Some(What::Clear { session }) = &self.what {
                    pictures::forget(change, chat, session)?;
                }
            }
            Settled::Changed(item) => {
                change.reshape(item)?;
                self.note_unseen(change, item)?;
            }
            Settled::OutOfTopic(thread) => leave_topic(change, chat, *thread)?,
            Settled::Waiting => {}
        }
        let Some(what) = &self.what else { return Ok(()) };
        if let What::Topic { session, name } = what {
            return note_topic(change, (chat, session, name), &self.outcome);
        }
        let Outcome::Sent(Some(message)) = self.outcome else { return Ok(()) };
        if let Some(session) = &self.speaker {
            change.note_said(chat, message, session)?;
        }
        let What::Post { card: Some(name), .. } = what else { return Ok(()) };
        change.set_message(name, message)?;
        let card = change.look().card(name)?;
        if let Some(card) = card.filter(|card| card.state == CardState::Closed) {
            // It was answered while it was on its way.
            settle(change, &card, (message, Lane::Reply))?;
        }
        Ok(())
    }

    /// What a card does not show any more in its plainer form: nobody can answer what they have not seen.
    fn note_unseen(&self, change: &Change<'_>, item: &Item) -> Result<(), StoreFault> {
        let What::Post { text, card: Some(card), whole, .. } = &item.what else { return Ok(()) };
        let had_file = matches!(self.what, Some(What::File { .. }));
        match item.worn {
            Worn::Note => change.show_less(card, text, Seen::Nothing),
            Worn::Not | Worn::Plain if had_file && whole.is_none() => {
                change.show_less(card, text, Seen::Part)
            }
            Worn::Not | Worn::Plain => Ok(()),
        }
    }
}

/// A topic is gone: what was for it goes to the chat, with a word about that before everything else.
fn leave_topic(change: &Change<'_>, chat: i64, thread: i64) -> Result<(), StoreFault> {
    for name in change.leave_topic(chat, thread)? {
        let word = What::words(words::topic_gone(&name));
        change.push((chat, None), Lane::Approval, &word, None)?;
    }
    Ok(())
}

/// A session has a topic, or the network gives it none.
fn note_topic(
    change: &Change<'_>,
    (chat, session, name): (i64, &str, &str),
    outcome: &Outcome,
) -> Result<(), StoreFault> {
    let (thread, text) = match outcome {
        Outcome::Sent(Some(thread)) => {
            change.set_topic(session, chat, *thread)?;
            (Some(*thread), words::topic_made(name))
        }
        Outcome::Refused | Outcome::TopicGone => (None, words::no_topic(name)),
        Outcome::Sent(None)
        | Outcome::TooMany(_)
        | Outcome::Unreachable
        | Outcome::ServerFault
        | Outcome::Blocked => return Ok(()),
    };
    change.push((chat, thread), Lane::Reply, &What::words(text), None)
}

fn outcome(answer: &Result<Option<i64>, ChannelFault>) -> Outcome {
    match answer {
        Ok(message) => Outcome::Sent(*message),
        Err(ChannelFault::TooMany(secs)) => Outcome::TooMany(*secs),
        Err(ChannelFault::Refused(_) | ChannelFault::Unknown) => Outcome::Refused,
        Err(ChannelFault::TopicGone) => Outcome::TopicGone,
        Err(ChannelFault::Blocked | ChannelFault::Moved(_)) => Outcome::Blocked,
        Err(ChannelFault::Server(_)) => Outcome::ServerFault,
        // A token that is not valid any more may be again: nothing is given up for it.
        Err(ChannelFault::Unreachable(_) | ChannelFault::Unauthorized | ChannelFault::Conflict) => {
            Outcome::Unreachable
        }
    }
}

/// The chats that these updates came from.
pub fn chats_of(updates: &[serde_json::Value]) -> BTreeSet<i64> {
    let chat = |update: &serde_json::Value| {
        let message = update.get("message").or_else(|| update.pointer("/callback_query/message"));
        message?.pointer("/chat/id")?.as_i64()
    };
    updates.iter().filter_map(chat).collect()
}
