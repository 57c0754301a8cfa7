//! The real agents as the stories see them: what each needs to be asked in its own way.

use super::Real;
use crate::support::house::{House, Outcome};
use glis_stub_model::installed::{CLAUDE, CODEX, GEMINI, OPENCODE, RealAgent};
use glis_stub_model::{Received, Step, Voice};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Where an agent keeps its conversations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Each in a file of its own, below this folder of its configuration.
    Files(&'static str),
    /// All in one database.
    Database,
}

/// An agent in one mode.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) agent: RealAgent,
    /// What `new` is told besides the name.
    words: &'static [&'static str],
    /// What stands behind `--`.
    more: &'static [&'static str],
    /// A tool call that runs a command without asking.
    run: fn(&str) -> (&'static str, Value),
    /// A tool call that runs this very command after asking, where no rule of the agent's own allows it.
    asking: fn(&str) -> (&'static str, Value),
    /// A tool call that writes a file after asking.
    ask: fn(&str) -> (&'static str, Value),
    kept: Kept,
    /// The name of another model than the usual one.
    pub(crate) model: &'static str,
    pub(crate) manners: Manners,
}

/// What a persona can give the agent besides a model.
#[derive(Clone, Copy)]
pub(crate) struct Manners {
    /// A permission mode in which it writes a file ([`Part::ask`]) without asking, as it does not
    /// usually.
    pub(crate) mode: &'static str,
    pub(crate) args: &'static [&'static str],
    /// A command that it runs, with these arguments alone, unasked and so that it says `there`.
    pub(crate) by_args: &'static str,
    pub(crate) instructions: Instructions,
}

/// Whether a persona's words can be added to the agent's own instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instructions {
    Taken,
    /// The program has no option for it: such a persona is refused.
    None,
}

pub(crate) const CLAUDE_HEADLESS: Part = Part {
    agent: CLAUDE,
    words: &["--agent", "claude", "--headless"],
    more: &["--allowedTools=Bash(bash:*)"],
    run: |command| ("Bash", json!({"command": format!("bash -c '{command}'"), "description": "d"})),
    asking: |command| ("Bash", json!({"command": command, "description": "d"})),
    ask: |file| ("Write", json!({"file_path": file, "content": "written\n"})),
    kept: Kept::Files("projects"),
    model: "other-model",
    manners: Manners {
        mode: "acceptEdits",
        args: &["--allowedTools=Bash(bash:*)"],
        by_args: "echo there",
        instructions: Instructions::Taken,
    },
};

pub(crate) const CLAUDE_TERMINAL: Part = Part { words: &["--agent", "claude"], ..CLAUDE_HEADLESS };

pub(crate) const CODEX_HEADLESS: Part = Part {
    agent: CODEX,
    words: &["--agent", "codex", "--headless"],
    more: &[],
    run: |command| ("exec_command", json!({"cmd": command})),
    asking: escalated,
    ask: |file| escalated(&format!("echo written > {file}")),
    kept: Kept::Files("sessions"),
    model: "other-model",
    manners: Manners {
        mode: "danger-full-access",
        args: &["-c", "shell_environment_policy.set.PLACE=\"there\""],
        by_args: "echo $PLACE",
        instructions: Instructions::Taken,
    },
};

pub(crate) const CODEX_TERMINAL: Part = Part { words: &["--agent", "codex"], ..CODEX_HEADLESS };

pub(crate) const OPENCODE_HEADLESS: Part = Part {
    agent: OPENCODE,
    words: &["--agent", "opencode", "--headless"],
    more: &[],
    run: |command| ("bash", json!({"command": command, "description": "d"})),
    asking: |command| ("bash", json!({"command": command, "description": "d"})),
    ask: |file| ("write", json!({"filePath": file, "content": "written\n"})),
    kept: Kept::Database,
    model: "stub/other-model",
    manners: Manners {
        mode: "allow",
        // Nothing that it can be told changes what it does here, so the tool looks who started it.
        args: &["--pure"],
        by_args: "grep -qz -- --pure /proc/$PPID/cmdline && echo there",
        instructions: Instructions::None,
    },
};

pub(crate) const GEMINI_HEADLESS: Part = Part {
    agent: GEMINI,
    words: &["--agent", "gemini", "--headless"],
    more: &["--approval-mode=yolo"],
    run: |command| ("run_shell_command", json!({"command": command, "description": "d"})),
    asking: |command| ("run_shell_command", json!({"command": command, "description": "d"})),
    // With nobody at a terminal it asks for nothing.
    ask: |file| ("write_file", json!({"file_path": file, "content": "written\n"})),
    kept: Kept::Files("tmp"),
    model: "other-model",
    manners: Manners {
        mode: "auto_edit",
        args: &["--allowed-tools=run_shell_command(echo)"],
        by_args: "echo there",
        instructions: Instructions::None,
    },
};

/// What Codex asks about: to run a command outside of its sandbox.
fn escalated(command: &str) -> (&'static str, Value) {
    let asks = json!({
        "cmd": command,
        "sandbox_permissions": "require_escalated",
        "justification": "because",
    });
    ("exec_command", asks)
}

impl Part {
    /// The same in another version.
    pub(crate) const fn in_version(self, agent: RealAgent) -> Self {
        Self { agent, ..self }
    }

    /// The same with other arguments.
    pub(crate) fn told(self, more: &'static [&'static str]) -> Self {
        Self { more, ..self }
    }

    /// A step that runs a command after asking.
    pub(crate) fn asks_to_run(self, command: &str) -> Step {
        step((self.asking)(command))
    }

    pub(crate) fn is_headless(self) -> bool {
        self.words.contains(&"--headless")
    }

    /// The command line that begins a session with it.
    pub(crate) fn begins<'w>(self, verb: &'w str, options: &[&'w str]) -> Vec<&'w str> {
        let mut words = vec![verb, NAME];
        words.extend(self.words.iter().chain(options));
        if !self.more.is_empty() {
            words.push("--");
            words.extend(self.more);
        }
        words
    }

    pub(crate) fn runs(self, command: &str) -> Step {
        step((self.run)(command))
    }
}

/// A play: one agent in a house, with one session.
pub(crate) struct Play {
    pub(crate) real: Real,
    pub(crate) part: Part,
}

/// The name of the session in every story.
pub(crate) const NAME: &str = "play";

impl Play {
    /// A house with a session that has done nothing yet; `None`, loudly, if the agent is missing.
    pub(crate) fn with(part: Part, extra: &[&str]) -> Outcome<Option<Self>> {
        let Some(real) = Real::with(part.agent)? else { return Ok(None) };
        Self::of(real, part, extra).map(Some)
    }

    /// The same in a house that is there already.
    pub(crate) fn of(real: Real, part: Part, extra: &[&str]) -> Outcome<Self> {
        if part.agent.name == CODEX.name && !part.is_headless() {
            has_used_codex(&real, "")?;
        }
        real.house.json(&part.begins("new", extra))?;
        Ok(Self { real, part })
    }

    pub(crate) fn house(&self) -> &House {
        &self.real.house
    }

    pub(crate) fn show(&self) -> Outcome<Value> {
        self.house().show(NAME)
    }

    pub(crate) fn send(&self, words: &str) -> Outcome<Value> {
        self.house().json(&["send", NAME, words])
    }

    /// Sends a message and waits for the end of its turn.
    pub(crate) fn turn(&self, words: &str) -> Outcome<Value> {
        self.house().turn(NAME, words)
    }

    pub(crate) fn until(&self, states: &str) -> Outcome<Value> {
        self.house().until(NAME, states)
    }

    pub(crate) fn pause(&self) -> Outcome<Value> {
        self.house().json(&["pause", NAME])
    }

    /// Resumes with a prompt and returns the request that it leads to.
    pub(crate) fn resume(&self, words: &str) -> Outcome<Received> {
        self.house().json(&["resume", NAME, "--prompt", words])?;
        let request = self.asked(words)?;
        self.until("idle")?;
        Ok(request)
    }

    pub(crate) fn resume_after_pause(&self, words: &str) -> Outcome<Received> {
        let paused = self.pause()?;
        assert_eq!(paused["status"], "paused", "{paused}");
        self.resume(words)
    }

    /// The request to the model whose last message holds these words.
    pub(crate) fn asked(&self, words: &str) -> Outcome<Received> {
        Ok(self.real.model.until_prompt(words)?)
    }

    pub(crate) fn pid(&self) -> Outcome<i32> {
        Ok(i32::try_from(self.show()?["pid"].as_i64().ok_or("no process")?)?)
    }

    pub(crate) fn run(&self, command: &str) -> Step {
        self.part.runs(command)
    }

    pub(crate) fn asking(&self, command: &str) -> Step {
        step((self.part.asking)(command))
    }

    pub(crate) fn ask(&self, file: &str) -> Outcome<Step> {
        let path = self.house().file(NAME, file)?;
        Ok(step((self.part.ask)(path.to_str().ok_or("path")?)))
    }

    /// The agent's own id of the conversation.
    pub(crate) fn conversation(&self) -> Outcome<String> {
        Ok(self.show()?["agent_session_ref"].as_str().ok_or("no id")?.to_owned())
    }

    /// The agent's transcript of the session, if it has a file for it.
    pub(crate) fn transcript(&self) -> Outcome<PathBuf> {
        let id = self.conversation()?;
        let Kept::Files(transcripts) = self.part.kept else { return Err("rows, no file".into()) };
        let folder = self.real.config().join(transcripts);
        // Gemini CLI puts the beginning of the id into the name, and leaves almost empty files
        // beside the real one.
        let short: String = id.chars().take(8).collect();
        let endings = [format!("{id}.jsonl"), format!("-{short}.jsonl")];
        let ours = |path: &PathBuf| {
            endings.iter().any(|end| path.to_str().is_some_and(|path| path.ends_with(end)))
        };
        let length = |path: &PathBuf| path.metadata().map_or(0, |facts| facts.len());
        let found = walk(&folder)?.into_iter().filter(ours).max_by_key(length);
        found.ok_or_else(|| format!("no transcript of {id} in {}", folder.display()).into())
    }

    /// Whether the agent has written these words down. One that is killed before that has never heard
    /// of them.
    pub(crate) fn has_written(&self, words: &str) -> bool {
        match self.part.kept {
            Kept::Files(_) => {
                let read = || std::fs::read_to_string(self.transcript().ok()?).ok();
                read().is_some_and(|text| text.contains(words))
            }
            Kept::Database => self.rows_with(words, "true").is_ok_and(|rows| rows > 0),
        }
    }

    /// Whether the agent knows the conversation.
    pub(crate) fn is_known(&self) -> bool {
        match self.part.kept {
            Kept::Files(_) => self.transcript().is_ok(),
            Kept::Database => self.rows_with("", "true").is_ok_and(|rows| rows > 0),
        }
    }

    /// Deletes what the agent knows of the conversation, as somebody who tidies up would.
    pub(crate) fn forget(&self) -> Outcome {
        match self.part.kept {
            Kept::Files(_) => std::fs::remove_file(self.transcript()?)?,
            Kept::Database => {
                let id = self.conversation()?;
                let mut delete = self.real.bare(&self.house().repo());
                let told = delete.args(["session", "delete", &id]).output()?;
                assert!(told.status.success(), "{told:?}");
                assert!(!self.is_known(), "{told:?}");
            }
        }
        Ok(())
    }

    /// The database, of the agent that has one.
    pub(crate) fn database(&self) -> PathBuf {
        self.real.user_home().join(".local/share/opencode/opencode.db")
    }

    /// How many pieces of the conversation in the database hold these words, and are so.
    fn rows_with(&self, words: &str, are: &str) -> Outcome<u32> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(self.database(), flags)?;
        let count = format!(
            "SELECT count(*) FROM part WHERE session_id = ?1 AND instr(data, ?2) AND {are}"
        );
        Ok(database.query_row(&count, (self.conversation()?, words), |row| row.get(0))?)
    }

    /// Whether the agent has written down a turn that ends with these words.
    pub(crate) fn has_closed_with(&self, words: &str) -> bool {
        if self.part.kept == Kept::Database {
            let is_last = "message_id IN (SELECT id FROM message WHERE data->>'finish' = 'stop')";
            return self.rows_with(words, is_last).is_ok_and(|rows| rows > 0);
        }
        let read = || std::fs::read_to_string(self.transcript().ok()?).ok();
        // Codex says it once more when all is done.
        let close = if self.part.agent.name == CODEX.name { "task_complete" } else { "" };
        let closes = |line: &str| line.contains(words) && line.contains(close);
        // What it was told holds them too.
        read().is_some_and(|text| {
            text.lines().any(|line| closes(line) && !line.contains("\\\"steps"))
        })
    }

    /// The copy that glis keeps of it.
    pub(crate) fn vault(&self) -> Outcome<PathBuf> {
        let id = self.show()?["id"].as_str().ok_or("no id")?.to_owned();
        Ok(self.house().home().join("sessions").join(id).join("vault"))
    }
}

/// Leaves the settings of somebody who has worked with Codex in this repository before, and has put
/// this on its screen.
pub(crate) fn has_used_codex(real: &Real, screen: &str) -> Outcome {
    let settings = real.config().join("config.toml");
    let repo = real.house.repo().canonicalize()?;
    let more = format!(
        "\n[tui]\nscreen_reader_detection_done = true\n{screen}\n[projects.{:?}]\n\
         trust_level = \"trusted\"\n",
        repo.display().to_string()
    );
    std::fs::write(&settings, std::fs::read_to_string(&settings)? + &more)?;
    Ok(())
}

/// Text at once.
pub(crate) fn text(words: &str) -> Step {
    Step { text: Some(words.to_owned()), ..Step::default() }
}

/// Text, then nothing until the gate is opened.
pub(crate) fn held(words: &str, gate: &str) -> Step {
    Step { hold: Some(gate.to_owned()), ..text(words) }
}

pub(crate) fn step((tool, input): (&str, Value)) -> Step {
    Step { tool: Some(tool.to_owned()), input, ..Step::default() }
}

/// How often the history holds these words, whoever says them.
pub(crate) fn times(request: &Received, voice: Voice, words: &str) -> usize {
    let said = request.turns.iter().filter(|turn| turn.voice == voice);
    said.filter(|turn| turn.text.contains(words)).count()
}

pub(super) fn walk(folder: &std::path::Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(walk(&path)?) } else { found.push(path) }
    }
    Ok(found)
}
