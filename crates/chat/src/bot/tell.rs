//! What happens in the house, told in the chats that hear of it.

use super::asks::{close, note_answer, show_asks_in, take_back};
use super::say::Say;
use super::turn::{End, clear, place_of, tell_words};
use super::{Bot, Dealt, unfit};
use crate::button::{Keys, resume_key};
use crate::outbox::{Lane, What as Sent};
use crate::policy::Place;
use crate::store::{Change, Follow, PUT_ASIDE, Position, StoreFault};
use crate::text::{Text, clean};
use crate::words::{self, About, Answer};
use glis_client::{Fault, News};
use glis_core::Status;
use glis_wire::client::{Request, Response};
use glis_wire::view::{Entry, SessionView};
use serde_json::Value;

/// Where what an agent has said is there and cannot be read.
const UNREADABLE: &str = "what it said cannot be read here: the file of its conversation is damaged. \
                          `glis doctor` has more.";

impl Bot {
    /// Where to go on with the events of the house; at the end of them if that is not known, since nobody was
    /// to be told of what was before.
    pub fn position(&self) -> Dealt<Position> {
        if let Some(position) = self.store().look().position()? {
            return Ok(position);
        }
        self.begin_anew()
    }

    /// Goes on at the end of the events, whatever was read before.
    pub fn begin_anew(&self) -> Dealt<Position> {
        let Response::Daemon(daemon) = self.look(Request::DaemonStatus)? else {
            return Err(unfit());
        };
        let position = Position { log_id: daemon.log_id, next: daemon.last_seq + 1 };
        self.change(|change| change.set_position(&position))?;
        let followed = self.store().look().followed()?;
        for session in followed {
            if let Ok(shown) = self.look_at(&session) {
                self.change(|change| take_back(change, &shown))?;
            }
        }
        Ok(position)
    }

    /// Begins as the bot that it is.
    pub fn begin(&self) -> Result<(), StoreFault> {
        self.change(|change| {
            change.begin_as(self.its.me.number)?;
            // Nothing of what was for chats that are not let in any more comes when they are again.
            let policy = self.policy();
            let chats = change.look().chats()?.into_iter();
            let mut strange = chats.filter(|chat| !policy.speaks_in(*chat));
            strange.try_for_each(|chat| change.forget_chat(chat))?;
            let aside: Option<String> = change.look().meta(PUT_ASIDE)?;
            let Some(aside) = aside else { return Ok(()) };
            self.tell_all(change, &words::put_aside(&aside))?;
            change.forget_meta(PUT_ASIDE)
        })
    }

    /// Tells something about the bot itself wherever it is let in.
    fn tell_all(&self, change: &Change<'_>, text: &Text) -> Result<(), StoreFault> {
        self.policy().chats().try_for_each(|chat| {
            let place = Place { chat, thread: None };
            Say::text(place, Lane::Reply, text.clone()).put(change, chat)
        })
    }

    /// Says it wherever somebody is let in.
    pub(crate) fn tell_everywhere(&self, text: &Text) -> Result<(), StoreFault> {
        self.change(|change| self.tell_all(change, text))
    }

    /// Shows what is asked now. What is not any more is taken back by the events that tell how it was answered.
    pub fn catch_up(&self) -> Dealt {
        let followed = self.store().look().followed()?;
        for session in followed {
            match self.look_at(&session) {
                Ok(shown) => {
                    self.show_asks(&shown)?;
                    if shown.status == Status::Busy {
                        self.begins_work(&session);
                    }
                }
                Err(Fault::Refused(_)) => self.change(|change| lose(change, &session))?,
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(())
    }

    /// Takes in an event of the log with this name.
    pub fn take_news(&self, log_id: &str, news: &News) -> Dealt {
        let (seq, event) = match news {
            News::Event { seq, event } => (*seq, event),
            News::Anew { .. } => {
                self.begin_anew()?;
                return self.catch_up();
            }
        };
        let position = Position { log_id: log_id.to_owned(), next: seq + 1 };
        let session = event.get("session").and_then(Value::as_str).unwrap_or_default();
        let name = event.get("event").and_then(Value::as_str).unwrap_or_default();
        self.tell_plans(name, event)?;
        let follows = self.store().look().follows_of(session)?;
        if is_work(name) && !follows.is_empty() {
            self.begins_work(session);
        }
        if !HEARD.contains(&name) || follows.is_empty() {
            return Ok(self.note_position(&position)?);
        }
        self.tell(name, session, event, &position)
    }

    /// What concerns no chat is noted now and then, and with what concerns one: read again, it says nothing
    /// again.
    fn note_position(&self, position: &Position) -> Result<(), StoreFault> {
        if position.next.is_multiple_of(64) {
            self.store().change(|change| change.set_position(position))?;
        }
        Ok(())
    }

    fn tell(&self, name: &str, session: &str, event: &Value, position: &Position) -> Dealt {
        let shown = match self.look_at(session) {
            Ok(shown) => Some(shown),
            Err(Fault::Refused(_)) => None,
            Err(fault) => return Err(fault.into()),
        };
        let end = end_of(name, event);
        let read = match (&shown, end) {
            (Some(_), Some(_)) => self.read(session)?,
            (None, _) | (_, None) => Some(Vec::new()),
        };
        // What cannot be read may have words in it.
        let end = end.map(|end| if read.is_some() { end } else { End::Otherwise });
        let entries = read.as_deref().unwrap_or_default();
        if end.is_some() {
            self.ends_work(session);
        }
        self.change(|change| {
            let follows = &change.look().follows_of(session)?;
            if let Some(end) = end {
                for follow in follows {
                    tell_words(change, follow, (end, shown.as_ref(), entries))?;
                    if read.is_none() {
                        say(change, follow, UNREADABLE, Vec::new())?;
                    }
                }
            }
            if let Some((request, answer)) = answered(name, event) {
                note_answer(change, (session, &request), (answer, event))?;
            }
            match &shown {
                Some(shown) => {
                    if let Some(line) = line(name, shown, event) {
                        for follow in follows {
                            // `/resume` may be for another one by then.
                            let is_down = name == "interrupted";
                            let keys = if is_down { resume_key(session) } else { Vec::new() };
                            say(change, follow, &line, keys)?;
                        }
                    }
                    if takes_back(name) {
                        take_back(change, shown)?;
                    }
                    if name != "answer_began" {
                        show_asks_in(change, shown)?;
                    }
                }
                None => lose(change, session)?,
            }
            if name == "archived" {
                // A topic is told when it is closed.
                for follow in follows.iter().filter(|follow| follow.thread.is_none()) {
                    let text = words::archived(&follow.name);
                    Say::text(place_of(follow), Lane::Final, text).put(change, follow.user)?;
                }
                lose(change, session)?;
            }
            change.set_position(position)
        })?;
        Ok(())
    }

    /// The conversation of a session that the daemon knows; `None` where its file cannot be read. Everything else
    /// goes on then: other sessions have nothing to do with it. What was said is told once it can be read.
    pub(super) fn read(&self, session: &str) -> Result<Option<Vec<Entry>>, Fault> {
        match self.its.desk.conversation(session) {
            Err(fault) if fault.is_lost() => {}
            read => return read.map(Some),
        }
        // The daemon has ended, or this is what it cannot read.
        self.look_at(session)?;
        match self.its.desk.conversation(session) {
            Err(fault) if fault.is_lost() => self.look_at(session).map(|_| None),
            read => read.map(Some),
        }
    }
}

/// A session is not there any more: nothing of it is open.
fn lose(change: &Change<'_>, session: &str) -> Result<(), StoreFault> {
    for card in change.look().open_cards(session)? {
        close(change, &card)?;
    }
    for follow in change.look().follows_of(session)? {
        clear(change, &follow)?;
        close_topic(change, &follow)?;
    }
    change.forget_current(session)?;
    change.unfollow(session)
}

/// The topic of a session, if it has one, says that nothing more comes and is closed.
fn close_topic(change: &Change<'_>, follow: &Follow) -> Result<(), StoreFault> {
    if follow.thread.is_none() {
        return Ok(());
    }
    let to = (follow.chat, follow.thread);
    let text = words::topic_closed(&follow.name);
    // Behind all that agents say, and one behind the other.
    change.push(to, Lane::Reply, Sent::words(text))?;
    change.push(to, Lane::Reply, Sent::CloseTopic)
}

/// A line about a session, among what agents say: in another lane it would come before or behind its time.
fn say(change: &Change<'_>, follow: &Follow, line: &str, keys: Keys) -> Result<(), StoreFault> {
    let text = Text::default().bold(&follow.name).and(": ").and(line);
    let say = Say::card(place_of(follow), Lane::Final, text, keys);
    say.by(&follow.session).put(change, follow.user)
}

/// Whether an event tells that an agent works, or goes on with it.
fn is_work(name: &str) -> bool {
    matches!(name, "turn_began" | "tool_began" | "answer_began" | "ask_gone")
}

/// Events that a chat hears of.
const HEARD: [&str; 19] = [
    "turn_ended",
    "asked",
    "ask_judged",
    "answer_failed",
    "message_doubted",
    "answer_began",
    "message_requeued",
    "message_dropped",
    "ask_gone",
    "process_ended",
    "failed",
    "interrupted",
    "completed",
    "limit_reached",
    "message_refused",
    "archived",
    "loop_looked_back",
    "loop_done",
    "loop_broke",
];

/// Whether something that was asked may not be any more. Others come before it is told how it was answered.
fn takes_back(name: &str) -> bool {
    let others = ["answer_began", "limit_reached", "message_refused", "loop_looked_back"];
    !is_question(name) && !others.contains(&name)
}

fn is_question(name: &str) -> bool {
    matches!(name, "asked" | "ask_judged" | "answer_failed" | "message_doubted")
}

/// How an event ends a stretch of an agent's work, if it does.
fn end_of(name: &str, event: &Value) -> Option<End> {
    let is = |name: &str| event.get(name).and_then(Value::as_bool) == Some(true);
    match name {
        "turn_ended" if is("cut") || is("limited") || event.get("failed").is_some() => {
            Some(End::Otherwise)
        }
        "turn_ended" => Some(End::Turn),
        "process_ended" | "failed" | "interrupted" | "completed" => Some(End::Otherwise),
        _ => is_question(name).then_some(End::Question),
    }
}

/// The request that an event tells to be answered, and how.
fn answered<'e>(name: &str, event: &'e Value) -> Option<(String, Answer<'e>)> {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    // The name that the question about a message has.
    let doubt = || Some(format!("doubt-{}", event.get("message")?));
    match name {
        "answer_began" => {
            let given = Answer::Given { answer: text("answer")?, reason: text("reason") };
            Some((text("ask")?.to_owned(), given))
        }
        "message_requeued" => Some((doubt()?, Answer::Resent)),
        "message_dropped" => Some((doubt()?, Answer::Dropped)),
        _ => None,
    }
}

/// What is told once, in a line.
fn line(name: &str, session: &SessionView, event: &Value) -> Option<String> {
    let text = |name: &str| event.get(name).and_then(Value::as_str).map(clean);
    let why = session.failure.as_deref().map(clean).or_else(|| text("why")).unwrap_or_default();
    let why = words::in_chat(&why, About::Session(None));
    match name {
        "failed" => Some(format!("failed: {why}")),
        "interrupted" => Some(format!("was interrupted: {why}.")),
        "completed" => Some("completed.".to_owned()),
        "limit_reached" => {
            let until = text("reset_at").unwrap_or_default();
            Some(format!("usage limit reached; until {until}"))
        }
        "message_refused" => Some(format!("your message was not taken: {why}")),
        "loop_looked_back" => {
            let iteration = event.get("iteration").and_then(Value::as_u64).unwrap_or_default();
            words::iterated(session, iteration)
        }
        "loop_done" => Some(words::loop_done(session)),
        "loop_broke" => Some(words::loop_broke(session)),
        "turn_ended" => Some(format!("its turn has failed: {}", text("failed")?)),
        _ => None,
    }
}
