//! The four protocols: who says what in a request, and how an answer is put into words.

mod chat;
mod gemini;
mod messages;
mod responses;

use crate::http::{Reply, Request};
use serde::Serialize;
use serde_json::{Value, json};
use std::io;

/// Tokens that every answer claims to have read and said; a test can tell them from a guess.
pub(crate) const TOKENS_IN: u32 = 1234;
pub(crate) const TOKENS_OUT: u32 = 56;

/// The status of a request that is too long.
pub(crate) const TOO_LONG_STATUS: u16 = 400;

/// How an agent speaks to its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Anthropic's Messages.
    Messages,
    /// `OpenAI`'s Responses.
    Responses,
    /// `OpenAI`'s chat completions.
    Chat,
    /// Google's `generateContent` and `streamGenerateContent`.
    Gemini,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The conversation itself.
    Turn,
    /// Something beside it: a title, a probe of the key, a question about who speaks next.
    Side,
    /// No question to the model at all.
    Other,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// A person, or glis in their name.
    User,
    /// The model: its words and the names of the tools it calls.
    Model,
    /// What a tool brought back.
    Tool,
    /// The agent itself, in the user's place: reminders, its surroundings, what was interrupted.
    Note,
}

/// One thing said in the history that a request carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// Who says it.
    pub voice: Voice,
    /// What is said.
    pub text: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) input: Value,
}

/// How an answer that was said comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Close {
    Proper,
    Length,
    Refusal,
}

/// A failure to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u64>,
    pub(crate) limit_until: Option<u64>,
}

/// Puts one answer into the words of a protocol.
pub(crate) trait Speaker {
    /// What comes before the first word.
    fn begin(&mut self, reply: &mut Reply) -> io::Result<()>;
    /// A piece of text.
    fn text(&mut self, reply: &mut Reply, piece: &str) -> io::Result<()>;
    /// A call of a tool.
    fn call(&mut self, reply: &mut Reply, call: &Call) -> io::Result<()>;
    /// What comes behind the last word.
    fn end(&mut self, reply: &mut Reply, close: Close) -> io::Result<()>;
    /// That the conversation is too long, in place of an answer.
    fn too_long(&mut self, reply: &mut Reply) -> io::Result<()>;
    /// The whole answer in one piece.
    fn whole(&self, text: &str, call: Option<&Call>) -> Value;
    /// A failure: headers and body.
    fn failure(&self, failure: Failure) -> (Vec<(&'static str, String)>, Value);
}

/// What a request asks of the model.
pub(crate) struct Question {
    pub(crate) protocol: Protocol,
    pub(crate) purpose: Purpose,
    pub(crate) turns: Vec<Turn>,
    pub(crate) streams: bool,
    /// The form that a side question wants its answer in.
    pub(crate) schema: Option<Value>,
    /// The agent's own id of the conversation, where it tells it.
    pub(crate) conversation: Option<String>,
}

impl Question {
    /// Reads a request; `None` if it asks nothing of a model.
    pub(crate) fn read(request: &Request, body: &Value) -> Option<Self> {
        let path = request.path();
        if path.ends_with("/v1/messages") {
            Some(messages::question(request, body))
        } else if path.ends_with("/responses") {
            Some(responses::question(request, body))
        } else if path.ends_with("/chat/completions") {
            Some(chat::question(request, body))
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(gemini::question(request, body))
        } else {
            None
        }
    }

    /// Somebody who answers it. The tag makes the ids of the answer unique, also among servers that
    /// one conversation meets.
    pub(crate) fn speaker(&self, body: &Value, tag: &str) -> Box<dyn Speaker> {
        match self.protocol {
            Protocol::Messages => Box::new(messages::Messages::new(body, tag)),
            Protocol::Responses => Box::new(responses::Responses::new(body, tag)),
            Protocol::Chat => Box::new(chat::Chat::new(body, tag)),
            Protocol::Gemini => Box::new(gemini::Gemini),
        }
    }

    /// What to say to a side question: text, or what its schema wants.
    pub(crate) fn side_answer(&self) -> String {
        const TITLE: &str = "A title from the stub";
        self.schema.as_ref().map_or_else(|| TITLE.to_owned(), |schema| sample(schema).to_string())
    }
}

/// The history of a conversation, gathered piece by piece.
#[derive(Default)]
pub(crate) struct Turns(Vec<Turn>);

impl Turns {
    /// Adds what `voice` says. Pieces of one answer are one turn, whatever the protocol makes of
    /// them: the script counts answers.
    pub(crate) fn add(&mut self, voice: Voice, text: &str) {
        match self.0.last_mut() {
            Some(last) if last.voice == Voice::Model && voice == Voice::Model => {
                last.text.push('\n');
                last.text.push_str(text);
            }
            _ => self.0.push(Turn { voice, text: text.to_owned() }),
        }
    }

    /// Adds what stands in the user's place, where agents speak as well.
    pub(crate) fn add_user(&mut self, text: &str) {
        self.add(if is_note(text) { Voice::Note } else { Voice::User }, text);
    }

    pub(crate) fn into_vec(self) -> Vec<Turn> {
        self.0
    }
}

/// Whether the agent itself says this in the user's place.
fn is_note(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "<system-reminder>",
        "<environment_context>",
        "<user_instructions>",
        "<turn_aborted>",
        "<permissions",
        "<session_context>",
        "<command-name>",
        "<local-command",
        "# AGENTS.md",
        "[Request interrupted by user",
        "Output token limit hit.",
        "Your response above was stopped by a safety classifier",
    ];
    let text = text.trim_start();
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// What `OpenAI` calls a failure. Agents repeat what is the server's fault, whatever the status is.
fn openai_kind(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    }
}

/// All text of a content that is a string or a list of blocks.
pub(crate) fn flat(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = list(content).iter();
    let texts = blocks.filter_map(|block| block.as_str().or_else(|| block["text"].as_str()));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The smallest value that fits a JSON schema, as far as agents use schemas.
fn sample(schema: &Value) -> Value {
    if let Some(first) = list(&schema["enum"]).first() {
        return first.clone();
    }
    let kind = schema["type"].as_str().unwrap_or_default().to_ascii_lowercase();
    match kind.as_str() {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            Value::Object(fields.map(|(name, field)| (name.clone(), sample(field))).collect())
        }
        "array" => json!([]),
        "boolean" => json!(false),
        // Scales tend to begin at one.
        "number" | "integer" => json!(1),
        _ => json!("from the stub"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_one_answer_are_one_turn() {
        let mut turns = Turns::default();
        turns.add_user("go");
        turns.add(Voice::Model, "a");
        turns.add(Voice::Model, "b");
        turns.add(Voice::Tool, "x");
        turns.add(Voice::Tool, "y");
        turns.add_user("<system-reminder>z</system-reminder>");
        let voices: Vec<Voice> = turns.into_vec().iter().map(|turn| turn.voice).collect();
        assert_eq!(voices, [Voice::User, Voice::Model, Voice::Tool, Voice::Tool, Voice::Note]);
    }

    #[test]
    fn a_side_question_is_answered_in_the_form_it_wants() {
        let schema = json!({"type": "OBJECT", "properties": {
            "title": {"type": "string"}, "next": {"type": "STRING", "enum": ["user", "model"]},
            "sure": {"type": "boolean"}, "all": {"type": "array"}, "n": {"type": "integer"}}});
        let wanted =
            json!({"title": "from the stub", "next": "user", "sure": false, "all": [], "n": 1});
        assert_eq!(sample(&schema), wanted);
    }
}
