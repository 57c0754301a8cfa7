//! Codex in a terminal: its rollout says what it does and what is said, its screen whether it asks and
//! whether it can be typed into.

use super::notices::{Windows, planned};
use crate::dialect::{
    Dialect, Interrupt, NO_SUCH_CHOICE, ScreenPrompt, Shown, Source, pastable, pasted, reads_alike,
};
use crate::heard::{Heard, Said, Usage};
use crate::hearing::{Meaning, Running, gist, question, text, to_allow, what};
use crate::lines::Lines;
use crate::wants;
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::talk::{ALLOW, Ask, AskKind, DENY};
use glis_core::verdict::Want;
use glis_wire::view::Voice;
use serde_json::Value;

const ESCAPE: u8 = 0x1b;
/// The empty prompt. The line below it has what [`super::STATUS_LINE`] asks for, as soon as the program
/// has made up its mind about the folder: a moment earlier a dialog about it may still come.
const EMPTY_PROMPT: &str = "\u{203a} Ask Codex to do anything";
/// What the prompt begins with, whatever is typed there.
const PROMPT: &str = "\u{203a}";
/// Above the prompt while it waits for its model.
const WORKING: &str = "Working (";
const BUSY: &str = "esc to interrupt";
const STATUS_MARK: &str = " \u{b7} ";
/// Behind it the folder.
const STATUS_PLACES: [&str; 2] = [" \u{b7} /", " \u{b7} ~"];
/// The prompt, the line of status and the line of hints.
const FOOT_LINES: usize = 3;
/// At the foot of the screen when it asks for permission.
const ASKING_FOOT: &str = "Press enter to confirm or esc to cancel";
const ASKING_HEAD: &str = "Would you like to";
const FIRST_CHOICE: &str = "1. Yes";
/// To allow it for the session is not among its choices: the nearest one is written into the user's
/// rules, for good.
const CHOICES: [&str; 2] = [ALLOW, DENY];
/// Questions of the program itself. Some of them quit it, or are remembered in the user's settings.
const DIALOGS: [&str; 10] = [
    "Folder access",
    "Trust this folder",
    "Do you trust the contents",
    "Update available",
    "Choose how you want to use Codex",
    "Sign in with ChatGPT",
    "Working directory \u{b7} resume",
    "Hooks need review",
    "Press enter to continue",
    "enter continue \u{b7} esc",
];
/// What stands before the command there.
const COMMAND_MARK: &str = "$ ";
/// The tool that runs a command line, and what may stand beside the line. Not among it: another shell.
const SHELL_TOOL: &str = "exec_command";
const BESIDE_LINE: [&str; 6] = [
    "workdir",
    "justification",
    "sandbox_permissions",
    "yield_time_ms",
    "max_output_tokens",
    "prefix_rule",
];
/// How a command comes back that runs on, in the lines above what it has printed.
const RUNS_ON: &str = "Process running with session ID";
const PRINTED: &str = "\nOutput:";
/// How a call comes back that was denied without a terminal.
const REJECTED: &str = "rejected by user";
/// How the names of questions begin that are about a call of a tool.
const CALL: &str = "call-";
/// So much of a command tells it from others. More may be cut off at the edge of the screen.
const TELLING_CHARS: usize = 60;
/// Invisible, and yet something before a mark that would make a shell command of a message.
const INVISIBLE: char = '\u{200b}';

/// A tool that was called and has not come back.
struct Call {
    id: String,
    name: String,
    /// What it was given, in full.
    content: String,
    why: String,
    /// What it wants to do, where rules can judge that.
    wants: Option<Want>,
    /// It was not allowed, by an answer of ours.
    denied: bool,
    /// It came to no good end.
    failed: bool,
}

#[derive(Default)]
pub(super) struct Terminal {
    rollout: Lines,
    calls: Vec<Call>,
    usage: Option<Usage>,
    /// Where its commands run unless one says otherwise.
    folder: Option<String>,
    windows: Windows,
    /// Commands that were left running, by their calls.
    running: Running,
    /// Where in the rollout this process begins. What a former one left running has ended with it.
    begins_at: u64,
}

impl Terminal {
    fn written(&mut self, end: u64, words: &Value) -> Meaning {
        let mut line = Meaning::default();
        let payload = &words["payload"];
        match (text(words, "/type"), text(payload, "/type")) {
            ("event_msg", "task_started") => {
                self.calls.clear();
                line.sign(Sign::TurnBegan);
            }
            ("event_msg", "item_completed") => {
                let item = &payload["item"];
                if text(item, "/status") == "failed" {
                    let of_it = |call: &&mut Call| call.id == text(item, "/id");
                    self.calls.iter_mut().filter(of_it).for_each(|call| call.failed = true);
                }
                self.running.ended(text(item, "/id"), &mut line);
                self::item(item, &mut line);
            }
            ("event_msg", "task_complete") => self.turn_ended(Sign::TurnEnded, payload, &mut line),
            ("event_msg", "turn_aborted") => self.turn_ended(Sign::TurnCut, payload, &mut line),
            ("session_meta" | "turn_context", _) => {
                let told = payload.get("cwd").and_then(Value::as_str).map(str::to_owned);
                self.folder = told.or(self.folder.take());
            }
            ("event_msg", "token_count") => self.windows.learn(&payload["rate_limits"]),
            ("token_usage_record", _) => self.usage = usage(payload).or(self.usage),
            ("response_item", "function_call" | "custom_tool_call") => {
                self.called(payload, &mut line);
            }
            ("response_item", "function_call_output" | "custom_tool_call_output") => {
                let id = text(payload, "/call_id");
                let output = payload["output"].as_str().unwrap_or_default();
                let command =
                    self.calls.iter().any(|call| call.id == id && call.name == SHELL_TOOL);
                if command && runs_on(output) && end > self.begins_at {
                    self.running.began(id, &mut line);
                }
                self.came_back(id, output, &mut line);
                line.sign(Sign::AskGone(ask_about(id)));
                line.sign(Sign::ToolEnded(id.to_owned()));
            }
            _ => {}
        }
        line
    }

    fn called(&mut self, call: &Value, line: &mut Meaning) {
        let (id, name) = (text(call, "/call_id"), text(call, "/name"));
        let given: Value = serde_json::from_str(text(call, "/arguments")).unwrap_or_default();
        let content = if given.is_null() { text(call, "/input").to_owned() } else { gist(&given) };
        let why = text(&given, "/justification").to_owned();
        let wants = self.wants(name, &given);
        self.calls.push(Call {
            id: id.to_owned(),
            name: name.to_owned(),
            content: content.clone(),
            why,
            wants,
            denied: false,
            failed: false,
        });
        let sign = Sign::ToolBegan { tool: id.to_owned(), what: what(name, &content) };
        let mut said = Said::tool(name, content);
        if name == "update_plan" {
            let Said { pending, tally, .. } = planned(&given["plan"]);
            (said.pending, said.tally) = (pending, tally);
        }
        line.both(sign, said);
    }

    /// The command that a call wants to run, unless it says how in a way that rules are not about.
    fn wants(&self, name: &str, given: &Value) -> Option<Want> {
        if name != SHELL_TOOL {
            return None;
        }
        let folder = match given.get("workdir") {
            None | Some(Value::Null) => self.folder.clone(),
            Some(told) => told.as_str().filter(|told| told.starts_with('/')).map(str::to_owned),
        };
        wants::command(given, "cmd", &BESIDE_LINE, folder)
    }

    /// A tool is done. Without a terminal it is told that it was denied; in one, where that ends the
    /// turn, only that it was aborted.
    fn came_back(&mut self, id: &str, output: &str, line: &mut Meaning) {
        let rejected = output.contains(REJECTED);
        let of_it = |call: &Call| call.id == id;
        if let Some(at) = self.calls.iter().position(of_it) {
            let Call { name, content, denied, failed, .. } = self.calls.remove(at);
            if denied || rejected {
                line.words(Said::denied(&name, content));
            } else if failed {
                line.words(Said::failed(&name, content));
            }
        }
    }

    fn turn_ended(&mut self, sign: Sign, payload: &Value, line: &mut Meaning) {
        for call in std::mem::take(&mut self.calls) {
            line.sign(Sign::AskGone(ask_about(&call.id)));
        }
        let fault = text(payload, "/error/message");
        let limited = self.windows.again_at(&payload["error"]);
        let sign = limited.map_or(sign, |reset_at| Sign::TurnLimited { reset_at });
        let window_percent = self.windows.percent;
        let usage = self.usage.take().map(|usage| Usage { window_percent, ..usage });
        let said = Said::new(Voice::System, fault);
        line.turn_over(sign, Said { usage, ..said });
    }

    /// What the screen asks permission for. The rollout tells it better: whole, and with a name.
    fn prompt(&self, lines: &[String]) -> Option<ScreenPrompt> {
        let about = asked(lines)?;
        let shown = bare(&about);
        let telling = |call: &&Call| {
            let content = bare(&call.content);
            let telling: String = content.chars().take(TELLING_CHARS).collect();
            !telling.is_empty() && shown.contains(&telling)
        };
        let choices = &CHOICES;
        let Some(call) = self.calls.iter().find(telling) else {
            let text = to_allow("allow", &about);
            return Some(ScreenPrompt { id: None, text, choices, wants: None });
        };
        let Call { id, content, why, wants, .. } = call;
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        let text = to_allow("run", &format!("{content}{why}"));
        // Two calls may begin alike: only one that is shown whole is sure to be this one.
        let alone = self.calls.iter().filter(telling).count() == 1;
        let shown = commanded(lines).is_some_and(|shown| shown == bare(content));
        let wants = wants.clone().filter(|_| alone && shown);
        Some(ScreenPrompt { id: Some(ask_about(id)), text, choices, wants })
    }
}

fn runs_on(output: &str) -> bool {
    let told = output.split(PRINTED).next().unwrap_or_default();
    told.lines().any(|line| line.starts_with(RUNS_ON))
}

fn ask_about(call: &str) -> AskId {
    AskId(format!("{CALL}{call}"))
}

fn item(item: &Value, line: &mut Meaning) {
    let parts = item["content"].as_array().into_iter().flatten();
    let said = parts.map(|part| text(part, "/text")).collect::<Vec<_>>().join("\n");
    match text(item, "/type") {
        "UserMessage" => {
            line.took(said.trim_start_matches(INVISIBLE));
        }
        "AgentMessage" => line.words(Said::new(Voice::Assistant, said)),
        _ => {}
    }
}

fn usage(payload: &Value) -> Option<Usage> {
    let turn = payload.get("turn_token_usage")?;
    let number = |key: &str| turn.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (tokens_in, tokens_out) = (number("input_tokens"), number("output_tokens"));
    Some(Usage { tokens_in, tokens_out, ..Usage::default() })
}

impl Dialect for Terminal {
    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        if offset == 0 {
            // Another conversation: nothing of the former one counts here.
            *self = Self { begins_at: self.begins_at, ..Self::default() };
        }
        let words = self.rollout.words(offset, bytes).into_iter();
        words.flat_map(|(end, words)| self.written(end, &words).heard(end)).collect()
    }

    fn begin_at(&mut self, transcript: u64) {
        self.begins_at = transcript;
    }

    /// Blanks around it: a word at its end might be completed into another one, and a slash at its
    /// beginning would make a command of it.
    fn say(&self, text: &str) -> Vec<u8> {
        // What is left out when it is typed does not hide a mark.
        let text = pastable(text);
        let before = if text.trim_start().starts_with('!') { INVISIBLE } else { ' ' };
        pasted(&format!("{before}{text} "))
    }

    fn holds(&self, text: &str, lines: &[String]) -> bool {
        let at = lines.iter().rposition(|line| line.starts_with(PROMPT));
        let below = at.and_then(|at| lines.get(at..)).unwrap_or_default();
        let typed: String = below.iter().take_while(|line| !has_place(line)).cloned().collect();
        let typed = typed.strip_prefix(PROMPT);
        typed.is_some_and(|typed| reads_alike(typed, &pastable(text)))
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Bytes(vec![ESCAPE])
    }

    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String> {
        match (ask.kind, answer) {
            (AskKind::Approval, ALLOW) => Ok(b"y".to_vec()),
            (AskKind::Approval, DENY) => Ok(vec![ESCAPE]),
            _ => Err(NO_SUCH_CHOICE.to_owned()),
        }
    }

    fn answered(&mut self, ask: &Ask, answer: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| ask_about(&call.id) == ask.id) {
            call.denied = answer == DENY;
        }
    }

    fn shows(&self, lines: &[String]) -> Shown {
        if let Some(prompt) = self.prompt(lines) {
            return Shown::Asking(prompt);
        }
        let foot = lines.iter().rev().filter(|line| !line.trim().is_empty());
        let foot: Vec<&String> = foot.take(FOOT_LINES).collect();
        if let [_, status, prompt] = foot.as_slice()
            && prompt.trim() == EMPTY_PROMPT
            && status.contains(STATUS_MARK)
        {
            return Shown::Prompt;
        }
        // Where the status is, no dialog is: what reads like one is part of the conversation.
        if foot.iter().any(|line| has_place(line)) {
            let typed = lines.iter().rev().find(|line| line.starts_with(PROMPT));
            let is_draft = typed.is_some_and(|line| line.trim() != EMPTY_PROMPT);
            return if is_draft && !lines.iter().any(|line| works(line)) {
                Shown::Draft
            } else {
                Shown::Other
            };
        }
        question(lines, &DIALOGS).map_or(Shown::Other, Shown::Dialog)
    }

    fn shows_ask(&self, ask: &Ask, lines: &[String]) -> Option<bool> {
        let prompt = self.prompt(lines);
        Some(prompt.is_some_and(|prompt| match prompt.id {
            Some(id) => id == ask.id,
            None => !ask.id.0.starts_with(CALL) && bare(&prompt.text) == bare(&ask.text),
        }))
    }

    fn shows_exactly(&self, ask: &Ask, lines: &[String]) -> bool {
        let prompt = self.prompt(lines);
        ask.wants.is_some()
            && prompt
                .is_some_and(|shown| shown.id.as_ref() == Some(&ask.id) && shown.wants == ask.wants)
    }

    /// It writes that a turn has begun before its terminal knows of it; Escape does nothing until then.
    fn shows_work(&self, lines: &[String]) -> Option<bool> {
        Some(lines.iter().any(|line| works(line)))
    }

    fn source(&self) -> Source {
        Source::Transcript
    }
}

/// The command in the dialog at the foot of the screen, without blanks: everything between its mark and
/// the choices. What is above the mark the agent may have written.
fn commanded(lines: &[String]) -> Option<String> {
    let choices = lines.iter().rposition(|line| line.contains(FIRST_CHOICE))?;
    let above = lines.get(..choices)?;
    let head = above.iter().rposition(|line| line.contains(ASKING_HEAD))?;
    let about = above.get(head..)?;
    let mark = about.iter().position(|line| line.trim_start().starts_with(COMMAND_MARK))?;
    let shown = bare(&about.get(mark..)?.concat());
    shown.strip_prefix(COMMAND_MARK.trim()).map(str::to_owned)
}

/// What the dialog at the foot of the screen asks permission for, in its own words.
fn asked(lines: &[String]) -> Option<String> {
    let last = lines.iter().rev().find(|line| !line.trim().is_empty())?;
    if !last.contains(ASKING_FOOT) {
        return None;
    }
    let choices = lines.iter().rposition(|line| line.contains(FIRST_CHOICE))?;
    let above = lines.get(..choices)?;
    let head = above.iter().rposition(|line| line.contains(ASKING_HEAD)).unwrap_or_default();
    let about = above.get(head..)?.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    Some(about.collect::<Vec<_>>().join(" "))
}

/// Whether a line is that of the status, which ends with the folder.
fn has_place(line: &str) -> bool {
    STATUS_PLACES.iter().any(|place| line.contains(place))
}

/// Whether a line says that it works on something.
fn works(line: &str) -> bool {
    line.contains(WORKING) && line.contains(BUSY)
}

/// Without blanks, which the edge of a screen adds and takes away.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_holds_what_was_typed_and_nothing_else() {
        let screen = |typed: &[&str]| -> Vec<String> {
            let lines = [&["\u{203a} said before", ""], typed, &["", "  gpt \u{b7} /tmp/x", "  ?"]];
            lines.concat().into_iter().map(str::to_owned).collect()
        };
        let holds = |text: &str, typed: &[&str]| Terminal::default().holds(text, &screen(typed));
        assert!(holds("!ls\nor so", &["\u{203a} \u{200b}!ls", "  or so"]));
        for typed in [&["\u{203a} one more"][..], &[EMPTY_PROMPT]] {
            assert!(!holds("one", typed), "{typed:?}");
        }
    }

    #[test]
    fn what_is_left_out_of_a_message_hides_no_mark() {
        for lead in ["", "\u{202e}", "\u{1}", "\u{1b}]0;x\u{7}", " \u{2066}"] {
            let keys = Terminal::default().say(&format!("{lead}!ls"));
            let keys = String::from_utf8(keys).unwrap();
            let typed = keys.trim_start_matches("\u{1b}[200~");
            assert!(typed.starts_with(INVISIBLE), "{lead:?}: {typed:?}");
        }
    }
}
