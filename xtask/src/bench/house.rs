//! One peer, started apart from everything else: its own folder, its own environment, its own
//! processes.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::payload;
use super::pty::Terminal;
use crate::proc;
use crate::tools;

/// The variable that tells the bench's processes from all others.
pub(crate) const MARK: &str = "GLIS_BENCH_RUN";

/// No peer needs this long for one command; a bench that hangs measures nothing.
const COMMAND_WAIT: Duration = Duration::from_secs(30);

/// Who is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Peer {
    Glis,
    Tmux,
    Dtach,
    /// What git itself offers; it holds no sessions.
    Git,
    /// A terminal and a read loop: less cannot be done.
    Floor,
}

impl Peer {
    /// Those that hold sessions.
    pub(crate) const ALL: [Self; 4] = [Self::Glis, Self::Tmux, Self::Dtach, Self::Floor];
    /// Those that have a column.
    pub(crate) const COLUMNS: [Self; 5] =
        [Self::Glis, Self::Tmux, Self::Dtach, Self::Git, Self::Floor];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Glis => "glis",
            Self::Tmux => "tmux",
            Self::Dtach => "dtach",
            Self::Git => "git",
            Self::Floor => "floor",
        }
    }

    /// Whether it knows what its screen looks like and paints it for a client that comes.
    pub(crate) fn repaints(self) -> bool {
        match self {
            Self::Glis | Self::Tmux => true,
            Self::Dtach | Self::Git | Self::Floor => false,
        }
    }

    /// Whether it is installed and runs at all.
    pub(crate) fn is_there(self, programs: &Programs) -> bool {
        self == Self::Floor || self.version(programs).is_some()
    }

    /// Its version in its own words.
    pub(crate) fn version(self, programs: &Programs) -> Option<String> {
        let word = match self {
            Self::Glis | Self::Dtach | Self::Git => "--version",
            Self::Tmux => "-V",
            Self::Floor => return None,
        };
        let said = Command::new(programs.of(self)?).arg(word).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        text.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
    }
}

/// Where the programs lie.
pub(crate) struct Programs {
    pub(crate) glis: PathBuf,
    pub(crate) xtask: PathBuf,
    /// The folder of all houses of this run.
    pub(crate) root: PathBuf,
    /// The value of [`MARK`] in this run.
    pub(crate) run: String,
}

impl Programs {
    /// The program of a peer, where it is installed.
    pub(crate) fn of(&self, peer: Peer) -> Option<PathBuf> {
        let found = match peer {
            Peer::Glis => self.glis.exists().then(|| self.glis.clone()),
            Peer::Tmux => tools::find("tmux"),
            Peer::Dtach => tools::find("dtach"),
            Peer::Git => tools::find("git"),
            Peer::Floor => Some(self.xtask.clone()),
        };
        found.and_then(|path| fs::canonicalize(path).ok())
    }

    /// What every process of this run has in its environment.
    pub(crate) fn mark(&self) -> String {
        format!("{MARK}={}", self.run)
    }
}

/// A peer at work.
pub(crate) struct House<'a> {
    pub(crate) peer: Peer,
    programs: &'a Programs,
    program: PathBuf,
    folder: tempfile::TempDir,
    payloads: UnixListener,
    /// Floor holders are our own children; nobody else would collect them.
    floors: Vec<Child>,
    /// What else everything here finds in its environment.
    surroundings: Vec<(String, String)>,
}

impl<'a> House<'a> {
    /// Prepares a house; its processes come with the first session.
    pub(crate) fn open(peer: Peer, programs: &'a Programs) -> Result<Self> {
        let program = programs.of(peer).with_context(|| format!("{} is not here", peer.name()))?;
        // Socket paths are short things: so is the folder's.
        let folder =
            tempfile::Builder::new().prefix("h").rand_bytes(4).tempdir_in(&programs.root)?;
        let payloads = UnixListener::bind(folder.path().join("p"))?;
        if peer == Peer::Glis {
            // The peers know no limit, and some benches hold two hundred sessions.
            let home = folder.path().join("g");
            fs::create_dir(&home)?;
            fs::write(home.join("config.toml"), "[concurrency]\nlive = 0\n")?;
        }
        let house = Self {
            peer,
            programs,
            program,
            folder,
            payloads,
            floors: Vec::new(),
            surroundings: Vec::new(),
        };
        if peer == Peer::Tmux {
            // Ten thousand lines of history, as much as anyone asks for, and nothing drawn that is
            // not the session.
            let settings = "set -g history-limit 10000\nset -g status off\n";
            fs::write(house.path("tmux.conf"), settings)?;
        }
        if peer == Peer::Glis {
            house.make_repository()?;
        }
        Ok(house)
    }

    /// Starts a session that runs `command`; returns when the peer says that it exists.
    pub(crate) fn session(&mut self, name: &str, command: &[String]) -> Result<()> {
        if self.peer == Peer::Floor {
            let mut holder = self.command(&self.program);
            holder.arg("hold-floor").args(command).stdin(Stdio::null());
            self.floors.push(holder.spawn()?);
            return Ok(());
        }
        let mut start = self.command(&self.program);
        match self.peer {
            Peer::Glis => {
                start.args(["new", name, "--in-place", "--repo"]).arg(self.own_repository(name)?);
                // With a timer that will suspend it, long after the bench.
                start.args(["--idle-timeout", "2h", "--agent", "command", "--"]);
            }
            Peer::Tmux => {
                start.args(["-L", "b", "-f"]).arg(self.path("tmux.conf"));
                start.args(["new-session", "-d", "-x", "120", "-y", "40", "-s", name, "--"]);
            }
            Peer::Dtach => {
                start.arg("-n").arg(self.path(&format!("{name}.s"))).args(["-r", "none"]);
            }
            Peer::Git => bail!("git holds no sessions"),
            Peer::Floor => {}
        }
        finish(start.args(command))
    }

    /// A copy of the repository for one session: two do not work in one folder.
    fn own_repository(&self, name: &str) -> Result<PathBuf> {
        let copy = self.path(&format!("{name}.repo"));
        finish(self.command(Path::new("cp")).arg("-a").arg(self.path("repo")).arg(&copy))?;
        Ok(copy)
    }

    /// Starts a session with a payload of ours and waits until the payload has drawn its screen.
    pub(crate) fn payload(&mut self, name: &str, words: &[&str]) -> Result<Line> {
        let command = self.payload_words(words);
        self.session(name, &command)?;
        self.answer()
    }

    /// A client of session `name` on a terminal of its own.
    pub(crate) fn attach(&self, name: &str) -> Result<Terminal> {
        let mut client = self.command(&self.program);
        match self.peer {
            Peer::Glis => client.args(["attach", name]),
            Peer::Tmux => client.args(["-L", "b", "attach-session", "-t", name]),
            Peer::Dtach => client
                .arg("-a")
                .arg(self.path(&format!("{name}.s")))
                .args(["-E", "-r", "none", "-z"]),
            Peer::Git | Peer::Floor => bail!("there is nothing to attach to"),
        };
        Terminal::start(&mut client)
    }

    /// The overview of all sessions on a terminal of its own.
    pub(crate) fn overview(&self) -> Result<Terminal> {
        ensure!(self.peer == Peer::Glis, "{} has no overview", self.peer.name());
        Terminal::start(&mut self.command(&self.program))
    }

    /// A session with a client in front of it: for the floor, the payload on a terminal of ours.
    pub(crate) fn attached(&mut self, name: &str, words: &[&str]) -> Result<(Line, Terminal)> {
        if self.peer == Peer::Floor {
            let command = self.payload_words(words);
            let mut bare = self.command(&self.program);
            let mut terminal = Terminal::start(bare.args(command.iter().skip(1)))?;
            let line = self.answer()?;
            terminal.await_quiet(Duration::from_millis(100), Duration::from_secs(5))?;
            return Ok((line, terminal));
        }
        let line = self.payload(name, words)?;
        let mut terminal = self.attach(name)?;
        let limit = Duration::from_secs(10);
        if self.peer.repaints() {
            let marker = super::streams::DRAWN.as_bytes();
            ensure!(terminal.await_marker(marker, limit)?, "the client painted nothing in 10 s");
            terminal.await_quiet(Duration::from_millis(200), limit)?;
        } else {
            // Nothing tells that such a client has arrived; it needs a few milliseconds.
            terminal.await_quiet(Duration::from_millis(500), limit)?;
        }
        Ok((line, terminal))
    }

    /// The command that lists all sessions.
    pub(crate) fn list(&self) -> Option<Command> {
        let mut list = self.command(&self.program);
        match self.peer {
            Peer::Glis => list.arg("ls"),
            Peer::Tmux => list.args(["-L", "b", "list-sessions"]),
            Peer::Dtach | Peer::Git | Peer::Floor => return None,
        };
        list.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(list)
    }

    /// Runs a verb of the peer's own program to its end.
    pub(crate) fn verb(&self, words: &[&str]) -> Result<()> {
        finish(self.command(&self.program).args(words))
    }

    /// Runs a verb of glis and returns what it prints as JSON.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<serde_json::Value> {
        let output = self.command(&self.program).arg("--json").args(words).output()?;
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "{words:?}: {}: {told}", output.status);
        Ok(serde_json::from_str(&told)?)
    }

    /// Starts a verb of glis that goes on, and whose words are listened to.
    pub(crate) fn speak(&self, words: &[&str]) -> Result<Child> {
        let mut command = self.command(&self.program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Ok(command.spawn()?)
    }

    /// Starts a verb of glis and does not wait for its end.
    pub(crate) fn spawn(&self, words: &[&str]) -> Result<Child> {
        let mut command = self.command(&self.program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command.spawn()?)
    }

    /// The folder that everything here takes for the user's home.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Gives everything here one more variable.
    pub(crate) fn surround(&mut self, name: &str, value: &str) {
        self.surroundings.push((name.to_owned(), value.to_owned()));
    }

    /// All processes of the peer itself: servers, daemons, holders; not the payloads. Clients would
    /// count too: ask while none is there.
    fn holders(&self) -> Vec<i32> {
        if self.peer == Peer::Floor {
            return self.floors.iter().filter_map(|child| i32::try_from(child.id()).ok()).collect();
        }
        let here = |pid: &i32| self.is_program(*pid) && self.is_here(*pid);
        proc::all().into_iter().filter(here).collect()
    }

    /// How many processes run inside the sessions. They have the environment of the command that
    /// started them.
    pub(crate) fn inmates(&self) -> usize {
        let own = proc::marked(&self.home()).into_iter();
        own.filter(|pid| proc::program(*pid).is_some() && !self.is_program(*pid)).count()
    }

    /// Nanoseconds of CPU of all holders.
    pub(crate) fn cpu_ns(&self) -> u64 {
        self.holders().into_iter().map(proc::cpu_ns).sum()
    }

    /// Waits until the peer's CPU stands still: what was written is then also digested.
    pub(crate) fn settle(&self, limit: Duration) {
        self.settle_for(Duration::from_millis(400), limit);
    }

    /// Waits until the peer's CPU has stood still for so long.
    pub(crate) fn settle_for(&self, still: Duration, limit: Duration) {
        let began = Instant::now();
        let (mut last, mut still_since) = (self.cpu_ns(), Instant::now());
        while began.elapsed() < limit && still_since.elapsed() < still {
            // Standing still cannot be waited for in any other way than by looking again.
            thread::sleep(Duration::from_millis(50));
            let used = self.cpu_ns();
            if used.saturating_sub(last) > 1_000_000 {
                (last, still_since) = (used, Instant::now());
            }
        }
    }

    /// Megabytes of memory of all holders.
    pub(crate) fn pss_mb(&self) -> f64 {
        let kib: u64 = self.holders().into_iter().map(proc::pss_kib).sum();
        kib as f64 / 1024.0
    }

    /// A path inside the house.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn payload_words(&self, words: &[&str]) -> Vec<String> {
        let (verb, rest) = words.split_first().unwrap_or((&"payload-echo", &[]));
        let mut command = vec![self.programs.xtask.display().to_string(), (*verb).to_owned()];
        command.push(self.path("p").display().to_string());
        command.extend(rest.iter().map(|word| (*word).to_owned()));
        command
    }

    /// The line to the payload that was started last.
    fn answer(&self) -> Result<Line> {
        let limit = Timespec::try_from(COMMAND_WAIT)?;
        let mut fds = [PollFd::from_borrowed_fd(self.payloads.as_fd(), PollFlags::IN)];
        ensure!(poll(&mut fds, Some(&limit))? > 0, "the payload did not start in {COMMAND_WAIT:?}");
        let (stream, _) = self.payloads.accept()?;
        let mut line = Line(stream);
        line.expect(payload::READY, COMMAND_WAIT)?;
        Ok(line)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            // A bench that is run inside tmux or glis must not reach the ones outside.
            if ["TMUX", "GLIS", "XDG", "CARGO", "RUST", "GIT"]
                .iter()
                .any(|own| text.starts_with(own))
            {
                command.env_remove(&name);
            }
        }
        command.env(MARK, &self.programs.run).env("HOME", self.folder.path());
        command.env("GLIS_HOME", self.path("g")).env("TMUX_TMPDIR", self.folder.path());
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
        command.envs(self.surroundings.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.folder.path());
        command
    }

    fn is_program(&self, pid: i32) -> bool {
        let Some(path) = proc::program(pid) else { return false };
        if self.peer == Peer::Glis {
            // A second, smaller program for the holders would lie beside the first.
            let beside = path.parent() == self.program.parent();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            return beside && name.is_some_and(|name| name.starts_with("glis"));
        }
        path == self.program
    }

    fn is_here(&self, pid: i32) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == self.home().as_bytes())
            || proc::touches(pid, self.folder.path())
    }

    /// What tells the processes of this house from those of the others.
    fn home(&self) -> String {
        format!("HOME={}", self.folder.path().display())
    }

    fn make_repository(&self) -> Result<()> {
        let repo = self.path("repo");
        fs::create_dir(&repo)?;
        fs::write(repo.join("README"), "a repository to be measured in\n")?;
        let who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        for words in [["init", "-q", "."], ["add", "--all", "."], ["commit", "-qm", "begin"]] {
            finish(self.command(Path::new("git")).args(who).args(words).current_dir(&repo))?;
        }
        Ok(())
    }
}

impl Drop for House<'_> {
    fn drop(&mut self) {
        proc::end_marked(&self.home());
        // A holder that runs with a cleaned environment still has its files in the house.
        for pid in self.holders() {
            proc::end(pid);
        }
        for floor in &mut self.floors {
            floor.kill().ok();
            floor.wait().ok();
        }
    }
}

/// The line to one payload.
pub(crate) struct Line(UnixStream);

impl Line {
    /// Lets the payload begin.
    pub(crate) fn go(&mut self) -> Result<()> {
        Ok(self.0.write_all(&[payload::GO])?)
    }

    /// Waits until it has written everything.
    pub(crate) fn done(&mut self, limit: Duration) -> Result<()> {
        self.expect(payload::DONE, limit)
    }

    /// Ends a flood, and returns how it went.
    pub(crate) fn stop(&mut self, limit: Duration) -> Result<payload::Flooded> {
        self.0.write_all(&[payload::STOP])?;
        self.expect(payload::DONE, limit)?;
        let mut written = [0; 16];
        self.0.read_exact(&mut written)?;
        Ok(payload::Flooded::read(written))
    }

    fn expect(&mut self, word: u8, limit: Duration) -> Result<()> {
        self.0.set_read_timeout(Some(limit))?;
        let mut got = [0];
        self.0.read_exact(&mut got).context("the payload is gone or silent")?;
        ensure!(got == [word], "the payload says {got:?}");
        Ok(())
    }
}

/// Runs a command to its end and says what it complained about.
fn finish(command: &mut Command) -> Result<()> {
    // Into a file, not a pipe: a server that keeps its parent's pipe open would keep us waiting for
    // its end.
    let mut said = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(said.try_clone()?));
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    let status = proc::wait_at_most(&mut child, COMMAND_WAIT)?;
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    let mut complaint = String::new();
    std::io::Seek::rewind(&mut said)?;
    said.read_to_string(&mut complaint)?;
    let how = status.map_or_else(|| "took too long".to_owned(), |status| status.to_string());
    bail!("{}: {how}: {}", command.get_program().display(), complaint.trim())
}
