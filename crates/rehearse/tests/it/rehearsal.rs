//! One agent process and its stage: a directory, and a way to hear what it says.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) type Tested<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Only a hang takes this long; nothing waits for it otherwise.
const PATIENCE_SECS: i64 = 30;

/// Where agents work and keep their transcripts.
pub(crate) struct Stage {
    dir: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Tested<Self> {
        Ok(Self { dir: tempfile::tempdir()? })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn transcript(&self, id: &str) -> PathBuf {
        self.path("transcripts").join(format!("{id}.jsonl"))
    }

    /// Says the types of a transcript's records, in order.
    pub(crate) fn recorded(&self, id: &str) -> Tested<Vec<String>> {
        let text = std::fs::read_to_string(self.transcript(id))?;
        let mut types = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let record: Value = serde_json::from_str(line)?;
            assert_eq!(record["n"], json!(index + 1), "{line}");
            assert!(record["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{line}");
            types.push(record["type"].as_str().unwrap_or_default().to_owned());
        }
        Ok(types)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_glis-rehearse"));
        command.args(args).current_dir(self.dir.path());
        command.env("GLIS_REHEARSAL_DIR", self.path("transcripts"));
        command
    }

    /// Starts an agent that speaks JSON lines.
    pub(crate) fn headless(&self, args: &[&str]) -> Tested<Rehearsal> {
        let mut command = self.command(args);
        command.arg("--headless");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let stdin = Some(File::from(OwnedFd::from(stdin)));
        let stdout = File::from(OwnedFd::from(stdout));
        let stderr = child.stderr.take();
        Ok(Rehearsal { child, stdin, stdout, stderr, heard: Vec::new() })
    }

    /// Starts an agent in a terminal of its own.
    pub(crate) fn terminal(&self, args: &[&str]) -> Tested<Rehearsal> {
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&main)?;
        unlockpt(&main)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let peer = ioctl_tiocgptpeer(&main, flags)?;
        let mut command = self.command(args);
        command.stdin(peer.try_clone()?).stdout(peer.try_clone()?).stderr(peer);
        let child = command.spawn()?;
        let stdin = Some(File::from(main.try_clone()?));
        Ok(Rehearsal { child, stdin, stdout: File::from(main), stderr: None, heard: Vec::new() })
    }
}

/// One agent under way.
pub(crate) struct Rehearsal {
    child: Child,
    stdin: Option<File>,
    stdout: File,
    stderr: Option<ChildStderr>,
    heard: Vec<u8>,
}

impl Rehearsal {
    pub(crate) fn send(&mut self, request: &Value) -> Tested {
        self.press(&format!("{request}\n"))
    }

    pub(crate) fn tell(&mut self, text: &str) -> Tested {
        self.send(&json!({ "type": "user", "text": text }))
    }

    pub(crate) fn press(&mut self, keys: &str) -> Tested {
        Ok(self.stdin.as_mut().ok_or("stdin is closed")?.write_all(keys.as_bytes())?)
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the next line, which is JSON.
    pub(crate) fn next(&mut self) -> Tested<Value> {
        let line = self.next_line()?.ok_or("the agent said no more")?;
        serde_json::from_str(&line).map_err(|error| format!("{error}: {line:?}").into())
    }

    /// Waits for the next line; none when the output has ended.
    pub(crate) fn next_line(&mut self) -> Tested<Option<String>> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let rest = self.heard.split_off(end + 1);
                let line = std::mem::replace(&mut self.heard, rest);
                return Ok(Some(String::from_utf8_lossy(line.trim_ascii_end()).into_owned()));
            }
            if !self.listen()? {
                return Ok(None);
            }
        }
    }

    /// Waits for a line of type `kind`, passing over others.
    pub(crate) fn until(&mut self, kind: &str) -> Tested<Value> {
        loop {
            let said = self.next()?;
            if said["type"] == kind {
                return Ok(said);
            }
        }
    }

    /// Waits until the output holds `text`, and gives what came up to its end.
    pub(crate) fn see(&mut self, text: &str) -> Tested<String> {
        loop {
            let found = self.heard.windows(text.len()).position(|part| part == text.as_bytes());
            if let Some(at) = found {
                let rest = self.heard.split_off(at + text.len());
                let seen = std::mem::replace(&mut self.heard, rest);
                return Ok(String::from_utf8_lossy(&seen).into_owned());
            }
            if !self.listen()? {
                let heard = String::from_utf8_lossy(&self.heard);
                return Err(format!("{text:?} was never seen, but {heard:?}").into());
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) -> Tested {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Waits for the end; a signal counts as its negative.
    pub(crate) fn end(&mut self) -> Tested<i32> {
        while self.listen()? {}
        self.end_unheard()
    }

    /// Waits for the end without reading any output.
    pub(crate) fn end_unheard(&mut self) -> Tested<i32> {
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        await_readable(process.as_fd())?;
        let status = self.child.wait()?;
        status.code().or_else(|| status.signal().map(|it| -it)).ok_or_else(|| "no status".into())
    }

    pub(crate) fn complaint(&mut self) -> Tested<String> {
        let mut text = String::new();
        self.stderr.as_mut().ok_or("no stderr")?.read_to_string(&mut text)?;
        Ok(text.trim_end().to_owned())
    }

    /// Waits for more output; false when there will be none.
    fn listen(&mut self) -> Tested<bool> {
        await_readable(self.stdout.as_fd())?;
        let mut bytes = [0; 16384];
        match self.stdout.read(&mut bytes) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.heard.extend(bytes.iter().take(count));
                Ok(true)
            }
            // The last process has let go of the terminal.
            Err(error) if error.raw_os_error() == Some(5) => Ok(false),
            Err(error) => Err(io::Error::into(error)),
        }
    }
}

fn await_readable(fd: BorrowedFd<'_>) -> Tested {
    let wait = Timespec { tv_sec: PATIENCE_SECS, tv_nsec: 0 };
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    match poll(&mut fds, Some(&wait))? {
        0 => Err("nothing happened for too long".into()),
        _ => Ok(()),
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        // A failed test leaves nothing running; after a good one it is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
