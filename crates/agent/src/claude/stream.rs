//! Claude Code on pipes: JSON lines both ways, with requests and answers among them.

use super::limits::{LIMIT, resets_at};
use super::tools::{SHELL_TOOL, Tools, asks_for, blocks, new_task, tool_use, wants};
use super::transcript;
use crate::dialect::{CHANGED, Dialect, GONE, Interrupt, Shown, Source};
use crate::heard::{Heard, Said, Usage};
use crate::hearing::{Meaning, Running, answers, as_text, json_line, text};
use crate::lines::Lines;
use crate::wants::{digest, said_with, stays};
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::talk::{ALLOW, Ask, AskKind, DENY};
use glis_wire::view::Voice;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The name of our first request, whose answer shows that it is ready.
pub(super) const FIRST: &str = "glis-first";
const INTERRUPT: &str = "glis-interrupt";

#[derive(Default)]
pub(super) struct Stream {
    lines: Lines,
    transcript: Lines,
    ready: bool,
    /// What it asks, by the name of the request.
    asks: BTreeMap<String, Asked>,
    running: Running,
    /// The ids of all that it has said.
    seen: BTreeSet<String>,
    /// Tools of the present turn.
    tools: Tools,
    /// Where its commands run, as it told at first.
    folder: Option<String>,
    /// Commands that have run since, or may be running, and may move its shell elsewhere. It does not
    /// tell where that is.
    movers: BTreeSet<String>,
    /// What all others have called. A function of the user's shell may move it as well.
    called: BTreeSet<String>,
    /// When a limit ends that the turn has met, as far as it was told.
    resets: String,
    /// What it is saying: each block of an answer comes in pieces, and then whole.
    saying: String,
}

struct Asked {
    /// The use of the tool that waits for it.
    tool_use: String,
    /// The helper that asks; empty if it is the agent itself.
    helper: String,
    input: Value,
    digest: String,
}

impl Stream {
    fn understand(&mut self, words: &Value) -> Meaning {
        let mut line = Meaning::default();
        match text(words, "/type") {
            "control_response" => self.responded(words, &mut line),
            "control_request" => self.asked(words, &mut line),
            "control_cancel_request" => self.ask_is_gone(text(words, "/request_id"), &mut line),
            "system" => self.about_itself(words, &mut line),
            "assistant" if self.is_repeated(words) => {}
            "assistant" => {
                if is_own(words) {
                    self.saying.clear();
                }
                self.tools.note(words);
                self.note_movers(words);
                worked(words, &mut line);
            }
            "user" => self.tools_ended(words, &mut line),
            "stream_event" if is_own(words) => self.piece(&words["event"]),
            "rate_limit_event" => self.limit(words, &mut line),
            "result" => self.turn_ended(words, &mut line),
            _ => {}
        }
        line
    }

    /// A piece of what it is saying. An answer that is not gone on with is never told as a whole.
    fn piece(&mut self, event: &Value) {
        match text(event, "/type") {
            "message_start" | "content_block_start" => self.saying.clear(),
            "content_block_delta" => self.saying.push_str(text(event, "/delta/text")),
            _ => {}
        }
    }

    /// A conversation that was made shorter is told again in part.
    fn is_repeated(&mut self, words: &Value) -> bool {
        let id = text(words, "/uuid");
        !id.is_empty() && !self.seen.insert(id.to_owned())
    }

    /// An answer to our first request, or our own answer, which it repeats when it has taken it.
    fn responded(&mut self, words: &Value, line: &mut Meaning) {
        let request = text(words, "/response/request_id");
        if request == FIRST {
            if text(words, "/response/subtype") == "success" {
                self.ready = true;
                line.sign(Sign::Ready);
            } else {
                line.sign(Sign::RefRejected(text(words, "/response/error").to_owned()));
            }
        } else {
            self.ask_is_gone(request, line);
        }
    }

    fn asked(&mut self, words: &Value, line: &mut Meaning) {
        let request = words.get("request").unwrap_or(&Value::Null);
        if text(request, "/subtype") != "can_use_tool" {
            return;
        }
        let id = text(words, "/request_id").to_owned();
        let tool = text(request, "/tool_name").to_owned();
        let input = request.get("input").cloned().unwrap_or_default();
        let (kind, asks) = asks_for(&tool, &input);
        let tool_use = text(request, "/tool_use_id").to_owned();
        // A helper may work in a tree of its own, and does not tell where.
        let helper = text(request, "/agent_id").to_owned();
        let may_tell = helper.is_empty() && !self.has_strayed(&tool_use);
        let folder = self.folder.clone().filter(|_| may_tell);
        let (wants, digest) = (wants(&tool, &input, folder), digest(request));
        let ask = Ask::new(AskId(id.clone()), kind, asks).wanting(wants).summed(digest.clone());
        let ask = said_with(ask.with_reasons(), &input);
        self.asks.insert(id, Asked { tool_use, helper, input, digest });
        line.sign(Sign::Asked(ask));
    }

    /// The request that this was asked with, if it is still the same.
    fn asked_now(&self, ask: &Ask) -> Result<&Asked, String> {
        let asked = self.asks.get(&ask.id.0).ok_or(GONE)?;
        if ask.digest.as_ref().is_some_and(|digest| *digest != asked.digest) {
            return Err(CHANGED.to_owned());
        }
        Ok(asked)
    }

    /// Whether a command other than this one may have moved the shell.
    fn has_strayed(&self, tool_use: &str) -> bool {
        self.movers.iter().any(|mover| mover != tool_use)
    }

    fn note_movers(&mut self, words: &Value) {
        let commands = blocks(words).filter(|block| text(block, "/name") == SHELL_TOOL);
        for block in commands {
            match stays(text(block, "/input/command")) {
                Some(programs) => self.called.extend(programs),
                None => drop(self.movers.insert(text(block, "/id").to_owned())),
            }
        }
    }

    fn ask_is_gone(&mut self, id: &str, line: &mut Meaning) {
        if self.asks.remove(id).is_some() {
            line.sign(Sign::AskGone(AskId(id.to_owned())));
        }
    }

    fn asks_are_gone(&mut self, is_over: impl Fn(&Asked, &Running) -> bool, line: &mut Meaning) {
        let over = self.asks.iter().filter(|(_, asked)| is_over(asked, &self.running));
        for id in over.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.ask_is_gone(&id, line);
        }
    }

    fn about_itself(&mut self, words: &Value, line: &mut Meaning) {
        let task = text(words, "/task_id");
        match text(words, "/subtype") {
            // Said at the beginning of every turn.
            "init" => {
                // Where it began: later ones may tell of the same place, wherever its shell is.
                let told = Some(text(words, "/cwd")).filter(|cwd| !cwd.is_empty());
                self.folder = self.folder.take().or(told.map(str::to_owned));
                line.sign(Sign::RefKnown(text(words, "/session_id").to_owned()));
                line.sign(Sign::TookMessage { text: None });
                line.sign(Sign::TurnBegan);
            }
            // It tries again by itself, later and later.
            "api_retry" if text(words, "/error") == LIMIT => {
                line.sign(Sign::LimitReached { reset_at: String::new() });
            }
            "task_started" => self.running.began(task, line),
            "task_notification" => {
                self.running.ended(task, line);
                self.asks_are_gone(|asked, _| asked.helper == task, line);
            }
            _ => {}
        }
    }

    fn tools_ended(&mut self, words: &Value, line: &mut Meaning) {
        for block in blocks(words).filter(|block| text(block, "/type") == "tool_result") {
            let tool_use = text(block, "/tool_use_id");
            let asked = self.asks.iter().find(|(_, asked)| asked.tool_use == tool_use);
            if let Some(id) = asked.map(|(id, _)| id.clone()) {
                self.ask_is_gone(&id, line);
            }
            let about = words["tool_result_meta"].as_array().into_iter().flatten();
            let mut ours = about.filter(|about| text(about, "/id") == tool_use);
            if ours.any(|about| !text(about, "/non_execution_kind").is_empty()) {
                self.tools.denied(tool_use, line);
            }
            self.tools.ended(block, line);
            line.sign(Sign::ToolEnded(tool_use.to_owned()));
        }
        if let Some(said) = new_task(&words["tool_use_result"]) {
            line.words(said);
        }
    }

    fn turn_ended(&mut self, words: &Value, line: &mut Meaning) {
        let failed = words.get("is_error").and_then(Value::as_bool).unwrap_or_default();
        let faults = faults(words);
        if !self.ready && failed {
            // It has not even begun: nothing but the id it was given can be at fault.
            line.sign(Sign::RefRejected(faults));
            return;
        }
        self.tools.clear();
        self.saying.clear();
        // A helper in the background goes on, and waits for its answer.
        self.asks_are_gone(|asked, running| !running.has(&asked.helper), line);
        let resets = std::mem::take(&mut self.resets);
        let limited = failed && words["api_error_status"] == 429;
        // What it says about an interruption is meant for its makers.
        let aborted = text(words, "/terminal_reason").starts_with("aborted");
        let why = if failed && !aborted { faults } else { String::new() };
        let mut said = Said::new(Voice::System, why);
        said.usage = usage(words);
        let over = match (aborted, limited) {
            (true, _) => Sign::TurnCut,
            (false, true) => Sign::TurnLimited { reset_at: resets },
            (false, false) => Sign::TurnEnded,
        };
        line.turn_over(over, said);
    }

    /// How much is used up is told now and then, also when nothing is. With a subscription it is told
    /// when that ends.
    fn limit(&mut self, words: &Value, line: &mut Meaning) {
        let about = &words["rate_limit_info"];
        if text(about, "/status") == "rejected" {
            self.resets = resets_at(about);
            line.sign(Sign::LimitReached { reset_at: self.resets.clone() });
        }
    }
}

/// What a helper of its own says is part of the tool that it is.
fn is_own(words: &Value) -> bool {
    words.get("parent_tool_use_id").is_none_or(Value::is_null)
}

fn worked(words: &Value, line: &mut Meaning) {
    let own = is_own(words);
    for block in blocks(words) {
        match text(block, "/type") {
            "text" if own => line.words(Said::new(Voice::Assistant, text(block, "/text"))),
            "text" => line.words(Said::tool("Task", text(block, "/text"))),
            "tool_use" => tool_use(block, line),
            _ => {}
        }
    }
}

fn faults(words: &Value) -> String {
    let errors = words.get("errors").and_then(Value::as_array);
    let each: Vec<&str> = errors.into_iter().flatten().filter_map(Value::as_str).collect();
    if each.is_empty() { text(words, "/result").to_owned() } else { each.join("; ") }
}

fn usage(words: &Value) -> Option<Usage> {
    let number = |key: &str| words.pointer(key).and_then(Value::as_u64).unwrap_or_default();
    let tokens_in = number("/usage/input_tokens")
        + number("/usage/cache_creation_input_tokens")
        + number("/usage/cache_read_input_tokens");
    let cost = words.get("total_cost_usd").and_then(Value::as_f64);
    // A float turned into a number saturates, and no bill has more digits than this holds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let cost_micros = cost.map(|dollars| (dollars * 1e6).round() as u64);
    let tokens_out = number("/usage/output_tokens");
    let usage = Usage { tokens_in, tokens_out, cost_micros, window_percent: None };
    words.get("usage").map(|_| usage)
}

impl Dialect for Stream {
    fn hear(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        let words = self.lines.words(offset, bytes).into_iter();
        words.flat_map(|(end, words)| self.understand(&words).heard(end)).collect()
    }

    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        let words = self.transcript.words(offset, bytes).into_iter();
        let mut tools = Tools::default();
        words.flat_map(|(end, words)| transcript::meaning(&words, &mut tools).heard(end)).collect()
    }

    /// A mark at the beginning would make a command of it, a file of the worktree's among those.
    fn say(&self, text: &str) -> Vec<u8> {
        let text = as_text(text, &['/'], &[]);
        let content = json!([{"type": "text", "text": text}]);
        json_line(&json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    fn saying(&self) -> Option<&str> {
        Some(&self.saying)
    }

    /// The process stays, and so does what it has said so far.
    fn interrupt(&self) -> Interrupt {
        Interrupt::Bytes(json_line(&json!({
            "type": "control_request",
            "request_id": INTERRUPT,
            "request": {"subtype": "interrupt"},
        })))
    }

    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String> {
        let asked = self.asked_now(ask)?;
        let decision = match (ask.kind, answer) {
            (_, DENY) => return self.deny_because(ask, "The user does not want this."),
            (AskKind::Question, words) => answered(&asked.input, words)?,
            (AskKind::Approval | AskKind::Doubt, ALLOW) => {
                json!({"behavior": "allow", "updatedInput": asked.input})
            }
            (AskKind::Approval | AskKind::Doubt, words) => {
                json!({"behavior": "deny", "message": words})
            }
        };
        Ok(response(ask, &decision))
    }

    fn deny_because(&self, ask: &Ask, reason: &str) -> Result<Vec<u8>, String> {
        self.asked_now(ask)?;
        Ok(response(ask, &json!({"behavior": "deny", "message": reason})))
    }

    fn called(&self) -> Vec<String> {
        self.called.iter().cloned().collect()
    }

    fn shows(&self, _lines: &[String]) -> Shown {
        Shown::Other
    }

    fn source(&self) -> Source {
        Source::Stream
    }
}

/// What is written so that a request has this response.
fn response(ask: &Ask, decision: &Value) -> Vec<u8> {
    json_line(&json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": ask.id.0, "response": decision},
    }))
}

/// An answer for each question.
fn answered(input: &Value, words: &str) -> Result<Value, String> {
    let questions = input.get("questions").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<[&str; 1]> = questions.map(|question| [text(question, "/question")]).collect();
    let answers = answers(&names, words)?;
    let each: Map<String, Value> =
        names.iter().map(|[question]| (*question).to_owned()).zip(answers).collect();
    let mut input = input.clone();
    if let Value::Object(fields) = &mut input {
        fields.insert("answers".to_owned(), Value::Object(each));
    }
    Ok(json!({"behavior": "allow", "updatedInput": input}))
}
