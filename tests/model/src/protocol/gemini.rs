//! Google's `generateContent`: how Gemini CLI speaks.

use super::{
    Call, Close, Failure, Protocol, Purpose, Question, Speaker, TOKENS_IN, TOKENS_OUT,
    TOO_LONG_STATUS, Turns, Voice, list,
};
use crate::http::{Reply, Request};
use serde_json::{Value, json};
use std::io;

pub(super) fn question(request: &Request, body: &Value) -> Question {
    let mut turns = Turns::default();
    for content in list(&body["contents"]) {
        for part in list(&content["parts"]) {
            let call = &part["functionCall"];
            match (content["role"].as_str(), part["text"].as_str()) {
                (_, None) if !part["functionResponse"].is_null() => {
                    turns.add(Voice::Tool, &part["functionResponse"]["response"].to_string());
                }
                (Some("model"), text) => {
                    let call = || format!("{} {}", call["name"], call["args"]);
                    turns.add(Voice::Model, &text.map_or_else(call, ToOwned::to_owned));
                }
                (_, text) => turns.add_user(text.unwrap_or_default()),
            }
        }
    }
    let config = &body["generationConfig"];
    let schema = config.get("responseJsonSchema").or_else(|| config.get("responseSchema"));
    let side = list(&body["tools"]).is_empty() || schema.is_some();
    Question {
        protocol: Protocol::Gemini,
        purpose: if side { Purpose::Side } else { Purpose::Turn },
        turns: turns.into_vec(),
        streams: request.path().ends_with(":streamGenerateContent"),
        schema: schema.cloned(),
        conversation: None,
    }
}

pub(super) struct Gemini;

impl Gemini {
    fn answer(parts: &Value, finish: Option<&str>) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        json!({"candidates": [candidate], "modelVersion": "stub",
            "usageMetadata": {"promptTokenCount": TOKENS_IN, "candidatesTokenCount": TOKENS_OUT,
                "totalTokenCount": TOKENS_IN + TOKENS_OUT}})
    }

    fn called(call: &Call) -> Value {
        json!({"functionCall": {"id": call.id, "name": call.tool, "args": call.input}})
    }
}

impl Speaker for Gemini {
    fn begin(&mut self, reply: &mut Reply) -> io::Result<()> {
        // An empty beginning puts the head of the stream on the wire, as for the others.
        reply.event(None, &Self::answer(&json!([{"text": ""}]), None))
    }

    fn text(&mut self, reply: &mut Reply, piece: &str) -> io::Result<()> {
        reply.event(None, &Self::answer(&json!([{ "text": piece }]), None))
    }

    fn call(&mut self, reply: &mut Reply, call: &Call) -> io::Result<()> {
        reply.event(None, &Self::answer(&json!([Self::called(call)]), None))
    }

    fn end(&mut self, reply: &mut Reply, close: Close) -> io::Result<()> {
        let finish = match close {
            Close::Proper => "STOP",
            Close::Length => "MAX_TOKENS",
            Close::Refusal => "SAFETY",
        };
        reply.event(None, &Self::answer(&json!([{"text": ""}]), Some(finish)))?;
        reply.end()
    }

    fn too_long(&mut self, reply: &mut Reply) -> io::Result<()> {
        let message = "The input token count (1100000) exceeds the maximum number of tokens allowed \
                       (1048576).";
        let error =
            json!({"code": TOO_LONG_STATUS, "message": message, "status": "INVALID_ARGUMENT"});
        reply.json(TOO_LONG_STATUS, &[], &json!({ "error": error }))
    }

    fn whole(&self, text: &str, call: Option<&Call>) -> Value {
        let mut parts = vec![json!({ "text": text })];
        parts.extend(call.map(Self::called));
        Self::answer(&json!(parts), Some("STOP"))
    }

    fn failure(&self, failure: Failure) -> (Vec<(&'static str, String)>, Value) {
        let status = match failure.status {
            429 => "RESOURCE_EXHAUSTED",
            400 => "INVALID_ARGUMENT",
            503 | 529 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        let message = format!("the stub was told to fail with {}", failure.status);
        let again = failure.retry_after.map(|secs| {
            json!({"@type": "type.googleapis.com/google.rpc.RetryInfo",
                "retryDelay": format!("{secs}s")})
        });
        // An allowance for a day, in place of one for a minute that is waited for.
        let used_up = failure.limit_until.map(|_| {
            json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]})
        });
        let details: Vec<Value> = again.into_iter().chain(used_up).collect();
        let error = json!({"code": failure.status, "message": message, "status": status,
            "details": details});
        (Vec::new(), json!({ "error": error }))
    }
}
