//! A line for the shell that says whether a session's work is done: run in its worktree, within its time,
//! its output kept, and never two of them at once.

use crate::child::{end_all, ends_within, last_words, shell};
use crate::environments::Env;
use glis_record::durable;
use glis_snapshot::Task;
use rustix::fs::OFlags;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

/// What is needed to run it.
pub(crate) struct ShellLine {
    pub(crate) command: String,
    pub(crate) env: Env,
    pub(crate) worktree: PathBuf,
    /// The session's own folder.
    pub(crate) dir: PathBuf,
    /// The file in it that names the processes of the last one, which a daemon that died has left behind.
    pub(crate) mark: &'static str,
    /// Where its output is kept; its folder is there, or is `dir`.
    pub(crate) log: PathBuf,
    pub(crate) secs_max: u32,
    /// The mode of the user's own files: what it makes is theirs, not ours.
    pub(crate) umask: u32,
}

/// How it ended.
pub(crate) enum End {
    Well,
    Failed(ExitStatus),
    /// Not by itself: its time was over.
    TooLate,
}

impl ShellLine {
    /// Runs it to its end, which comes with its last words. The error is why it could not be run.
    pub(crate) fn run(&self) -> io::Result<(End, String)> {
        durable::private_folder(&self.dir)?;
        // Two at once would be in each other's way.
        if let Ok(mark) = std::fs::read_to_string(self.dir.join(self.mark)) {
            end_all(&Task::of_mark(mark));
        }
        let task = Task::new();
        let (variable, mark) = task.variable();
        durable::write(&self.dir, self.mark, mark.as_bytes())?;
        let mut log = File::options();
        let log = log.create(true).truncate(true).read(true).write(true).mode(0o600);
        // A link in its place leads elsewhere.
        let mut log = log.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(&self.log)?;
        let mut shell = shell(&format!("umask {:04o}\n{}", self.umask, self.command));
        shell.current_dir(&self.worktree).env_clear().envs(self.env.clone());
        shell.env("PWD", &self.worktree).env(variable, &mark);
        shell.stdin(Stdio::null()).process_group(0);
        shell.stdout(log.try_clone()?).stderr(log.try_clone()?);
        let mut child = shell.spawn()?;
        // It has its own limit, and may well wait for something.
        let in_time = glis_snapshot::patiently(|| ends_within(&child, self.secs_max));
        let status = child.wait()?;
        if !in_time {
            end_all(&task);
        }
        log.sync_all()?;
        std::fs::remove_file(self.dir.join(self.mark)).ok();
        let end = match (in_time, status.success()) {
            (true, true) => End::Well,
            (true, false) => End::Failed(status),
            (false, _) => End::TooLate,
        };
        Ok((end, last_words(&mut log)))
    }
}
