//! A throw-away house: a home, a repository, and the program to drive them. Whatever was started
//! in it is ended with it.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;
use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The program under test: the one that was built along with the tests, or the one that
/// `GLIS_BINARY` names. `cargo xtask test` plays some of the tests on the release build that way.
pub(crate) fn program() -> PathBuf {
    other_build().unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_glis")))
}

fn other_build() -> Option<PathBuf> {
    std::env::var_os("GLIS_BINARY").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A failure of a test's own making, or of what it looks at.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

pub(crate) struct House {
    folder: tempfile::TempDir,
    /// Variables that everything in this house gets; `None` takes one away.
    surroundings: Vec<(String, Option<String>)>,
}

impl House {
    /// A house with a repository that holds one commit.
    pub(crate) fn new() -> Outcome<Self> {
        let folder = tempfile::Builder::new().prefix("glis-e2e-").tempdir()?;
        let mut house = Self { folder, surroundings: Vec::new() };
        // That the machine of the tests runs short of memory is none of theirs.
        std::fs::create_dir(house.memory())?;
        house.surround("GLIS_MEMORY", house.memory().to_string_lossy());
        if other_build().is_some() {
            house.configure("")?;
        }
        std::fs::create_dir(house.repo())?;
        house.git(&["init", "--quiet", "--initial-branch=main", "."])?;
        house.git(&["config", "user.name", "Test"])?;
        house.git(&["config", "user.email", "test@example.org"])?;
        std::fs::write(house.repo().join("file.txt"), "one\n")?;
        house.git(&["add", "--all"])?;
        house.git(&["commit", "--quiet", "--message=base"])?;
        Ok(house)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// What the daemon takes for the machine's memory: see [`House::runs_short`].
    pub(crate) fn memory(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    /// Memory runs short, once.
    pub(crate) fn runs_short(&self) -> Outcome {
        Ok(std::fs::write(self.memory().join("short"), "")?)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Removes every snapshot, as somebody might who cleans up refs.
    pub(crate) fn forget_snapshots(&self) -> Outcome {
        let list = ["for-each-ref", "--format=%(refname)", "refs/glis/"];
        for name in self.git(&list)?.lines() {
            self.git(&["update-ref", "-d", name])?;
        }
        Ok(())
    }

    /// The folder that holds everything of this house.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Gives everything that is started in this house one more variable.
    pub(crate) fn surround(&mut self, name: &str, value: impl Into<String>) {
        self.surroundings.push((name.to_owned(), Some(value.into())));
    }

    /// Takes a variable of the caller's away from everything that is started in this house.
    pub(crate) fn spare(&mut self, name: &str) {
        self.surroundings.push((name.to_owned(), None));
    }

    /// Points a command that becomes the program, or starts it, at this house.
    pub(crate) fn enter<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        self.around(command);
        command.env("GLIS_HOME", self.home()).env_remove("GLIS_SESSION")
    }

    /// Puts the surroundings of this house around a command.
    pub(crate) fn around(&self, command: &mut Command) {
        for (name, value) in &self.surroundings {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }

    /// The program, pointed at this house, with nothing of the caller's own configuration.
    pub(crate) fn glis(&self) -> Command {
        self.glis_of(&program())
    }

    /// As [`House::glis`], of another copy of the program.
    pub(crate) fn glis_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_remove("GLIS_FAILPOINT")
            .env("NO_COLOR", "1")
            .current_dir(self.repo())
            .stdin(Stdio::null());
        self.enter(&mut command);
        command
    }

    /// Runs a command line that has to succeed, and returns what it prints.
    pub(crate) fn ok(&self, args: &[&str]) -> Outcome<String> {
        let output = self.glis().args(args).output()?;
        if !output.status.success() {
            return Err(told(args, &output).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// As [`House::ok`], with `--json`.
    pub(crate) fn json(&self, args: &[&str]) -> Outcome<Value> {
        let text = self.ok(&[&["--json"], args].concat())?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Runs a command line that has to fail; returns its exit status and the error's JSON.
    pub(crate) fn fails(&self, args: &[&str]) -> Outcome<(i32, Value)> {
        let output = self.glis().arg("--json").args(args).output()?;
        if output.status.success() {
            return Err(format!("should have failed: {}", told(args, &output)).into());
        }
        let status = output.status.code().ok_or("killed")?;
        let document: Value =
            serde_json::from_slice(&output.stdout).map_err(|_| told(args, &output))?;
        Ok((status, document["error"].clone()))
    }

    /// Waits until the session is in one of these states. `busy` means at work here: a message that
    /// is on its way makes a session busy too, but whoever kills something then may kill it on its
    /// way.
    pub(crate) fn until(&self, name: &str, states: &str) -> Outcome<Value> {
        let session = self.json(&["wait", name, "--for", states, "--timeout", "90s"])?;
        if states != "busy" || session["queued"] == 0 {
            return Ok(session);
        }
        let all = self.ok(&["events"])?;
        let events =
            all.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
        let mut on_its_way = None;
        for event in events.iter().filter(|event| event["session"] == session["id"]) {
            match event["event"].as_str() {
                Some("delivery_began") => on_its_way = Some(event["message"].clone()),
                Some("message_taken" | "delivery_refused") => on_its_way = None,
                _ => {}
            }
        }
        if let Some(message) = on_its_way {
            let taken = |e: &Value| e["event"] == "message_taken" && e["message"] == message;
            self.follow(1)?.until(taken)?;
        }
        self.show(name)
    }

    pub(crate) fn show(&self, name: &str) -> Outcome<Value> {
        self.json(&["show", name])
    }

    /// A headless rehearsal session that has done nothing yet.
    pub(crate) fn rehearsal(&self, name: &str) -> Outcome<Value> {
        self.json(&["new", name, "--agent", "rehearsal", "--headless"])
    }

    /// Writes the configuration; it counts from the next start of the daemon on. A release build
    /// looks at the machine's own memory, so it is told not to.
    pub(crate) fn configure(&self, text: &str) -> Outcome {
        let mut text = text.to_owned();
        if other_build().is_some() && !text.contains("[memory]") {
            text.push_str("\n[memory]\nenabled = false\n");
        }
        std::fs::create_dir_all(self.home())?;
        Ok(std::fs::write(self.home().join("config.toml"), text)?)
    }

    /// A house whose time can be moved: see [`House::out_of_time`].
    pub(crate) fn of_moved_time() -> Outcome<Self> {
        let mut house = Self::new()?;
        let folder = house.folder().join("time");
        std::fs::create_dir(&folder)?;
        house.surround("GLIS_TIME", folder.to_string_lossy());
        Ok(house)
    }

    /// Does something that waits for a timer of this kind in vain: an hour passes as soon as it is
    /// set. On a release build, whose time nothing moves, it passes by itself.
    pub(crate) fn out_of_time<T>(&self, kind: &str, act: impl FnOnce() -> T) -> T {
        let folder = self.folder().join("time");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut moved: Option<(usize, Instant)> = None;
                while !done.load(Ordering::Relaxed) {
                    // Moved once more before it has fired, time would run out for what follows, too. A
                    // daemon that died in between has not heard of it.
                    let fired = self.timers_fired(kind);
                    let is_due = moved.is_some_and(|(before, at)| {
                        fired == before && at.elapsed() < Duration::from_secs(2)
                    });
                    if self.timers_set(kind) > 0 && !is_due {
                        move_time(&folder, 3_600_000);
                        moved = Some((fired, Instant::now()));
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let acted = act();
            done.store(true, Ordering::Relaxed);
            acted
        })
    }

    /// Does something while time passes a hundred times as fast. On a release build, whose time nothing
    /// moves, it passes as always.
    pub(crate) fn while_time_flies<T>(&self, act: impl FnOnce() -> T) -> T {
        let folder = self.folder().join("time");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    move_time(&folder, 5_000);
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            let acted = act();
            done.store(true, Ordering::Relaxed);
            acted
        })
    }

    /// Lets so many minutes pass for the daemon's timers.
    pub(crate) fn pass_minutes(&self, minutes: u64) {
        move_time(&self.folder().join("time"), minutes * 60_000);
    }

    /// How many timers of this kind are set.
    pub(crate) fn timers_set(&self, kind: &str) -> usize {
        self.count_timers("set", kind)
    }

    /// How many timers of this kind have fired.
    pub(crate) fn timers_fired(&self, kind: &str) -> usize {
        self.count_timers("fired", kind)
    }

    fn count_timers(&self, file: &str, kind: &str) -> usize {
        let told = std::fs::read_to_string(self.folder().join("time").join(file));
        told.unwrap_or_default().lines().filter(|line| *line == kind).count()
    }

    /// A rehearsal session in a terminal that waits for its first message.
    pub(crate) fn in_terminal(&self, name: &str) -> Outcome<Value> {
        self.json(&["new", name, "--agent", "rehearsal"])?;
        self.until(name, "idle")
    }

    /// A session of any program, in a terminal.
    pub(crate) fn command(&self, name: &str, argv: &[&str]) -> Outcome<Value> {
        self.json(&[&["new", name, "--agent", "command", "--"], argv].concat())
    }

    /// Sends a message and returns when the agent has taken it and is done with it.
    pub(crate) fn turn(&self, name: &str, text: &str) -> Outcome<Value> {
        let sent = self.json(&["send", name, text])?;
        let id = self.show(name)?["id"].clone();
        let mut events = self.follow(1)?;
        events.until(|e| e["event"] == "message_taken" && e["message"] == sent["message"])?;
        events.until(|e| e["event"] == "turn_ended" && e["session"] == id)?;
        self.show(name)
    }

    /// The events from a number on, as they happen.
    pub(crate) fn follow(&self, from: u64) -> Outcome<Lines> {
        Lines::of(self.glis().args(["events", "--follow", "--from", &from.to_string()]))
    }

    /// The path of a file in a session's worktree.
    pub(crate) fn file(&self, name: &str, file: &str) -> Outcome<PathBuf> {
        let session = self.show(name)?;
        let worktree = session["worktree"].as_str().ok_or("no worktree")?;
        Ok(Path::new(worktree).join(file))
    }

    /// The conversation as (voice, text).
    pub(crate) fn talk(&self, name: &str) -> Outcome<Vec<(String, String)>> {
        let entries = self.json(&["log", name])?;
        let entries = entries.as_array().ok_or("no array")?.iter();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(entries.map(|e| (text(&e["type"]), text(&e["content"]))).collect())
    }

    /// The names of all events of a session, oldest first.
    pub(crate) fn events(&self, id: &str) -> Outcome<Vec<String>> {
        let all = self.ok(&["events"])?;
        let events =
            all.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
        let of = events.iter().filter(|event| event["session"] == id);
        Ok(of.filter_map(|event| event["event"].as_str().map(ToOwned::to_owned)).collect())
    }

    pub(crate) fn daemon_pid(&self) -> Outcome<i32> {
        let pid = self.json(&["daemon", "status"])?["pid"].as_i64().ok_or("no pid")?;
        Ok(i32::try_from(pid)?)
    }

    /// The daemon that lives, without a command that would start one.
    pub(crate) fn living_daemon(&self) -> Option<i32> {
        let told = std::fs::read_to_string(self.home().join("daemon.lock")).ok()?;
        told.trim().parse().ok().filter(|pid| lives(*pid))
    }

    /// Kills the daemon as a crash would, and waits until it is gone.
    pub(crate) fn kill_daemon(&self) -> Outcome {
        kill_and_wait(self.daemon_pid()?)
    }

    pub(crate) fn git(&self, args: &[&str]) -> Outcome<String> {
        let output = Command::new("git")
            .args(args)
            .current_dir(self.repo())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()?;
        if !output.status.success() {
            return Err(told(args, &output).into());
        }
        Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
    }

    /// Every living process whose environment names this house: daemon, holders, agents, and what
    /// those started.
    pub(crate) fn processes(&self) -> Vec<i32> {
        // However the home was written: nothing else lies in this folder.
        let wanted = format!("GLIS_HOME={}/", self.folder.path().display()).into_bytes();
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| *pid != own)
            .filter(|pid| {
                let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environ.split(|b| *b == 0).any(|variable| variable.starts_with(&wanted))
            })
            .collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // Several rounds: a holder that sees its agent die may be at work itself.
        for _ in 0..5 {
            let left = self.processes();
            if left.is_empty() {
                break;
            }
            for pid in left {
                drop(kill_and_wait(pid));
            }
        }
        if std::thread::panicking() {
            let diary = std::fs::read_to_string(self.home().join("daemon.log")).unwrap_or_default();
            eprintln!("--- the daemon's diary ---\n{diary}");
        }
    }
}

fn told(args: &[&str], output: &Output) -> String {
    format!(
        "{args:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Moves the daemon's time forward.
fn move_time(folder: &Path, by_ms: u64) {
    let moved = std::fs::read_to_string(folder.join("moved"));
    let moved = moved.ok().and_then(|ms| ms.parse().ok()).unwrap_or(0_u64);
    let fresh = folder.join("moved.fresh");
    // Read at any moment: never half of it.
    std::fs::write(&fresh, (moved + by_ms).to_string()).ok();
    std::fs::rename(fresh, folder.join("moved")).ok();
}

/// Waits for a condition that no event tells of.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) -> Outcome {
    let patience = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        if Instant::now() > patience {
            return Err(format!("it did not come to pass: {what}").into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Kills a process of ours and returns when it is gone.
pub(crate) fn kill_and_wait(pid: i32) -> Outcome {
    let pid = Pid::from_raw(pid).ok_or("no pid")?;
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return Ok(()) };
    pidfd_send_signal(&process, Signal::KILL).ok();
    await_end(&process)
}

/// Returns when the process is gone; fails after half a minute.
fn await_end(process: &impl std::os::fd::AsFd) -> Outcome {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&patience))?;
    if ready == 0 { Err("the process did not end".into()) } else { Ok(()) }
}

/// Returns once `pid` is gone.
pub(crate) fn await_gone(pid: i32) -> Outcome {
    let pid = Pid::from_raw(pid).ok_or("no pid")?;
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => await_end(&process),
        Err(_) => Ok(()),
    }
}

/// Whether a process with this number lives (and is no zombie).
pub(crate) fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Past this a stream counts as hung. `OpenCode` alone takes 40 s to start where eight others use both cores.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// The lines of JSON that a command prints, one after the other.
pub(crate) struct Lines {
    lines: mpsc::Receiver<String>,
    command: Background,
}

impl Lines {
    pub(crate) fn of(command: &mut Command) -> Outcome<Self> {
        let mut command = Background::start(command)?;
        let stdout = command.0.stdout.take().ok_or("no stdout")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = io::BufReader::new(stdout).lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        Ok(Self { lines, command })
    }

    /// Waits for a line like this; fails when the stream ends or stays silent for long.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Outcome<Value> {
        loop {
            let line = match self.lines.recv_timeout(SILENCE_MAX) {
                Ok(line) => line,
                Err(mpsc::RecvTimeoutError::Timeout) => return Err("nothing more is told".into()),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(self.why_ended().into()),
            };
            let value = serde_json::from_str(&line)?;
            if wanted(&value) {
                return Ok(value);
            }
        }
    }

    /// What the command has said of its end.
    fn why_ended(&mut self) -> String {
        let (status, mut said) = (self.command.0.wait(), String::new());
        let stderr =
            self.command.0.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
        format!("the stream has ended: {status:?} {stderr:?} {said}")
    }

    /// All lines up to the end of the stream.
    pub(crate) fn rest(&mut self) -> Outcome<Vec<Value>> {
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(SILENCE_MAX) {
                Ok(line) => rest.push(serde_json::from_str(&line)?),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(rest),
                Err(silent) => return Err(silent.into()),
            }
        }
    }
}

/// Starts a command in the background; killed when the test ends.
pub(crate) struct Background(pub(crate) Child);

impl Background {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        Ok(Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
