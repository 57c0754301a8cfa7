//! A temporary home and repository, and the program itself to drive them, as a person would.

use anyhow::{Context as _, Result, bail, ensure};
use glis_front::tty::Ending;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Files of a worktree, with their bytes.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// No step of the story takes a tenth of this; whoever waits longer waits in vain.
const STEP_TIME: Duration = Duration::from_secs(60);

/// How soon a signal is heeded while a command runs.
const HEED_PACE: Duration = Duration::from_millis(50);

/// Whether a signal cuts a command short. Cleaning up goes on to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signals {
    Heeded,
    Deferred,
}

pub(super) struct Stage {
    folder: Option<tempfile::TempDir>,
    program: PathBuf,
    began: Instant,
    /// Lines that were told, for whoever wants them as one document.
    pub(super) told: Vec<Value>,
    quiet: bool,
    ending: Ending,
}

impl Stage {
    pub(super) fn set(quiet: bool) -> Result<Self> {
        // Before anything exists that a signal could leave behind.
        let ending = Ending::catch().context("signals")?;
        let folder = tempfile::Builder::new().prefix("glis-demo-").tempdir()?;
        let stage = Self {
            folder: Some(folder),
            program: std::env::current_exe().context("where this program lies")?,
            began: Instant::now(),
            told: Vec::new(),
            quiet,
            ending,
        };
        std::fs::create_dir(stage.repo())?;
        for (name, text) in [("README", "A small project.\n"), ("main.c", "int main(void) {}\n")] {
            std::fs::write(stage.repo().join(name), text)?;
        }
        stage.git(&["init", "--quiet", "--initial-branch=main", "."])?;
        stage.git(&["add", "--all"])?;
        stage.git(&[
            "-c",
            "user.name=Demo",
            "-c",
            "user.email=demo@example.org",
            "commit",
            "--quiet",
            "--message=A small project",
        ])?;
        Ok(stage)
    }

    fn root(&self) -> PathBuf {
        self.folder.as_ref().map(|folder| folder.path().to_owned()).unwrap_or_default()
    }

    fn repo(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Tells one step, with the time since the beginning.
    pub(super) fn tell(&mut self, text: &str) {
        let ms = self.began.elapsed().as_millis();
        self.told.push(serde_json::json!({"ms": u64::try_from(ms).unwrap_or(0), "text": text}));
        if !self.quiet {
            let seconds = self.began.elapsed().as_secs_f64();
            println_line(&format!("{seconds:6.2}s  {text}"));
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // The user's own repository, home and configuration are out of reach: a variable such as
        // GIT_DIR would send git to them wherever it stands.
        for (name, _) in std::env::vars_os() {
            let own = ["GIT_", "GLIS_", "XDG_"];
            if name.to_str().is_some_and(|name| own.iter().any(|begin| name.starts_with(begin))) {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.repo())
            .env("GLIS_HOME", self.root().join("home"))
            .env("HOME", self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // A key such as ctrl+c is for us: we end what we have started in good order.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end, unless it takes too long or a signal wants us to end.
    fn output(&self, command: &mut Command, signals: Signals) -> Result<Output> {
        let mut child = command.spawn()?;
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut said, mut complained) = (Vec::new(), Vec::new());
            drop(stdout.as_mut().map(|pipe| pipe.read_to_end(&mut said)));
            // Short enough for the pipe to hold it all in the meantime.
            drop(stderr.as_mut().map(|pipe| pipe.read_to_end(&mut complained)));
            drop(sender.send((said, complained)));
        });
        let began = Instant::now();
        loop {
            match receiver.recv_timeout(HEED_PACE) {
                Ok((stdout, stderr)) => {
                    return Ok(Output { status: child.wait()?, stdout, stderr });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("nothing can be read from it"),
            }
            let cut_short = signals == Signals::Heeded && self.interrupted().is_some();
            if cut_short || began.elapsed() > STEP_TIME {
                child.kill()?;
                child.wait()?;
                bail!("it was cut short after {} s", began.elapsed().as_secs());
            }
        }
    }

    /// The signal that wants us to end, if one has come.
    pub(super) fn interrupted(&self) -> Option<u8> {
        self.ending.came()
    }

    /// Asks until it is so.
    pub(super) fn until(&self, what: &str, mut so: impl FnMut() -> Result<bool>) -> Result<()> {
        let began = Instant::now();
        while !so()? {
            ensure!(self.interrupted().is_none(), "interrupted while waiting until {what}");
            let waited = began.elapsed();
            ensure!(waited < STEP_TIME, "after {} s, it is not so that {what}", waited.as_secs());
            std::thread::yield_now();
        }
        Ok(())
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let mut command = self.command(Path::new("git"));
        let output = self.output(command.args(args), Signals::Heeded).context("git")?;
        ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Runs one command line of this very program and returns its JSON.
    pub(super) fn glis(&self, args: &[&str]) -> Result<Value> {
        self.own(args, Signals::Heeded).with_context(|| format!("glis {}", args.join(" ")))
    }

    fn own(&self, args: &[&str], signals: Signals) -> Result<Value> {
        let mut command = self.command(&self.program);
        let output = self.output(command.arg("--json").args(args), signals)?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("it failed: {said}{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(serde_json::from_str(&said)?)
    }

    /// Kills the daemon as a crash would; returns when it is gone.
    pub(super) fn kill_daemon(&self) -> Result<i64> {
        let pid = self.glis(&["daemon", "status"])?["pid"].as_i64().context("the daemon's pid")?;
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status()?;
        ensure!(killed.success(), "kill -9 {pid} failed");
        let stat = PathBuf::from(format!("/proc/{pid}/stat"));
        let gone = || {
            let stat = std::fs::read_to_string(&stat).unwrap_or_default();
            stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
        };
        // A killed process is gone when the kernel says so; it is not ours to wait for.
        self.until("the daemon is gone", || Ok(gone()))?;
        Ok(pid)
    }

    /// Every file of a session's worktree, with its bytes.
    pub(super) fn files(&self, session: &str) -> Result<Files> {
        let shown = self.glis(&["show", session])?;
        let root = PathBuf::from(shown["worktree"].as_str().context("its worktree")?);
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(&root)? {
            let path = entry?.path();
            if path.is_file() && path.file_name().is_some_and(|name| name != ".git") {
                let bytes = std::fs::read(&path)?;
                found.insert(path.strip_prefix(&root)?.to_owned(), bytes);
            }
        }
        Ok(found)
    }

    /// What an agent said, one text each.
    pub(super) fn said(&self, session: &str) -> Result<Vec<String>> {
        let log = self.glis(&["log", session])?;
        let entries = log.as_array().context("a conversation")?.iter();
        let by_agent = entries.filter(|entry| entry["type"] == "assistant");
        Ok(by_agent.filter_map(|entry| entry["content"].as_str().map(ToOwned::to_owned)).collect())
    }

    /// Ends everything that was started. A daemon that was just being started when we were
    /// interrupted is waited for: it would come after the folder is gone.
    fn end(&self) -> Result<()> {
        self.own(&["daemon", "start"], Signals::Deferred)?;
        self.own(&["daemon", "stop", "--agents"], Signals::Deferred)?;
        Ok(())
    }

    /// Ends everything that was started and removes every trace.
    pub(super) fn strike(mut self) -> Result<()> {
        self.end().context("ending what was started")?;
        if let Some(folder) = self.folder.take() {
            folder.close()?;
        }
        Ok(())
    }

    /// Ends everything that was started but keeps the folder, for whoever wants to look.
    pub(super) fn leave(mut self) -> PathBuf {
        drop(self.end());
        self.folder.take().map(tempfile::TempDir::keep).unwrap_or_default()
    }
}

/// A reader that has seen enough must not end us: agents would be left behind.
fn println_line(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}
