//! How much later a real agent asks its model when glis resumes it than when a person does.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, anyhow, ensure};
use glis_stub_model::installed::{CLAUDE, CODEX, RealAgent};
use glis_stub_model::{Model, Received, seed};
use serde_json::{Value, json};

use super::Plan;
use super::board::{Board, Reading, median};
use super::house::{House, Peer};
use crate::proc::Others;

/// The session of this measure.
const NAME: &str = "s";
/// Marks of glis that a process of nobody's must not carry.
const MARKS: [&str; 2] = ["GLIS_SESSION", "GLIS_GENERATION"];

/// Milliseconds from the command to the first request.
pub(crate) fn resume(plan: &Plan, board: &mut Board) {
    for (key, agent) in [("resume claude", CLAUDE), ("resume codex", CODEX)] {
        if !plan.peers.contains(&Peer::Glis) {
            continue;
        }
        for _ in 0..plan.passes {
            match race(plan, agent) {
                Ok((glis, hand)) => {
                    board.take(key, Peer::Glis, Ok(glis));
                    board.take(key, Peer::Floor, Ok(hand));
                }
                Err(failure) => board.take(key, Peer::Glis, Err(failure)),
            }
        }
    }
}

/// glis and a person take turns in one conversation.
fn race(plan: &Plan, agent: RealAgent) -> Result<(Reading, Reading)> {
    let rig = Rig::new(plan, agent)?;
    let others = Others::watch(&plan.programs.mark());
    let (mut glis, mut hand) = (Vec::new(), Vec::new());
    for turn in 0..plan.tries(20) {
        hand.push(rig.by_hand(&format!("by hand {turn}."))?.as_secs_f64() * 1000.0);
        glis.push(rig.by_glis(&format!("by glis {turn}."))?.as_secs_f64() * 1000.0);
    }
    let others = others.cpus();
    let reading = |times| Reading { value: median(times), others };
    Ok((reading(glis), reading(hand)))
}

/// A paused session of a real agent, and all that is needed to start the agent without glis.
struct Rig<'a> {
    house: House<'a>,
    model: Model,
    agent: RealAgent,
    session: Value,
    argv: Vec<String>,
    env: Vec<(String, String)>,
}

impl<'a> Rig<'a> {
    fn new(plan: &'a Plan, agent: RealAgent) -> Result<Self> {
        let program = agent.program().context("not installed; `cargo xtask agents` does that")?;
        let mut house = House::open(Peer::Glis, &plan.programs)?;
        let model = Model::start()?;
        let (home, repo) = (house.folder().to_owned(), house.folder().join("repo"));
        for (name, value) in seed::plant(&agent, &home, &repo.canonicalize()?, &model.url())? {
            house.surround(name, &value);
        }
        let bin = home.join("bin");
        std::fs::create_dir(&bin)?;
        std::os::unix::fs::symlink(program, bin.join(agent.name))?;
        let path = std::env::var("PATH")?;
        house.surround("PATH", &format!("{}:{path}", bin.display()));
        let repo = repo.display().to_string();
        house.ask(&["new", NAME, "--agent", agent.name, "--headless", "--repo", &repo])?;
        house.ask(&["send", NAME, "the first message"])?;
        house.ask(&["wait", NAME, "--for", "idle", "--timeout", "60s"])?;
        house.ask(&["pause", NAME])?;
        // Once through glis, to see how it starts the agent.
        house.ask(&["resume", NAME, "--prompt", "warm up"])?;
        let session = house.ask(&["wait", NAME, "--for", "idle", "--timeout", "60s"])?;
        let pid = session["pid"].as_i64().context("no process")?;
        let argv = words(&std::fs::read(format!("/proc/{pid}/cmdline"))?);
        let env = words(&std::fs::read(format!("/proc/{pid}/environ"))?);
        let env = env.iter().filter_map(|entry| entry.split_once('='));
        let env = env.filter(|(name, _)| !MARKS.contains(name));
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        house.ask(&["pause", NAME])?;
        Ok(Self { house, model, agent, session, argv, env })
    }

    fn by_glis(&self, prompt: &str) -> Result<Duration> {
        let began = SystemTime::now();
        let mut command = self.house.spawn(&["resume", NAME, "--prompt", prompt])?;
        let took = self.first_request(began, prompt)?;
        ensure!(command.wait()?.success(), "`glis resume` failed");
        self.house.ask(&["wait", NAME, "--for", "idle", "--timeout", "60s"])?;
        self.house.ask(&["pause", NAME])?;
        Ok(took)
    }

    /// The same command line and the same words, all at once.
    fn by_hand(&self, prompt: &str) -> Result<Duration> {
        let (program, arguments) = self.argv.split_first().context("no command line")?;
        let words = self.words(prompt)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.env.iter().cloned());
        command.current_dir(self.text("worktree")?).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let began = SystemTime::now();
        let mut child = Agent(command.spawn()?);
        let mut stdin = child.0.stdin.take().context("no input")?;
        stdin.write_all(words.as_bytes())?;
        let took = self.first_request(began, prompt)?;
        let over = |r: &Received| r.prompt().contains(prompt) && r.outcome.is_some();
        self.model.until(over).map_err(|why| anyhow!(why))?;
        // It ends with its input.
        drop(stdin);
        child.0.wait()?;
        Ok(took)
    }

    fn first_request(&self, began: SystemTime, prompt: &str) -> Result<Duration> {
        let request = self.model.until_prompt(prompt).map_err(|why| anyhow!(why))?;
        Ok(request.at.duration_since(began)?)
    }

    fn text(&self, field: &str) -> Result<&str> {
        self.session[field].as_str().with_context(|| format!("the session has no {field}"))
    }

    fn words(&self, prompt: &str) -> Result<String> {
        let id = self.text("agent_session_ref")?;
        let text = json!([{"type": "text", "text": prompt}]);
        let lines = if self.agent == CLAUDE {
            vec![
                json!({"type": "control_request", "request_id": "i",
                    "request": {"subtype": "initialize"}}),
                json!({"type": "user", "message": {"role": "user", "content": text}}),
            ]
        } else {
            vec![
                json!({"id": 1, "method": "initialize", "params": {"clientInfo":
                    {"name": "bench", "title": "bench", "version": "0"}}}),
                json!({"method": "initialized"}),
                json!({"id": 2, "method": "thread/resume", "params": {"threadId": id,
                    "cwd": self.text("worktree")?, "sandbox": "workspace-write",
                    "approvalPolicy": "on-request", "excludeTurns": true}}),
                json!({"id": 3, "method": "turn/start",
                    "params": {"threadId": id, "input": text}}),
            ]
        };
        let mut words = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        words.push('\n');
        Ok(words)
    }
}

/// An agent that a person has started; ended with us at the latest.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Words that end with a zero each.
fn words(bytes: &[u8]) -> Vec<String> {
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}
