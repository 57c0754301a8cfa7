//! The command that says whether a task is done: run in its worktree, its output kept.

use crate::child::{end_all, ends_within, last_words, shell};
use crate::environments::Env;
use glis_record::durable;
use glis_snapshot::Task;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Stdio;

/// A whole test suite fits; what takes longer hangs.
const SECS_MAX: u32 = 60 * 60;
/// Names the processes of the last one, which a daemon that died has left behind.
const MARK: &str = "accept.mark";

/// What is needed to run it.
pub(super) struct Call {
    pub(super) command: String,
    pub(super) env: Env,
    pub(super) worktree: PathBuf,
    /// The session's own folder.
    pub(super) dir: PathBuf,
    /// Where its output is kept.
    pub(super) log: PathBuf,
}

/// What it says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Acceptance {
    Accepted,
    Refused(String),
}

/// Runs the command to its end. The error is why it could not be judged at all.
pub(super) fn run(call: &Call) -> Result<Acceptance, String> {
    let told = |fault: io::Error| format!("`accept` cannot be run: {fault}");
    durable::private_folder(&call.dir).map_err(told)?;
    // Two at once would be in each other's way.
    if let Ok(mark) = std::fs::read_to_string(call.dir.join(MARK)) {
        end_all(&Task::of_mark(mark));
    }
    let task = Task::new();
    let (variable, mark) = task.variable();
    durable::write(&call.dir, MARK, mark.as_bytes()).map_err(told)?;
    if let Some(folder) = call.log.parent() {
        durable::private_folder(folder).map_err(told)?;
    }
    let mut log = File::options();
    let log = log.create(true).truncate(true).read(true).write(true);
    let mut log = log.open(&call.log).map_err(told)?;
    let mut shell = shell(&call.command);
    shell.current_dir(&call.worktree).env_clear().envs(call.env.clone());
    shell.env("PWD", &call.worktree).env(variable, &mark);
    shell.stdin(Stdio::null()).process_group(0);
    shell.stdout(log.try_clone().map_err(told)?).stderr(log.try_clone().map_err(told)?);
    let mut child = shell.spawn().map_err(told)?;
    // It has its own limit, and may well wait for something.
    let in_time = glis_snapshot::patiently(|| ends_within(&child, SECS_MAX));
    let status = child.wait().map_err(told)?;
    if !in_time {
        end_all(&task);
    }
    log.sync_all().map_err(told)?;
    std::fs::remove_file(call.dir.join(MARK)).ok();
    let how = match (in_time, status.success()) {
        (true, true) => return Ok(Acceptance::Accepted),
        (true, false) => status.to_string(),
        (false, _) => format!("no end after {SECS_MAX} s"),
    };
    Ok(Acceptance::Refused(format!("{how}; its last output: {}", last_words(&mut log))))
}
