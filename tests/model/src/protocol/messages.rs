//! Anthropic's Messages: how Claude Code speaks.

use super::{
    Call, Close, Failure, Protocol, Purpose, Question, Speaker, TOKENS_IN, TOKENS_OUT,
    TOO_LONG_STATUS, Turns, Voice, flat, list,
};
use crate::http::{Reply, Request};
use serde_json::{Value, json};
use std::io;

pub(super) fn question(request: &Request, body: &Value) -> Question {
    let mut turns = Turns::default();
    for message in list(&body["messages"]) {
        let content = &message["content"];
        match (message["role"].as_str(), content) {
            (Some("assistant"), _) => turns.add(Voice::Model, &said(content)),
            (Some("user"), Value::Array(blocks)) => {
                for block in blocks {
                    match block["type"].as_str() {
                        Some("tool_result") => turns.add(Voice::Tool, &flat(&block["content"])),
                        _ => turns.add_user(block["text"].as_str().unwrap_or_default()),
                    }
                }
            }
            (Some("user"), _) => turns.add_user(&flat(content)),
            _ => turns.add(Voice::Note, &flat(content)),
        }
    }
    // A title or a probe of the key is asked for without tools; the conversation never is.
    let purpose = if list(&body["tools"]).is_empty() { Purpose::Side } else { Purpose::Turn };
    Question {
        protocol: Protocol::Messages,
        purpose,
        turns: turns.into_vec(),
        streams: body["stream"] == true,
        schema: body["output_config"]["format"].get("schema").cloned(),
        conversation: request.header("x-claude-code-session-id").map(ToOwned::to_owned),
    }
}

/// The words of an answer and the tools it called.
fn said(content: &Value) -> String {
    let calls = list(content).iter().filter(|block| block["type"] == "tool_use");
    let calls = calls.map(|block| format!("{} {}", block["name"], block["input"]));
    std::iter::once(flat(content)).chain(calls).collect::<Vec<_>>().join("\n")
}

pub(super) struct Messages {
    id: String,
    model: Value,
    block: u32,
    in_text: bool,
    called: bool,
}

impl Messages {
    pub(super) fn new(body: &Value, tag: &str) -> Self {
        let (id, model) = (format!("msg_{tag}"), body["model"].clone());
        Self { id, model, block: 0, in_text: false, called: false }
    }

    fn message(&self, content: &Value, stop_reason: &Value) -> Value {
        json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": content, "stop_reason": stop_reason, "stop_sequence": null,
            "usage": {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}})
    }

    fn event(reply: &mut Reply, kind: &str, mut data: Value) -> io::Result<()> {
        data["type"] = json!(kind);
        reply.event(Some(kind), &data)
    }

    fn close_text(&mut self, reply: &mut Reply) -> io::Result<()> {
        if std::mem::take(&mut self.in_text) {
            Self::event(reply, "content_block_stop", json!({"index": self.block}))?;
            self.block += 1;
        }
        Ok(())
    }
}

impl Speaker for Messages {
    fn begin(&mut self, reply: &mut Reply) -> io::Result<()> {
        let message = self.message(&json!([]), &Value::Null);
        Self::event(reply, "message_start", json!({ "message": message }))
    }

    fn text(&mut self, reply: &mut Reply, piece: &str) -> io::Result<()> {
        if !std::mem::replace(&mut self.in_text, true) {
            let block = json!({"type": "text", "text": ""});
            let start = json!({"index": self.block, "content_block": block});
            Self::event(reply, "content_block_start", start)?;
        }
        let delta = json!({"type": "text_delta", "text": piece});
        Self::event(reply, "content_block_delta", json!({"index": self.block, "delta": delta}))
    }

    fn call(&mut self, reply: &mut Reply, call: &Call) -> io::Result<()> {
        self.close_text(reply)?;
        self.called = true;
        let block = json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": {}});
        let start = json!({"index": self.block, "content_block": block});
        Self::event(reply, "content_block_start", start)?;
        let delta = json!({"type": "input_json_delta", "partial_json": call.input.to_string()});
        Self::event(reply, "content_block_delta", json!({"index": self.block, "delta": delta}))?;
        Self::event(reply, "content_block_stop", json!({"index": self.block}))?;
        self.block += 1;
        Ok(())
    }

    fn end(&mut self, reply: &mut Reply, close: Close) -> io::Result<()> {
        self.close_text(reply)?;
        let reason = match close {
            Close::Proper if self.called => "tool_use",
            Close::Proper => "end_turn",
            Close::Length => "max_tokens",
            Close::Refusal => "refusal",
        };
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        let usage = json!({"output_tokens": TOKENS_OUT});
        Self::event(reply, "message_delta", json!({"delta": delta, "usage": usage}))?;
        Self::event(reply, "message_stop", json!({}))?;
        reply.end()
    }

    fn too_long(&mut self, reply: &mut Reply) -> io::Result<()> {
        let message = "prompt is too long: 210000 tokens > 200000 maximum";
        let error = json!({"type": "invalid_request_error", "message": message});
        reply.json(TOO_LONG_STATUS, &[], &json!({"type": "error", "error": error}))
    }

    fn whole(&self, text: &str, call: Option<&Call>) -> Value {
        let mut content = Vec::new();
        if !text.is_empty() {
            content.push(json!({"type": "text", "text": text}));
        }
        if let Some(call) = call {
            content.push(
                json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.input}),
            );
        }
        let reason = if call.is_some() { "tool_use" } else { "end_turn" };
        self.message(&json!(content), &json!(reason))
    }

    fn failure(&self, failure: Failure) -> (Vec<(&'static str, String)>, Value) {
        let mut headers = Vec::new();
        if let Some(secs) = failure.retry_after {
            headers.push(("retry-after", secs.to_string()));
        }
        if let Some(at) = failure.limit_until {
            headers.push(("anthropic-ratelimit-unified-status", "rejected".to_owned()));
            headers.push(("anthropic-ratelimit-unified-reset", at.to_string()));
            headers.push(("anthropic-ratelimit-unified-representative-claim", "five_hour".into()));
        }
        let kind = match failure.status {
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400 => "invalid_request_error",
            _ => "api_error",
        };
        let message = format!("the stub was told to fail with {}", failure.status);
        (headers, json!({"type": "error", "error": {"type": kind, "message": message}}))
    }
}
