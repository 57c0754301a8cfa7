//! Codex: it chooses its own id, and remembers nothing else of how it was started.

mod notices;
mod server;
mod terminal;

use crate::agent::{Agent, Versions};
use crate::dialect::Dialect;
use crate::hearing::{json_line, text};
use crate::launch::{Approach, LaunchPlan, Places};
use crate::login::{self, Ability, Login, LoginFacts};
use crate::reserved::{Letters, Reserved};
use crate::storage::{FileLocation, OpenRef, RefFile, Segments};
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin, SignSource, Takes, Traits};
use serde_json::{Value, json};

/// Where it may write, unless the session says otherwise, and when it asks. Stated at every start and
/// every resume: Codex keeps neither with the conversation.
const USUAL_SANDBOX: &str = "workspace-write";
const USUAL_APPROVAL: &str = "on-request";

/// Permission modes are a sandbox, a policy for approvals, or both with a colon between them.
const SANDBOXES: [&str; 3] = ["read-only", "workspace-write", "danger-full-access"];

/// Arguments and words that would give the process another conversation than ours.
const OURS: Reserved = Reserved {
    long: &["remote", "listen", "cd", "worktree"],
    short: &['C'],
    words: &["resume", "fork", "exec", "e", "app-server"],
    letters: Letters::Value,
};

pub(crate) struct Codex;

impl Agent for Codex {
    fn traits(&self, _mode: Mode, _argv: &[String]) -> Traits {
        Traits { refs: RefOrigin::Learned, signs: SignSource::Structured, takes: Takes::WhenIdle }
    }

    fn check(&self, _mode: Mode, argv: &[String]) -> Result<(), String> {
        OURS.check(argv)
    }

    fn takes_instructions(&self) -> bool {
        true
    }

    fn launch(&self, session: &Session, how: Approach, places: &Places) -> LaunchPlan {
        if session.spec.mode == Mode::Terminal {
            return LaunchPlan { argv: in_terminal(session, how), ..LaunchPlan::default() };
        }
        let mut argv = vec!["codex".to_owned(), "app-server".to_owned()];
        argv.extend(trust(session, &places.settings));
        argv.extend(session.spec.argv.iter().cloned());
        let first_words = [
            json!({
                "id": server::GREETING,
                "method": "initialize",
                "params": {"clientInfo": {"name": "glis", "title": "glis", "version": VERSION}},
            }),
            json!({"method": "initialized"}),
            thread(session, how),
        ];
        let first_words = first_words.iter().flat_map(json_line).collect();
        let first_words = String::from_utf8(first_words).unwrap_or_default();
        LaunchPlan { argv, first_words, ..LaunchPlan::default() }
    }

    fn home(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let own = variable("CODEX_HOME").filter(|dir| !dir.is_empty());
        own.or_else(|| Some(format!("{}/.codex", variable("HOME")?)))
    }

    fn settings(&self, home: &str) -> Option<String> {
        Some(format!("{home}/config.toml"))
    }

    fn transcript(&self, agent_ref: &str, places: &Places) -> Option<FileLocation> {
        rollout(&format!("-{agent_ref}"), places)
    }

    /// Since 0.169 a conversation of which something was undone goes on in `rollout-TIME-ID_SEGMENT.jsonl`.
    fn segments(&self, agent_ref: &str, places: &Places) -> Option<Segments> {
        (!places.home.is_empty()).then(|| Segments {
            folder: sessions(places),
            levels: DATE_LEVELS,
            mark: format!("-{agent_ref}_"),
        })
    }

    /// A segment names the conversation or the segment that it goes on from, and so does a fork.
    fn base(&self, first_line: &[u8], places: &Places) -> Option<FileLocation> {
        let meta: Value = serde_json::from_slice(first_line).ok()?;
        let base = meta.pointer("/payload/history_base/thread_id")?.as_str()?;
        given_ms(base).and_then(|_| rollout(base, places))
    }

    /// It holds a lock under the id from the moment it has one, and its rollout from the first
    /// message on. The id of a segment is none of a conversation.
    fn ref_of_file(&self, path: &str) -> Option<OpenRef> {
        let (folder, name) = path.rsplit_once('/')?;
        let (id, file) = if folder.ends_with("/thread-writer-locks") {
            (name.strip_suffix(".lock")?, RefFile::Lock)
        } else {
            let name = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
            let name = name.split_once('_').map_or(name, |(conversation, _)| conversation);
            (name.get(name.len().checked_sub(UUID_CHARS)?..)?, RefFile::Transcript)
        };
        Some(OpenRef { id: id.to_owned(), given_ms: given_ms(id)?, file })
    }

    /// Helpers that it starts have conversations of their own, whose source is more than a word.
    fn begun_in(&self, first_line: &[u8]) -> Option<String> {
        let meta: Value = serde_json::from_slice(first_line).ok()?;
        let by_somebody = meta.pointer("/payload/source")?.is_string();
        let cwd = text(&meta, "/payload/cwd");
        (by_somebody && !cwd.is_empty()).then(|| cwd.to_owned())
    }

    /// The program on the `PATH` is mostly a script that starts the real one, and leaves it running
    /// when it is killed.
    fn natives(&self, program: &str) -> Vec<String> {
        let Some(package) = program.strip_suffix("/bin/codex.js") else { return Vec::new() };
        let above = package.strip_suffix("/codex").unwrap_or(package);
        let platforms = [
            ("x86_64", "codex-linux-x64", "x86_64-unknown-linux-musl"),
            ("aarch64", "codex-linux-arm64", "aarch64-unknown-linux-musl"),
        ];
        let here = platforms.iter().find(|(arch, _, _)| *arch == std::env::consts::ARCH);
        let Some((_, name, target)) = here else { return Vec::new() };
        let inner = format!("vendor/{target}/bin/codex");
        vec![
            format!("{package}/node_modules/@openai/{name}/{inner}"),
            format!("{above}/{name}/{inner}"),
            format!("{package}/{inner}"),
        ]
    }

    fn packages(&self) -> &'static [&'static str] {
        &["@openai/codex"]
    }

    fn versions(&self) -> Option<Versions> {
        // Threads with an explicit id and `turn/interrupt` in the app server are older than this;
        // they were not tried.
        Some(Versions { oldest: (0, 150, 0), tried: (0, 169, 0), bad: &[] })
    }

    fn login(&self) -> Login {
        Login::Call(&["login", "status"])
    }

    fn ability(&self, facts: &LoginFacts<'_>) -> Ability {
        login::codex(facts)
    }

    fn dialect(&self, mode: Mode) -> Box<dyn Dialect> {
        match mode {
            Mode::Headless => Box::new(server::Server::default()),
            Mode::Terminal => Box::new(terminal::Terminal::default()),
        }
    }
}

const UUID_CHARS: usize = 36;

/// The folders between `sessions` and a rollout are a date: year, month, day.
const DATE_LEVELS: u8 = 3;

fn sessions(places: &Places) -> String {
    format!("{}/sessions", places.home)
}

/// The rollout whose name ends like this.
fn rollout(end: &str, places: &Places) -> Option<FileLocation> {
    (!places.home.is_empty()).then(|| FileLocation::Below {
        folder: sessions(places),
        levels: DATE_LEVELS,
        ending: format!("{end}.jsonl"),
    })
}

/// When an id of the seventh kind was given: its first twelve digits are milliseconds.
fn given_ms(id: &str) -> Option<u64> {
    let digits: String = id.chars().filter(|c| *c != '-').collect();
    let well_formed = id.len() == UUID_CHARS
        && digits.len() == 32
        && digits.chars().all(|c| c.is_ascii_hexdigit())
        && digits.chars().nth(12) == Some('7');
    well_formed.then(|| u64::from_str_radix(digits.get(..12)?, 16).ok()).flatten()
}

/// What stands below the prompt, so that its screen reads the same for everybody.
const STATUS_LINE: &str = "tui.status_line=[\"model-with-reasoning\",\"current-dir\"]";

/// Its terminal offers the model tools for worktrees, threads and forks of its own: what it does there is in no
/// snapshot, and nobody is shown it. It leaves them out where the settings have a server of their name.
const NO_TOOLS_OF_ITS_OWN: &str = "mcp_servers.codex_tui={command=\"true\",enabled=false}";

/// The command line for a terminal. Without `--no-daemon` the turns would run in a process of their
/// own, which would survive the end of this one. With tips it counts in the user's settings how often
/// it has shown them. Whether a folder is trusted is not decided here as it is without a terminal:
/// there the program asks, and the user answers.
fn in_terminal(session: &Session, how: Approach) -> Vec<String> {
    let spec = &session.spec;
    let (sandbox, approval) = permissions(spec.permission_mode.as_deref());
    let mut argv = vec!["codex".to_owned()];
    if how == Approach::Resume {
        argv.extend(["resume".to_owned(), session.agent.agent_ref.clone().unwrap_or_default()]);
    }
    let mut add = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["--no-daemon", "-c", "tui.show_tooltips=false", "-c", STATUS_LINE]);
    add(&["-c", "check_for_update_on_startup=false", "-c", NO_TOOLS_OF_ITS_OWN]);
    add(&["--sandbox", sandbox, "--ask-for-approval", approval]);
    if let Some(model) = &spec.model {
        add(&["--model", model]);
    }
    if let Some(prompt) = &spec.system_prompt {
        add(&["-c", &format!("developer_instructions={}", Value::from(prompt.as_str()))]);
    }
    argv.extend(spec.argv.iter().cloned());
    argv
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The request for the conversation, with everything that Codex would forget.
fn thread(session: &Session, how: Approach) -> Value {
    let spec = &session.spec;
    let (sandbox, approval) = permissions(spec.permission_mode.as_deref());
    let mut params = json!({
        "cwd": session.place.worktree,
        "sandbox": sandbox,
        "approvalPolicy": approval,
    });
    if let Some(model) = &spec.model {
        params["model"] = json!(model);
    }
    if let Some(prompt) = &spec.system_prompt {
        params["developerInstructions"] = json!(prompt);
    }
    let id = session.agent.agent_ref.as_deref().unwrap_or_default();
    match how {
        Approach::Fresh => {
            json!({"id": server::FRESH, "method": "thread/start", "params": params})
        }
        Approach::Resume => {
            params["threadId"] = json!(id);
            params["excludeTurns"] = json!(true);
            let request = format!("{}{id}", server::RESUMED);
            json!({"id": request, "method": "thread/resume", "params": params})
        }
    }
}

/// Codex writes into the user's settings that a repository is trusted when it is told where it may
/// write there, unless that was decided before. So it is decided here, for this process alone: what
/// the user has not trusted is not trusted.
fn trust(session: &Session, settings: &str) -> Vec<String> {
    let quoted = |path: &str| Value::from(path).to_string();
    let decided = |path: &str| settings.contains(&format!("[projects.{}]", quoted(path)));
    let worktree = session.place.worktree.as_deref().unwrap_or_default();
    if decided(&session.spec.repo_root) || decided(worktree) {
        return Vec::new();
    }
    let entry = format!("projects={{{}={{trust_level=\"untrusted\"}}}}", quoted(worktree));
    vec!["-c".to_owned(), entry]
}

/// Sandbox and policy that a permission mode stands for.
fn permissions(mode: Option<&str>) -> (&str, &str) {
    let Some(mode) = mode else { return (USUAL_SANDBOX, USUAL_APPROVAL) };
    match mode.split_once(':') {
        Some((sandbox, approval)) => (sandbox, approval),
        None if SANDBOXES.contains(&mode) => (mode, USUAL_APPROVAL),
        None => (USUAL_SANDBOX, mode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_mode_is_a_sandbox_or_a_policy_or_both() {
        assert_eq!(permissions(None), ("workspace-write", "on-request"));
        assert_eq!(permissions(Some("read-only")), ("read-only", "on-request"));
        assert_eq!(permissions(Some("never")), ("workspace-write", "never"));
        assert_eq!(permissions(Some("read-only:never")), ("read-only", "never"));
    }

    #[test]
    fn the_conversation_and_its_place_are_not_for_arguments_to_choose() {
        for arg in ["-C", "-C/tmp", "-C=/tmp", "--cd", "--cd=/tmp", "--worktree", "resume", "e"] {
            assert!(Codex.check(Mode::Terminal, &[arg.to_owned()]).is_err(), "{arg}");
        }
        for arg in ["-c", "-mC", "--config=x", "--search", "--add-dir"] {
            assert!(Codex.check(Mode::Terminal, &[arg.to_owned()]).is_ok(), "{arg}");
        }
    }

    #[test]
    fn an_open_file_tells_the_id_and_when_it_was_given() {
        let id = "01a1de45-e356-7962-a25f-78ebcf3a09e6";
        let given = |file| Some(OpenRef { id: id.to_owned(), given_ms: 1_794_730_484_566, file });
        let home = "/home/her/.codex";
        let lock = format!("{home}/thread-writer-locks/{id}.lock");
        assert_eq!(Codex.ref_of_file(&lock), given(RefFile::Lock));
        let rollout = format!("{home}/sessions/2026/11/15/rollout-2026-11-15T08-14-44-{id}.jsonl");
        assert_eq!(Codex.ref_of_file(&rollout), given(RefFile::Transcript));
        let segment = rollout.replace(id, &format!("{id}_01a1ec0f-53d8-7222-a14e-897cef1a298b"));
        assert_eq!(Codex.ref_of_file(&segment), given(RefFile::Transcript));
        let foreign = "01a1de45-e356-4962-a25f-78ebcf3a09e6.lock";
        for path in ["state_5.sqlite", "thread-writer-locks/x.lock", "rollout-1.jsonl", foreign] {
            assert_eq!(Codex.ref_of_file(&format!("{home}/{path}")), None, "{path}");
        }
    }

    #[test]
    fn a_segment_names_what_it_goes_on_from() {
        let places = Places { home: "/h".to_owned(), ..Places::default() };
        let base = |base: Value| {
            let meta = json!({"type": "session_meta", "payload": {"history_base": base}});
            Codex.base(meta.to_string().as_bytes(), &places)
        };
        let id = "01a1ec0f-53d8-7222-a14e-897cef1a298b";
        let wanted = FileLocation::Below {
            folder: "/h/sessions".to_owned(),
            levels: 3,
            ending: format!("{id}.jsonl"),
        };
        assert_eq!(base(json!({"thread_id": id, "end_byte_offset": 42053})), Some(wanted));
        assert_eq!(base(json!({"thread_id": ""})), None);
        assert_eq!(base(Value::Null), None);
    }

    #[test]
    fn only_what_somebody_began_counts_as_begun_somewhere() {
        let begun = |source: Value| {
            let meta = json!({"type": "session_meta", "payload": {"cwd": "/w", "source": source}});
            Codex.begun_in(meta.to_string().as_bytes())
        };
        assert_eq!(begun(json!("cli")), Some("/w".to_owned()));
        assert_eq!(begun(json!({"subagent": {"thread_spawn": {}}})), None);
        assert_eq!(Codex.begun_in(b"{}"), None);
    }

    #[test]
    fn behind_the_script_lies_the_program() {
        let natives = Codex.natives("/x/node_modules/@openai/codex/bin/codex.js");
        assert!(natives.iter().any(|path| {
            path.starts_with("/x/node_modules/@openai/codex-linux-") && path.ends_with("/bin/codex")
        }));
        assert!(Codex.natives("/usr/bin/codex").is_empty());
    }
}
