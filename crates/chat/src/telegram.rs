//! Telegram's Bot API, by hand: POSTs with JSON bodies, multipart for files.

mod token;

pub use token::{Token, TokenFault, read_token};

use crate::channel::{Channel, ChannelFault, Me};
use crate::outbox::{Key, Outcome, What};
use crate::policy::Place;
use crate::text::Text;
use crate::time;
use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;

/// A request that takes longer was lost on its way.
const REQUEST_TIME: Duration = Duration::from_secs(30);
/// So much longer than the server waits for something to happen.
const POLL_GRACE: Duration = Duration::from_secs(10);
/// Where a refusal says nothing about its length.
const RETRY_SECS: u64 = 30;
/// An answer that is longer is none.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The server gives out no larger files.
const FILE_BYTES_MAX: u64 = 20 * 1024 * 1024;
/// A topic's name is no longer.
const TOPIC_CHARS_MAX: usize = 128;

/// What is said of a topic that was deleted or closed.
const TOPIC_GONE: [&str; 3] = ["message thread not found", "TOPIC_DELETED", "TOPIC_CLOSED"];

/// What is said where a bot may not write, for now: it was muted, or its user has not begun yet.
const MUTED: [&str; 5] = [
    "not enough rights to send",
    "have no rights to send",
    "need administrator rights",
    "CHAT_WRITE_FORBIDDEN",
    "chat not found",
];

/// A bot on Telegram. It has no `Debug`, since it holds the token.
pub struct Telegram {
    agent: Agent,
    api: String,
    token: Token,
}

impl Telegram {
    /// A bot with this token, on the official server or on one of the user's own.
    pub fn new(api: &str, token: Token) -> Self {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the token to another server.
            .max_redirects(0)
            .max_redirects_will_error(true)
            .timeout_global(Some(REQUEST_TIME))
            .user_agent("glis");
        if api.starts_with("http://") {
            // Only TLS keeps a token from a proxy.
            config = config.proxy(None);
        }
        let agent = config.build().new_agent();
        Self { agent, api: api.trim_end_matches('/').to_owned(), token }
    }

    fn call(&self, method: &str, body: &Value) -> Result<Value, ChannelFault> {
        self.call_for(method, body, time::on_the_wire(REQUEST_TIME))
    }

    /// The same for one that takes another time.
    fn call_for(&self, method: &str, body: &Value, time: Duration) -> Result<Value, ChannelFault> {
        self.request(method, "application/json", body.to_string().as_bytes(), time)
    }

    /// Changes a message. One that is so already is no fault.
    fn change(&self, method: &str, body: &Value) -> Outcome {
        match self.call(method, body) {
            Err(ChannelFault::Refused(why)) if why.contains("not modified") => Ok(None),
            answer => answer.map(|_| None),
        }
    }

    /// A text file, with some words below it. Its message's number.
    fn file(
        &self,
        place: Place,
        name: &str,
        (content, caption): (&str, &str),
    ) -> Result<i64, ChannelFault> {
        let boundary = crate::button::nonce();
        let mut body = String::new();
        let mut fields = to(place);
        fields["caption"] = json!(caption);
        for (name, value) in fields.as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let head = format!("Content-Disposition: form-data; name=\"{name}\"");
            body.extend(["--", &boundary, "\r\n", &head, "\r\n\r\n", &value, "\r\n"]);
        }
        let safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name: String = name.chars().map(|c| if safe(c) { c } else { '_' }).collect();
        let head = format!(
            "Content-Disposition: form-data; name=\"document\"; filename=\"{name}\"\r\n\
             Content-Type: text/plain; charset=utf-8"
        );
        body.extend(["--", &boundary, "\r\n", &head, "\r\n\r\n", content, "\r\n"]);
        body.extend(["--", &boundary, "--\r\n"]);
        let kind = format!("multipart/form-data; boundary={boundary}");
        let time = time::on_the_wire(4 * REQUEST_TIME);
        number(&self.request("sendDocument", &kind, body.as_bytes(), time)?, "message_id")
    }

    fn request(
        &self,
        method: &str,
        kind: &str,
        body: &[u8],
        time: Duration,
    ) -> Result<Value, ChannelFault> {
        let address = format!("{}/bot{}/{method}", self.api, self.token.reveal());
        let request = self.agent.post(&address).content_type(kind);
        let sent = request.config().timeout_global(Some(time)).build().send(body);
        let mut answer = sent.map_err(|fault| unreachable(&fault))?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|fault| unreachable(&fault))?;
        let read: Value = serde_json::from_slice(&body).unwrap_or_default();
        match (status, read.get("result")) {
            (200, Some(result)) => Ok(result.clone()),
            _ => Err(refusal(status, &read)),
        }
    }
}

/// What a fault of the connection is called: its kind alone, since its own words may hold the address.
fn unreachable(fault: &ureq::Error) -> ChannelFault {
    let redirects = matches!(fault, ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed);
    let kind = if let ureq::Error::Io(fault) = fault {
        fault.kind().to_string()
    } else if matches!(fault, ureq::Error::Timeout(_)) {
        "no answer in time".to_owned()
    } else if matches!(fault, ureq::Error::HostNotFound | ureq::Error::ConnectionFailed) {
        "no connection".to_owned()
    } else if redirects {
        "it wants to redirect the request".to_owned()
    } else {
        "it does not speak as it should".to_owned()
    };
    ChannelFault::Unreachable(kind)
}

fn refusal(status: u16, answer: &Value) -> ChannelFault {
    let why = answer.get("description").and_then(Value::as_str).unwrap_or("no reason given");
    let why = crate::text::clean(why);
    let moved = answer.pointer("/parameters/migrate_to_chat_id").and_then(Value::as_i64);
    if let (400, Some(to)) = (status, moved) {
        return ChannelFault::Moved(to);
    }
    match status {
        429 => {
            let after = answer.pointer("/parameters/retry_after").and_then(Value::as_u64);
            ChannelFault::TooMany(after.unwrap_or(RETRY_SECS))
        }
        401 => ChannelFault::Unauthorized,
        403 => ChannelFault::Blocked,
        404 => ChannelFault::Unknown,
        409 => ChannelFault::Conflict,
        400 if TOPIC_GONE.iter().any(|words| why.contains(words)) => ChannelFault::TopicGone,
        400 if MUTED.iter().any(|words| why.contains(words)) => ChannelFault::Blocked,
        400 | 413 => ChannelFault::Refused(why),
        200..=299 => half(),
        status => ChannelFault::Server(format!("{status}: {why}")),
    }
}

fn to(place: Place) -> Value {
    let mut body = json!({"chat_id": place.chat});
    if let Some(thread) = place.thread {
        body["message_thread_id"] = json!(thread);
    }
    body
}

fn with_text(mut body: Value, text: &Text) -> Value {
    body["text"] = json!(text.text);
    if !text.entities.is_empty() {
        body["entities"] = json!(text.entities);
    }
    body
}

/// A message that shows no page behind a link.
fn message(place: Place, text: &Text) -> Value {
    let mut body = with_text(to(place), text);
    body["link_preview_options"] = json!({"is_disabled": true});
    body
}

/// What an answer has that is none.
fn half() -> ChannelFault {
    ChannelFault::Unreachable("half an answer".to_owned())
}

fn number(answer: &Value, field: &str) -> Result<i64, ChannelFault> {
    answer.get(field).and_then(Value::as_i64).ok_or_else(half)
}

impl Channel for Telegram {
    fn file_bytes_max(&self) -> u64 {
        FILE_BYTES_MAX
    }

    fn introduce(&self) -> Result<Me, ChannelFault> {
        // An unknown bot is answered like an unknown method.
        let me = self.call("getMe", &json!({})).map_err(|fault| {
            if fault == ChannelFault::Unknown { ChannelFault::Unauthorized } else { fault }
        })?;
        let name = me.get("username").and_then(Value::as_str).map(str::to_owned);
        Ok(Me { name: name.ok_or_else(half)?, number: number(&me, "id")? })
    }

    fn announce(&self, commands: &[(&str, &str)]) -> Result<(), ChannelFault> {
        let commands: Vec<Value> = commands
            .iter()
            .map(|(command, about)| json!({"command": command, "description": about}))
            .collect();
        self.call("setMyCommands", &json!({"commands": commands})).map(drop)
    }

    fn updates(&self, offset: Option<i64>, wait: Duration) -> Result<Vec<Value>, ChannelFault> {
        let mut body = json!({
            "timeout": wait.as_secs(), "limit": 100,
            "allowed_updates": ["message", "callback_query"],
        });
        if let Some(offset) = offset {
            body["offset"] = json!(offset);
        }
        match self.call_for("getUpdates", &body, wait + POLL_GRACE)? {
            Value::Array(updates) => Ok(updates),
            _ => Err(half()),
        }
    }

    fn send(&self, place: Place, what: &What) -> Outcome {
        let chat = place.chat;
        match what {
            What::Post { text, keys, .. } => {
                let mut body = message(place, text);
                if !keys.is_empty() {
                    let key = |key: &Key| json!({"text": key.label, "callback_data": key.data});
                    let row = |row: &Vec<Key>| row.iter().map(key).collect::<Value>();
                    let rows: Value = keys.iter().map(row).collect();
                    body["reply_markup"] = json!({"inline_keyboard": rows});
                }
                number(&self.call("sendMessage", &body)?, "message_id").map(Some)
            }
            What::Edit { message, text } => {
                let mut body = with_text(json!({"chat_id": chat}), text);
                body["message_id"] = json!(message);
                self.change("editMessageText", &body)
            }
            What::Used { message } => {
                let body = json!({"chat_id": chat, "message_id": message});
                self.change("editMessageReplyMarkup", &body)
            }
            What::File { name, content, caption } => {
                self.file(place, name, (content, caption)).map(Some)
            }
            What::Topic { name, .. } => {
                let name: String = name.chars().take(TOPIC_CHARS_MAX).collect();
                let body = json!({"chat_id": chat, "name": name});
                number(&self.call("createForumTopic", &body)?, "message_thread_id").map(Some)
            }
            What::CloseTopic => {
                // Without a number it is gone already.
                let Some(thread) = place.thread else { return Ok(None) };
                let body = json!({"chat_id": chat, "message_thread_id": thread});
                self.call("closeForumTopic", &body).map(|_| None)
            }
            // Which message that is, only who has shown it knows: it is deleted.
            What::Clear { .. } => Ok(None),
            What::Ack { query, words } => {
                let body = json!({"callback_query_id": query, "text": words});
                self.call("answerCallbackQuery", &body).map(|_| None)
            }
        }
    }

    fn preview(&self, place: Place, text: &Text) -> Result<i64, ChannelFault> {
        let mut body = message(place, text);
        body["disable_notification"] = json!(true);
        number(&self.call("sendMessage", &body)?, "message_id")
    }

    fn delete(&self, chat: i64, message: i64) -> Result<(), ChannelFault> {
        let body = json!({"chat_id": chat, "message_id": message});
        match self.call("deleteMessage", &body) {
            Err(ChannelFault::Refused(why)) if why.contains("to delete not found") => Ok(()),
            answer => answer.map(drop),
        }
    }

    fn fetch(&self, file: &str) -> Result<Vec<u8>, ChannelFault> {
        let found = self.call("getFile", &json!({"file_id": file}))?;
        let path = found.get("file_path").and_then(Value::as_str).unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        if path.is_empty() || path.contains("..") || !path.chars().all(plain) {
            return Err(ChannelFault::Refused("the file has no usable path".to_owned()));
        }
        let address = format!("{}/file/bot{}/{path}", self.api, self.token.reveal());
        let request = self
            .agent
            .get(&address)
            .config()
            .timeout_global(Some(time::on_the_wire(4 * REQUEST_TIME)));
        let mut answer = request.build().call().map_err(|fault| unreachable(&fault))?;
        if answer.status().as_u16() != 200 {
            return Err(refusal(answer.status().as_u16(), &Value::Null));
        }
        let body = answer.body_mut().with_config().limit(FILE_BYTES_MAX).read_to_vec();
        body.map_err(|fault| unreachable(&fault))
    }
}

#[cfg(test)]
mod tests;
