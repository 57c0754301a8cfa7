//! What was said: conversations, and places in them.

use super::plain;
use glis_wire::view::{Entry, Hit, Voice};
use serde_json::Value;

/// A line of a conversation.
pub(crate) fn entry(entry: &Entry) -> String {
    let voice = speaker(entry.voice);
    let number = |key: &str| entry.metadata.get(key).and_then(Value::as_u64);
    let outcome = entry.metadata.get("outcome").and_then(Value::as_str);
    let tells_end = entry.voice == Voice::System && entry.content.is_empty();
    let turn = outcome.map_or("turn ended".to_owned(), |word| format!("turn {}", plain(word)));
    let used = number("tokens_in").map(|tokens_in| {
        let tokens_out = number("tokens_out").unwrap_or_default();
        let cost = number("cost_micros").map_or(String::new(), |micros| {
            format!(", ${}.{:04} so far", micros / 1_000_000, micros % 1_000_000 / 100)
        });
        format!("{turn}: {tokens_in} tokens in, {tokens_out} out{cost}")
    });
    let used = used.or_else(|| tells_end.then(|| turn.clone()));
    let tool = entry.metadata.get("tool").and_then(Value::as_str);
    let tool = tool.map_or(String::new(), |tool| format!("{} ", plain(tool)));
    let time = entry.timestamp.get(11..19).unwrap_or_default();
    let mark = outcome.filter(|_| entry.voice == Voice::Tool);
    let mark = mark.map_or(String::new(), |word| format!(" ({})", plain(word)));
    let text: Vec<String> = entry.content.lines().map(plain).chain(used).collect();
    format!("{time} {voice:>5}  {tool}{}{mark}", text.join("\n                "))
}

/// What `search` prints.
pub(crate) fn hits(hits: &[Hit]) -> String {
    if hits.is_empty() {
        return "no matches".to_owned();
    }
    let lines = hits.iter().map(|hit| {
        let voice = speaker(hit.voice);
        let time = hit.at.get(..16).unwrap_or(&hit.at).replace('T', " ");
        format!("{}  {time}  {voice:>5}  {}", hit.name, plain(&hit.snippet))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn speaker(voice: Voice) -> &'static str {
    match voice {
        Voice::User => "you",
        Voice::Assistant => "agent",
        Voice::System => "glis",
        Voice::Tool => "tool",
    }
}
