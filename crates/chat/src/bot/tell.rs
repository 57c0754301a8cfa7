//! What happens in the house, told in the chats that hear of it.

use super::Bot;
use super::asks::{answered_by_whom, bot_itself, close, note_answer, show_asks_in, take_back};
use super::say::{Say, What};
use crate::button::resume_key;
use crate::outbox::{Lane, What as Sent};
use crate::policy::Place;
use crate::store::{Change, Follow, Mark, Position, StoreFault};
use crate::text::{Text, clean, from_markdown};
use crate::words;
use glis_client::{Fault, News};
use glis_core::Status;
use glis_wire::client::{Request, Response};
use glis_wire::view::{Entry, SessionView, Voice};
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

/// The place of an entry in its conversation.
pub fn mark_of(entry: &Entry) -> Mark {
    let text = serde_json::to_string(entry).unwrap_or_default();
    // A sum of our own: that of the standard library is another one in the next version.
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Mark { at: entry.timestamp.clone(), sum: sum.cast_signed() }
}

/// The entries behind a mark. One that is gone (the conversation was made short) is known by its time.
pub(super) fn since<'e>(entries: &'e [Entry], mark: &Mark) -> &'e [Entry] {
    let is_told = |entry: &Entry| entry.timestamp == mark.at && mark_of(entry) == *mark;
    let told = entries.iter().rposition(is_told);
    let from = told.map_or_else(
        || entries.iter().position(|entry| entry.timestamp > mark.at).unwrap_or(entries.len()),
        |told| told + 1,
    );
    entries.get(from..).unwrap_or_default()
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
            moves.into_iter().try_for_each(|(from, to)| change.move_chat(from, to))
        })
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
        let (entries, readable) = match (&shown, kind.ends_turn()) {
            (Some(_), true) => match self.read(session)? {
                Some(entries) => (entries, true),
                None => (Vec::new(), false),
            },
            (None, _) | (_, false) => (Vec::new(), true),
        };
        if kind.ends_turn() {
            self.ends_work(session);
        }
        self.change(|change| {
            // Read here: a group may have moved while the agent's words were read.
            let follows = &change.look().follows_of(session)?;
            if kind.ends_turn() {
                for follow in follows {
                    tell_words(change, follow, (kind, &entries), now)?;
                    if !readable {
                        say(change, follow, (Lane::Final, UNREADABLE), now)?;
                    }
                }
            }
            if kind == Kind::Answering {
                let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
                let by = event.get("from").and_then(answered_by_whom);
                let reason = event.get("reason").and_then(Value::as_str);
                let fate = words::fate_of(text("answer"), reason, by.as_deref());
                note_answer(change, session, text("ask"), &fate)?;
            }
            match &shown {
                Some(shown) => {
                    if let Some((lane, line)) = line(kind, shown, event) {
                        for follow in follows {
                            if kind == Kind::Interrupted {
                                offer_resume(change, follow, &line, now)?;
                            } else {
                                say(change, follow, (lane, &line), now)?;
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

/// What an agent has said since this chat was last told, as new messages.
fn tell_words(
    change: &Change<'_>,
    follow: &Follow,
    (kind, entries): (Kind, &[Entry]),
    now: i64,
) -> Result<(), StoreFault> {
    // Read again within the change: another event may have told it meanwhile.
    let follows = change.look().follows_of(&follow.session)?;
    let Some(follow) = follows.iter().find(|known| known.chat == follow.chat) else {
        return Ok(());
    };
    let fresh = since(entries, &follow.told);
    let Some(last) = fresh.last() else { return clear(change, follow) };
    change.set_told(&follow.session, follow.chat, &mark_of(last))?;
    let said = fresh.iter().filter(|entry| entry.voice == Voice::Assistant);
    let said: Vec<String> = said.map(|entry| clean(entry.content.trim())).collect();
    let whole = said.join("\n\n");
    if whole.trim().is_empty() {
        return clear(change, follow);
    }
    let is_current =
        change.look().current(follow.chat)?.as_deref() == Some(follow.session.as_str());
    let text = lead(follow, is_current).join(&from_markdown(&whole));
    let what = What::Text { text, whole, name: follow.name.clone() };
    // What is said before a question explains it and comes with it; not before words that wait for longer.
    let explains = kind == Kind::Asking && !change.look().has_words_waiting(follow.chat)?;
    let lane = if explains { Lane::Approval } else { Lane::Final };
    Say::new(place_of(follow), lane, what).by(&follow.session).put(change, follow.user, now)?;
    clear(change, follow)
}

/// Whose words follow, where that is not known by itself.
pub(super) fn lead(follow: &Follow, is_current: bool) -> Text {
    if is_current || follow.thread.is_some() {
        return Text::default();
    }
    Text::default().bold(&follow.name).and("\n")
}

/// The picture of what a session did goes, behind its words.
fn clear(change: &Change<'_>, follow: &Follow) -> Result<(), StoreFault> {
    let what = Sent::Clear { session: follow.session.clone() };
    change.push((follow.chat, follow.thread), Lane::Final, &what, None)
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
    change.push(to, Lane::Reply, &Sent::Post { text, keys: Vec::new(), card: None }, None)?;
    change.push(to, Lane::Reply, &Sent::CloseTopic, None)
}

/// A line about a session or a plan, among what agents say or below it.
pub(super) fn say(
    change: &Change<'_>,
    follow: &Follow,
    (lane, line): (Lane, &str),
    now: i64,
) -> Result<(), StoreFault> {
    let say = Say::text(place_of(follow), lane, named(follow, line));
    say.by(&follow.session).put(change, follow.user, now)
}

/// A line with the session that it is about.
fn named(follow: &Follow, line: &str) -> Text {
    Text::default().bold(&follow.name).and(": ").and(line)
}

/// Where a chat hears of a session.
fn place_of(follow: &Follow) -> Place {
    Place { chat: follow.chat, thread: follow.thread }
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
            "ask_gone" | "message_requeued" | "message_dropped" => Self::AskGone,
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

    fn ends_turn(self) -> bool {
        matches!(
            self,
            Self::TurnEnded
                | Self::Asking
                | Self::ProcessEnded
                | Self::Failed
                | Self::Interrupted
                | Self::Completed
        )
    }
}

/// What is told once, in a line.
fn line(kind: Kind, session: &SessionView, event: &Value) -> Option<(Lane, String)> {
    let text = |name: &str| event.get(name).and_then(Value::as_str).map(clean);
    let why = session.failure.as_deref().map(clean).or_else(|| text("why")).unwrap_or_default();
    let told = |line: String| Some((Lane::Final, line));
    match kind {
        Kind::Failed => told(format!("failed: {why}")),
        Kind::Interrupted => told(format!("was interrupted: {why}.")),
        Kind::Completed => told("completed.".to_owned()),
        Kind::Limited => {
            told(format!("usage limit reached; until {}", text("reset_at").unwrap_or_default()))
        }
        Kind::Refused => told(format!("your message was not taken: {why}")),
        // What has passed by the time a ban is over is not worth telling.
        Kind::Iterated => {
            let iteration = event.get("iteration").and_then(Value::as_u64).unwrap_or_default();
            words::iterated(session, iteration).map(|line| (Lane::Status, line))
        }
        Kind::LoopDone => told(words::loop_done(session)),
        Kind::LoopBroke => told(words::loop_broke(session)),
        Kind::TurnEnded
        | Kind::Asking
        | Kind::Answering
        | Kind::AskGone
        | Kind::ProcessEnded
        | Kind::Archived => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: &str, content: &str) -> Entry {
        Entry {
            timestamp: at.to_owned(),
            voice: Voice::Assistant,
            content: content.to_owned(),
            metadata: serde_json::Map::new(),
        }
    }

    #[test]
    fn what_was_told_is_found_again_also_in_a_shorter_conversation() {
        let all = [entry("1", "a"), entry("2", "b"), entry("2", "c"), entry("3", "d")];
        let told = |mark: &Mark| since(&all, mark).iter().map(|e| e.content.as_str()).collect();
        let seen: Vec<String> = vec![
            told(&mark_of(&all[1])),
            told(&mark_of(&all[3])),
            told(&Mark { at: "2".to_owned(), sum: 0 }),
            told(&Mark { at: "0".to_owned(), sum: 0 }),
            told(&mark_of(&entry("2", "gone"))),
        ];
        assert_eq!(seen, ["cd", "", "d", "abcd", "d"]);
    }
}
