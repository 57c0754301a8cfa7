//! Plays two stories with real agents and the stub model, and puts what the terminal showed into
//! README.md.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use glis_stub_model::installed::{CLAUDE, CODEX, RealAgent};
use glis_stub_model::{Model, Step, Voice, seed};
use serde_json::{Value, json};

use crate::cargo::{Workspace, cargo};

/// The lines of README.md around what is recorded.
const BEGIN: &str = "<!-- Recorded: `cargo xtask record` writes this part. -->";
const END: &str = "<!-- End of the record. -->";
/// How long an agent may take to say something.
const PATIENCE: Duration = Duration::from_secs(60);
const PACE: Duration = Duration::from_millis(20);

pub(crate) fn run() -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let mut build = cargo();
    build.args(["build", "--release", "--bin", "glis"]).current_dir(&workspace.root);
    ensure!(build.status()?.success(), "the release build failed");
    let glis = workspace.release("glis");
    let told = [claude(&glis)?, codex(&glis)?].join("\n");
    let readme = workspace.root.join("README.md");
    let text = std::fs::read_to_string(&readme)?;
    let (before, rest) = text.split_once(BEGIN).context("README.md has no place for it")?;
    let (_, after) = rest.split_once(END).context("the place in README.md has no end")?;
    std::fs::write(&readme, format!("{before}{BEGIN}\n\n{told}\n{END}{after}"))?;
    println!("{told}");
    Ok(ExitCode::SUCCESS)
}

/// Paused in the middle of an answer; then the daemon is killed and the worktree deleted.
fn claude(glis: &Path) -> Result<String> {
    let mut stage = Stage::set(glis, CLAUDE)?;
    let write = "printf 'LIMIT = 5\\n' > limit.py";
    stage.model.learn(
        "Limit failed logins",
        &[
            Step {
                text: Some("First the limit itself.".to_owned()),
                tool: Some("Bash".to_owned()),
                input: json!({"command": write, "description": "Write limit.py"}),
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
    stage
        .tell("glis new login --agent claude --prompt \"Limit failed logins to five a minute.\"")?;
    stage.wait("login", "waiting")?;
    stage.tell("glis ls")?;
    stage.tell("glis answer login allow")?;
    stage.model.until_held("tests").map_err(|why| anyhow!(why))?;
    stage.tell("glis pause login  # in the middle of its next answer")?;
    let daemon = stage.daemon()?;
    stage.tell(&format!("kill -9 {daemon}  # the daemon"))?;
    stage.tell("rm -rf ~/.local/share/glis/worktrees/shop  # every file that it wrote")?;
    stage.tell("glis resume login --prompt \"Go on.\"")?;
    stage.wait("login", "idle")?;
    stage.tell("glis log login")?;
    stage.tell("cat ~/.local/share/glis/worktrees/shop/login-*/limit.py")?;
    let wanted = [
        (Voice::User, "Limit failed logins"),
        (Voice::Model, "First the limit itself."),
        (Voice::Model, "Now the tests: after five"),
        (Voice::User, "Go on."),
    ];
    stage.prove("Go on", &wanted)?;
    let title = "Claude Code in its terminal, paused in mid-answer. Then the daemon is killed and the \
                 worktree deleted:";
    Ok(stage.story(title))
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
    stage.prove("Go on", &wanted)?;
    let title = "Codex, killed with `kill -9` in the middle of a command, and the daemon with it:";
    Ok(stage.story(title))
}

fn says(text: &str) -> Step {
    Step { text: Some(text.to_owned()), ..Step::default() }
}

/// A user's home with a repository, an agent and a model in it.
struct Stage {
    home: tempfile::TempDir,
    model: Model,
    env: Vec<(String, String)>,
    /// What the terminal has shown.
    shown: String,
    /// Messages in the request that proves it.
    proof: usize,
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
        let stage = Self { home, model, env, shown: String::new(), proof: 0 };
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

    /// The request after the resume must hold everything that was said before.
    fn prove(&mut self, cue: &str, wanted: &[(Voice, &str)]) -> Result<()> {
        let request = self.model.until_prompt(cue).map_err(|why| anyhow!(why))?;
        for (voice, words) in wanted {
            ensure!(request.says(*voice, words), "the model did not hear `{words}` again");
        }
        self.proof = request.turns.len();
        Ok(())
    }

    fn story(mut self, title: &str) -> String {
        let shown = std::mem::take(&mut self.shown);
        let shown = shown.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        let proof = self.proof;
        format!(
            "{title}\n\n```console\n{shown}\n```\n\nThe first request that reached the model after \
             that held all of it, {proof} messages.\n"
        )
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
