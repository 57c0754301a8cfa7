//! The words of the agent: what a transcript records and what is only said aloud.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line of a transcript, and of the headless face.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    pub(crate) body: Body,
    /// Counts on over the whole conversation, resumes included.
    pub(crate) n: u64,
    pub(crate) at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Body {
    /// A message came.
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Value>,
    },
    /// It works on it.
    TurnStarted,
    /// It says something.
    Text {
        text: String,
        #[serde(skip)]
        manner: Manner,
    },
    /// It uses a tool.
    ToolStarted { id: String, tool: String, input: Value },
    /// It has used it.
    ToolEnded { id: String, output: String, ok: bool },
    /// It asks.
    Ask {
        id: String,
        kind: AskKind,
        text: String,
        /// Where it would do that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// The ask is over; without an answer when the turn was interrupted.
    AskGone { id: String, answer: Option<String> },
    /// Its list of tasks.
    Todo { items: Vec<String> },
    /// What the conversation has cost so far.
    Cost { usd: f64 },
    /// It met a usage limit.
    Limit { reset_at: String },
    /// What came in the way of the turn.
    Fault { message: String },
    /// How many helpers the agent has in the background, whenever that changes.
    Background { running: usize },
    /// It is done.
    TurnEnded { result: Outcome },
    /// It goes on in a conversation.
    Resumed,
}

/// Whether a text stands alone or goes on where the last piece stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Manner {
    #[default]
    Whole,
    Piece,
}

/// What kind of answer an ask wants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AskKind {
    Approval,
    Question,
}

/// The answers to an approval.
pub(crate) const ALLOW: &str = "allow";
pub(crate) const DENY: &str = "deny";

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Done,
    Interrupted,
    Refused,
    Limit,
    Failed,
}

/// What is said on stdout but belongs to no conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Notice {
    /// Who it is.
    Session { id: String, model: String, resumed: bool },
    /// The agent does not start.
    Error { kind: String, message: String },
    /// The agent got something it has no use for, and goes on.
    Complaint { kind: String, message: String },
}

/// Writes `words` as one JSON line.
pub(crate) fn line(words: &impl Serialize) -> Vec<u8> {
    // Only maps with string keys and plain values come here, and those always serialise.
    let mut line = serde_json::to_vec(words).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: Body, expected: &str) {
        let record = Record { body, n: 4, at: "T".to_owned() };
        let line = line(&record);
        assert_eq!(String::from_utf8_lossy(&line), format!("{expected}\n"));
        assert_eq!(serde_json::from_slice::<Record>(&line).unwrap(), record);
    }

    #[test]
    fn records_are_flat_lines_and_come_back_the_same() {
        check(
            Body::User { text: "hi".to_owned(), id: Some(7.into()) },
            r#"{"type":"user","text":"hi","id":7,"n":4,"at":"T"}"#,
        );
        check(Body::TurnStarted, r#"{"type":"turn_started","n":4,"at":"T"}"#);
        check(
            Body::Ask {
                id: "a".to_owned(),
                kind: AskKind::Approval,
                text: "t".to_owned(),
                folder: None,
            },
            r#"{"type":"ask","id":"a","kind":"approval","text":"t","n":4,"at":"T"}"#,
        );
        check(
            Body::TurnEnded { result: Outcome::Limit },
            r#"{"type":"turn_ended","result":"limit","n":4,"at":"T"}"#,
        );
    }
}
