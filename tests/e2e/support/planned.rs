//! Plans for tests: their files, windows on them, and what is known of their runs.

use crate::support::held::signal;
use crate::support::house::{Background, House, Outcome};
use rustix::process::Signal;
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

/// Work that goes on until it is interrupted.
pub(crate) const LONG: &str = "write began.txt yes ;; touch-slowly slow.txt 100000 50";

/// A task of a plan, as its file has it.
pub(crate) fn task(id: &str, prompt: &str, needs: &[&str], accept: Option<&str>) -> String {
    task_by("agent = \"rehearsal\"", id, prompt, needs, accept)
}

/// The same, with the line that says who works on it.
pub(crate) fn task_by(
    who: &str,
    id: &str,
    prompt: &str,
    needs: &[&str],
    accept: Option<&str>,
) -> String {
    let needs: Vec<String> = needs.iter().map(|need| format!("{need:?}")).collect();
    let accept = accept.map(|accept| format!("accept = {accept:?}\n")).unwrap_or_default();
    format!(
        "[[task]]\nid = {id:?}\nprompt = {prompt:?}\n{who}\nneeds = [{}]\n{accept}\n",
        needs.join(", ")
    )
}

/// Puts a plan into the repository, which ignores it.
pub(crate) fn plan(house: &House, tasks: &[String]) -> Outcome {
    std::fs::create_dir_all(house.repo().join(".glis"))?;
    let text = format!("[plan]\ntitle = \"Tidy up\"\n\n{}", tasks.concat());
    Ok(std::fs::write(house.repo().join(".glis/plan.toml"), text)?)
}

/// The branch that such a plan has.
pub(crate) const BRANCH: &str = "glis/plan/tidy-up";

/// The runs of a task, oldest first.
pub(crate) fn runs(house: &House, task: &str) -> Outcome<Vec<Value>> {
    let runs = house.json(&["runs", task])?;
    Ok(runs.as_array().cloned().unwrap_or_default())
}

/// The record of a run, as it lies in the repository.
pub(crate) fn record(house: &House, run: &str) -> Outcome<Value> {
    record_in(house, "tidy-up", run)
}

/// The record of a run of the plan with this name.
pub(crate) fn record_in(house: &House, plan: &str, run: &str) -> Outcome<Value> {
    let path = house.repo().join(format!(".glis/runs/{plan}/{run}.json"));
    let text = std::fs::read(&path).map_err(|fault| format!("{}: {fault}", path.display()))?;
    Ok(serde_json::from_slice(&text)?)
}

/// A command whose daemons die where a folder says: `GLIS_FAILPOINT=once:DIR`.
pub(crate) fn glis_among(house: &House, points: &Path) -> Command {
    let mut command = house.glis();
    command.env("GLIS_FAILPOINT", format!("once:{}", points.display()));
    command
}

/// A window on a plan.
pub(crate) struct Window(Background);

impl Window {
    /// Opens one.
    pub(crate) fn open(house: &House, args: &[&str]) -> Outcome<Self> {
        let mut command: Command = house.glis();
        command.arg("execute").args(args);
        Ok(Self(Background::start(&mut command)?))
    }

    /// One whose daemons die where a folder says.
    pub(crate) fn among(house: &House, points: &Path, args: &[&str]) -> Outcome<Self> {
        let mut command = glis_among(house, points);
        Ok(Self(Background::start(command.args(["execute", "--jobs", "2"]).args(args))?))
    }

    /// Ctrl+C.
    pub(crate) fn interrupt(&self) -> Outcome {
        signal(self.pid()?, Signal::INT)
    }

    pub(crate) fn pid(&self) -> Outcome<i32> {
        Ok(i32::try_from(self.0.0.id())?)
    }

    /// Waits for its end: its exit status and all that it has printed.
    pub(crate) fn end(mut self) -> Outcome<(Option<i32>, String, String)> {
        let (mut said, mut beside) = (String::new(), String::new());
        if let Some(mut stdout) = self.0.0.stdout.take() {
            stdout.read_to_string(&mut said)?;
        }
        if let Some(mut stderr) = self.0.0.stderr.take() {
            stderr.read_to_string(&mut beside)?;
        }
        Ok((self.0.0.wait()?.code(), said, beside))
    }
}

/// Waits until the agent of a run works on what it was told.
pub(crate) fn until_at_work(house: &House, run: &str) -> Outcome {
    let mut events = house.follow(1)?;
    let made = events.until(|e| e["event"] == "session_created" && e["name"] == run)?;
    let id = made["session"].clone();
    events.until(|e| e["event"] == "tool_began" && e["session"] == id)?;
    events.until(|e| e["event"] == "tool_began" && e["session"] == id).map(drop)
}
