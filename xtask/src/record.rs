//! Plays stories with real agents and the stub model, and puts what the terminal showed into
//! README.md and docs/recovery.md.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use glis_stub_model::installed::{CLAUDE, CODEX, RealAgent};
use glis_stub_model::{Model, Step, Voice, seed};
use serde_json::{Value, json};

use crate::cargo::Workspace;

/// The lines of a page around what is recorded.
const BEGIN: &str = "<!-- Recorded: `cargo xtask record` writes this part. -->";
const END: &str = "<!-- End of the record. -->";
/// How long an agent may take to say something.
const PATIENCE: Duration = Duration::from_secs(60);
const PACE: Duration = Duration::from_millis(20);

pub(crate) fn run() -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let glis = workspace.glis()?;
    let (minute, deleted) = claude(&glis)?;
    write(&workspace.root.join("README.md"), &minute)?;
    write(&workspace.root.join("docs/recovery.md"), &[deleted, codex(&glis)?].join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn write(page: &Path, recorded: &str) -> Result<()> {
    let text = std::fs::read_to_string(page)?;
    let (before, rest) = text.split_once(BEGIN).context("the page has no place for it")?;
    let (_, after) = rest.split_once(END).context("the place in the page has no end")?;
    println!("{recorded}");
    Ok(std::fs::write(page, format!("{before}{BEGIN}\n\n{recorded}\n{END}{after}"))?)
}

/// Paused in the middle of an answer, and the daemon killed. Then, as a second story, the worktree
/// is deleted.
fn claude(glis: &Path) -> Result<(String, String)> {
    let mut stage = Stage::set(glis, CLAUDE)?;
    let command = "printf 'LIMIT = 5\\n' > limit.py";
    stage.model.learn(
        "Limit failed logins",
        &[
            Step {
                text: Some("First the limit itself.".to_owned()),
                tool: Some("Bash".to_owned()),
                input: json!({"command": command, "description": "Write limit.py"}),
                ..Step::default()
            },
            Step {
                text: Some("limit.py is there. Now the tests: after five".to_owned()),
                hold: Some("tests".to_owned()),
                ..Step::default()
            },
        ],
    );
    stage.model.learn("Go on", &[says("The sixth attempt within a minute is refused, tested.")]);
    stage.model.learn("Is it done", &[says("Yes: limit.py holds the limit.")]);
    stage
        .tell("glis new login --agent claude --prompt \"Limit failed logins to five a minute.\"")?;
    stage.wait("login", "waiting")?;
    stage.tell("glis ls")?;
    stage.tell("glis answer login allow")?;
    stage.model.until_held("tests").map_err(|why| anyhow!(why))?;
    stage.tell("glis pause login  # in the middle of its next answer")?;
    let daemon = stage.daemon()?;
    stage.tell(&format!("kill -9 {daemon}  # the daemon"))?;
    stage.tell("glis resume login --prompt \"Go on.\"")?;
    stage.wait("login", "idle")?;
    stage.tell("glis log login")?;
    let said = [
        (Voice::User, "Limit failed logins"),
        (Voice::Model, "First the limit itself."),
        (Voice::Model, "Now the tests: after five"),
        (Voice::User, "Go on."),
    ];
    let minute = stage.story("Go on", &said)?;
    stage.tell("glis pause login")?;
    stage.tell("rm -rf ~/.local/share/glis/worktrees/shop  # every file that it wrote")?;
    stage.tell("glis resume login --prompt \"Is it done?\"")?;
    stage.wait("login", "idle")?;
    stage.tell("cat ~/.local/share/glis/worktrees/shop/login-*/limit.py")?;
    let deleted = stage.story("Is it done", &said)?;
    Ok((minute, format!("Claude Code in its terminal, whose worktree is deleted:\n\n{deleted}")))
}

/// Killed in the middle of a command, together with the daemon.
fn codex(glis: &Path) -> Result<String> {
    let mut stage = Stage::set(glis, CODEX)?;
    stage.model.learn(
        "Convert the prices",
        &[Step {
            text: Some("I fetch the rates.".to_owned()),
            tool: Some("exec_command".to_owned()),
            input: json!({"cmd": "echo 'EUR 1.08' > rates.txt; sleep 600"}),
            ..Step::default()
        }],
    );
    stage.model.learn("Go on", &[says("rates.txt has one rate; I take it from there.")]);
    let new = "glis new prices --agent codex --headless --prompt \"Convert the prices to euros.\"";
    stage.tell(new)?;
    stage.until_said("prices", "sleep 600")?;
    let agent = stage.ask(&["show", "prices"])?["pid"].as_i64().context("no process")?;
    let daemon = stage.daemon()?;
    stage.tell(&format!(
        "kill -9 {agent} {daemon}  # Codex in the middle of a command, and the daemon"
    ))?;
    stage.wait("prices", "interrupted")?;
    stage.tell("glis ls")?;
    stage.tell("glis resume prices --prompt \"Go on.\"")?;
    stage.wait("prices", "idle")?;
    stage.tell("glis log prices")?;
    let wanted = [
        (Voice::User, "Convert the prices"),
        (Voice::Model, "I fetch the rates."),
        (Voice::User, "Go on."),
    ];
    let story = stage.story("Go on", &wanted)?;
    Ok(format!("Codex, killed in the middle of a command, and the daemon with it:\n\n{story}"))
}

fn says(text: &str) -> Step {
    Step { text: Some(text.to_owned()), ..Step::default() }
}

/// A user's home with a repository, an agent and a model in it.
struct Stage {
    home: tempfile::TempDir,
    model: Model,
    env: Vec<(String, String)>,
    /// What the terminal has shown since the last story.
    shown: String,
}

impl Stage {
    fn set(glis: &Path, agent: RealAgent) -> Result<Self> {
        let program = agent.program().context("not installed; `cargo xtask agents` does that")?;
        let home = tempfile::Builder::new().prefix("glis-record-").tempdir()?;
        let model = Model::start()?;
        let (repo, bin) = (home.path().join("shop"), home.path().join("bin"));
        std::fs::create_dir(&repo)?;
        std::fs::create_dir(&bin)?;
        std::os::unix::fs::symlink(program, bin.join(agent.name))?;
        std::os::unix::fs::symlink(glis, bin.join("glis"))?;
        let mut env = vec![
            ("HOME".to_owned(), home.path().display().to_string()),
            ("PATH".to_owned(), format!("{}:{}", bin.display(), std::env::var("PATH")?)),
            ("TERM".to_owned(), "xterm-256color".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ];
        let planted = seed::plant(&agent, home.path(), &repo.canonicalize()?, &model.url())?;
        env.extend(planted.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let stage = Self { home, model, env, shown: String::new() };
        stage.shell(
            "git init --quiet --initial-branch=main && echo shop > README && git add README",
        )?;
        stage.shell("git -c user.name=you -c user.email=you@example.org commit --quiet -m shop")?;
        Ok(stage)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.env.iter().cloned()).stdin(Stdio::null());
        command.current_dir(self.home.path().join("shop"));
        command
    }

    /// What a line prints, to either stream.
    fn shell(&self, line: &str) -> Result<String> {
        let output = self.command("sh").arg("-c").arg(format!("exec 2>&1\n{line}")).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "`{line}` failed: {text}");
        Ok(text)
    }

    /// Runs a line as a person would, and keeps what the person saw.
    fn tell(&mut self, line: &str) -> Result<()> {
        let seen = self.shell(line)?.replace(&self.home.path().display().to_string(), "~");
        self.shown.extend(["$ ", line, "\n", &seen]);
        if !self.shown.ends_with('\n') {
            self.shown.push('\n');
        }
        Ok(())
    }

    fn ask(&self, words: &[&str]) -> Result<Value> {
        let output = self.command("glis").args(words).arg("--json").output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`glis {}` failed: {said}", words.join(" "));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn wait(&self, name: &str, status: &str) -> Result<()> {
        let waited = self.ask(&["wait", name, "--for", status, "--timeout", "60s"]);
        waited.map(drop).with_context(|| self.shown.clone())
    }

    /// Waits until the conversation holds these words.
    fn until_said(&self, name: &str, words: &str) -> Result<()> {
        let began = Instant::now();
        while !self.shell(&format!("glis log {name}"))?.contains(words) {
            ensure!(began.elapsed() < PATIENCE, "`{words}` was not said");
            std::thread::sleep(PACE);
        }
        Ok(())
    }

    fn daemon(&self) -> Result<i64> {
        self.ask(&["daemon", "status"])?["pid"].as_i64().context("no daemon")
    }

    /// What was shown since the last story. The request with the cue must hold everything that was
    /// said before.
    fn story(&mut self, cue: &str, wanted: &[(Voice, &str)]) -> Result<String> {
        let request = self.model.until_prompt(cue).map_err(|why| anyhow!(why))?;
        for (voice, words) in wanted {
            ensure!(request.says(*voice, words), "the model did not hear `{words}` again");
        }
        let shown = std::mem::take(&mut self.shown);
        let shown = shown.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        let proof = request.turns.len();
        Ok(format!(
            "```console\n{shown}\n```\n\nThe first request that reached the model after that held \
             all of it, {proof} messages.\n"
        ))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Whatever the story came to, nothing of it runs on.
        drop(
            self.shell("glis ls --json >/dev/null && for s in login prices; do glis stop $s; done"),
        );
        drop(self.shell("glis daemon stop"));
    }
}
