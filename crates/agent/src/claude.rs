//! Claude Code: its id is ours to choose, its conversation is resumed by that id and no other way.

mod dialogs;
mod limits;
mod prompt;
mod stream;
mod terminal;
mod tools;
mod transcript;

use crate::agent::{Agent, Versions};
use crate::dialect::Dialect;
use crate::hearing::json_line;
use crate::launch::{Approach, Hooks, LaunchPlan, Places};
use crate::login::{self, Ability, Login, LoginFacts};
use crate::reserved::{Letters, Reserved};
use crate::storage::{FileLocation, Registered};
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin, SignSource, Takes, Traits};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Asks before everything that is not known to be harmless. Stated always: what the program does
/// without it has changed before.
const USUAL_PERMISSION_MODE: &str = "default";

/// What an agent inside another one would take for its own.
const MISLEADING: [&str; 3] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"];

/// Arguments that would give the process another conversation, another place or other streams than
/// ours, or keep us from hearing it.
const OURS: Reserved = Reserved {
    long: &[
        "ax-screen-reader",
        "background",
        "bare",
        "bg",
        "cloud",
        "continue",
        "desktop",
        "environment",
        "fork-session",
        "from-pr",
        "input-format",
        "no-session-persistence",
        "output-format",
        "permission-mode",
        "permission-prompt-tool",
        "permission-prompts",
        "print",
        "resume",
        "safe-mode",
        "session-id",
        "settings",
        "teleport",
        "worktree",
    ],
    short: &['c', 'r', 'p', 'w'],
    words: &[],
    letters: Letters::Value,
};

/// It would leave the session's worktree for one of its own, unasked: nothing there is saved, shown or merged.
const STAYS: &str = "--disallowedTools=EnterWorktree";
/// The hook that would make such a worktree for a helper, where the model or the helper's definition asks for
/// one. It fails, and the model reads why.
const NO_WORKTREE: &str = "echo Work in the worktree of this session. >&2; exit 1";

pub(crate) struct Claude;

/// What a line of a transcript is.
#[derive(Deserialize)]
struct Kind<'l> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'l, str>,
}

/// A hook in the form of its settings.
fn hook(command: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": command, "timeout": 10}]}])
}

impl Agent for Claude {
    fn traits(&self, _mode: Mode, _argv: &[String]) -> Traits {
        Traits { refs: RefOrigin::Chosen, signs: SignSource::Structured, takes: Takes::WhenIdle }
    }

    fn check(&self, _mode: Mode, argv: &[String]) -> Result<(), String> {
        OURS.check(argv)
    }

    fn takes_instructions(&self) -> bool {
        true
    }

    fn tells_cost(&self, mode: Mode) -> bool {
        mode == Mode::Headless
    }

    fn launch(&self, session: &Session, how: Approach, places: &Places) -> LaunchPlan {
        let spec = &session.spec;
        let mut argv: Vec<String> = vec!["claude".to_owned()];
        let mut option = |name: &str, value: &str| {
            argv.extend([name.to_owned(), value.to_owned()]);
        };
        let id = session.agent.agent_ref.as_deref().unwrap_or_default();
        match how {
            Approach::Fresh => option("--session-id", id),
            Approach::Resume => option("--resume", id),
        }
        let mode = spec.permission_mode.as_deref().unwrap_or(USUAL_PERMISSION_MODE);
        option("--permission-mode", mode);
        if let Some(model) = &spec.model {
            option("--model", model);
        }
        if let Some(prompt) = &spec.system_prompt {
            option("--append-system-prompt", prompt);
        }
        let mut first_words = String::new();
        let mut hooks = Hooks::None;
        if spec.mode == Mode::Headless {
            option("--input-format", "stream-json");
            option("--output-format", "stream-json");
            option("--permission-prompt-tool", "stdio");
            option(
                "--settings",
                &json!({"hooks": {"WorktreeCreate": hook(NO_WORKTREE)}}).to_string(),
            );
            // Repeats our answers, which is how it shows that it took them.
            argv.extend(["--verbose", "--replay-user-messages", "-p"].map(ToOwned::to_owned));
            // Says what it says also while it says it.
            argv.push("--include-partial-messages".to_owned());
            first_words = first();
        } else {
            argv.extend(["--settings".to_owned(), terminal::settings(&places.session)]);
            hooks = Hooks::File;
        }
        argv.push(STAYS.to_owned());
        argv.extend(spec.argv.iter().cloned());
        let without = MISLEADING.to_vec();
        LaunchPlan { argv, without, first_words, hooks, ..LaunchPlan::default() }
    }

    fn home(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let own = variable("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
        own.or_else(|| Some(format!("{}/.claude", variable("HOME")?)))
    }

    /// The folder in between is named after the directory that the conversation began in. The id
    /// is enough to find it, and stays right when that naming changes.
    fn transcript(&self, agent_ref: &str, places: &Places) -> Option<FileLocation> {
        (!places.home.is_empty()).then(|| FileLocation::Below {
            folder: format!("{}/projects", places.home),
            levels: 1,
            ending: format!("{agent_ref}.jsonl"),
        })
    }

    /// Killed early, it leaves a file that says which mode it was in and nothing else: it can neither
    /// resume that nor begin under the same id while the file is there.
    fn holds_messages(&self, transcript: &[u8]) -> bool {
        let said = [b"\"type\":\"user\"".as_slice(), b"\"type\":\"assistant\"".as_slice()];
        said.iter().any(|word| transcript.windows(word.len()).any(|window| window == *word))
    }

    /// It notes down each request and each prompt beside the conversation (`api-request-blob`,
    /// `last-prompt`, `queue-operation`), the request even before the message itself: killed in between,
    /// it has the words on record and has never heard them.
    fn goes_on_with(&self, line: &[u8]) -> bool {
        let kind = serde_json::from_slice::<Kind<'_>>(line).map(|line| line.kind);
        kind.is_ok_and(|kind| ["user", "assistant", "system", "attachment"].contains(&&*kind))
    }

    fn packages(&self) -> &'static [&'static str] {
        &["@anthropic-ai/claude-code"]
    }

    fn register(&self, home: &str) -> Option<String> {
        Some(format!("{home}/sessions"))
    }

    fn registered(&self, file: &[u8]) -> Option<Registered> {
        let words: Value = serde_json::from_slice(file).ok()?;
        Some(Registered {
            id: words["sessionId"].as_str()?.to_owned(),
            pid: i32::try_from(words["pid"].as_i64()?).ok()?,
            start_ticks: words["procStart"].as_str()?.parse().ok()?,
        })
    }

    fn versions(&self) -> Option<Versions> {
        // The oldest is the oldest that the tests play: each version says what it does in its own way, and one
        // that was never played (2.1.197 on an old Node) took no message in a terminal.
        Some(Versions { oldest: (2, 1, 325), tried: (2, 1, 327), bad: &[] })
    }

    fn login(&self) -> Login {
        Login::Call(&["auth", "status", "--json"])
    }

    fn ability(&self, facts: &LoginFacts<'_>) -> Ability {
        login::claude(facts)
    }

    fn dialect(&self, mode: Mode) -> Box<dyn Dialect> {
        match mode {
            Mode::Headless => Box::new(stream::Stream::default()),
            Mode::Terminal => Box::new(terminal::Terminal::default()),
        }
    }
}

/// Nothing is printed before the first input; the answer to this says that it takes messages.
fn first() -> String {
    let words = json!({
        "type": "control_request",
        "request_id": stream::FIRST,
        "request": {"subtype": "initialize"},
    });
    String::from_utf8_lossy(&json_line(&words)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversation_is_not_for_arguments_to_choose() {
        let check = |arg: &str| Claude.check(Mode::Headless, &[arg.to_owned()]);
        for arg in [
            "--resume",
            "--session-id=x",
            "-c",
            "--fork-session",
            "-p",
            "-pc",
            "-wfoo",
            "-w=x",
            "-r5",
        ] {
            assert!(check(arg).is_err(), "{arg}");
        }
        for arg in ["--allowedTools", "Bash", "--add-dir", "--effort=high", "-dc", "-nrest"] {
            assert!(check(arg).is_ok(), "{arg}");
        }
    }

    #[test]
    fn a_process_says_in_which_conversation_it_is() {
        let file = br#"{"pid":17665,"sessionId":"f2b7","cwd":"/x","procStart":"3813922"}"#;
        let registered = Registered { id: "f2b7".to_owned(), pid: 17665, start_ticks: 3_813_922 };
        assert_eq!(Claude.registered(file), Some(registered));
        assert_eq!(Claude.registered(b"{}"), None);
    }

    #[test]
    fn its_home_is_where_its_own_variable_says() {
        let none = |_: &str| None;
        assert_eq!(Claude.home(&none), None);
        let home = |name: &str| (name == "HOME").then(|| "/h".to_owned());
        assert_eq!(Claude.home(&home).as_deref(), Some("/h/.claude"));
        let own = |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| "/c".to_owned());
        assert_eq!(Claude.home(&own).as_deref(), Some("/c"));
    }
}
