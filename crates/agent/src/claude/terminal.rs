//! Claude Code in a terminal: its hooks say what it does, its transcript what is said, and its screen
//! whether it can be typed into.

use super::dialogs::{Dialogs, Offer, foot};
use super::limits::{self, LIMIT};
use super::prompt::prompt;
use super::tools::{Tools, asks_for, blocks, new_task, said_by, tool_words, wants};
use super::transcript::{is_beside, is_filler, is_interruption, refused};
use super::{NO_WORKTREE, hook};
use crate::dialect::{
    Dialect, GONE, Interrupt, NO_SUCH_CHOICE, Shown, Source, pastable, pasted, reads_alike,
};
use crate::heard::{Heard, Outcome, Said, Usage};
use crate::hearing::{Meaning, as_said, as_text, question, text, what};
use crate::lines::Lines;
use crate::wants::{digest, said_with};
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::plain::shell_word;
use glis_core::talk::{ALLOW, Ask, DENY};
use glis_core::verdict::Want;
use glis_wire::view::Voice;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ESCAPE: u8 = 0x1b;
/// What the transcript says behind everything else of a turn.
const CLOSING: [&str; 2] = ["stop_hook_summary", "turn_duration"];
/// Words that it takes for the wish to leave.
const LEAVING: [&str; 6] = ["exit", "quit", ":q", ":q!", ":wq", ":wq!"];
/// Questions of the program itself. Their usual answers are mostly no.
const DIALOGS: [&str; 8] = [
    "Quick safety check",
    "Do you trust the files",
    "Do you want to use this API key",
    "Select login method",
    "Choose the text style",
    "Press Enter to continue",
    "Enter to confirm",
    "Update available",
];

/// The hooks that are called, and what is done with what they are told: a line more in a file.
pub(super) fn settings(session: &str) -> String {
    // A shell is all that is needed, whatever becomes of the program that glis is. The hooks of two
    // tools may be called at once: what one is told is written at once, and objects that share a
    // line are told apart.
    let file = shell_word(&format!("{session}/{HOOKS}"));
    let command = format!("umask 077; {{ cat; echo; }} >> {file}");
    let heard = hook(&command);
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "StopFailure",
    ];
    let mut hooks: serde_json::Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), heard.clone())).collect();
    hooks.insert("WorktreeCreate".to_owned(), hook(NO_WORKTREE));
    // What the user has set counts as ever, but for what would keep a message from being typed or its
    // end from being told: hooks that are off, keys that are commands, suggestions in the prompt.
    json!({
        "hooks": hooks,
        "disableAllHooks": false,
        "editorMode": "normal",
        "promptSuggestionEnabled": false,
    })
    .to_string()
}

const HOOKS: &str = crate::hooks::FILE;

#[derive(Default)]
pub(super) struct Terminal {
    hooks: Lines,
    transcript: Lines,
    /// The prompt that is being worked on.
    prompt: String,
    /// The last prompt that was interrupted: its hook may be heard after that.
    cut: String,
    /// The last prompt whose interruption was seen on the screen alone.
    seen_cut: String,
    /// The last prompt whose end a hook told of, and the last one that is complete in the transcript.
    /// A turn is over when both are the present one: the transcript is written a moment later.
    stopped: String,
    closed: String,
    /// The prompt that the transcript is at.
    written: String,
    dialogs: Dialogs,
    /// Tokens in and out of each answer of the turn. An answer has a line for each of its parts, and
    /// each repeats them.
    used: BTreeMap<String, (u64, u64)>,
    tools: Tools,
    /// Tools of which the transcript says that the user rejected them: at their question, or by an
    /// interruption, which the next line tells.
    rejected: Vec<String>,
    /// A hook told that a usage limit has ended the turn, and the transcript when that ends.
    limited: bool,
    resets: String,
    /// What else it was that came in the way of the turn, in its words.
    failed: String,
    /// The folder that the last hook was called in.
    folder: String,
}

impl Terminal {
    fn hook(&mut self, words: &Value, end: u64, line: &mut Meaning) {
        let tool_use = text(words, "/tool_use_id");
        text(words, "/cwd").clone_into(&mut self.folder);
        match text(words, "/hook_event_name") {
            "SessionStart" => {
                self.dialogs.clear(|_| false).for_each(drop);
                line.sign(Sign::RefKnown(text(words, "/session_id").to_owned()));
            }
            "UserPromptSubmit" => {
                text(words, "/prompt_id").clone_into(&mut self.prompt);
                self.dialogs.begin_turn();
                self.limited = false;
                // Written down here and not from the transcript, which may never hold it.
                line.took(as_said(text(words, "/prompt")));
                if self.prompt != self.cut {
                    line.sign(Sign::TurnBegan);
                }
            }
            "PreToolUse" => {
                let (name, input) = (text(words, "/tool_name"), &words["tool_input"]);
                self.dialogs.tool_began(words);
                let what = what(name, &tool_words(name, input));
                line.sign(Sign::ToolBegan { tool: tool_use.to_owned(), what });
            }
            "PermissionRequest" => self.asked(words, end, line),
            "PostToolUse" | "PostToolUseFailure" => {
                self.ask_of_tool_is_gone(tool_use, line);
                line.sign(Sign::ToolEnded(tool_use.to_owned()));
            }
            "Stop" | "StopFailure" => {
                let tasks = words["background_tasks"].as_array().map_or(&[][..], Vec::as_slice);
                // A helper in the background goes on, and waits for its answer.
                self.asks_are_gone(|helper| tasks.iter().any(|t| text(t, "/id") == helper), line);
                self.limited = text(words, "/error") == LIMIT;
                self.failed = limits::failure(words);
                line.sign(Sign::Background(u32::try_from(tasks.len()).unwrap_or(u32::MAX)));
                text(words, "/prompt_id").clone_into(&mut self.stopped);
                self.end_if_over(line);
            }
            _ => {}
        }
    }

    fn end_if_over(&mut self, line: &mut Meaning) {
        if !self.prompt.is_empty() && self.stopped == self.prompt && self.closed == self.prompt {
            line.sign(self.end_as_told());
        }
    }

    /// How the turn has ended, by the hook that told it.
    fn end_as_told(&mut self) -> Sign {
        self.prompt.clear();
        let reset_at = std::mem::take(&mut self.resets);
        let limited = std::mem::take(&mut self.limited);
        match (limited, std::mem::take(&mut self.failed)) {
            (true, _) => Sign::TurnLimited { reset_at },
            (false, why) if !why.is_empty() => Sign::TurnFailed(why),
            (false, _) => Sign::TurnEnded,
        }
    }

    fn asked(&mut self, words: &Value, end: u64, line: &mut Meaning) {
        let name = text(words, "/tool_name");
        let input = &words["tool_input"];
        let (kind, asks) = asks_for(name, input);
        // Where it was asked is a name that no other question has.
        let id = AskId(format!("hook-{end}"));
        let choices = self.dialogs.ask(id.clone(), kind, words);
        let folder = words.get("cwd").and_then(Value::as_str).map(str::to_owned);
        let wants = wants(name, input, folder).filter(|_| !self.dialogs.is_crowded());
        let ask = said_with(Ask::new(id, kind, asks).among(choices).wanting(wants), input);
        line.sign(Sign::Asked(ask.summed(digest(words))));
    }

    fn ask_of_tool_is_gone(&mut self, tool_use: &str, line: &mut Meaning) {
        if let Some(id) = self.dialogs.tool_ended(tool_use) {
            line.sign(Sign::AskGone(id));
        }
    }

    fn asks_are_gone(&mut self, goes_on: impl Fn(&str) -> bool, line: &mut Meaning) {
        self.dialogs.clear(goes_on).for_each(|id| line.sign(Sign::AskGone(id)));
    }

    fn written(&mut self, words: &Value) -> Meaning {
        let mut line = Meaning::default();
        if is_beside(words) {
            return line;
        }
        if !is_interruption(words) {
            // It goes on without what it was refused.
            for id in self.rejected.clone() {
                self.ask_of_tool_is_gone(&id, &mut line);
            }
            self.tell_denied(&mut line);
        }
        match text(words, "/type") {
            "assistant" if is_filler(words) => {}
            "assistant" => {
                self.tools.note(words);
                self.used.insert(text(words, "/message/id").to_owned(), tokens(words));
                blocks(words).filter_map(said_by).for_each(|said| line.words(said));
                let limit = limits::written(words);
                let is_last = limit.is_some();
                self.resets = limit.unwrap_or_default();
                // What comes behind it depends on the version: the closing lines, or that it goes on
                // by itself at the reset.
                if is_last {
                    self.close(&mut line);
                }
            }
            "user" => self.user(words, &mut line),
            "system" if CLOSING.contains(&text(words, "/subtype")) => self.close(&mut line),
            _ => {}
        }
        line
    }

    /// The turn is complete in the transcript.
    fn close(&mut self, line: &mut Meaning) {
        self.closed.clone_from(&self.written);
        self.tools.clear();
        self.tell_use(line, None);
        self.end_if_over(line);
    }

    /// What the turn has used, once it is written down as a whole.
    fn tell_use(&mut self, line: &mut Meaning, outcome: Option<Outcome>) {
        let each = std::mem::take(&mut self.used);
        let (tokens_in, tokens_out) =
            each.values().fold((0, 0), |sum, used| (sum.0 + used.0, sum.1 + used.1));
        let usage = Usage { tokens_in, tokens_out, ..Usage::default() };
        let usage = (tokens_in + tokens_out > 0).then_some(usage);
        if usage.is_some() || outcome.is_some() {
            line.words(Said { usage, outcome, ..Said::new(Voice::System, "") });
        }
    }

    fn tell_denied(&mut self, line: &mut Meaning) {
        for id in std::mem::take(&mut self.rejected) {
            self.tools.denied(&id, line);
        }
    }

    fn user(&mut self, words: &Value, line: &mut Meaning) {
        text(words, "/promptId").clone_into(&mut self.written);
        if let Some(said) = new_task(&words["toolUseResult"]) {
            line.words(said);
        }
        let refused = refused(words);
        if refused.is_empty() {
            for result in blocks(words).filter(|block| text(block, "/type") == "tool_result") {
                self.tools.ended(result, line);
            }
        }
        self.rejected.extend(refused);
        // No hook is called for that.
        if is_interruption(words) {
            // What ran is named there; what was asked about and left is not.
            if words.get("interruptedMessageId").is_some() {
                self.rejected.clear();
            }
            self.tell_denied(line);
            self.tools.clear();
            self.cut.clone_from(&self.written);
            // Told already, if the screen showed it before.
            let told = !self.cut.is_empty() && self.cut == self.seen_cut;
            self.tell_use(line, (!told).then_some(Outcome::Interrupted));
            self.asks_are_gone(|_| false, line);
            // A later prompt may have begun before this was read.
            if self.prompt == self.cut {
                self.prompt.clear();
                line.sign(Sign::TurnCut);
            }
        }
    }
}

/// Objects one after the other: two writers may have shared a line.
fn objects(line: &[u8]) -> Vec<Value> {
    serde_json::Deserializer::from_slice(line).into_iter().map_while(Result::ok).collect()
}

impl Dialect for Terminal {
    fn overhear(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        let mut heard = Vec::new();
        for (end, bytes) in self.hooks.feed(offset, bytes) {
            let mut line = Meaning::default();
            for words in objects(&bytes) {
                self.hook(&words, end, &mut line);
            }
            heard.extend(line.heard(end));
        }
        heard
    }

    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        if offset == 0 {
            // Another conversation: nothing that was read in the former one counts here.
            self.transcript = Lines::default();
            self.written.clear();
            self.closed.clear();
            self.used.clear();
            self.tools.clear();
            self.rejected.clear();
        }
        let words = self.transcript.words(offset, bytes).into_iter();
        words.flat_map(|(end, words)| self.written(&words).heard(end)).collect()
    }

    /// A mark at the beginning would make a command of it, and some words alone end the program.
    fn say(&self, text: &str) -> Vec<u8> {
        // What is left out when it is typed does not hide a mark.
        pasted(&as_text(&pastable(text), &['/', '!'], &LEAVING))
    }

    fn holds(&self, text: &str, lines: &[String]) -> bool {
        prompt(lines).is_some_and(|prompt| reads_alike(&prompt.typed, &pastable(text)))
    }

    fn folder(&self) -> Option<&str> {
        Some(self.folder.as_str()).filter(|folder| !folder.is_empty())
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Bytes(vec![ESCAPE])
    }

    /// Yes is always the first choice, but no is not always the same: leaving the dialog is.
    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String> {
        match (self.dialogs.offer(&ask.id).ok_or(GONE)?, answer) {
            (_, DENY) => Ok(vec![ESCAPE]),
            (Offer::Once | Offer::NoPlan, ALLOW) => Ok(b"1".to_vec()),
            // The first choice would allow everything that follows as well.
            (Offer::Plan, ALLOW) => Ok(b"2".to_vec()),
            (Offer::Choice(labels), words) => {
                let chosen = labels.iter().position(|label| label == words);
                Ok((chosen.ok_or(NO_SUCH_CHOICE)? + 1).to_string().into_bytes())
            }
            (_, _) => Err(NO_SUCH_CHOICE.to_owned()),
        }
    }

    fn shows(&self, lines: &[String]) -> Shown {
        if self.dialogs.stand(lines) {
            return Shown::Other;
        }
        if let Some(prompt) = prompt(lines) {
            return prompt.shown();
        }
        question(lines, &DIALOGS).map_or(Shown::Other, Shown::Dialog)
    }

    fn shows_ask(&self, ask: &Ask, lines: &[String]) -> Option<bool> {
        Some(self.dialogs.shown(lines) == Some(&ask.id))
    }

    /// The dialog names what it is about in a line of its own.
    fn shows_exactly(&self, ask: &Ask, lines: &[String]) -> bool {
        let dialog = || foot(lines);
        let alone = !self.dialogs.is_crowded() && self.shows_ask(ask, lines) == Some(true);
        alone
            && match &ask.wants {
                Some(Want::Command { line, .. }) => dialog().any(|shown| shown.trim() == line),
                Some(Want::Edit { paths }) => paths.iter().all(|path| {
                    let name = path.rsplit('/').next().unwrap_or_default();
                    !name.is_empty() && dialog().any(|shown| shown.contains(name))
                }),
                // Only a no is ever said to anything else.
                None => true,
            }
    }

    /// A prompt on a screen at rest means that nothing runs, whatever was not told. A turn that comes to
    /// its end tells it by a hook; one that is cut off is written down later than it is seen, or not
    /// at all: before the first word of an answer, the message is taken back into the prompt. What a hook
    /// told of the end counts, also where the transcript was not closed.
    fn at_rest(&mut self, shown: &Shown) -> Option<Sign> {
        let over = matches!(shown, Shown::Prompt | Shown::Draft) && !self.prompt.is_empty();
        over.then(|| {
            if self.stopped == self.prompt {
                return self.end_as_told();
            }
            self.seen_cut = std::mem::take(&mut self.prompt);
            Sign::TurnCut
        })
    }

    fn source(&self) -> Source {
        Source::Transcript
    }
}

fn tokens(words: &Value) -> (u64, u64) {
    let number = |key: &str| words["message"]["usage"][key].as_u64().unwrap_or_default();
    let cached = number("cache_creation_input_tokens") + number("cache_read_input_tokens");
    (number("input_tokens") + cached, number("output_tokens"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_a_message_hides_no_mark() {
        for lead in
            ["", "\u{202e}", "\u{1}", "\u{1b}[0m", "\u{1b}]0;x\u{7}", "\u{feff}", " \n\u{200b}"]
        {
            for text in ["!ls", "/clear"] {
                let keys = Terminal::default().say(&format!("{lead}{text}"));
                let keys = String::from_utf8(keys).unwrap();
                let typed = keys.trim_start_matches("\u{1b}[200~");
                assert!(typed.starts_with('\u{2800}'), "{lead:?}{text}: {typed:?}");
            }
        }
    }

    #[test]
    fn a_prompt_holds_what_was_typed_and_nothing_else() {
        let edge = "\u{2500}".repeat(20);
        let screen = |typed: &[&str]| -> Vec<String> {
            let lines = [&["said before", &edge], typed, &[&edge, "  ? for shortcuts"]].concat();
            lines.into_iter().map(str::to_owned).collect()
        };
        let holds = |text: &str, typed: &[&str]| Terminal::default().holds(text, &screen(typed));
        assert!(holds("/clear the table", &["\u{276f}\u{a0}\u{2800}/clear the", "  table"]));
        assert!(holds("one\n\ntwo", &["\u{276f} one", "", "  two"]));
        for typed in
            [&["\u{276f} one more"][..], &["\u{276f} [Pasted text #1 +3 lines]"], &["\u{276f} "]]
        {
            assert!(!holds("one", typed), "{typed:?}");
        }
        assert!(!Terminal::default().holds("one", &["one".to_owned()]));
    }

    #[test]
    fn an_interruption_that_the_screen_has_shown_is_not_told_again() {
        let hook =
            b"{\"hook_event_name\":\"UserPromptSubmit\",\"prompt_id\":\"p\",\"prompt\":\"x\"}\n";
        let cut =
            b"{\"type\":\"user\",\"promptId\":\"p\",\"message\":{\"content\":[{\"type\":\"text\",\
                    \"text\":\"[Request interrupted by user]\"}]}}\n";
        let told = |heard: Vec<Heard>| -> usize {
            let outcomes = heard.iter().filter_map(|heard| heard.said.as_ref()?.outcome);
            outcomes.filter(|outcome| *outcome == Outcome::Interrupted).count()
        };
        for (shown, times) in [(Shown::Other, 1), (Shown::Prompt, 0)] {
            let mut terminal = Terminal::default();
            drop(terminal.overhear(0, hook));
            assert_eq!(terminal.at_rest(&shown), (times == 0).then_some(Sign::TurnCut));
            assert_eq!(told(terminal.read(0, cut)), times, "{shown:?}");
        }
    }
}
