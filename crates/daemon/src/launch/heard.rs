//! Which messages an agent has never heard of, by what it goes on with.

use super::approach::Transcript;
use glis_core::MessageId;
use glis_core::session::Session;
use glis_core::talk::Delivery;
use serde_json::Value;

/// Messages that a process took with it before its agent had written them down. Only the last one
/// can be missing where there is a transcript, and only if its turn did not end.
pub(super) fn forgotten(
    session: &Session,
    mut messages: Vec<String>,
    transcript: Option<&Transcript>,
) -> Vec<String> {
    let Some(transcript) = transcript else { return messages };
    let Some(last) = messages.pop().filter(|_| session.cut_off) else { return Vec::new() };
    let text = transcript.read().unwrap_or_default();
    if mentions(&text, &last) { Vec::new() } else { vec![last] }
}

/// Messages that may have been delivered, and which the agent cannot know: its last process is gone,
/// and what it goes on with does not hold them. One that is there may be another with the same
/// words, so that stays a question.
pub(super) fn unheard(session: &Session, transcript: Option<&Transcript>) -> Vec<MessageId> {
    let doubtful = session.queue.iter().filter(|message| message.delivery == Delivery::Doubtful);
    let mut doubtful = doubtful.peekable();
    if doubtful.peek().is_none() {
        return Vec::new();
    }
    let Some(transcript) = transcript else {
        return doubtful.map(|message| message.id).collect();
    };
    let Ok(text) = transcript.read() else { return Vec::new() };
    let lines = text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut known = String::new();
    lines.for_each(|line| gather(&line, &mut known));
    doubtful.filter(|message| !known.contains(&bare(&message.text))).map(|m| m.id).collect()
}

/// Adds every text in a piece of JSON.
fn gather(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => texts.push_str(&bare(text)),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text without what may change on its way through a terminal.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Whether lines of JSON hold a text.
fn mentions(lines: &[u8], text: &str) -> bool {
    let quoted = Value::from(text).to_string();
    let inner = quoted.trim_matches('"').as_bytes();
    inner.is_empty() || lines.windows(inner.len()).any(|window| window == inner)
}
