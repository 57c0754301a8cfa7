//! A temporary home and repository, and the program itself to drive them, as a person would.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Files of a worktree, with their bytes.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

pub(super) struct Stage {
    folder: Option<tempfile::TempDir>,
    program: PathBuf,
    began: Instant,
    /// Lines that were told, for whoever wants them as one document.
    pub(super) told: Vec<Value>,
    quiet: bool,
}

impl Stage {
    pub(super) fn set(quiet: bool) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("glis-demo-").tempdir()?;
        let stage = Self {
            folder: Some(folder),
            program: std::env::current_exe().context("where this program lies")?,
            began: Instant::now(),
            told: Vec::new(),
            quiet,
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
        // The user's own home and configuration are out of reach.
        command
            .current_dir(self.repo())
            .env("GLIS_HOME", self.root().join("home"))
            .env("HOME", self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        command
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let output = self.command(Path::new("git")).args(args).output().context("git")?;
        ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Runs one command line of this very program and returns its JSON.
    pub(super) fn glis(&self, args: &[&str]) -> Result<Value> {
        let output = self.command(&self.program).arg("--json").args(args).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!(
                "`glis {}` failed: {said}{}",
                args.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        serde_json::from_str(&said).with_context(|| format!("glis {}", args.join(" ")))
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
        while !gone() {
            std::thread::yield_now();
        }
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

    /// Ends everything that was started and removes every trace.
    pub(super) fn strike(mut self) -> Result<()> {
        self.glis(&["daemon", "stop", "--agents"])?;
        if let Some(folder) = self.folder.take() {
            folder.close()?;
        }
        Ok(())
    }

    /// Ends everything that was started but keeps the folder, for whoever wants to look.
    pub(super) fn leave(mut self) -> PathBuf {
        drop(self.glis(&["daemon", "stop", "--agents"]));
        self.folder.take().map(tempfile::TempDir::keep).unwrap_or_default()
    }
}

#[expect(clippy::print_stdout, reason = "the demo tells its story on standard output")]
fn println_line(text: &str) {
    println!("{text}");
}
