//! The hand that sends to a chat: takes from the outbox what may go, and writes down what came of it.

use crate::bot::{Bot, settle};
use crate::channel::{Channel, ChannelFault};
use crate::outbox::{
    Fallback, Item, Lane, Next, Outbox, Outcome, Pace, Picture, Settled, What, together,
};
use crate::policy::{Place, Policy};
use crate::store::{CardState, Change, Seen, StoreFault};
use crate::words;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What a sender does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A request was made; there may be more to send at once.
    Again,
    /// Nothing before so many milliseconds have passed.
    Wait(u64),
    /// Nothing until it is woken.
    Idle,
}

impl Step {
    /// After how many milliseconds there is something to do.
    #[cfg(test)]
    pub fn ms(&self) -> u64 {
        match self {
            Self::Again => 0,
            Self::Wait(ms) => *ms,
            Self::Idle => u64::MAX,
        }
    }
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

/// Sends what waits for one chat: one that is slow holds up no other.
pub struct Sender<'b> {
    bot: &'b Bot,
    channel: &'b dyn Channel,
    chat: i64,
    outbox: Outbox,
    /// The number of the next item that was not seen yet.
    next: u64,
    /// What each session was last shown to do: the same is not shown again.
    shown: BTreeMap<String, String>,
    /// What came of the last request, as long as that is not written down.
    unkept: Option<Sent>,
    /// Who was let in at the last step.
    policy: Arc<Policy>,
}

impl<'b> Sender<'b> {
    /// A sender that goes on where the last one was ended.
    pub fn new(
        (bot, channel): (&'b Bot, &'b dyn Channel),
        (chat, pace): (i64, &Arc<Mutex<Pace>>),
    ) -> Result<Self, StoreFault> {
        let mut outbox = Outbox::new(chat, pace);
        outbox.ban(bot.passed() + bot.store().look().ban(chat, bot.now())?);
        let (shown, policy) = (BTreeMap::new(), bot.policy());
        Ok(Self { bot, channel, chat, outbox, next: 0, shown, unkept: None, policy })
    }

    fn now(&self) -> u64 {
        self.bot.passed()
    }

    /// Makes at most one request. Where nobody is let in any more, nothing is said.
    pub fn step(&mut self) -> Result<Step, StoreFault> {
        let Some(_sending) = self.bot.sends() else { return Ok(Step::Idle) };
        self.keep()?;
        let policy = self.bot.policy();
        if self.bot.was_heard(self.chat) || policy != self.policy {
            self.policy = policy;
            self.outbox.open();
        }
        self.take_in()?;
        let now = self.now();
        let may_speak = self.policy.speaks_in(self.chat);
        match self.outbox.next(now) {
            Next::Send(_) if !may_speak => self.outbox.shut(),
            Next::Show(_) if !may_speak => {}
            Next::Send(items) => self.send(items)?,
            Next::Show(picture) => {
                let outcome = self.show(&picture)?;
                let now = self.now();
                self.outbox.report_picture(now, &outcome);
                self.note((None, None), outcome, Settled::Waiting);
                self.keep()?;
            }
            Next::Wait(until) => return Ok(Step::Wait(until.saturating_sub(now))),
            Next::Idle => return Ok(Step::Idle),
        }
        Ok(Step::Again)
    }

    /// Takes what was added since.
    fn take_in(&mut self) -> Result<(), StoreFault> {
        let fresh = self.bot.store().look().waiting(self.next)?;
        let mut gone = Vec::new();
        for item in fresh.into_iter().filter(|item| item.chat == self.chat) {
            self.next = item.id + 1;
            gone.extend(self.outbox.push(item));
        }
        if !gone.is_empty() {
            self.bot.store().change(|change| gone.iter().try_for_each(|id| change.sent(*id)))?;
        }
        for picture in self.bot.take_pictures(self.chat) {
            // What is to be seen already takes no place from others.
            if self.shown.get(&picture.session) != Some(&picture.text.text) {
                self.outbox.picture(picture);
            }
        }
        Ok(())
    }

    fn send(&mut self, items: Vec<Item>) -> Result<(), StoreFault> {
        let mut waiting = Vec::new();
        for item in items {
            if self.bot.store().look().waits(item.id)? {
                waiting.push(item);
            } else {
                // It was taken back meanwhile.
                self.outbox.withdraw(item.id);
            }
        }
        let Some(first) = waiting.first() else { return Ok(()) };
        let Some(what) = first.file_due().or_else(|| together(&waiting)) else { return Ok(()) };
        let place = Place { chat: self.chat, thread: first.thread };
        if let What::Clear { session } = &what {
            // The next picture of it is another one, whatever it shows.
            self.shown.remove(session);
            if self.bot.store().look().preview(self.chat, session)?.is_none() {
                let id = first.id;
                self.outbox.withdraw(id);
                return self.bot.store().change(|change| change.sent(id));
            }
        }
        let outcome = self.request(place, &what);
        if let Err(ChannelFault::Moved(to)) = outcome {
            // It is for whoever writes the configuration to say.
            self.bot.tell_everywhere(&words::moved(to))?;
        }
        let now = self.now();
        let settled = self.outbox.report(&waiting, now, &outcome);
        let speaker = first.speaker.clone();
        self.note((Some(what), speaker), outcome, settled);
        self.keep()
    }

    /// Shows what a session does, as a message or in the place of the one that shows it.
    fn show(&mut self, picture: &Picture) -> Result<Outcome, StoreFault> {
        let Picture { thread, session, text, .. } = picture;
        let (bot, chat) = (self.bot, self.chat);
        let known = bot.store().look().preview(chat, session)?;
        let answer = if let Some(message) = known {
            let to = Place { chat, thread: None };
            let answer = self.channel.send(to, &What::Edit { message, text: text.clone() });
            if matches!(answer, Err(ChannelFault::Refused(_))) {
                // A person has taken it away.
                bot.store().change(|change| change.forget_preview(chat, session))?;
            }
            answer
        } else {
            // Where its number cannot be kept there is to be none: nobody would take it away again.
            bot.store().change(|change| change.set_preview(chat, session, None))?;
            let answer = self.channel.preview(Place { chat, thread: *thread }, text);
            if let Ok(message) = answer {
                bot.store().change(|change| {
                    change.note_said(chat, message, session)?;
                    change.set_preview(chat, session, Some(message))
                })?;
            }
            answer.map(Some)
        };
        if answer.is_ok() {
            self.shown.insert(session.clone(), text.text.clone());
        }
        Ok(answer)
    }

    fn note(
        &mut self,
        (what, speaker): (Option<What>, Option<String>),
        outcome: Outcome,
        settled: Settled,
    ) {
        let left = self.outbox.banned_until().saturating_sub(self.now());
        let (chat, banned) = (self.chat, (self.bot.now(), left));
        self.unkept = Some(Sent { chat, what, speaker, outcome, settled, banned });
    }

    fn request(&self, place: Place, what: &What) -> Outcome {
        let What::Clear { session } = what else { return self.channel.send(place, what) };
        // What is known of it cannot be read only where the disk fails; then it stays.
        let shown = self.bot.store().look().preview(place.chat, session).ok().flatten();
        let gone = shown.map(|message| self.channel.delete(place.chat, message));
        gone.unwrap_or(Ok(())).map(|()| None)
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
        if let Err(ChannelFault::TooMany(_)) = self.outcome {
            change.set_ban(chat, self.banned.0, self.banned.1)?;
        }
        match &self.settled {
            Settled::Gone(ids) => {
                ids.iter().try_for_each(|id| change.sent(*id))?;
                if let Some(What::Clear { session }) = &self.what {
                    change.forget_preview(chat, session)?;
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
        let Ok(Some(message)) = self.outcome else { return Ok(()) };
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
        let seen = match item.fallback {
            Fallback::Notice => Seen::Nothing,
            Fallback::Rich | Fallback::PlainText if had_file && whole.is_none() => Seen::Part,
            Fallback::Rich | Fallback::PlainText => return Ok(()),
        };
        change.edit_card(card, |card| (card.shown, card.seen) = (text.clone(), seen))
    }
}

/// A topic is gone: what was for it goes to the chat, with a word about that before everything else.
fn leave_topic(change: &Change<'_>, chat: i64, thread: i64) -> Result<(), StoreFault> {
    for name in change.leave_topic(chat, thread)? {
        let word = What::words(words::topic_gone(&name));
        change.push((chat, None), Lane::Approval, word)?;
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
        Ok(Some(thread)) => {
            change.edit_follow(session, chat, |follow| follow.thread = Some(*thread))?;
            (Some(*thread), words::topic_made(name))
        }
        Err(ChannelFault::Refused(_) | ChannelFault::Unknown | ChannelFault::TopicGone) => {
            (None, words::no_topic(name))
        }
        Ok(None) | Err(_) => return Ok(()),
    };
    change.push((chat, thread), Lane::Reply, What::words(text))
}
