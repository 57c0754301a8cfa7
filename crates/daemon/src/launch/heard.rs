//! Which messages an agent has never heard of, by what it goes on with.

use super::approach::Transcript;
use glis_agent::Agent;
use glis_core::MessageId;
use glis_core::session::Session;
use glis_core::talk::Delivery;
use serde_json::Value;

/// Messages that a process took with it before its agent had written them down. Only the last one
/// can be missing where there is a transcript, and only if its turn did not end.
pub(super) fn forgotten(
    session: &Session,
    mut messages: Vec<String>,
    (agent, transcript): (&dyn Agent, Option<&Transcript>),
) -> Vec<String> {
    let Some(transcript) = transcript else { return messages };
    let ended_early = session.talk.cut_off || session.ahead.limits.unanswered;
    let Some(last) = messages.pop().filter(|_| ended_early) else { return Vec::new() };
    let text = transcript.read().unwrap_or_default();
    if mentions(agent, &text, &last) { Vec::new() } else { vec![last] }
}

/// Messages that may have been delivered, and which the agent cannot know: its last process is gone,
/// and what it goes on with does not hold them. One that is there may be another with the same
/// words, so that stays a question.
pub(super) fn unheard(
    session: &Session,
    (agent, transcript): (&dyn Agent, Option<&Transcript>),
) -> Vec<MessageId> {
    let doubtful =
        session.talk.queue.iter().filter(|message| message.delivery == Delivery::Doubtful);
    let mut doubtful = doubtful.peekable();
    if doubtful.peek().is_none() {
        return Vec::new();
    }
    let Some(transcript) = transcript else {
        return doubtful.map(|message| message.id).collect();
    };
    let Ok(text) = transcript.read() else { return Vec::new() };
    let lines = spoken(agent, &text).filter_map(|line| serde_json::from_slice(line).ok());
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

/// The lines of a transcript that the agent goes on with.
fn spoken<'t>(agent: &'t dyn Agent, transcript: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
    agent.standing(transcript).split(|byte| *byte == b'\n').filter(|line| agent.goes_on_with(line))
}

/// Whether a text is among the lines that the agent goes on with.
fn mentions(agent: &dyn Agent, transcript: &[u8], text: &str) -> bool {
    let quoted = Value::from(text).to_string();
    let inner = quoted.trim_matches('"').as_bytes();
    let holds = |line: &[u8]| line.windows(inner.len()).any(|window| window == inner);
    inner.is_empty() || spoken(agent, transcript).any(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_about_a_message_is_not_the_message() {
        let claude = glis_agent::find("claude").unwrap();
        let told = r#"{"type":"user","message":{"role":"user","content":"one"}}"#;
        let note = r#"{"type":"api-request-blob","message":{"content":[{"text":"two"}]}}"#;
        let last = r#"{"type":"last-prompt","lastPrompt":"three"}"#;
        let text = [told, note, last].join("\n");
        let heard = |words: &str| mentions(claude, text.as_bytes(), words);
        assert_eq!(["one", "two", "three"].map(heard), [true, false, false]);
        let gemini = glis_agent::find("gemini").unwrap();
        let user = r#"{"id":"1","type":"user","content":[{"text":"two"}]}"#;
        let anew = r#"{"$set":{"messages":[{"type":"user","content":[{"text":"one"}]}]}}"#;
        let text = [user, anew].join("\n");
        let heard = |words: &str| mentions(gemini, text.as_bytes(), words);
        assert_eq!(["one", "two"].map(heard), [true, false]);
        // Others write nothing beside it.
        let codex = glis_agent::find("codex").unwrap();
        assert!(mentions(codex, note.as_bytes(), "two"));
    }
}
