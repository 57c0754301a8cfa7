//! A temporary home and repository, and the program itself to drive them, as a person would.

use crate::portrait::Portrait;
use crate::prove::victims;
use anyhow::{Context as _, Result, bail, ensure};
use glis_cli::tty::Ending;
use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// No step of the story takes a tenth of this; a step that takes longer hangs.
const STEP_TIME: Duration = Duration::from_secs(60);

/// How soon a signal is heeded while a command runs.
const HEED_PACE: Duration = Duration::from_millis(50);

/// Whether a signal cuts a command short. Cleaning up goes on to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signals {
    Heeded,
    Deferred,
}

/// Whether steps are printed as they come, or kept for one document at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// As they come.
    Aloud,
    Kept,
}

enum Folder {
    /// A folder of our own making.
    Own(tempfile::TempDir),
    /// A folder that the caller takes care of.
    Lent(PathBuf),
}

pub(crate) struct Stage {
    folder: Folder,
    program: PathBuf,
    began: Instant,
    /// Lines that were printed, for one document at the end.
    pub(crate) printed: Vec<Value>,
    voice: Voice,
    ending: Rc<Ending>,
}

/// A command that has begun.
pub(crate) struct Running {
    child: Child,
    said: Receiver<(Vec<u8>, Vec<u8>)>,
    began: Instant,
}

/// Why a command was not waited for.
#[derive(Debug)]
enum CutShort {
    /// This signal wants us to end.
    Signal(u8),
    /// It took so many seconds.
    TooLong(u64),
}

impl std::fmt::Display for CutShort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Signal(_) => f.write_str("interrupted"),
            Self::TooLong(secs) => write!(f, "it was cut short after {secs} s"),
        }
    }
}

impl std::error::Error for CutShort {}

/// What to end with where there is no stage to ask: as a shell tells of a signal, if one has come.
pub(crate) fn status_of(fault: &anyhow::Error) -> Option<ExitCode> {
    let cut_short = fault.downcast_ref::<CutShort>();
    let Some(CutShort::Signal(signal)) = cut_short else { return None };
    Some(ExitCode::from(128 + signal))
}

impl Stage {
    /// A folder with an empty repository. `name` tells whose it is.
    pub(crate) fn set(name: &str, voice: Voice) -> Result<Self> {
        // Before anything exists that a signal could leave behind.
        let ending = Rc::new(Ending::catch().context("signals")?);
        let folder = tempfile::Builder::new().prefix(name).tempdir()?;
        let stage = Self {
            folder: Folder::Own(folder),
            program: std::env::current_exe().context("where this program lies")?,
            began: Instant::now(),
            printed: Vec::new(),
            voice,
            ending,
        };
        stage.found()?;
        Ok(stage)
    }

    /// Another home and repository, in this folder.
    pub(crate) fn beside(&self, folder: PathBuf) -> Result<Self> {
        let stage = Self {
            folder: Folder::Lent(folder),
            program: self.program.clone(),
            began: self.began,
            printed: Vec::new(),
            voice: Voice::Kept,
            ending: Rc::clone(&self.ending),
        };
        stage.found()?;
        Ok(stage)
    }

    fn found(&self) -> Result<()> {
        // What rests here is looked at, and is to be found as it was, however short memory is.
        self.configure("")?;
        std::fs::create_dir(self.repo())?;
        self.found_in(&self.repo())
    }

    /// Makes a folder an empty repository.
    pub(crate) fn found_in(&self, folder: &Path) -> Result<()> {
        self.git_in(folder, &["init", "--quiet", "--initial-branch=main", "."])?;
        self.git_in(folder, &["config", "user.name", "Stage"])?;
        self.git_in(folder, &["config", "user.email", "stage@example.org"])?;
        Ok(())
    }

    /// Writes the configuration: that of every stage, and what this one needs.
    pub(crate) fn configure(&self, more: &str) -> Result<()> {
        std::fs::create_dir_all(self.home())?;
        let config = format!("[idle]\nenabled = false\n[memory]\nenabled = false\n{more}");
        Ok(std::fs::write(self.home().join("config.toml"), config)?)
    }

    /// Commits what lies in the repository.
    pub(crate) fn commit(&self, message: &str) -> Result<()> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", &format!("--message={message}")])?;
        Ok(())
    }

    pub(crate) fn root(&self) -> &Path {
        match &self.folder {
            Folder::Own(folder) => folder.path(),
            Folder::Lent(folder) => folder,
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Tells one step, with the time since the beginning.
    pub(crate) fn tell(&mut self, text: &str) {
        let ms = self.began.elapsed().as_millis();
        self.printed.push(serde_json::json!({"ms": u64::try_from(ms).unwrap_or(0), "text": text}));
        if self.voice == Voice::Aloud {
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
            .env("GLIS_HOME", self.home())
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

    fn begin(mut command: Command) -> Result<Running> {
        let mut child = command.spawn()?;
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let (sender, said) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut said, mut complained) = (Vec::new(), Vec::new());
            drop(stdout.as_mut().map(|pipe| pipe.read_to_end(&mut said)));
            // Short enough for the pipe to hold it all in the meantime.
            drop(stderr.as_mut().map(|pipe| pipe.read_to_end(&mut complained)));
            drop(sender.send((said, complained)));
        });
        Ok(Running { child, said, began: Instant::now() })
    }

    /// Waits for the end of a command, unless it takes too long or a signal wants us to end.
    pub(crate) fn finish(&self, mut running: Running, signals: Signals) -> Result<Output> {
        loop {
            match running.said.recv_timeout(HEED_PACE) {
                Ok((stdout, stderr)) => {
                    return Ok(Output { status: running.child.wait()?, stdout, stderr });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("nothing can be read from it"),
            }
            let came = self.interrupted().filter(|_| signals == Signals::Heeded);
            if came.is_some() || running.began.elapsed() > STEP_TIME {
                running.child.kill()?;
                running.child.wait()?;
                let secs = running.began.elapsed().as_secs();
                bail!(came.map_or(CutShort::TooLong(secs), CutShort::Signal));
            }
        }
    }

    /// The signal that wants us to end, if one has come.
    pub(crate) fn interrupted(&self) -> Option<u8> {
        self.ending.came()
    }

    /// Asks until it is so.
    pub(crate) fn until(&self, what: &str, mut so: impl FnMut() -> Result<bool>) -> Result<()> {
        let began = Instant::now();
        while !so()? {
            ensure!(self.interrupted().is_none(), "interrupted while waiting until {what}");
            let waited = began.elapsed();
            ensure!(waited < STEP_TIME, "after {} s, it is not so that {what}", waited.as_secs());
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Runs git in the repository.
    pub(crate) fn git(&self, args: &[&str]) -> Result<Vec<u8>> {
        self.git_in(&self.repo(), args)
    }

    /// Runs git in a folder, and returns what it prints.
    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> Result<Vec<u8>> {
        let output = self.git_output(dir, args)?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "git {}: {complaint}", args.join(" "));
        Ok(output.stdout)
    }

    /// As [`Self::git_in`], where git may fail.
    pub(crate) fn git_output(&self, dir: &Path, args: &[&str]) -> Result<Output> {
        let mut command = self.command(Path::new("git"));
        // Looking must not take a lock that an agent there needs.
        command.args(args).current_dir(dir).env("GIT_OPTIONAL_LOCKS", "0");
        self.finish(Self::begin(command)?, Signals::Heeded).context("git")
    }

    /// A worktree as its owner sees it.
    pub(crate) fn portrait(&self, tree: &Path) -> Result<Portrait> {
        let git = |dir: &Path, args: &[&str]| self.git_in(dir, args).map_err(io::Error::other);
        Portrait::of(&git, tree).with_context(|| tree.display().to_string())
    }

    /// Begins a command line of this very program.
    pub(crate) fn start(&self, args: &[&str]) -> Result<Running> {
        let mut command = self.command(&self.program);
        command.args(args);
        Self::begin(command)
    }

    /// Kills a command that has begun.
    pub(crate) fn kill(mut running: Running) -> Result<()> {
        running.child.kill()?;
        running.child.wait().map(drop).context("a killed command")
    }

    /// Runs one command line of this very program and returns its JSON.
    pub(crate) fn glis(&self, args: &[&str]) -> Result<Value> {
        self.own(args, Signals::Heeded).with_context(|| format!("glis {}", args.join(" ")))
    }

    fn own(&self, args: &[&str], signals: Signals) -> Result<Value> {
        let output = self.finish(self.start(&[&["--json"], args].concat())?, signals)?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("it failed: {said}{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(serde_json::from_str(&said)?)
    }

    /// The process of the daemon.
    pub(crate) fn daemon(&self) -> Result<i32> {
        let status = self.glis(&["daemon", "status"])?;
        Ok(i32::try_from(status["pid"].as_i64().context("the daemon's pid")?)?)
    }

    /// Kills the daemon as a crash would; returns when it is gone.
    pub(crate) fn kill_daemon(&self) -> Result<i32> {
        let pid = self.daemon()?;
        ensure!(victims::kill(pid, &self.home())?, "kill -9 {pid} failed");
        Ok(pid)
    }

    /// What an agent said, one text each.
    pub(crate) fn answers(&self, session: &str) -> Result<Vec<String>> {
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
    pub(crate) fn strike(self) -> Result<()> {
        self.end().context("ending what was started")?;
        self.discard()
    }

    /// Ends everything that was started but keeps the folder, for the user to look at.
    pub(crate) fn leave(self) -> PathBuf {
        drop(self.end());
        self.into_kept()
    }

    /// Removes every trace; everything that was started has ended.
    pub(crate) fn discard(self) -> Result<()> {
        match self.folder {
            Folder::Own(folder) => Ok(folder.close()?),
            Folder::Lent(_) => Ok(()),
        }
    }

    /// Keeps the folder; everything that was started has ended.
    pub(crate) fn into_kept(self) -> PathBuf {
        match self.folder {
            Folder::Own(folder) => folder.keep(),
            Folder::Lent(folder) => folder,
        }
    }
}

/// A reader that has seen enough must not end us: agents would be left behind.
pub(crate) fn println_line(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// Says how it went: a document for a script, what failed and where it is kept for a person.
pub(crate) fn report(voice: Voice, what: &str, document: &Value) -> ExitCode {
    let ok = document["ok"] == true;
    if voice == Voice::Kept {
        drop(writeln!(std::io::stdout().lock(), "{document}"));
    } else if !ok {
        let mut out = std::io::stderr().lock();
        let failure = document["failure"].as_str().unwrap_or_default();
        drop(writeln!(out, "error: the {what} failed: {failure}"));
        let seed = &document["seed"];
        if let Some(kept) = document["kept"].as_str() {
            drop(writeln!(
                out,
                " hint: everything is kept in {kept}; `--seed {seed}` repeats the same order"
            ));
        }
    }
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
