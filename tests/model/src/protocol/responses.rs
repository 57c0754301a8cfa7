//! `OpenAI`'s Responses: how Codex speaks.

use super::{
    Call, Close, Failure, Protocol, Purpose, Question, Speaker, TOKENS_IN, TOKENS_OUT, Turns,
    Voice, flat, list,
};
use crate::http::{Reply, Request};
use serde_json::{Value, json};
use std::io;

pub(super) fn question(request: &Request, body: &Value) -> Question {
    let mut turns = Turns::default();
    if let Some(text) = body["input"].as_str() {
        turns.add_user(text);
    }
    for item in list(&body["input"]) {
        match (item["type"].as_str().unwrap_or("message"), item["role"].as_str()) {
            ("message", Some("assistant")) => turns.add(Voice::Model, &flat(&item["content"])),
            ("message", Some("user")) => {
                for block in list(&item["content"]) {
                    turns.add_user(block["text"].as_str().unwrap_or_default());
                }
            }
            ("message", _) => turns.add(Voice::Note, &flat(&item["content"])),
            ("function_call", _) => {
                turns.add(Voice::Model, &format!("{} {}", item["name"], item["arguments"]));
            }
            ("custom_tool_call", _) => {
                turns.add(Voice::Model, &format!("{} {}", item["name"], item["input"]));
            }
            ("function_call_output" | "custom_tool_call_output", _) => {
                let output = &item["output"];
                let text = if output.is_array() { flat(output) } else { output.to_string() };
                turns.add(Voice::Tool, output.as_str().unwrap_or(&text));
            }
            // Thoughts come before the answer that they belong to.
            _ => {}
        }
    }
    let schema = body["text"]["format"].get("schema").cloned();
    let side = list(&body["tools"]).is_empty() || schema.is_some();
    let id = ["session_id", "session-id", "conversation_id", "thread_id", "thread-id"];
    let header = id.iter().find_map(|name| request.header(name));
    Question {
        protocol: Protocol::Responses,
        purpose: if side { Purpose::Side } else { Purpose::Turn },
        turns: turns.into_vec(),
        streams: body["stream"] == true,
        schema,
        conversation: header.or_else(|| body["prompt_cache_key"].as_str()).map(ToOwned::to_owned),
    }
}

pub(super) struct Responses {
    id: String,
    tag: String,
    model: Value,
    /// Tools that take plain text instead of JSON.
    plain: Vec<String>,
    /// Tools that are called by a namespace, with its name behind theirs.
    spaced: Vec<(String, String)>,
    events: u32,
    text: Option<String>,
    output: Vec<Value>,
}

impl Responses {
    pub(super) fn new(body: &Value, tag: &str) -> Self {
        let plain = list(&body["tools"]).iter().filter(|tool| tool["type"] == "custom");
        let plain = plain.filter_map(|tool| tool["name"].as_str().map(ToOwned::to_owned)).collect();
        let spaces = list(&body["tools"]).iter().filter(|tool| tool["type"] == "namespace");
        let named = |tool: &Value| tool["name"].as_str().map(ToOwned::to_owned);
        let inside = |space: &Value| {
            let tools = list(&space["tools"]).iter();
            tools.filter_map(|tool| Some((named(tool)?, named(space)?))).collect::<Vec<_>>()
        };
        let spaced = spaces.flat_map(inside).collect();
        let (id, tag, model) = (format!("resp_{tag}"), tag.to_owned(), body["model"].clone());
        Self { id, tag, model, plain, spaced, events: 0, text: None, output: Vec::new() }
    }

    fn event(&mut self, reply: &mut Reply, kind: &str, mut data: Value) -> io::Result<()> {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.events);
        self.events += 1;
        reply.event(Some(kind), &data)
    }

    fn response(&self, status: &str, output: &[Value]) -> Value {
        let mut response = json!({"id": self.id, "object": "response", "created_at": 1,
            "status": status, "model": self.model, "output": output});
        if status == "completed" {
            response["usage"] = json!({
                "input_tokens": TOKENS_IN, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": TOKENS_OUT, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": TOKENS_IN + TOKENS_OUT});
        }
        response
    }

    fn message_id(&self) -> String {
        format!("msg_{}", self.tag)
    }

    fn message(&self, text: &str) -> Value {
        json!({"type": "message", "id": self.message_id(), "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
    }

    fn called(&self, call: &Call) -> Value {
        let (id, plain) = (&call.id, self.plain.contains(&call.tool));
        if plain {
            let input = call.input.as_str().map_or_else(|| call.input.to_string(), str::to_owned);
            return json!({"type": "custom_tool_call", "id": format!("ctc_{id}"),
                "call_id": call.id, "name": call.tool, "input": input, "status": "completed"});
        }
        let mut called = json!({"type": "function_call", "id": format!("fc_{id}"),
            "call_id": call.id, "name": call.tool, "arguments": call.input.to_string(),
            "status": "completed"});
        if let Some((_, space)) = self.spaced.iter().find(|(tool, _)| *tool == call.tool) {
            called["namespace"] = json!(space);
        }
        called
    }

    fn close_text(&mut self, reply: &mut Reply) -> io::Result<()> {
        let Some(text) = self.text.take() else { return Ok(()) };
        let (id, index) = (self.message_id(), self.output.len());
        let place = json!({"item_id": id, "output_index": index, "content_index": 0});
        let mut done = place.clone();
        done["text"] = json!(text);
        self.event(reply, "response.output_text.done", done)?;
        let mut part = place;
        part["part"] = json!({"type": "output_text", "text": text, "annotations": []});
        self.event(reply, "response.content_part.done", part)?;
        let item = self.message(&text);
        self.finish_item(reply, item)
    }

    fn finish_item(&mut self, reply: &mut Reply, item: Value) -> io::Result<()> {
        let done = json!({"output_index": self.output.len(), "item": item});
        self.event(reply, "response.output_item.done", done)?;
        self.output.push(item);
        Ok(())
    }
}

impl Speaker for Responses {
    fn begin(&mut self, reply: &mut Reply) -> io::Result<()> {
        let response = json!({"response": self.response("in_progress", &[])});
        self.event(reply, "response.created", response.clone())?;
        self.event(reply, "response.in_progress", response)
    }

    fn text(&mut self, reply: &mut Reply, piece: &str) -> io::Result<()> {
        let (id, index) = (self.message_id(), self.output.len());
        if self.text.is_none() {
            let item = json!({"type": "message", "id": id, "role": "assistant",
                "status": "in_progress", "content": []});
            let added = json!({"output_index": index, "item": item});
            self.event(reply, "response.output_item.added", added)?;
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            let added = json!({"item_id": id, "output_index": index, "content_index": 0,
                "part": part});
            self.event(reply, "response.content_part.added", added)?;
        }
        self.text.get_or_insert_default().push_str(piece);
        let delta = json!({"item_id": id, "output_index": index, "content_index": 0,
            "delta": piece});
        self.event(reply, "response.output_text.delta", delta)
    }

    fn call(&mut self, reply: &mut Reply, call: &Call) -> io::Result<()> {
        self.close_text(reply)?;
        let item = self.called(call);
        let added = json!({"output_index": self.output.len(), "item": item});
        self.event(reply, "response.output_item.added", added)?;
        self.finish_item(reply, item)
    }

    fn end(&mut self, reply: &mut Reply, close: Close) -> io::Result<()> {
        self.close_text(reply)?;
        let why = match close {
            Close::Proper => {
                let response = self.response("completed", &self.output);
                self.event(reply, "response.completed", json!({ "response": response }))?;
                return reply.end();
            }
            Close::Length => "max_output_tokens",
            Close::Refusal => "content_filter",
        };
        let mut response = self.response("incomplete", &self.output);
        response["incomplete_details"] = json!({ "reason": why });
        self.event(reply, "response.incomplete", json!({ "response": response }))?;
        reply.end()
    }

    /// Told in the stream, and not by a status.
    fn too_long(&mut self, reply: &mut Reply) -> io::Result<()> {
        self.begin(reply)?;
        let message = "Your input exceeds the context window of this model.";
        let mut response = self.response("failed", &[]);
        response["error"] = json!({"code": "context_length_exceeded", "message": message});
        self.event(reply, "response.failed", json!({ "response": response }))?;
        reply.end()
    }

    fn whole(&self, text: &str, call: Option<&Call>) -> Value {
        let mut output = Vec::new();
        if !text.is_empty() {
            output.push(self.message(text));
        }
        output.extend(call.map(|call| self.called(call)));
        self.response("completed", &output)
    }

    fn failure(&self, failure: Failure) -> (Vec<(&'static str, String)>, Value) {
        let retry = failure.retry_after.map(|secs| ("retry-after", secs.to_string()));
        // What the vendor tells with every answer of how much is used up.
        let used_up = failure.limit_until.into_iter().flat_map(|at| {
            [
                ("x-codex-primary-used-percent", "100".to_owned()),
                ("x-codex-primary-window-minutes", "300".to_owned()),
                ("x-codex-primary-reset-at", at.to_string()),
            ]
        });
        let headers = retry.into_iter().chain(used_up);
        let message = format!("the stub was told to fail with {}", failure.status);
        let error = match (failure.limit_until, failure.status) {
            (Some(at), _) => json!({"type": "usage_limit_reached", "message": message,
                "plan_type": "pro", "resets_at": at}),
            (None, 429) => json!({"type": "rate_limit_error", "code": "rate_limit_exceeded",
                "message": message}),
            (None, status) => {
                json!({"type": super::openai_kind(status), "message": message})
            }
        };
        (headers.collect(), json!({ "error": error }))
    }
}
