//! What can be asked for.

use crate::http::{self, Request};
use crate::rules::{self, Refused};
use crate::{Fault, Message, Seen, Shared, State, TOKEN, bot};
use serde_json::{Value, json};
use std::io;
use std::net::TcpStream;
use std::sync::PoisonError;
use std::time::Duration;

/// No larger file is given out.
const FILE_BYTES_MAX: usize = 20 * 1024 * 1024;

/// What becomes of the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Stay,
    Close,
}

enum Answer {
    Result(Value),
    Refused(Refused),
    TooMany(u64),
    Moved(i64),
}

/// Answers a request, or does with it what the script says.
pub(crate) fn answer(shared: &Shared, request: &Request, stream: &TcpStream) -> io::Result<Then> {
    if let Some(path) = request.path.strip_prefix(&format!("/file/bot{TOKEN}/")) {
        return file(shared, path, stream);
    }
    let Some(method) = request.path.strip_prefix(&format!("/bot{TOKEN}/")) else {
        http::write(stream, 401, &refusal(401, "Unauthorized"), false)?;
        return Ok(Then::Stay);
    };
    if shared.state().away {
        return Ok(Then::Close);
    }
    let (fields, file) = http::fields(request);
    let fault = {
        let mut state = shared.state();
        let at = state.faults.iter().position(|(of, _)| of == method || of == "*");
        at.map(|at| state.faults.remove(at).1)
    };
    let chat = fields.get("chat_id").and_then(Value::as_i64);
    let answer = match &fault {
        Some(Fault::TooMany(secs)) => {
            let time = Duration::from_secs(*secs);
            let mut state = shared.state();
            let now = state.now();
            Answer::TooMany(state.rates.ban(chat.unwrap_or(0), now, time))
        }
        Some(Fault::Status(status, words)) => Answer::Refused((*status, words)),
        Some(Fault::Silence(time)) => {
            note(shared, method, 0);
            wait(shared, *time);
            return Ok(Then::Close);
        }
        Some(Fault::HalfBody | Fault::NoAnswer) | None => {
            carry_out(shared, method, (&fields, file))
        }
    };
    let (status, body) = match answer {
        Answer::Result(result) => (200, json!({"ok": true, "result": result})),
        Answer::Refused((status, words)) => (status, refusal(status, words)),
        Answer::TooMany(secs) => {
            let mut body = refusal(429, "Too Many Requests");
            body["parameters"] = json!({"retry_after": secs});
            (429, body)
        }
        Answer::Moved(to) => {
            let mut body =
                refusal(400, "Bad Request: group chat was upgraded to a supergroup chat");
            body["parameters"] = json!({"migrate_to_chat_id": to});
            (400, body)
        }
    };
    if shared.state().away {
        return Ok(Then::Close);
    }
    note(shared, method, status);
    match fault {
        Some(Fault::NoAnswer) => Ok(Then::Close),
        Some(Fault::HalfBody) => {
            http::write(stream, status, &body, true)?;
            Ok(Then::Close)
        }
        _ => {
            http::write(stream, status, &body, false)?;
            Ok(Then::Stay)
        }
    }
}

/// Gives out a file, under the path that was told for it.
fn file(shared: &Shared, path: &str, stream: &TcpStream) -> io::Result<Then> {
    let found = shared.state().files.iter().find(|(id, _)| path == format!("files/{id}")).cloned();
    match found {
        Some((_, bytes)) => http::write_file(stream, &bytes)?,
        None => http::write(stream, 404, &refusal(404, "Not Found"), false)?,
    }
    Ok(Then::Stay)
}

fn refusal(status: u16, words: &str) -> Value {
    json!({"ok": false, "error_code": status, "description": words})
}

/// Waits until so much time has passed for the server.
fn wait(shared: &Shared, time: Duration) {
    let mut state = shared.state();
    let end = state.now() + time;
    while let Some(left) = end.checked_duration_since(state.now()).filter(|left| !left.is_zero()) {
        let waited = shared.changed.wait_timeout(state, left);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn note(shared: &Shared, method: &str, status: u16) {
    let mut state = shared.state();
    let at = state.now();
    state.seen.push(Seen { method: method.to_owned(), status, at });
    drop(state);
    shared.changed.notify_all();
}

fn carry_out(
    shared: &Shared,
    method: &str,
    (fields, file): (&Value, Option<(String, Vec<u8>)>),
) -> Answer {
    if method == "getUpdates" {
        return updates(shared, fields);
    }
    let mut state = shared.state();
    let (chat, now) = (fields.get("chat_id").and_then(Value::as_i64), state.now());
    if let Some((_, to)) = state.moves.iter().find(|(from, _)| Some(*from) == chat) {
        return Answer::Moved(*to);
    }
    if let Some(chat) = chat
        && let Err(secs) = state.rates.count(chat, now)
    {
        return Answer::TooMany(secs);
    }
    let done = match method {
        "getMe" => Ok(bot()),
        "setMyCommands" => {
            state.commands =
                fields.get("commands").and_then(Value::as_array).cloned().unwrap_or_default();
            Ok(json!(true))
        }
        "sendMessage" => post(&mut state, fields),
        "sendDocument" => document(&mut state, fields, file),
        "editMessageText" => edit(&mut state, fields),
        "editMessageReplyMarkup" => edit_buttons(&mut state, fields),
        "answerCallbackQuery" => ack(&mut state, fields),
        "deleteMessage" => delete(&mut state, fields),
        "createForumTopic" => topic(&mut state, fields),
        "closeForumTopic" => close_topic(&mut state, fields),
        "getFile" => get_file(&state, fields),
        _ => Err((404, "Not Found")),
    };
    match done {
        Ok(result) => Answer::Result(result),
        Err(refused) => Answer::Refused(refused),
    }
}

/// Waits for updates. Those before the offset are forgotten; of two processes that ask the later one is answered.
fn updates(shared: &Shared, fields: &Value) -> Answer {
    let field = |name: &str| fields.get(name).and_then(Value::as_i64).unwrap_or(0);
    let mut state = shared.state();
    let now = state.now();
    let end = now + Duration::from_secs(field("timeout").unsigned_abs());
    state.polled_at = Some(now);
    shared.changed.notify_all();
    // Whoever waits already is sent away.
    state.poller += 1;
    let number = state.poller;
    let offset = field("offset");
    state.updates.retain(|update| {
        update.get("update_id").and_then(Value::as_i64).is_some_and(|id| id >= offset)
    });
    while state.updates.is_empty() && !state.away && state.poller == number {
        let Some(left) = end.checked_duration_since(state.now()) else { break };
        let waited = shared.changed.wait_timeout(state, left);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    if state.poller != number {
        return Answer::Refused((409, "Conflict: terminated by other getUpdates request"));
    }
    Answer::Result(state.updates.iter().cloned().collect())
}

fn chat_and_text(fields: &Value) -> Result<(i64, String), Refused> {
    let chat = fields.get("chat_id").and_then(Value::as_i64);
    let text = fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let entities = fields.get("entities").cloned().unwrap_or_default();
    rules::text(&text, &entities)?;
    Ok((chat.ok_or((400, "Bad Request: chat not found"))?, text))
}

fn add(state: &mut State, message: Message) -> Value {
    let answer = json!({"message_id": message.id, "chat": {"id": message.chat}});
    state.messages.push(message);
    answer
}

fn post(state: &mut State, fields: &Value) -> Result<Value, Refused> {
    let (chat, text) = chat_and_text(fields)?;
    let buttons = rules::buttons(fields.get("reply_markup"))?;
    let entities = fields.get("entities").cloned().unwrap_or_default();
    let thread = thread(state, chat, fields)?;
    state.number += 1;
    let (id, at) = (state.number, state.now());
    let message = Message { id, chat, thread, text, entities, buttons, file: None, at };
    if fields.get("disable_notification") == Some(&json!(true)) {
        state.previews.push(message);
        return Ok(json!({"message_id": id, "chat": {"id": chat}}));
    }
    Ok(add(state, message))
}

fn document(
    state: &mut State,
    fields: &Value,
    file: Option<(String, Vec<u8>)>,
) -> Result<Value, Refused> {
    let chat = fields.get("chat_id").and_then(Value::as_i64);
    let chat = chat.ok_or((400, "Bad Request: chat not found"))?;
    let text = fields.get("caption").and_then(Value::as_str).unwrap_or_default().to_owned();
    if text.encode_utf16().count() > 1024 {
        return Err((400, "Bad Request: message caption is too long"));
    }
    if file.as_ref().is_none_or(|(_, bytes)| bytes.is_empty()) {
        return Err((400, "Bad Request: file must be non-empty"));
    }
    let thread = thread(state, chat, fields)?;
    state.number += 1;
    let (id, at) = (state.number, state.now());
    let (entities, buttons) = (Value::Null, Vec::new());
    Ok(add(state, Message { id, chat, thread, text, entities, buttons, file, at }))
}

fn edit(state: &mut State, fields: &Value) -> Result<Value, Refused> {
    let (chat, text) = chat_and_text(fields)?;
    let buttons = rules::buttons(fields.get("reply_markup"))?;
    let entities = fields.get("entities").cloned().unwrap_or_default();
    let message = to_edit(state, chat, fields)?;
    if (&message.text, &message.buttons) == (&text, &buttons) {
        return Err((400, "Bad Request: message is not modified"));
    }
    (message.text, message.buttons, message.entities) = (text, buttons, entities);
    Ok(json!({"message_id": message.id}))
}

fn edit_buttons(state: &mut State, fields: &Value) -> Result<Value, Refused> {
    let buttons = rules::buttons(fields.get("reply_markup"))?;
    let chat = fields.get("chat_id").and_then(Value::as_i64).unwrap_or_default();
    let message = to_edit(state, chat, fields)?;
    if message.buttons == buttons {
        return Err((400, "Bad Request: message is not modified"));
    }
    message.buttons = buttons;
    Ok(json!({"message_id": message.id}))
}

fn to_edit<'s>(
    state: &'s mut State,
    chat: i64,
    fields: &Value,
) -> Result<&'s mut Message, Refused> {
    let id = fields.get("message_id").and_then(Value::as_i64);
    let mut shown = state.messages.iter_mut().chain(&mut state.previews);
    let found = shown.find(|one| one.chat == chat && Some(one.id) == id);
    found.ok_or((400, "Bad Request: message to edit not found"))
}

fn delete(state: &mut State, fields: &Value) -> Result<Value, Refused> {
    let number = |name: &str| fields.get(name).and_then(Value::as_i64);
    let (chat, id) = (number("chat_id"), number("message_id"));
    let fits = |one: &Message| Some(one.chat) == chat && Some(one.id) == id;
    let shown =
        if state.previews.iter().any(fits) { &mut state.previews } else { &mut state.messages };
    let at = shown.iter().position(fits);
    let at = at.ok_or((400, "Bad Request: message to delete not found"))?;
    let message = shown.remove(at);
    state.deleted.push(message);
    Ok(json!(true))
}

/// The topic that a message is for. It must be there.
fn thread(state: &State, chat: i64, fields: &Value) -> Result<Option<i64>, Refused> {
    let Some(thread) = fields.get("message_thread_id").and_then(Value::as_i64) else {
        return Ok(None);
    };
    let known = state.topics.iter().any(|(of, id, _)| (*of, *id) == (chat, thread));
    if state.closed.contains(&(chat, thread)) {
        return Err((400, "Bad Request: TOPIC_CLOSED"));
    }
    if known { Ok(Some(thread)) } else { Err((400, "Bad Request: message thread not found")) }
}

fn close_topic(state: &mut State, fields: &Value) -> Result<Value, Refused> {
    let chat = fields.get("chat_id").and_then(Value::as_i64).unwrap_or_default();
    let open = thread(state, chat, fields)?;
    state.closed.push((chat, open.ok_or((400, "Bad Request: message thread not found"))?));
    Ok(json!(true))
}

fn topic(state: &mut State, fields: &Value) -> Result<Value, Refused> {
    let chat = fields.get("chat_id").and_then(Value::as_i64).unwrap_or_default();
    if !state.forums.contains(&chat) {
        return Err((400, "Bad Request: not enough rights to create a topic"));
    }
    let name = fields.get("name").and_then(Value::as_str).unwrap_or_default();
    if !(1..=128).contains(&name.chars().count()) {
        return Err((400, "Bad Request: invalid topic name"));
    }
    state.number += 1;
    state.topics.push((chat, state.number, name.to_owned()));
    Ok(json!({"message_thread_id": state.number, "name": name}))
}

fn get_file(state: &State, fields: &Value) -> Result<Value, Refused> {
    let id = fields.get("file_id").and_then(Value::as_str).unwrap_or_default();
    let Some((_, bytes)) = state.files.iter().find(|(known, _)| known == id) else {
        return Err((400, "Bad Request: wrong file_id or the file is temporarily unavailable"));
    };
    if bytes.len() > FILE_BYTES_MAX {
        return Err((400, "Bad Request: file is too big"));
    }
    Ok(json!({"file_id": id, "file_path": format!("files/{id}")}))
}

fn ack(state: &mut State, fields: &Value) -> Result<Value, Refused> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let query = text("callback_query_id");
    let known = state.queries.contains(&query);
    if !known || state.acks.iter().any(|(known, _)| *known == query) {
        return Err((400, "Bad Request: query is too old and response timeout expired"));
    }
    state.acks.push((query, text("text")));
    Ok(json!(true))
}
