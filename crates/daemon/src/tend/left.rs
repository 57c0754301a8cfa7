//! What is left of a session's process when nobody holds a connection to it.

use super::last_words::last_words;
use crate::adapters::Adapters;
use crate::durable;
use crate::peer::Peer;
use glis_core::SessionId;
use glis_core::event::Ending;
use glis_core::input::{Exit, World};
use glis_core::leftover::{Companion, Leftovers};
use glis_core::session::{Process, Session};
use glis_wire::hold::{
    Children, End, ExitRecord, Hello, Killed, Ladder, ProcessMark, Swept, place,
};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A holder binds its socket within milliseconds of taking its lock; one that does not in this
/// time never will.
const BIRTH_TIME: Duration = Duration::from_secs(5);
const BIRTH_PACE: Duration = Duration::from_millis(5);
/// A sweep asks, waits, kills and waits again: four seconds. On a machine that is drowning it may take
/// some more.
const SWEEP_SECS: u32 = 20;
/// A holder whose agent has ended serves its last readers for some seconds at most.
const FORMER_TIME: Duration = Duration::from_secs(8);

/// Connects to the holder of the session in `dir`, if one lives. One that was being born when the
/// last daemon died is waited for: its lock tells.
pub(super) async fn find_holder(dir: &Path, process: Option<&Process>) -> Option<(Peer, Hello)> {
    let patience = tokio::time::Instant::now() + BIRTH_TIME;
    if is_locked(dir) && !dir.join(place::SOCKET).exists() {
        // Somebody may have deleted it: the holder makes another one.
        super::rouse::nudge(dir, process);
    }
    loop {
        if let Ok(found) = super::bond::meet(dir).await {
            return Some(found);
        }
        if !is_locked(dir) || tokio::time::Instant::now() > patience {
            return None;
        }
        tokio::time::sleep(BIRTH_PACE).await;
    }
}

/// Whether a holder's process may be taken over though the log knows nothing of its start.
pub(super) fn is_adoptable(hands: &Adapters, session: &Session, hello: &Hello) -> bool {
    let is_later = hello.ended.is_none() && hello.generation > session.generation;
    is_later && is_in_conversation(hands, session, hello)
}

/// Whether a holder's process is in the very conversation that the log knows: it is this session's,
/// and it has the lock of the agent's session id. A process under another id is another
/// conversation, which no resume may end up in.
pub(crate) fn is_in_conversation(hands: &Adapters, session: &Session, hello: &Hello) -> bool {
    let has_lock = session.agent_ref.as_ref().is_none_or(|id| {
        let name = crate::launch::lock_name(&session.spec.agent, id);
        is_taken(&hands.home.state.join("locks").join(name))
    });
    hello.session == session.id.0 && has_lock
}

/// Who holds a living agent for the session in `dir`, if anybody does.
pub(crate) async fn living(dir: &Path) -> Option<Hello> {
    if !is_locked(dir) {
        return None;
    }
    let (_, hello) = super::bond::meet(dir).await.ok()?;
    hello.ended.is_none().then_some(hello)
}

/// Ends a holder of this session that nobody waits for: one whose birth was told to a daemon that
/// had no time left to hear it. True if there was one and it is gone.
pub(crate) async fn evict(dir: &Path) -> bool {
    let Ok((peer, _)) = super::bond::meet(dir).await else { return false };
    let at_once = Ladder { interrupt_ms: 0, terminate_ms: 0 };
    drop(super::bond::order_end(peer, at_once, Children::StopAll).await);
    await_former(dir);
    !is_locked(dir)
}

/// Whether a holder lives for the session in `dir`.
pub(crate) fn is_locked(dir: &Path) -> bool {
    is_taken(&dir.join(place::LOCK))
}

fn is_taken(lock: &Path) -> bool {
    let Ok(file) = File::open(lock) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared).is_err()
}

/// What became of a process whose holder is not there.
pub(super) fn world(hands: &Adapters, session: &Session) -> World {
    let generation = session.generation;
    match record(hands, &session.id, generation) {
        Some(record) => {
            let dir = hands.home.session(&session.id.0);
            World::Ended { generation, exit: told_by(&dir, &record) }
        }
        None => World::Gone { left: sweep(hands, session) },
    }
}

/// How the process ended, as the holder recorded it or as far as it can be known. Whatever it left
/// running is ended first.
pub(crate) fn what_is_left(hands: &Adapters, session: &Session, generation: u32) -> Exit {
    let mut exit = match record(hands, &session.id, generation) {
        Some(record) => told_by(&hands.home.session(&session.id.0), &record),
        None => Exit::unseen(sweep(hands, session)),
    };
    exit.left.notes = hands.take_end_notes(&session.id);
    exit
}

/// How the process ended, in the holder's words.
pub(super) fn told_by(dir: &Path, record: &ExitRecord) -> Exit {
    Exit {
        ending: ending(record),
        ordered: record.ordered,
        left: Leftovers {
            killed: companions(&record.killed),
            stuck: companions(&record.stuck),
            kept: companions(&record.kept),
            ..Leftovers::default()
        },
        last_words: last_words(dir, record),
    }
}

#[expect(clippy::disallowed_methods, reason = "a lock of another process has no other event")]
/// Waits until the holder of an earlier run has gone. It has nothing left to do but to serve those
/// who still read, and that has a bound of its own.
pub(crate) fn await_former(dir: &Path) {
    let patience = std::time::Instant::now() + FORMER_TIME;
    while is_locked(dir) && std::time::Instant::now() < patience {
        std::thread::sleep(BIRTH_PACE);
    }
}

fn record(hands: &Adapters, id: &SessionId, generation: u32) -> Option<ExitRecord> {
    let path = hands.home.session(&id.0).join(place::EXIT);
    let record: ExitRecord = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (record.generation == generation).then_some(record)
}

/// How much the last process had printed when it ended, by its record; nothing is known otherwise.
pub(crate) fn recorded_end(dir: &Path) -> u64 {
    let read = std::fs::read(dir.join(place::EXIT)).ok();
    let record = read.and_then(|bytes| serde_json::from_slice::<ExitRecord>(&bytes).ok());
    record.map_or(0, |record| record.log_end)
}

fn ending(record: &ExitRecord) -> Ending {
    match record.end {
        End::Exited(status) => Ending::Exited(status),
        End::Signalled(signal) => Ending::Signalled(signal),
    }
}

fn companions(killed: &[Killed]) -> Vec<Companion> {
    let companion = |killed: &Killed| Companion {
        pid: killed.pid,
        start_ticks: killed.start_ticks,
        command: killed.command.clone(),
        cwd: killed.cwd.clone(),
        ports: killed.ports.clone(),
    };
    killed.iter().map(companion).collect()
}

/// The processes that a pause has left running on purpose.
pub(crate) fn kept(session: &Session) -> Vec<ProcessMark> {
    let mark = |kept: &Companion| ProcessMark {
        pid: kept.pid,
        start_ticks: kept.start_ticks,
        boot_id: String::new(),
    };
    session.leftovers.kept.iter().map(mark).collect()
}

/// Ends processes that carry the session's mark and have no holder any more, except those that are to
/// stay. A sweep that fails or is refused says so: nobody knows then what is left.
pub(crate) fn sweep(hands: &Adapters, session: &Session) -> Leftovers {
    match run_sweep(hands, session) {
        Ok(swept) => Leftovers {
            killed: companions(&swept.killed),
            stuck: companions(&swept.stuck),
            kept: companions(&swept.kept),
            ..Leftovers::default()
        },
        Err(fault) => {
            crate::diary(&format!("session {}: not swept: {fault}", session.id));
            Leftovers { unclear: Some(fault.to_string()), ..Leftovers::default() }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the sweep is a process of its own, as a holder is")]
fn run_sweep(hands: &Adapters, session: &Session) -> io::Result<Swept> {
    let child = Command::new("/proc/self/exe")
        .arg("hold-sweep")
        .arg(&session.id.0)
        .arg(hands.home.session(&session.id.0))
        .arg(serde_json::to_string(&kept(session))?)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if !crate::outfit::ends_within(&child, SWEEP_SECS) {
        return Err(io::Error::other(format!("the sweep did not end within {SWEEP_SECS} s")));
    }
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(io::Error::other(said.trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(io::Error::from)
}

/// Everything in a file from an offset on; nothing if it is not there yet.
pub(super) fn read_from(path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    let Some(mut file) = durable::open_file(path)? else { return Ok(Vec::new()) };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
