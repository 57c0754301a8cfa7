//! `OpenAI`'s chat completions: how `OpenCode` speaks to a provider that nobody knows.

use super::{
    Call, Close, Failure, Protocol, Purpose, Question, Speaker, TOKENS_IN, TOKENS_OUT,
    TOO_LONG_STATUS, Turns, Voice, flat, list,
};
use crate::http::{Reply, Request};
use serde_json::{Value, json};
use std::io;

const STOP: &str = "stop";
const TOOL_CALLS: &str = "tool_calls";

pub(super) fn question(request: &Request, body: &Value) -> Question {
    let mut turns = Turns::default();
    for message in list(&body["messages"]) {
        let text = flat(&message["content"]);
        match message["role"].as_str() {
            Some("user") => turns.add_user(&text),
            Some("assistant") => {
                let calls = list(&message["tool_calls"]).iter().map(|call| &call["function"]);
                let calls = calls.map(|call| format!("{} {}", call["name"], call["arguments"]));
                let said = std::iter::once(text).chain(calls).collect::<Vec<_>>().join("\n");
                turns.add(Voice::Model, &said);
            }
            Some("tool") => turns.add(Voice::Tool, &text),
            _ => turns.add(Voice::Note, &text),
        }
    }
    let side = list(&body["tools"]).is_empty();
    let id = ["x-session-id", "x-session-affinity", "x-opencode-session"];
    let conversation = id.iter().find_map(|name| request.header(name));
    Question {
        protocol: Protocol::Chat,
        purpose: if side { Purpose::Side } else { Purpose::Turn },
        turns: turns.into_vec(),
        streams: body["stream"] == true,
        schema: body["response_format"]["json_schema"].get("schema").cloned(),
        conversation: conversation.map(ToOwned::to_owned),
    }
}

pub(super) struct Chat {
    id: String,
    model: Value,
    /// Why the answer ends, in the words of the protocol.
    finish: &'static str,
}

impl Chat {
    pub(super) fn new(body: &Value, tag: &str) -> Self {
        let (id, model) = (format!("chatcmpl-{tag}"), body["model"].clone());
        Self { id, model, finish: STOP }
    }

    fn envelope(&self, object: &str, choices: &Value) -> Value {
        json!({"id": self.id, "object": object, "created": 1, "model": self.model,
            "choices": choices})
    }

    fn delta(&self, reply: &mut Reply, delta: &Value, finish: &Value) -> io::Result<()> {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        reply.event(None, &self.envelope("chat.completion.chunk", &choices))
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT,
        "total_tokens": TOKENS_IN + TOKENS_OUT})
}

fn called(call: &Call) -> Value {
    let function = json!({"name": call.tool, "arguments": call.input.to_string()});
    json!([{"index": 0, "id": call.id, "type": "function", "function": function}])
}

impl Speaker for Chat {
    fn begin(&mut self, reply: &mut Reply) -> io::Result<()> {
        self.delta(reply, &json!({"role": "assistant", "content": ""}), &Value::Null)
    }

    fn text(&mut self, reply: &mut Reply, piece: &str) -> io::Result<()> {
        self.delta(reply, &json!({ "content": piece }), &Value::Null)
    }

    fn call(&mut self, reply: &mut Reply, call: &Call) -> io::Result<()> {
        self.finish = TOOL_CALLS;
        self.delta(reply, &json!({"tool_calls": called(call)}), &Value::Null)
    }

    fn end(&mut self, reply: &mut Reply, close: Close) -> io::Result<()> {
        let finish = match close {
            Close::Proper => self.finish,
            Close::Length => "length",
            Close::Refusal => "content_filter",
        };
        self.delta(reply, &json!({}), &json!(finish))?;
        let mut last = self.envelope("chat.completion.chunk", &json!([]));
        last["usage"] = usage();
        reply.event(None, &last)?;
        reply.word("[DONE]")?;
        reply.end()
    }

    fn too_long(&mut self, reply: &mut Reply) -> io::Result<()> {
        let message = "This model's maximum context length is 200000 tokens. However, your messages \
                       resulted in 210000 tokens.";
        let error = json!({"type": "invalid_request_error", "code": "context_length_exceeded",
            "message": message});
        reply.json(TOO_LONG_STATUS, &[], &json!({ "error": error }))
    }

    fn whole(&self, text: &str, call: Option<&Call>) -> Value {
        let mut message = json!({"role": "assistant", "content": text});
        if let Some(call) = call {
            message["tool_calls"] = called(call);
        }
        let choices = json!([{"index": 0, "message": message, "finish_reason": if call.is_some() { TOOL_CALLS } else { STOP }}]);
        let mut whole = self.envelope("chat.completion", &choices);
        whole["usage"] = usage();
        whole
    }

    fn failure(&self, failure: Failure) -> (Vec<(&'static str, String)>, Value) {
        let headers = failure.retry_after.map(|secs| ("retry-after", secs.to_string()));
        let message = format!("the stub was told to fail with {}", failure.status);
        let kind = super::openai_kind(failure.status);
        (headers.into_iter().collect(), json!({"error": {"type": kind, "message": message}}))
    }
}
