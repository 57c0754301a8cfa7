//! The Agent Client Protocol on pipes: requests, answers and notices, one JSON object a line.

use super::written::{ENTRY, REJECTED, meaning};
use crate::dialect::{Dialect, GONE, Interrupt, NO_SUCH_CHOICE, Shown, Source};
use crate::heard::{CUT_OFF, Heard, REFUSED, Said, Usage};
use crate::hearing::{Meaning, as_text, gist, json_line, pending, text, what};
use crate::launch::Approach;
use crate::lines::Lines;
use crate::wants::said_with;
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::session::Session;
use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, Ask, AskKind, DENY};
use glis_wire::view::Voice;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Names of our requests. The one for an old conversation is followed by the id that it has, and both by
/// what was asked for beside the conversation, behind a blank.
const GREETING: &str = "glis-greeting";
const FRESH: &str = "glis-conversation";
const LOADED: &str = "glis-conversation:";
const MESSAGE: &str = "glis-message";

/// The answers, and what the choices are called that they stand for.
const WAYS: [(&str, &str); 2] = [(ALLOW, "allow_once"), (DENY, "reject_once")];

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The first request. It offers nothing: the agent reads, writes and runs things itself.
pub(super) fn greeting() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": GREETING,
        "method": "initialize",
        "params": {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
            },
            "clientInfo": {"name": "glis", "version": VERSION},
        },
    })
}

/// The second request: the conversation, fresh or as it was. `wanted` is what the answer has to offer:
/// what it does not have, it would replace by something else without a word.
pub(super) fn conversation(session: &Session, how: Approach, wanted: &Map<String, Value>) -> Value {
    let mut params = json!({"cwd": session.place.worktree, "mcpServers": []});
    let id = session.agent.agent_ref.as_deref().unwrap_or_default();
    let (name, method) = match how {
        Approach::Fresh => (FRESH.to_owned(), "session/new"),
        Approach::Resume => {
            params["sessionId"] = json!(id);
            (format!("{LOADED}{id}"), "session/load")
        }
    };
    let name = format!("{name} {}", Value::from(wanted.clone()));
    json!({"jsonrpc": "2.0", "id": name, "method": method, "params": params})
}

/// What was wanted and is not offered, and what is.
fn not_offered(wanted: &str, options: &Value) -> Option<String> {
    let wanted: Map<String, Value> = serde_json::from_str(wanted).ok()?;
    let options: Vec<&Value> = options.as_array().into_iter().flatten().collect();
    wanted.iter().find_map(|(id, value)| {
        let option = options.iter().find(|option| text(option, "/id") == id)?;
        let offered = || option["options"].as_array().into_iter().flatten();
        let known: Vec<&str> = offered().map(|offer| text(offer, "/value")).collect();
        let is_known = known.contains(&value.as_str()?);
        (!is_known).then(|| format!("it has no {id} {value}, but {}", known.join(", ")))
    })
}

#[derive(Default)]
pub(super) struct Acp {
    lines: Lines,
    /// The conversation; empty until it is there. Before that, an old one is told again from its
    /// beginning.
    session: String,
    /// A message was taken and is being answered.
    at_work: bool,
    /// What it is saying: words come in pieces.
    saying: String,
    /// Tools that run, so that each begins and ends once however often it is told.
    tools: BTreeMap<String, Stage>,
    asks: BTreeMap<String, Asked>,
    cost_micros: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Announced; what it is given comes later.
    Named,
    Running,
}

struct Asked {
    call: String,
    /// Its own name for the request, which counts from 0 in every process.
    request: Value,
    options: Value,
}

impl Acp {
    fn understand(&mut self, words: &Value) -> Meaning {
        let mut line = Meaning::default();
        let (method, params) = (text(words, "/method"), &words["params"]);
        match (words.get("id"), method) {
            (Some(id), "") => self.responded(id.as_str().unwrap_or_default(), words, &mut line),
            (Some(id), "session/request_permission") => self.asked(id, params, &mut line),
            // Helpers have conversations of their own, and an old one tells its history first.
            (None, "session/update") if self.is_about_us(params) => {
                self.update(&params["update"], &mut line);
            }
            _ => {}
        }
        line
    }

    fn is_about_us(&self, params: &Value) -> bool {
        !self.session.is_empty() && text(params, "/sessionId") == self.session
    }

    fn responded(&mut self, id: &str, words: &Value, line: &mut Meaning) {
        let (id, wanted) = id.split_once(' ').unwrap_or((id, ""));
        let lacks = not_offered(wanted, &words["result"]["configOptions"]);
        let error = lacks.unwrap_or_else(|| error(words));
        match (id, id.strip_prefix(LOADED)) {
            (_, Some(_)) | (FRESH, _) if !error.is_empty() => line.sign(Sign::RefRejected(error)),
            (_, Some(loaded)) => self.begins(loaded, line),
            (FRESH, _) => self.begins(text(words, "/result/sessionId"), line),
            (MESSAGE, _) => self.turn_over(words, &error, line),
            _ => {}
        }
    }

    fn begins(&mut self, session: &str, line: &mut Meaning) {
        session.clone_into(&mut self.session);
        line.sign(Sign::RefKnown(session.to_owned()));
        line.sign(Sign::Ready);
    }

    /// Nothing says that a message was taken but the first thing that comes of it.
    fn works(&mut self, line: &mut Meaning) {
        if !std::mem::replace(&mut self.at_work, true) {
            line.sign(Sign::TookMessage { text: None });
            line.sign(Sign::TurnBegan);
        }
    }

    fn update(&mut self, update: &Value, line: &mut Meaning) {
        match text(update, "/sessionUpdate") {
            "agent_message_chunk" => {
                self.works(line);
                self.saying.push_str(text(update, "/content/text"));
            }
            "agent_thought_chunk" => self.works(line),
            "tool_call" | "tool_call_update" => {
                self.works(line);
                line.says(&mut self.saying);
                self.tool(update, line);
            }
            "plan" => {
                self.works(line);
                let entries = update["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
                line.words(pending(entries, ENTRY));
            }
            "usage_update" => self.cost_micros = micros(&update["cost"]).or(self.cost_micros),
            _ => {}
        }
    }

    fn tool(&mut self, update: &Value, line: &mut Meaning) {
        let id = text(update, "/toolCallId");
        let input = &update["rawInput"];
        match text(update, "/status") {
            "pending" => {
                self.tools.entry(id.to_owned()).or_insert(Stage::Named);
            }
            "in_progress" => {
                if self.tools.insert(id.to_owned(), Stage::Running) == Some(Stage::Running) {
                    // A call that waits for an answer says nothing more until it has one.
                    self.answered(id, line);
                    return;
                }
                line.tool_began(tool_name(update), id, input, ENTRY);
            }
            _ => {
                self.answered(id, line);
                let name = tool_name(update);
                if text(update, "/rawOutput/error").starts_with(REJECTED) {
                    line.words(Said::denied(name, gist(input)));
                } else if text(update, "/status") == "failed" && !cut_off(update) {
                    line.words(Said::failed(name, gist(input)));
                }
                if self.tools.remove(id) == Some(Stage::Running) {
                    line.sign(Sign::ToolEnded(id.to_owned()));
                }
            }
        }
    }

    /// What was asked about a call is answered, here or elsewhere.
    fn answered(&mut self, call: &str, line: &mut Meaning) {
        self.asks.retain(|id, ask| {
            let open = ask.call != call;
            if !open {
                line.sign(Sign::AskGone(AskId(id.clone())));
            }
            open
        });
    }

    fn asked(&mut self, request: &Value, params: &Value, line: &mut Meaning) {
        self.works(line);
        line.says(&mut self.saying);
        let call = &params["toolCall"];
        let about = text(call, "/toolCallId").to_owned();
        let id = format!("{about}-{request}");
        let asks = what(text(call, "/kind"), text(call, "/title"));
        let options = params["options"].clone();
        self.asks.insert(id.clone(), Asked { call: about, request: request.clone(), options });
        let kind = AskKind::Approval;
        // What it shows of it, a diff of each file among that, else what it gives the tool.
        let shown =
            call.get("content").filter(|shown| shown.as_array().is_some_and(|s| !s.is_empty()));
        let offered = WAYS.iter().filter(|(_, kind)| option(&params["options"], kind).is_some());
        let mut choices: Vec<&str> = offered.map(|(word, _)| *word).collect();
        // What is shown may be less than what the tool is given, and the same of two that differ.
        if shown.is_none() && choices.contains(&ALLOW) {
            choices.insert(1, ALLOW_FOR_SESSION);
        }
        let ask = Ask::new(AskId(id), kind, asks).among(choices);
        let said =
            shown.map_or_else(|| call["rawInput"].clone(), |shown| json!({"content": shown}));
        let ask = said_with(ask, &said);
        line.sign(Sign::Asked(ask));
    }

    fn turn_over(&mut self, words: &Value, error: &str, line: &mut Meaning) {
        self.works(line);
        line.says(&mut self.saying);
        self.at_work = false;
        self.tools.clear();
        for id in std::mem::take(&mut self.asks).into_keys() {
            line.sign(Sign::AskGone(AskId(id)));
        }
        let stopped = text(words, "/result/stopReason");
        let why = match stopped {
            "refusal" => REFUSED,
            "max_tokens" => CUT_OFF,
            "max_turn_requests" => "the turn had more requests than it may have",
            _ => error,
        };
        let mut said = Said::new(Voice::System, why);
        let tokens = |key: &str| words.pointer(&format!("/result/usage/{key}"))?.as_u64();
        said.usage = tokens("inputTokens").map(|tokens_in| Usage {
            tokens_in,
            tokens_out: tokens("outputTokens").unwrap_or_default(),
            cost_micros: self.cost_micros,
            window_percent: None,
        });
        line.turn_over(if stopped == "cancelled" { Sign::TurnCut } else { Sign::TurnEnded }, said);
    }
}

/// Whether a tool was ended with its turn: that is told of the turn.
fn cut_off(update: &Value) -> bool {
    update.pointer("/rawOutput/metadata/interrupted") == Some(&Value::Bool(true))
}

fn tool_name(update: &Value) -> &str {
    match text(update, "/kind") {
        "" | "other" => text(update, "/title"),
        kind => kind,
    }
}

/// What went wrong; empty if nothing did.
fn error(words: &Value) -> String {
    let (message, details) = (text(words, "/error/message"), text(words, "/error/data/message"));
    match (message.is_empty(), details.is_empty()) {
        (false, false) => format!("{message}: {details}"),
        (false, true) => message.to_owned(),
        (true, _) if words.get("error").is_some() => words["error"].to_string(),
        (true, _) => String::new(),
    }
}

/// The choice of this kind, if it is offered.
fn option<'o>(options: &'o Value, kind: &str) -> Option<&'o Value> {
    options.as_array()?.iter().find(|option| option["kind"] == kind)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a price is above zero and far below 2^64 millionths"
)]
fn micros(cost: &Value) -> Option<u64> {
    let amount = cost["amount"].as_f64().filter(|amount| *amount >= 0.0)?;
    (text(cost, "/currency") == "USD").then_some((amount * 1e6).round() as u64)
}

impl Dialect for Acp {
    fn hear(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        let words = self.lines.words(offset, bytes).into_iter();
        words.flat_map(|(end, words)| self.understand(&words).heard(end)).collect()
    }

    /// What it has written down is one document.
    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        match serde_json::from_slice(bytes) {
            Ok(conversation) if offset == 0 => meaning(&conversation).heard(bytes.len() as u64),
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    /// A command that it does not know it drops without a word, and a path looks like one.
    fn say(&self, text: &str) -> Vec<u8> {
        let text = as_text(text, &['/'], &[]);
        json_line(&json!({
            "jsonrpc": "2.0",
            "id": MESSAGE,
            "method": "session/prompt",
            "params": {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]},
        }))
    }

    fn saying(&self) -> Option<&str> {
        Some(&self.saying)
    }

    fn interrupt(&self) -> Interrupt {
        // The protocol wants that a client which cancels also answers all open questions so.
        let answers = self.asks.values().map(|asked| {
            let result = json!({"outcome": {"outcome": "cancelled"}});
            json!({"jsonrpc": "2.0", "id": asked.request, "result": result})
        });
        let cancel = json!({
            "jsonrpc": "2.0",
            "method": "session/cancel",
            "params": {"sessionId": self.session},
        });
        let words = std::iter::once(cancel).chain(answers);
        Interrupt::Bytes(words.flat_map(|words| json_line(&words)).collect())
    }

    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String> {
        let Asked { request, options, .. } = self.asks.get(&ask.id.0).ok_or(GONE)?;
        let wanted = WAYS.iter().find(|(word, _)| *word == answer).ok_or(NO_SUCH_CHOICE)?.1;
        let option = option(options, wanted).ok_or(NO_SUCH_CHOICE)?;
        let outcome = json!({"outcome": "selected", "optionId": option["optionId"]});
        let result = json!({ "outcome": outcome });
        Ok(json_line(&json!({"jsonrpc": "2.0", "id": request, "result": result})))
    }

    fn shows(&self, _lines: &[String]) -> Shown {
        Shown::Other
    }

    fn source(&self) -> Source {
        Source::Stream
    }
}
