//! What happens in the house, told in the chats that hear of it.

use super::Bot;
use super::asks::{bot_itself, close, note_answer, show_asks_in, take_back};
use super::say::Say;
use super::turn::{End, clear, place_of, tell_words};
use crate::button::resume_key;
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

/// Why an event was not dealt with.
#[derive(Debug)]
pub enum Untold {
    /// What the bot knows cannot be changed.
    Store(StoreFault),
    /// The daemon cannot be asked.
    House(Fault),
}

impl From<StoreFault> for Untold {
    fn from(fault: StoreFault) -> Self {
        Self::Store(fault)
    }
}

impl From<Fault> for Untold {
    fn from(fault: Fault) -> Self {
        Self::House(fault)
    }
}

impl Bot {
    /// Where to go on with the events of the house; at the end of them if that is not known, since nobody was
    /// to be told of what was before.
    pub fn position(&self) -> Result<Position, Untold> {
        if let Some(position) = self.store().look().position()? {
            return Ok(position);
        }
        self.begin_anew()
    }

    /// Goes on at the end of the events, whatever was read before.
    pub fn begin_anew(&self) -> Result<Position, Untold> {
        let Response::Daemon(daemon) = self.desk.call(&bot_itself(), Request::DaemonStatus)? else {
            return Err(Fault::unfit().into());
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
            change.begin_as(self.me.number)?;
            // What was written while a group moved, by threads that did not know of it.
            let moves = change.look().moves()?;
            moves.into_iter().try_for_each(|(from, to)| change.move_chat(from, to))?;
            let Some(aside) = change.look().meta(PUT_ASIDE)? else { return Ok(()) };
            self.tell_all(change, &words::put_aside(&aside))?;
            change.forget_meta(PUT_ASIDE)
        })
    }

    /// Tells something about the bot itself wherever it is let in.
    fn tell_all(&self, change: &Change<'_>, text: &Text) -> Result<(), StoreFault> {
        self.policy().chats().try_for_each(|chat| {
            let place = Place { chat, thread: None };
            Say::text(place, Lane::Reply, text.clone()).put(change, chat, self.now())
        })
    }

    /// Another process reads what is said to this bot.
    pub fn tell_of_another(&self) -> Result<(), StoreFault> {
        self.change(|change| self.tell_all(change, &Text::plain(words::ANOTHER_READS)))
    }

    /// Forgets the chats that are not let in any more: nothing of what was for them comes when they are again.
    pub fn forget_strangers(&self) -> Result<(), StoreFault> {
        let policy = self.policy();
        self.change(|change| {
            let policy = policy.moved(&change.look().moves()?);
            let chats = change.look().chats()?.into_iter();
            let mut strange = chats.filter(|chat| !policy.speaks_in(*chat));
            strange.try_for_each(|chat| change.forget_chat(chat))
        })
    }

    /// Shows what is asked now. What is not any more is taken back by the events that tell how it was answered.
    pub fn catch_up(&self) -> Result<(), Untold> {
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
    pub fn take_news(&self, log_id: &str, news: &News) -> Result<(), Untold> {
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
        let Some(kind) = Kind::of(name).filter(|_| !follows.is_empty()) else {
            return Ok(self.note_position(&position)?);
        };
        self.tell(kind, session, event, &position)
    }

    /// What concerns no chat is noted now and then, and with what concerns one: read again, it says nothing
    /// again.
    fn note_position(&self, position: &Position) -> Result<(), StoreFault> {
        if position.next.is_multiple_of(64) {
            self.store().change(|change| change.set_position(position))?;
        }
        Ok(())
    }

    fn tell(
        &self,
        kind: Kind,
        session: &str,
        event: &Value,
        position: &Position,
    ) -> Result<(), Untold> {
        let now = self.now();
        let shown = match self.look_at(session) {
            Ok(shown) => Some(shown),
            Err(Fault::Refused(_)) => None,
            Err(fault) => return Err(fault.into()),
        };
        let end = kind.end(event);
        let (entries, readable) = match (&shown, end) {
            (Some(_), Some(_)) => match self.read(session)? {
                Some(entries) => (entries, true),
                None => (Vec::new(), false),
            },
            (None, _) | (_, None) => (Vec::new(), true),
        };
        // What cannot be read may have words in it.
        let end = end.map(|end| if readable { end } else { End::Otherwise });
        if end.is_some() {
            self.ends_work(session);
        }
        self.change(|change| {
            // Read here: a group may have moved while the agent's words were read.
            let follows = &change.look().follows_of(session)?;
            if let Some(end) = end {
                for follow in follows {
                    tell_words(change, follow, (end, shown.as_ref(), &entries), now)?;
                    if !readable {
                        say(change, follow, UNREADABLE, now)?;
                    }
                }
            }
            if let Some((request, answer)) = answered(kind, event) {
                note_answer(change, (session, &request), (answer, event))?;
            }
            match &shown {
                Some(shown) => {
                    if let Some(line) = line(kind, shown, event) {
                        for follow in follows {
                            if kind == Kind::Interrupted {
                                offer_resume(change, follow, &line, now)?;
                            } else {
                                say(change, follow, &line, now)?;
                            }
                        }
                    }
                    if kind.takes_back() {
                        take_back(change, shown)?;
                    }
                    if kind != Kind::Answering {
                        show_asks_in(change, shown, now)?;
                    }
                }
                None => lose(change, session)?,
            }
            if kind == Kind::Archived {
                // A topic is told when it is closed.
                for follow in follows.iter().filter(|follow| follow.thread.is_none()) {
                    let text = words::archived(&follow.name);
                    Say::text(place_of(follow), Lane::Final, text).put(change, follow.user, now)?;
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
        match self.desk.conversation(session) {
            Err(fault) if fault.is_lost() => {}
            read => return read.map(Some),
        }
        // The daemon has ended, or this is what it cannot read.
        self.look_at(session)?;
        match self.desk.conversation(session) {
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
    change.push(to, Lane::Reply, &Sent::words(text), None)?;
    change.push(to, Lane::Reply, &Sent::CloseTopic, None)
}

/// A line about a session, among what agents say: in another lane it would come before or behind its time.
fn say(change: &Change<'_>, follow: &Follow, line: &str, now: i64) -> Result<(), StoreFault> {
    let say = Say::text(place_of(follow), Lane::Final, named(follow, line));
    say.by(&follow.session).put(change, follow.user, now)
}

/// A line with the session that it is about.
fn named(follow: &Follow, line: &str) -> Text {
    Text::default().bold(&follow.name).and(": ").and(line)
}

/// A line about a session that a press brings back; `/resume` may be for another by then.
fn offer_resume(
    change: &Change<'_>,
    follow: &Follow,
    line: &str,
    now: i64,
) -> Result<(), StoreFault> {
    let say =
        Say::card(place_of(follow), Lane::Final, named(follow, line), resume_key(&follow.session));
    say.by(&follow.session).put(change, follow.user, now)
}

/// Whether an event tells that an agent works, or goes on with it.
fn is_work(name: &str) -> bool {
    matches!(name, "turn_began" | "tool_began" | "answer_began" | "ask_gone")
}

/// Events that a chat hears of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    TurnEnded,
    Asking,
    Answering,
    /// A message that an agent may have got is sent once more.
    Resent,
    /// It is not.
    Dropped,
    AskGone,
    ProcessEnded,
    Failed,
    Interrupted,
    Completed,
    Limited,
    Refused,
    Archived,
    Iterated,
    LoopDone,
    LoopBroke,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "turn_ended" => Self::TurnEnded,
            "asked" | "ask_judged" | "answer_failed" | "message_doubted" => Self::Asking,
            "answer_began" => Self::Answering,
            "message_requeued" => Self::Resent,
            "message_dropped" => Self::Dropped,
            "ask_gone" => Self::AskGone,
            "process_ended" => Self::ProcessEnded,
            "failed" => Self::Failed,
            "interrupted" => Self::Interrupted,
            "completed" => Self::Completed,
            "limit_reached" => Self::Limited,
            "message_refused" => Self::Refused,
            "archived" => Self::Archived,
            "loop_looked_back" => Self::Iterated,
            "loop_done" => Self::LoopDone,
            "loop_broke" => Self::LoopBroke,
            _ => return None,
        })
    }

    /// Whether something that was asked may not be any more. Others come before it is told how it was answered.
    fn takes_back(self) -> bool {
        !matches!(
            self,
            Self::Asking | Self::Answering | Self::Limited | Self::Refused | Self::Iterated
        )
    }

    /// How it ends a stretch of an agent's work, if it does.
    fn end(self, event: &Value) -> Option<End> {
        let is = |name: &str| event.get(name).and_then(Value::as_bool) == Some(true);
        match self {
            Self::TurnEnded if is("cut") || is("limited") || event.get("failed").is_some() => {
                Some(End::Otherwise)
            }
            Self::TurnEnded => Some(End::Turn),
            Self::Asking => Some(End::Question),
            Self::ProcessEnded | Self::Failed | Self::Interrupted | Self::Completed => {
                Some(End::Otherwise)
            }
            Self::Answering
            | Self::Resent
            | Self::Dropped
            | Self::AskGone
            | Self::Limited
            | Self::Refused
            | Self::Archived
            | Self::Iterated
            | Self::LoopDone
            | Self::LoopBroke => None,
        }
    }
}

/// The request that an event tells to be answered, and how.
fn answered(kind: Kind, event: &Value) -> Option<(String, Answer<'_>)> {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    // The name that the question about a message has.
    let doubt = || Some(format!("doubt-{}", event.get("message")?));
    match kind {
        Kind::Answering => {
            let given = Answer::Given { answer: text("answer")?, reason: text("reason") };
            Some((text("ask")?.to_owned(), given))
        }
        Kind::Resent => Some((doubt()?, Answer::Resent)),
        Kind::Dropped => Some((doubt()?, Answer::Dropped)),
        Kind::TurnEnded
        | Kind::Asking
        | Kind::AskGone
        | Kind::ProcessEnded
        | Kind::Failed
        | Kind::Interrupted
        | Kind::Completed
        | Kind::Limited
        | Kind::Refused
        | Kind::Archived
        | Kind::Iterated
        | Kind::LoopDone
        | Kind::LoopBroke => None,
    }
}

/// What is told once, in a line.
fn line(kind: Kind, session: &SessionView, event: &Value) -> Option<String> {
    let text = |name: &str| event.get(name).and_then(Value::as_str).map(clean);
    let why = session.failure.as_deref().map(clean).or_else(|| text("why")).unwrap_or_default();
    let why = words::in_chat(&why, About::Session(None));
    Some(match kind {
        Kind::Failed => format!("failed: {why}"),
        Kind::Interrupted => format!("was interrupted: {why}."),
        Kind::Completed => "completed.".to_owned(),
        Kind::Limited => {
            format!("usage limit reached; until {}", text("reset_at").unwrap_or_default())
        }
        Kind::Refused => format!("your message was not taken: {why}"),
        Kind::Iterated => {
            let iteration = event.get("iteration").and_then(Value::as_u64).unwrap_or_default();
            words::iterated(session, iteration)?
        }
        Kind::LoopDone => words::loop_done(session),
        Kind::LoopBroke => words::loop_broke(session),
        Kind::TurnEnded => format!("its turn has failed: {}", text("failed")?),
        Kind::Asking
        | Kind::Answering
        | Kind::Resent
        | Kind::Dropped
        | Kind::AskGone
        | Kind::ProcessEnded
        | Kind::Archived => return None,
    })
}
