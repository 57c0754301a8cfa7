//! Codex as a server on pipes: requests, answers and notices, one JSON object a line.

use super::notices::{Windows, planned};
use super::terminal::Terminal;
use crate::dialect::{CHANGED, Dialect, GONE, Interrupt, Shown, Source};
use crate::heard::{Heard, Said, Usage};
use crate::hearing::{Meaning, Running, answers, edit, gist, json_line, text, to_allow, what};
use crate::lines::Lines;
use crate::wants::{digest, said_with, unwrapped};
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::talk::{ALLOW, Ask, AskKind, DENY};
use glis_core::verdict::Want;
use glis_wire::view::Voice;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Names of our requests. The one for an old conversation is followed by the id that we expect back.
pub(super) const GREETING: &str = "glis-greeting";
pub(super) const FRESH: &str = "glis-thread";
pub(super) const RESUMED: &str = "glis-thread:";
/// How it calls a command among its items.
const COMMAND: &str = "commandExecution";
const MESSAGE: &str = "glis-message";
const INTERRUPT: &str = "glis-interrupt";

/// How its answer begins when its own configuration cannot be read, whatever it was asked for.
const BAD_CONFIGURATION: &str = "failed to load configuration";

#[derive(Default)]
pub(super) struct Server {
    lines: Lines,
    /// What it has written down, read where its output was lost.
    rollout: Terminal,
    thread: String,
    turn: String,
    /// What it asks, by our name for it.
    asks: BTreeMap<String, Asked>,
    /// What it is saying, by the item: an answer that is interrupted is never said as a whole.
    unfinished: BTreeMap<String, String>,
    /// What each change of files is to be, by the item: a question about one only names it.
    changes: BTreeMap<String, Value>,
    usage: Option<Usage>,
    /// Tokens of the whole conversation, as it told them last.
    total: u64,
    windows: Windows,
    /// Commands of the turn that have not ended, and those that outlived theirs.
    commands: BTreeSet<String>,
    running: Running,
}

struct Asked {
    /// Its own name for the request, which counts from 0 in every process.
    request: Value,
    method: String,
    params: Value,
    digest: String,
}

impl Server {
    fn understand(&mut self, words: &Value) -> Meaning {
        let mut line = Meaning::default();
        let (method, params) = (text(words, "/method"), &words["params"]);
        match (words.get("id"), method) {
            (Some(id), "") => self.responded(id, words, &mut line),
            (Some(id), method) => self.asked(id, method, params, &mut line),
            (None, method) => self.notice(method, params, &mut line),
        }
        line
    }

    fn responded(&mut self, id: &Value, words: &Value, line: &mut Meaning) {
        let id = id.as_str().unwrap_or_default();
        let error = text(words, "/error/message");
        if id == MESSAGE && !error.is_empty() {
            // It took nothing, and says why.
            line.turn_over(Sign::TurnEnded, Said::new(Voice::System, error));
        }
        if id == GREETING && !error.is_empty() {
            line.sign(Sign::StartRefused(error.to_owned()));
        }
        if id != FRESH && !id.starts_with(RESUMED) {
            return;
        }
        let thread = text(words, "/result/thread/id");
        let expected = id.strip_prefix(RESUMED);
        if thread.is_empty() && (expected.is_none() || error.starts_with(BAD_CONFIGURATION)) {
            line.sign(Sign::StartRefused(error.to_owned()));
        } else if thread.is_empty() {
            line.sign(Sign::RefRejected(error.to_owned()));
        } else if expected.is_some_and(|expected| expected != thread) {
            line.sign(Sign::RefRejected(format!("it came back in another conversation, {thread}")));
        } else {
            thread.clone_into(&mut self.thread);
            line.sign(Sign::RefKnown(thread.to_owned()));
            line.sign(Sign::Ready);
        }
    }

    fn asked(&mut self, request: &Value, method: &str, params: &Value, line: &mut Meaning) {
        let item = text(params, "/itemId");
        let id = format!("{item}-{request}");
        let (kind, asks) = match method {
            "item/tool/requestUserInput" => (AskKind::Question, questions(params)),
            "item/commandExecution/requestApproval" => {
                (AskKind::Approval, to_allow("run", text(params, "/command")))
            }
            "item/fileChange/requestApproval" => {
                (AskKind::Approval, to_allow("change files", text(params, "/reason")))
            }
            other => (AskKind::Approval, to_allow(other, text(params, "/reason"))),
        };
        let digest = digest(&json!([method, params]));
        let ask = Ask::new(AskId(id.clone()), kind, asks).summed(digest.clone());
        let changes = self.changes.get(item).map(|changes| json!({"changes": changes}));
        let ask = ask.wanting(wants(method, params));
        let ask = said_with(ask, &changes.unwrap_or_else(|| without_names(params)));
        let (request, method, params) = (request.clone(), method.to_owned(), params.clone());
        self.asks.insert(id, Asked { request, method, params, digest });
        line.sign(Sign::Asked(ask));
    }

    fn notice(&mut self, method: &str, params: &Value, line: &mut Meaning) {
        // What helpers of its own do in threads of theirs is part of a tool in this one.
        let thread = text(params, "/threadId");
        if !thread.is_empty() && thread != self.thread {
            return;
        }
        let item = &params["item"];
        match method {
            "turn/started" => {
                text(params, "/turn/id").clone_into(&mut self.turn);
                line.sign(Sign::TurnBegan);
            }
            "item/started" => {
                let changes = item.get("changes").filter(|_| text(item, "/type") == "fileChange");
                let id = || text(item, "/id").to_owned();
                self.changes.extend(changes.map(|changes| (id(), changes.clone())));
                if text(item, "/type") == COMMAND {
                    self.commands.insert(id());
                }
                item_began(item, line);
            }
            "item/completed" => self.item_ended(item, line),
            "item/agentMessage/delta" => {
                let said = self.unfinished.entry(text(params, "/itemId").to_owned()).or_default();
                said.push_str(text(params, "/delta"));
            }
            "turn/plan/updated" => line.words(planned(&params["plan"])),
            "serverRequest/resolved" => {
                let found = self.asks.iter().find(|(_, ask)| ask.request == params["requestId"]);
                if let Some(id) = found.map(|(id, _)| id.clone()) {
                    self.asks.remove(&id);
                    line.sign(Sign::AskGone(AskId(id)));
                }
            }
            "thread/tokenUsage/updated" => self.used(&params["tokenUsage"]),
            "account/rateLimits/updated" => {
                self.windows.learn(&params["rateLimits"]);
                limit(params, line);
            }
            "turn/completed" => self.turn_ended(params, line),
            _ => {}
        }
    }

    /// A turn has as many requests as it needs, each told once by itself and again with all others.
    fn used(&mut self, usage: &Value) {
        let number = |part: &str, key: &str| usage[part][key].as_u64().unwrap_or_default();
        let total = number("total", "totalTokens");
        let is_new = std::mem::replace(&mut self.total, total) != total && !self.turn.is_empty();
        if is_new {
            let before = self.usage.unwrap_or_default();
            self.usage = Some(Usage {
                tokens_in: before.tokens_in + number("last", "inputTokens"),
                tokens_out: before.tokens_out + number("last", "outputTokens"),
                ..Usage::default()
            });
        }
    }

    fn item_ended(&mut self, item: &Value, line: &mut Meaning) {
        let id = text(item, "/id");
        self.commands.remove(id);
        self.running.ended(id, line);
        match text(item, "/type") {
            "agentMessage" => {
                self.unfinished.remove(id);
                line.words(Said::new(Voice::Assistant, text(item, "/text")));
            }
            "userMessage" | "reasoning" | "plan" | "hookPrompt" => {}
            _ => {
                let (name, content) = tool_words(item);
                match text(item, "/status") {
                    "declined" => line.words(Said::denied(&name, content)),
                    "failed" => line.words(Said::failed(&name, content)),
                    _ => {}
                }
                line.sign(Sign::ToolEnded(id.to_owned()));
            }
        }
    }

    fn turn_ended(&mut self, params: &Value, line: &mut Meaning) {
        self.turn.clear();
        self.changes.clear();
        let cut = text(params, "/turn/status") == "interrupted";
        // Who cuts a turn off wants no more of it: what it was just running is nobody's work, though Codex lets
        // it run on.
        let commands = std::mem::take(&mut self.commands);
        for id in commands.iter().filter(|_| !cut) {
            self.running.began(id, line);
        }
        for id in std::mem::take(&mut self.asks).into_keys() {
            line.sign(Sign::AskGone(AskId(id)));
        }
        for (_, said) in std::mem::take(&mut self.unfinished) {
            line.words(Said::new(Voice::Assistant, said));
        }
        let error = &params["turn"]["error"];
        let limited = self.windows.again_at(error);
        let mut said = Said::new(Voice::System, text(error, "/message"));
        let window_percent = self.windows.percent;
        said.usage = self.usage.take().map(|usage| Usage { window_percent, ..usage });
        let over = match limited {
            Some(reset_at) => Sign::TurnLimited { reset_at },
            None if cut => Sign::TurnCut,
            None => Sign::TurnEnded,
        };
        line.turn_over(over, said);
    }
}

/// The command that it asks for, unless more than running it in its folder is asked for.
fn wants(method: &str, params: &Value) -> Option<Want> {
    let more = ["additionalPermissions", "networkApprovalContext"];
    let plain = more.iter().all(|key| params.get(key).is_none_or(Value::is_null));
    if method != "item/commandExecution/requestApproval" || !plain {
        return None;
    }
    let line = unwrapped(text(params, "/command"))?.to_owned();
    let folder = params.get("cwd").and_then(Value::as_str).map(str::to_owned);
    Some(Want::Command { line, folder })
}

fn item_began(item: &Value, line: &mut Meaning) {
    match text(item, "/type") {
        "userMessage" => {
            let parts = item["content"].as_array().into_iter().flatten();
            let said = parts.map(|part| text(part, "/text")).collect::<Vec<_>>().join("\n");
            line.took(said);
        }
        "agentMessage" | "reasoning" | "plan" | "hookPrompt" => {}
        _ => {
            let (name, content) = tool_words(item);
            let (tool, what) = (text(item, "/id").to_owned(), what(&name, &content));
            let said = Said { edit: edit(item), ..Said::tool(&name, content) };
            line.both(Sign::ToolBegan { tool, what }, said);
        }
    }
}

/// The name of a tool and what it is used for, for a person.
fn tool_words(item: &Value) -> (String, String) {
    let content = match text(item, "/type") {
        COMMAND => text(item, "/command").to_owned(),
        "fileChange" => {
            let changes = item["changes"].as_array().into_iter().flatten();
            changes.map(|change| text(change, "/path")).collect::<Vec<_>>().join(" ")
        }
        "mcpToolCall" | "dynamicToolCall" => {
            format!("{} {}", text(item, "/tool"), gist(&item["arguments"]))
        }
        _ => gist(item),
    };
    let name = match text(item, "/type") {
        COMMAND => "run",
        "fileChange" => "edit",
        other => other,
    };
    (name.to_owned(), content)
}

fn questions(params: &Value) -> String {
    let each = params["questions"].as_array().into_iter().flatten().map(|question| {
        let options = question["options"].as_array().into_iter().flatten();
        let labels: Vec<&str> = options.map(|option| text(option, "/label")).collect();
        format!("{} [{}]", text(question, "/question"), labels.join(" | "))
    });
    each.collect::<Vec<_>>().join("\n")
}

fn limit(params: &Value, line: &mut Meaning) {
    let limits = &params["rateLimits"];
    if limits["rateLimitReachedType"].is_null() {
        return;
    }
    let resets =
        limits.pointer("/primary/resetsAt").or_else(|| limits.pointer("/secondary/resetsAt"));
    let reset_at = resets.map(Value::to_string).unwrap_or_default();
    line.sign(Sign::LimitReached { reset_at });
}

impl Dialect for Server {
    fn hear(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        let words = self.lines.words(offset, bytes).into_iter();
        words.flat_map(|(end, words)| self.understand(&words).heard(end)).collect()
    }

    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        self.rollout.read(offset, bytes)
    }

    fn say(&self, text: &str) -> Vec<u8> {
        let input = json!([{"type": "text", "text": text}]);
        json_line(&json!({
            "id": MESSAGE,
            "method": "turn/start",
            "params": {"threadId": self.thread, "input": input},
        }))
    }

    /// It says one thing at a time.
    fn saying(&self) -> Option<&str> {
        self.unfinished.values().next_back().map(String::as_str)
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Bytes(json_line(&json!({
            "id": INTERRUPT,
            "method": "turn/interrupt",
            "params": {"threadId": self.thread, "turnId": self.turn},
        })))
    }

    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String> {
        let asked = self.asks.get(&ask.id.0).ok_or(GONE)?;
        let Asked { request, method, params, digest } = asked;
        if ask.digest.as_ref().is_some_and(|judged| judged != digest) {
            return Err(CHANGED.to_owned());
        }
        let result = match (method.as_str(), answer) {
            ("item/tool/requestUserInput", words) => answered(params, words)?,
            ("item/permissions/requestApproval", ALLOW) => {
                json!({"permissions": params["permissions"], "scope": "turn"})
            }
            ("item/permissions/requestApproval", _) => json!({"permissions": {}, "scope": "turn"}),
            ("mcpServer/elicitation/request", ALLOW) => {
                json!({"action": "accept", "content": {}, "_meta": null})
            }
            ("mcpServer/elicitation/request", _) => {
                json!({"action": "decline", "content": null, "_meta": null})
            }
            (_, ALLOW) => json!({"decision": "accept"}),
            (_, _) => json!({"decision": "decline"}),
        };
        Ok(json_line(&json!({"id": request, "result": result})))
    }

    fn shows(&self, _lines: &[String]) -> Shown {
        Shown::Other
    }

    fn source(&self) -> Source {
        Source::Stream
    }
}

/// What is asked, without the names and times that each request has of its own.
fn without_names(params: &Value) -> Value {
    let fields = params.as_object().into_iter().flatten();
    let told = fields.filter(|(key, _)| !key.ends_with("Id") && !key.ends_with("Ms"));
    told.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// An answer for each question, under the id that it has.
fn answered(params: &Value, words: &str) -> Result<Value, String> {
    let questions = params["questions"].as_array().into_iter().flatten();
    let names: Vec<[&str; 2]> =
        questions.map(|question| [text(question, "/question"), text(question, "/id")]).collect();
    let answers = match words {
        DENY => vec![json!("none of these"); names.len()],
        words => answers(&names, words)?,
    };
    let each = answers.into_iter().map(|answer| {
        let several = if answer.is_array() { answer } else { json!([answer]) };
        json!({ "answers": several })
    });
    let each: Map<_, _> = names.iter().map(|[_, id]| (*id).to_owned()).zip(each).collect();
    Ok(json!({ "answers": each }))
}
