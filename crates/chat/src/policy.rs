//! Who is let in. One gate stands before any reading of what was said, for messages and for buttons alike.
//!
//! An allowed user's private chat is known by itself, a group only by its number in the configuration. What
//! was edited, forwarded, posted by another bot or in the name of a chat is nobody's command.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Who may use the bot, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    users: BTreeSet<i64>,
    chats: BTreeSet<i64>,
}

/// Who may use the bot, and who might until a moment ago: a file may be written in several goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lists {
    /// Who may.
    pub now: Arc<Policy>,
    /// Who might before, as long as it is not sure that they may not any more.
    pub before: Option<Arc<Policy>>,
}

/// Where something was said, and where the answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The chat.
    pub chat: i64,
    /// The topic in it.
    pub thread: Option<i64>,
}

/// What was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted {
    /// A message.
    Said(Said),
    /// A button.
    Pressed(Pressed),
}

/// A message of an allowed user in an allowed chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The update that brought it.
    pub update: i64,
    /// When it was sent, in seconds of the network's clock.
    pub at: i64,
    /// By whom.
    pub user: i64,
    /// Where.
    pub place: Place,
    /// Whether the chat has topics.
    pub forum: bool,
    /// Its own number in the chat.
    pub message: i64,
    /// The words; those below a picture or a file count as well. None where it is a sticker or the like.
    pub text: String,
    /// The message that it answers.
    pub reply_to: Option<i64>,
    /// Who has sent that one.
    pub reply_to_user: Option<i64>,
    /// A file that came with it.
    pub file: Option<Attached>,
}

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// The network's name for it.
    pub id: String,
    /// The user's name for it; a photo has none.
    pub name: Option<String>,
    /// How large it is, where that is told.
    pub bytes: Option<u64>,
    /// What it is.
    pub kind: AttachedKind,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachedKind {
    /// Any file.
    Document,
    /// A picture.
    Photo,
    /// A moving one.
    Video,
    /// Something to listen to.
    Audio,
    /// Something spoken.
    Voice,
}

/// A button that an allowed user pressed in an allowed chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pressed {
    /// The update that brought it.
    pub update: i64,
    /// By whom.
    pub user: i64,
    /// Where.
    pub place: Place,
    /// Whether the chat has topics.
    pub forum: bool,
    /// The message that has the button.
    pub message: i64,
    /// When that was sent, in seconds: the network does not tell when the button was pressed, and that was later.
    pub shown_at: i64,
    /// The network's name for this press, which wants an answer.
    pub query: String,
    /// What the button carries.
    pub data: String,
}

/// Why something was not let in. There is no answer to any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// The user is on no list.
    Stranger,
    /// The user is, but the chat is not.
    OtherChat,
    /// It is not a fresh message or press of a person: edited, forwarded, by a bot, in the name of a chat.
    NotSaidHere,
    /// It is nothing that was asked for, or cannot be read.
    Unusable,
}

impl Policy {
    /// These users, in their private chats and in these groups. `None` without any user: a bot that no
    /// person may use must not run.
    pub fn new(users: &[i64], chats: &[i64]) -> Option<Self> {
        let users: BTreeSet<i64> = users.iter().copied().filter(|user| *user > 0).collect();
        let chats = chats.iter().copied().collect();
        (!users.is_empty()).then_some(Self { users, chats })
    }

    /// Nobody, as long as the configuration names no user.
    pub fn nobody() -> Self {
        Self { users: BTreeSet::new(), chats: BTreeSet::new() }
    }

    /// Whether it is of use to nobody.
    pub fn is_nobodys(&self) -> bool {
        self.users.is_empty()
    }

    /// Lets an update in, or not.
    pub fn admit(&self, update: &Value) -> Result<Admitted, Ignored> {
        let id = update.get("update_id").and_then(Value::as_i64).ok_or(Ignored::Unusable)?;
        if let Some(message) = update.get("message") {
            let (user, chat) = self.let_in(message.get("from"), message.get("chat"))?;
            if ALIEN.iter().any(|field| message.get(*field).is_some()) {
                return Err(Ignored::NotSaidHere);
            }
            return said(id, user, chat, message).map(Admitted::Said).ok_or(Ignored::Unusable);
        }
        if let Some(query) = update.get("callback_query") {
            // Without its message a button is one of another chat, sent there through the bot.
            let message = query.get("message");
            let from = query.get("from");
            let chat = message.and_then(|message| message.get("chat"));
            if chat.is_none() && self.is_user(from).is_some() {
                return Err(Ignored::NotSaidHere);
            }
            let (user, chat) = self.let_in(from, chat)?;
            return pressed(id, user, chat, query).map(Admitted::Pressed).ok_or(Ignored::Unusable);
        }
        Err(Ignored::NotSaidHere)
    }

    fn is_user(&self, from: Option<&Value>) -> Option<i64> {
        let from = from?;
        let is_bot = from.get("is_bot").and_then(Value::as_bool).unwrap_or(false);
        let id = from.get("id").and_then(Value::as_i64)?;
        (!is_bot && self.users.contains(&id)).then_some(id)
    }

    /// Whether anything may be said in this chat. The number of a private one is its user's.
    pub fn speaks_in(&self, chat: i64) -> bool {
        self.users.contains(&chat) || (self.chats.contains(&chat) && !self.is_nobodys())
    }

    /// Every chat in which something may be said.
    pub fn chats(&self) -> impl Iterator<Item = i64> {
        self.users.iter().chain(&self.chats).copied()
    }

    /// The same, for groups that have other numbers since.
    #[must_use]
    pub fn moved(&self, moves: &[(i64, i64)]) -> Self {
        let mut moved = self.clone();
        for (from, to) in moves {
            if moved.chats.contains(from) {
                moved.chats.insert(*to);
            }
        }
        moved
    }

    /// A group that is let in and has another number from now on: the old one, and the new. The network alone says so,
    /// in the group, whoever has made it do that.
    pub fn moves(&self, update: &Value) -> Option<(i64, i64)> {
        let message = update.get("message")?;
        let number = |name: &str| message.get(name).and_then(Value::as_i64);
        let chat = message.pointer("/chat/id").and_then(Value::as_i64)?;
        let there = number("migrate_to_chat_id").map(|to| (chat, to));
        let moved = there.or_else(|| number("migrate_from_chat_id").map(|from| (from, chat)))?;
        (self.chats.contains(&moved.0) && !self.is_nobodys()).then_some(moved)
    }

    fn let_in(&self, from: Option<&Value>, chat: Option<&Value>) -> Result<(i64, i64), Ignored> {
        let user = self.is_user(from).ok_or(Ignored::Stranger)?;
        let chat = chat.ok_or(Ignored::Unusable)?;
        let id = chat.get("id").and_then(Value::as_i64).ok_or(Ignored::Unusable)?;
        let known = match chat.get("type").and_then(Value::as_str) {
            Some("private") => id == user,
            Some("group" | "supergroup") => self.chats.contains(&id),
            Some(_) | None => false,
        };
        if known { Ok((user, id)) } else { Err(Ignored::OtherChat) }
    }
}

/// What a message has that a person did not write here and now.
const ALIEN: [&str; 10] = [
    "forward_origin",
    "forward_date",
    "forward_from",
    "forward_from_chat",
    "forward_sender_name",
    "is_automatic_forward",
    "via_bot",
    "sender_chat",
    "sender_business_bot",
    "edit_date",
];

/// What a person sends that no agent can be told. All else without words is the network's own: somebody has come,
/// a message was pinned.
const WORDLESS: [&str; 8] =
    ["sticker", "contact", "location", "venue", "poll", "dice", "game", "story"];

fn thread(message: &Value) -> Option<i64> {
    // A reply in a group without topics has a number as well, which means nothing to a sender.
    let is_topic = message.get("is_topic_message").and_then(Value::as_bool).unwrap_or(false);
    message.get("message_thread_id").and_then(Value::as_i64).filter(|_| is_topic)
}

/// Whether the chat of a message has topics.
fn has_topics(message: &Value) -> bool {
    message.pointer("/chat/is_forum").and_then(Value::as_bool).unwrap_or(false)
}

fn said(update: i64, user: i64, chat: i64, message: &Value) -> Option<Said> {
    let words = message.get("text").or_else(|| message.get("caption"));
    let text = words.and_then(Value::as_str).unwrap_or_default().to_owned();
    let reply = |at: &str| message.pointer(at).and_then(Value::as_i64);
    let file = attached(message);
    if text.is_empty() && file.is_none() && !WORDLESS.iter().any(|it| message.get(*it).is_some()) {
        return None;
    }
    Some(Said {
        update,
        at: message.get("date").and_then(Value::as_i64)?,
        user,
        place: Place { chat, thread: thread(message) },
        forum: has_topics(message),
        message: message.get("message_id").and_then(Value::as_i64)?,
        text,
        reply_to: reply("/reply_to_message/message_id"),
        reply_to_user: reply("/reply_to_message/from/id"),
        file,
    })
}

fn attached(message: &Value) -> Option<Attached> {
    let of = |value: &Value, kind| {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let bytes = value.get("file_size").and_then(Value::as_u64);
        Some(Attached { id: text("file_id")?, name: text("file_name"), bytes, kind })
    };
    let alone = [
        ("document", AttachedKind::Document),
        ("voice", AttachedKind::Voice),
        ("video", AttachedKind::Video),
        ("video_note", AttachedKind::Video),
        ("audio", AttachedKind::Audio),
    ];
    for (field, kind) in alone {
        if let Some(value) = message.get(field) {
            return of(value, kind);
        }
    }
    // The last one is the largest.
    let photos = message.get("photo").and_then(Value::as_array)?;
    photos.last().and_then(|photo| of(photo, AttachedKind::Photo))
}

fn pressed(update: i64, user: i64, chat: i64, query: &Value) -> Option<Pressed> {
    let message = query.get("message")?;
    let text = |name: &str| query.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Pressed {
        update,
        user,
        place: Place { chat, thread: thread(message) },
        forum: has_topics(message),
        message: message.get("message_id").and_then(Value::as_i64)?,
        shown_at: message.get("date").and_then(Value::as_i64).unwrap_or_default(),
        query: text("id")?,
        data: text("data")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy() -> Policy {
        Policy::new(&[7, 8], &[-100]).unwrap()
    }

    fn message(user: i64, chat: i64, kind: &str) -> Value {
        json!({"update_id": 1, "message": {
            "message_id": 5, "date": 100, "text": "hi",
            "from": {"id": user, "is_bot": false}, "chat": {"id": chat, "type": kind},
        }})
    }

    fn press(user: i64, chat: i64, kind: &str) -> Value {
        json!({"update_id": 2, "callback_query": {
            "id": "q", "data": "d", "from": {"id": user, "is_bot": false},
            "message": {"message_id": 5, "chat": {"id": chat, "type": kind}},
        }})
    }

    #[test]
    fn without_users_there_is_no_policy() {
        assert_eq!(Policy::new(&[], &[-100]), None);
        assert_eq!(Policy::new(&[0, -3], &[]), None);
    }

    #[test]
    fn a_user_is_let_in_where_they_are_known() {
        for update in [message, press] {
            for (user, chat, kind, expected) in [
                (7, 7, "private", None),
                (8, -100, "supergroup", None),
                (8, -100, "group", None),
                (9, 9, "private", Some(Ignored::Stranger)),
                (9, -100, "group", Some(Ignored::Stranger)),
                (7, 8, "private", Some(Ignored::OtherChat)),
                (7, -101, "group", Some(Ignored::OtherChat)),
                (7, -100, "channel", Some(Ignored::OtherChat)),
                (7, 7, "other", Some(Ignored::OtherChat)),
            ] {
                let seen = policy().admit(&update(user, chat, kind)).err();
                assert_eq!(seen, expected, "{user} {chat} {kind}");
            }
        }
    }

    #[test]
    fn what_was_not_said_here_and_now_counts_for_nothing() {
        for field in ALIEN {
            let mut update = message(7, 7, "private");
            update["message"][field] = json!(true);
            assert_eq!(policy().admit(&update), Err(Ignored::NotSaidHere), "{field}");
        }
        for kind in ["edited_message", "channel_post", "edited_channel_post", "inline_query"] {
            let mut update = message(7, 7, "private");
            update[kind] = update["message"].take();
            update.as_object_mut().unwrap().remove("message");
            assert_eq!(policy().admit(&update), Err(Ignored::NotSaidHere), "{kind}");
        }
        let mut inline = press(7, 7, "private");
        inline["callback_query"].as_object_mut().unwrap().remove("message");
        assert_eq!(policy().admit(&inline), Err(Ignored::NotSaidHere));
        let mut bot = message(7, 7, "private");
        bot["message"]["from"]["is_bot"] = json!(true);
        assert_eq!(policy().admit(&bot), Err(Ignored::Stranger));
    }

    /// A user who is on the list, taken out of any update: then no rest of it is let in.
    #[test]
    fn no_part_of_an_update_stands_for_the_user() {
        for update in [message(7, 7, "private"), press(7, 7, "private")] {
            for field in ["message", "callback_query"] {
                let mut update = update.clone();
                if let Some(inner) = update.get_mut(field).and_then(Value::as_object_mut) {
                    inner.remove("from");
                    inner.insert("via_user".to_owned(), json!({"id": 7}));
                    assert_eq!(policy().admit(&update), Err(Ignored::Stranger));
                }
            }
        }
    }

    #[test]
    fn a_group_keeps_its_right_under_another_number() {
        let service = |chat: i64, field: &str, number: i64| {
            let mut update = message(9, chat, "group");
            update["message"][field] = json!(number);
            policy().moves(&update)
        };
        assert_eq!(service(-100, "migrate_to_chat_id", -900), Some((-100, -900)));
        assert_eq!(service(-900, "migrate_from_chat_id", -100), Some((-100, -900)));
        assert_eq!(service(-101, "migrate_to_chat_id", -900), None);
        assert_eq!(policy().moves(&message(7, -100, "group")), None);
        let moved = policy().moved(&[(-100, -900), (-101, -901)]);
        assert!(moved.speaks_in(-900) && !moved.speaks_in(-901) && !policy().speaks_in(-900));
    }

    #[test]
    fn what_cannot_be_read_is_no_fault() {
        for update in [json!(null), json!([]), json!({"update_id": "x"}), json!({"message": {}})] {
            assert_eq!(policy().admit(&update), Err(Ignored::Unusable), "{update}");
        }
        let mut pinned = message(7, 7, "private");
        pinned["message"].as_object_mut().unwrap().remove("text");
        pinned["message"]["pinned_message"] = json!({});
        assert_eq!(policy().admit(&pinned), Err(Ignored::Unusable));
        let mut sticker = pinned;
        sticker["message"]["sticker"] = json!({});
        assert!(
            matches!(policy().admit(&sticker), Ok(Admitted::Said(said)) if said.text.is_empty())
        );
    }

    #[test]
    fn a_file_comes_with_its_words() {
        let mut update = message(7, -100, "group");
        let inner = update["message"].as_object_mut().unwrap();
        inner.remove("text");
        inner.insert("caption".to_owned(), json!("look"));
        inner.insert("photo".to_owned(), json!([{"file_id": "s"}, {"file_id": "l"}]));
        inner.insert("message_thread_id".to_owned(), json!(3));
        let Ok(Admitted::Said(said)) = policy().admit(&update) else { panic!() };
        assert_eq!((said.text.as_str(), said.place.thread), ("look", None));
        assert_eq!(said.file.map(|file| file.id), Some("l".to_owned()));
    }
}
