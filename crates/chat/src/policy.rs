//! Who is let in. One gate stands before any reading of what was said, for messages and for buttons alike.
//!
//! An allowed user's private chat is known by itself, a group only by its number in the configuration. What
//! was edited, forwarded, posted by another bot or in the name of a chat is nobody's command.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Who may use the bot, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    users: BTreeSet<i64>,
    chats: BTreeSet<i64>,
}

/// Where something was said, and where the answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub chat: i64,
    pub thread: Option<i64>,
}

/// What an allowed user did in an allowed chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    pub update: i64,
    pub user: i64,
    pub place: Place,
    /// Whether the chat has topics.
    pub forum: bool,
    /// The number of the message, or of the one that has the button.
    pub message: i64,
    /// When that was sent, in seconds of the network's clock: it does not tell when a button was pressed, and that was
    /// later.
    pub at: i64,
    pub did: Did,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    Said(Said),
    Pressed(Pressed),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The words; those below a picture or a file count as well. None where it is a sticker or the like.
    pub text: String,
    /// The message that it answers.
    pub reply_to: Option<i64>,
    /// Who has sent that one.
    pub reply_to_user: Option<i64>,
    pub file: Option<Attached>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pressed {
    /// The network's name for this press, which wants an answer.
    pub query: String,
    pub data: String,
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
    pub kind: AttachedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachedKind {
    Document,
    Photo,
    Video,
    /// Something to listen to.
    Audio,
    /// Something spoken.
    Voice,
}

impl Policy {
    /// These users, in their private chats and in these groups.
    pub fn new(users: &[i64], chats: &[i64]) -> Self {
        let users = users.iter().copied().filter(|user| *user > 0).collect();
        Self { users, chats: chats.iter().copied().collect() }
    }

    /// Whether it is of use to nobody: a bot that no person may use must not run.
    pub fn is_nobodys(&self) -> bool {
        self.users.is_empty()
    }

    pub fn admit(&self, update: &Value) -> Option<Admitted> {
        let number = |of: &Value, name: &str| of.get(name).and_then(Value::as_i64);
        let query = update.get("callback_query").filter(|_| update.get("message").is_none());
        // Without its message a button is one of another chat, sent there through the bot.
        let message = query.unwrap_or(update).get("message")?;
        let (user, chat) =
            self.let_in(query.unwrap_or(message).get("from"), message.get("chat"))?;
        let did = match query {
            Some(query) => Did::Pressed(pressed(query)?),
            None if ALIEN.iter().any(|field| message.get(*field).is_some()) => return None,
            None => Did::Said(said(message)?),
        };
        Some(Admitted {
            update: number(update, "update_id")?,
            user,
            place: Place { chat, thread: thread(message) },
            forum: message.pointer("/chat/is_forum").and_then(Value::as_bool).unwrap_or(false),
            message: number(message, "message_id")?,
            at: number(message, "date").unwrap_or_default(),
            did,
        })
    }

    /// Whether what this user says in this chat counts. The number of a private one is its user's.
    pub fn lets_in(&self, user: i64, chat: i64) -> bool {
        self.users.contains(&user) && (chat == user || self.chats.contains(&chat))
    }

    /// Whether anything may be said in this chat.
    pub fn speaks_in(&self, chat: i64) -> bool {
        self.users.contains(&chat) || (self.chats.contains(&chat) && !self.is_nobodys())
    }

    /// Every chat in which something may be said.
    pub fn chats(&self) -> impl Iterator<Item = i64> {
        self.users.iter().chain(&self.chats).copied()
    }

    fn let_in(&self, from: Option<&Value>, chat: Option<&Value>) -> Option<(i64, i64)> {
        let (from, chat) = (from?, chat?);
        let is_bot = from.get("is_bot").and_then(Value::as_bool).unwrap_or(false);
        let user = from.get("id").and_then(Value::as_i64)?;
        let id = chat.get("id").and_then(Value::as_i64)?;
        let known = match chat.get("type").and_then(Value::as_str) {
            Some("private") => id == user,
            Some("group" | "supergroup") => self.chats.contains(&id),
            Some(_) | None => false,
        };
        (known && !is_bot && self.users.contains(&user)).then_some((user, id))
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

fn said(message: &Value) -> Option<Said> {
    let words = message.get("text").or_else(|| message.get("caption"));
    let text = words.and_then(Value::as_str).unwrap_or_default().to_owned();
    let reply = |at: &str| message.pointer(at).and_then(Value::as_i64);
    let file = attached(message);
    if text.is_empty() && file.is_none() && !WORDLESS.iter().any(|it| message.get(*it).is_some()) {
        return None;
    }
    Some(Said {
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

fn pressed(query: &Value) -> Option<Pressed> {
    let text = |name: &str| query.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Pressed { query: text("id")?, data: text("data")? })
}

#[cfg(test)]
mod tests;
