//! The one client: connects to the daemon, starts it where there is none, asks and listens.

mod replace;

use crate::complaint::{Complaint, Kind};
use crate::progress::{PATIENCE, Progress};
use glis_wire::build::Build;
use glis_wire::client::{Answer, Greeting, PROTOCOL, Petition, Request};
use glis_wire::frame::{Decoder, Frame, encode_words};
use glis_wire::hold::Limit;
use glis_wire::home::{self, Home};
use replace::Met;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A daemon that is neither reachable nor gone in this time needs a person to look at it.
const START_TIME: Duration = Duration::from_secs(20);
const START_PACE: Duration = Duration::from_millis(5);

/// A daemon greets at once, whatever it is doing; one that does not is stuck.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// How long another command may take to start the daemon, until we no longer wait for it.
const GATE_TIME: Duration = Duration::from_secs(30);

/// A daemon reads its whole log before it lets anybody in; a long one takes some seconds.
const READY_TIME: Duration = Duration::from_secs(60);

/// The build that this process is of.
static OWN: OnceLock<Build> = OnceLock::new();

/// Takes note of the build that this process is of. Only the program itself knows.
pub(crate) fn be(build: Build) {
    OWN.set(build).ok();
}

fn own_build() -> &'static Build {
    OWN.get_or_init(|| Build { version: env!("CARGO_PKG_VERSION").to_owned(), build: 0 })
}

/// A connection to the daemon of this house.
pub struct Control {
    home: Home,
    stream: UnixStream,
    decoder: Decoder,
    reader: Reader,
}

/// Whether anybody has to be there who reads what we print, while we wait for more to print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Optional,
    /// Who goes away ends it, also before there is another line.
    Needed,
}

/// What arrives before the final answer.
pub enum Streamed {
    /// Words: a step, an event, a line of a conversation.
    Words(Answer),
    /// Output bytes from this offset on.
    Bytes(u64, Vec<u8>),
    /// Nothing for a second; this long since the question.
    Silence(Duration),
}

impl Control {
    /// Connects, and starts the daemon if there is none. One of an older build is replaced.
    pub fn connect() -> Result<Self, Complaint> {
        let home = find_home()?;
        if let Some(met) = Self::meet(&home)?
            && is_own(&met)?
        {
            return Ok(met.control);
        }
        // Of many that come at once, one starts the daemon and the others wait here.
        let gate = start_gate(&home)?;
        let begun = Instant::now();
        let mut progress = Progress::new("waiting for the daemon to come or go");
        while begun.elapsed() < START_TIME {
            match Self::meet(&home)? {
                Some(met) if is_own(&met)? => {
                    drop(gate);
                    return Ok(met.control);
                }
                Some(older) => older.end()?,
                None => {}
            }
            if start_daemon(&home)? == Started::Elsewhere {
                // Another daemon has the lock and no open door: it is just coming or going.
                progress.show(begun.elapsed());
                std::thread::sleep(START_PACE);
            }
        }
        Err(stuck(&home, "the daemon started, but cannot be reached", "ask again"))
    }

    /// Connects to a daemon that runs, of whatever build; `None` if there is none. Nothing is
    /// started or replaced for whoever only looks at the daemon.
    pub fn connect_running() -> Result<Option<Self>, Complaint> {
        match Self::meet_running(&find_home()?)? {
            Some(met) if met.understands() => Ok(Some(met.control)),
            Some(met) => Err(Complaint::new(
                Kind::NoDaemon,
                format!("the daemon is {}, which speaks another protocol", met.build),
            )
            .hint("`glis daemon stop` ends it, its agents run on; the next command starts one")),
            None => Ok(None),
        }
    }

    /// Ends a daemon that runs and does not understand us. Whether there was one.
    pub fn end_foreign() -> Result<bool, Complaint> {
        match Self::meet_running(&find_home()?)? {
            Some(met) if !met.understands() => met.end().map(|()| true),
            Some(_) | None => Ok(false),
        }
    }

    fn meet_running(home: &Home) -> Result<Option<Met>, Complaint> {
        let begun = Instant::now();
        let mut progress = Progress::new("waiting for the daemon to come or go");
        while begun.elapsed() < START_TIME {
            let met = Self::meet(home)?;
            if met.is_some() || !has_daemon(home) {
                return Ok(met);
            }
            // It is coming or going, or makes a socket again that was deleted.
            progress.show(begun.elapsed());
            std::thread::sleep(START_PACE);
        }
        Err(stuck(home, "a daemon runs, but cannot be reached", "ask again"))
    }

    /// Connects to a daemon and hears who it is; `None` if there is none.
    fn meet(home: &Home) -> Result<Option<Met>, Complaint> {
        let Ok(stream) = open_socket(home) else { return Ok(None) };
        let (decoder, reader) = (Decoder::default(), Reader::Optional);
        let mut control = Self { home: home.clone(), stream, decoder, reader };
        let own = Greeting { protocol: PROTOCOL, build: own_build().clone(), log_id: None };
        // A daemon that is just ending may close the door again: then there is none.
        if control.stream.write_all(&encode_words(&own)).is_err() {
            return Ok(None);
        }
        let Some(frame) = control.greeting()? else { return Ok(None) };
        match frame.words::<Greeting>() {
            Ok(Greeting { protocol, build, .. }) => Ok(Some(Met { control, build, protocol })),
            Err(fault) => Err(Complaint::new(Kind::NoDaemon, fault.to_string())),
        }
    }

    /// The daemon's first words; `None` if it closes the door instead.
    fn greeting(&mut self) -> Result<Option<Frame>, Complaint> {
        let begun = Instant::now();
        let mut progress = Progress::new("waiting for the daemon");
        loop {
            match self.next(Some(PATIENCE)) {
                Ok(frame) => return Ok(frame),
                Err(fault) if !is_timeout(&fault) => return Ok(None),
                Err(_) if begun.elapsed() < GREETING_TIME => progress.show(begun.elapsed()),
                Err(_) => break,
            }
        }
        let pid = std::fs::read_to_string(self.home.state.join(home::LOCK)).unwrap_or_default();
        let seconds = GREETING_TIME.as_secs();
        let text = format!("the daemon (pid {}) does not answer for {seconds} s", pid.trim());
        let kill = format!("`kill -9 {}` ends it, its agents run on", pid.trim());
        Err(stuck(&self.home, text, &kill))
    }

    /// The house that this daemon serves.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// From now on a question ends as soon as nobody reads our standard output any more.
    #[must_use]
    pub fn for_reader(mut self) -> Self {
        self.reader = Reader::Needed;
        self
    }

    /// Asks and waits for the final answer; everything before it goes to `see`.
    pub fn ask(
        &mut self,
        request: Request,
        mut see: impl FnMut(Streamed) -> Result<(), Complaint>,
    ) -> Result<Answer, Complaint> {
        let env = request.may_start().then(environment);
        let limits = if request.may_start() { limits() } else { Vec::new() };
        let begun = Instant::now();
        self.stream
            .write_all(&encode_words(&Petition { request, env, limits }))
            .map_err(|f| lost(&f))?;
        loop {
            if self.reader == Reader::Needed && !self.decoder.has_frame() {
                self.wait_for_news()?;
            }
            let frame = match self.next(Some(PATIENCE)) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Err(lost(&io::ErrorKind::UnexpectedEof.into())),
                Err(fault) if is_timeout(&fault) => {
                    see(Streamed::Silence(begun.elapsed()))?;
                    continue;
                }
                Err(fault) => return Err(lost(&fault)),
            };
            if let Frame::Raw { tag, bytes } = frame {
                see(Streamed::Bytes(tag, bytes))?;
                continue;
            }
            let answer = frame.words::<Answer>();
            let answer = answer.map_err(|f| Complaint::new(Kind::NoDaemon, f.to_string()))?;
            if !answer.is_final() {
                see(Streamed::Words(answer))?;
            } else if let Answer::Refused(refusal) = answer {
                return Err(refusal.into());
            } else if let Answer::Unusable { message, hint } = answer {
                return Err(Complaint::unusable(message, hint));
            } else if let Answer::Trouble { kind, message } = answer {
                return Err(Complaint::trouble(kind, message));
            } else {
                return Ok(answer);
            }
        }
    }

    /// Waits until the daemon says something. A reader who is gone is noticed without a line to write:
    /// a pipe tells by an error that nobody has its other end, a socket or a terminal by a hang-up.
    fn wait_for_news(&self) -> Result<(), Complaint> {
        let out = rustix::stdio::stdout();
        let mut waiting = [
            PollFd::new(&self.stream, PollFlags::IN),
            PollFd::from_borrowed_fd(out, PollFlags::empty()),
        ];
        loop {
            match poll(&mut waiting, None) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(fault) => return Err(lost(&fault.into())),
            }
        }
        let [_, out] = waiting;
        if out.revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            return Err(Complaint::new(Kind::ReaderGone, "nobody reads on"));
        }
        Ok(())
    }

    /// Waits until the daemon closes the connection, which it does by ending.
    pub fn until_closed(&mut self) {
        while let Ok(Some(_)) = self.next(None) {}
    }

    fn next(&mut self, timeout: Option<Duration>) -> io::Result<Option<Frame>> {
        self.stream.set_read_timeout(timeout)?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let found = self.decoder.next_frame();
            if let Some(frame) = found.map_err(|f| io::Error::new(io::ErrorKind::InvalidData, f))? {
                return Ok(Some(frame));
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(read) => self.decoder.feed(buffer.get(..read).unwrap_or_default()),
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) => return Err(fault),
            }
        }
    }
}

/// Whether a daemon is of our build. An older one is to be replaced; a newer one stays.
fn is_own(met: &Met) -> Result<bool, Complaint> {
    match met.build.cmp(own_build()) {
        Ordering::Equal => Ok(met.understands()),
        Ordering::Less => Ok(false),
        Ordering::Greater => Err(Complaint::new(
            Kind::NoDaemon,
            format!(
                "the daemon is newer than this command: it is {}, this is {}; nothing was done",
                met.build,
                own_build()
            ),
        )
        .hint(
            "use the newer glis; to go back to this one, `glis daemon stop` ends that daemon (its \
             agents run on) and the next command starts its own",
        )),
    }
}

fn is_timeout(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn lost(fault: &io::Error) -> Complaint {
    Complaint::new(Kind::NoDaemon, format!("the daemon went away before it answered ({fault})"))
        .hint("agents run on; ask again, and the daemon starts anew and finds them")
}

/// Where this house is. A relative path would be another house in every folder, each with a daemon
/// and sessions that the others do not show.
pub fn find_home() -> Result<Home, Complaint> {
    let set = std::env::var_os(home::VARIABLE);
    if set.as_ref().is_some_and(|value| value.to_str().is_none()) {
        return Err(Complaint::new(Kind::NoDaemon, "GLIS_HOME is not valid UTF-8")
            .hint("set GLIS_HOME to another folder"));
    }
    if let Some(value) = set.filter(|value| !value.is_empty() && !Path::new(value).is_absolute()) {
        let shown = value.to_string_lossy();
        let meant = std::path::absolute(&value).unwrap_or_else(|_| PathBuf::from(&value));
        let message = format!(
            "GLIS_HOME is {shown:?}, which would be another home in every folder: it must begin \
             with a slash"
        );
        return Err(
            Complaint::new(Kind::Usage, message).hint(format!("set GLIS_HOME={}", meant.display()))
        );
    }
    Home::find(|name| std::env::var(name).ok()).ok_or_else(|| {
        Complaint::new(Kind::NoDaemon, "neither GLIS_HOME nor HOME is set")
            .hint("set GLIS_HOME to a folder of your own")
    })
}

/// What the system allows this process, and so whatever it starts.
fn limits() -> Vec<Limit> {
    let limit = |(name, resource): (&str, Resource)| {
        let limit = getrlimit(resource);
        Limit { name: name.to_owned(), soft: limit.current, hard: limit.maximum }
    };
    LIMITS.into_iter().map(limit).collect()
}

/// Every limit, by the name that a shell has for it.
const LIMITS: [(&str, Resource); 16] = [
    ("cpu", Resource::Cpu),
    ("fsize", Resource::Fsize),
    ("data", Resource::Data),
    ("stack", Resource::Stack),
    ("core", Resource::Core),
    ("rss", Resource::Rss),
    ("nproc", Resource::Nproc),
    ("nofile", Resource::Nofile),
    ("memlock", Resource::Memlock),
    ("as", Resource::As),
    ("locks", Resource::Locks),
    ("sigpending", Resource::Sigpending),
    ("msgqueue", Resource::Msgqueue),
    ("nice", Resource::Nice),
    ("rtprio", Resource::Rtprio),
    ("rttime", Resource::Rttime),
];

fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Through an open folder, so that the path always fits into a socket's address.
fn open_socket(home: &Home) -> io::Result<UnixStream> {
    let folder = File::open(&home.state)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), home::SOCKET));
    UnixStream::connect(path)
}

/// Whether a process has the place of this house's daemon, reachable or not.
fn has_daemon(home: &Home) -> bool {
    use rustix::fs::{FlockOperation, flock};
    let folder = File::open(&home.state);
    folder.is_ok_and(|folder| {
        flock(folder, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Started {
    Here,
    Elsewhere,
}

fn not_started(home: &Home, fault: &io::Error) -> Complaint {
    Complaint::new(Kind::NoDaemon, format!("the daemon cannot be started: {fault}"))
        .hint(format!("{} must be a folder that you can write to", home.state.display()))
}

/// Something takes longer than it ever should.
fn stuck(home: &Home, text: impl Into<String>, next: &str) -> Complaint {
    let diary = home.state.join(home::DIARY);
    Complaint::new(Kind::NoDaemon, text)
        .hint(format!("its diary {} may say why; {next}", diary.display()))
}

/// Waits for our turn to start the daemon. The lock goes with the file.
fn start_gate(home: &Home) -> Result<File, Complaint> {
    let open = || {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&home.state)?;
        let path = home.state.join("daemon.gate");
        File::options().write(true).create(true).truncate(false).mode(0o600).open(path)
    };
    let file = open().map_err(|fault| not_started(home, &fault))?;
    let begun = Instant::now();
    let mut progress = Progress::new("waiting for another command to start the daemon");
    loop {
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK | Errno::INTR) if begun.elapsed() < GATE_TIME => {
                progress.show(begun.elapsed());
                std::thread::sleep(START_PACE);
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                let text = format!(
                    "another command is starting the daemon, for over {} s",
                    GATE_TIME.as_secs()
                );
                return Err(stuck(home, text, "end that command and ask again"));
            }
            Err(fault) => return Err(not_started(home, &fault.into())),
        }
    }
}

/// Starts the daemon and waits until it lets us in, or says why it does not.
fn start_daemon(home: &Home) -> Result<Started, Complaint> {
    let failed = |fault: io::Error| not_started(home, &fault);
    let diary = home.state.join(home::DIARY);
    let file =
        File::options().append(true).create(true).mode(0o600).open(&diary).map_err(failed)?;
    let mut child = Command::new("/proc/self/exe")
        .args(["daemon", "run", "--detached"])
        // Its threads take turns; a heap for each would only be kept for nothing.
        .env("MALLOC_ARENA_MAX", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(file)
        .spawn()
        .map_err(failed)?;
    let said = match child.stdout.take() {
        Some(stdout) => first_line(stdout).map_err(failed)?,
        None => Some(String::new()),
    };
    let Some(said) = said else {
        let text = format!("the daemon is not ready after {} s", READY_TIME.as_secs());
        return Err(stuck(home, text, "ask again in a while"));
    };
    let said = said.trim();
    if let Some(note) = said.strip_prefix("ready") {
        if let Some(note) = note.strip_prefix(": ") {
            // Whoever reads the answer by a program must not find this in it.
            drop(writeln!(io::stderr(), "note: {}", crate::words::plain(note)));
        }
        return Ok(Started::Here);
    }
    // It has said its last word; this only reaps it.
    drop(child.wait());
    if said.contains("already running") {
        return Ok(Started::Elsewhere);
    }
    let why = if said.is_empty() { "it ended without a word" } else { said };
    Err(Complaint::new(Kind::NoDaemon, format!("the daemon does not start: {why}"))
        .hint(format!("its diary is {}", diary.display())))
}

/// What the daemon says first; `None` if it says nothing in time.
fn first_line(mut from: ChildStdout) -> io::Result<Option<String>> {
    let begun = Instant::now();
    let mut progress = Progress::new("waiting for the daemon to start");
    let pace = Timespec { tv_sec: 1, tv_nsec: 0 };
    let mut said = Vec::new();
    let mut part = [0; 1024];
    while !said.contains(&b'\n') {
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&pace)) {
            Ok(0) | Err(Errno::INTR) => {
                progress.show(begun.elapsed());
                if begun.elapsed() >= READY_TIME {
                    return Ok(None);
                }
            }
            Ok(_) => match from.read(&mut part)? {
                0 => break,
                read => said.extend_from_slice(part.get(..read).unwrap_or_default()),
            },
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(Some(String::from_utf8_lossy(&said).into_owned()))
}
