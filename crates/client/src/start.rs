//! Starting a daemon where there is none: one command does, the others wait for it.

use crate::connection::stuck;
use crate::fault::{Fault, Stuck};
use crate::watcher::{Waiting, Watcher};
use glis_wire::home::{self, Home};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a daemon that comes or goes is looked for.
pub(crate) const START_PACE: Duration = Duration::from_millis(5);

/// How long another command may take to start the daemon, until we no longer wait for it.
const OTHER_START_TIME: Duration = Duration::from_secs(30);

/// A daemon reads its whole log before it lets anybody in; a long one takes some seconds.
const READY_TIME: Duration = Duration::from_secs(60);

/// How a daemon is started.
#[derive(Debug, Clone)]
pub struct Starter {
    /// The program.
    pub program: PathBuf,
    /// What it gets beside the environment of this process.
    pub env: Vec<(String, String)>,
}

impl Starter {
    /// By this very program, which need not be where it was any more.
    pub fn own() -> Self {
        Self { program: PathBuf::from(glis_os::process::OWN_PROGRAM), env: Vec::new() }
    }
}

/// Who has the place of the house's daemon after a start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// The daemon that was started.
    Here,
    /// Another one, which is just coming or going.
    Elsewhere,
}

fn not_started(home: &Home, fault: &io::Error) -> Fault {
    Fault::NotStarted { state: home.state.clone(), why: fault.to_string() }
}

/// Waits for our turn to start the daemon. The lock goes with the file.
pub(crate) fn turn_to_start(home: &Home, watcher: &mut dyn Watcher) -> Result<File, Fault> {
    let open = || {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&home.state)?;
        let path = home.state.join("daemon.start");
        File::options().write(true).create(true).truncate(false).mode(0o600).open(path)
    };
    let file = open().map_err(|fault| not_started(home, &fault))?;
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK | Errno::INTR) if begun.elapsed() < OTHER_START_TIME => {
                watcher.waiting(Waiting::OtherStart, begun.elapsed());
                std::thread::sleep(START_PACE);
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(stuck(home, Stuck::OtherStart { after: OTHER_START_TIME }));
            }
            Err(fault) => return Err(not_started(home, &fault.into())),
        }
    }
}

/// Starts the daemon and waits until it lets us in, or says why it does not.
pub(crate) fn start_daemon(
    home: &Home,
    starter: &Starter,
    watcher: &mut dyn Watcher,
) -> Result<Started, Fault> {
    let failed = |fault: io::Error| not_started(home, &fault);
    let log = home.state.join(home::DAEMON_LOG);
    let file = File::options().append(true).create(true).mode(0o600).open(&log).map_err(failed)?;
    let mut child = Command::new(&starter.program)
        .args(["daemon", "run", "--detached"])
        .envs(starter.env.iter().map(|(name, value)| (name, value)))
        // Its threads take turns; a heap for each would only be kept for nothing.
        .env("MALLOC_ARENA_MAX", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(file)
        .spawn()
        .map_err(failed)?;
    let said = match child.stdout.take() {
        Some(stdout) => first_line(stdout, watcher).map_err(failed)?,
        None => Some(String::new()),
    };
    let Some(said) = said else {
        return Err(stuck(home, Stuck::NotReady { after: READY_TIME }));
    };
    let said = said.trim();
    if let Some(note) = said.strip_prefix("ready") {
        if let Some(note) = note.strip_prefix(": ") {
            watcher.note(note);
        }
        return Ok(Started::Here);
    }
    // It has said its last word; this only reaps it.
    drop(child.wait());
    if said.contains("already running") {
        return Ok(Started::Elsewhere);
    }
    let why = (!said.is_empty()).then(|| said.to_owned());
    Err(Fault::DoesNotStart { why, log })
}

/// What the daemon says first; `None` if it says nothing in time.
fn first_line(mut from: ChildStdout, watcher: &mut dyn Watcher) -> io::Result<Option<String>> {
    let begun = Instant::now();
    let pace = Timespec { tv_sec: 1, tv_nsec: 0 };
    let mut said = Vec::new();
    let mut part = [0; 1024];
    while !said.contains(&b'\n') {
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&pace)) {
            Ok(0) | Err(Errno::INTR) => {
                watcher.waiting(Waiting::Start, begun.elapsed());
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
