//! Reaching a holder: found by its lock or its agent, met at its socket, woken, ended at the last.

use crate::environments::Env;
use crate::locks::{self, is_locked};
use crate::peer::Peer;
use crate::process::handle_of;
use glis_core::session::{Process, Session};
use glis_os::Handle;
use glis_os::process::{is_stopped, open_files_of, owner_of_lock, parent_of, runs_own};
use glis_wire::hold::{Children, Hello, Ladder, Limit, Order, Report, place};
use glis_wire::home::Home;
use rustix::process::Signal;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A holder greets at once, unless it is stopped or the machine is drowning.
const GREETING_TIME: Duration = Duration::from_secs(2);
/// A holder binds its socket within milliseconds of taking its lock; one that does not in this
/// time never will.
const BIRTH_TIME: Duration = Duration::from_secs(5);
/// A holder that is told to look after its files makes a deleted folder again in a fifth of a second.
/// One whose folder was moved makes none.
const MENDING_TIME: Duration = Duration::from_secs(2);
const BIRTH_PACE: Duration = Duration::from_millis(5);
/// A holder whose agent has ended serves its last readers for some seconds at most.
const FORMER_TIME: Duration = Duration::from_secs(8);
/// A holder that was told to end its agent at once needs to see who is left, and to tell.
const EVICTION_TIME: Duration = Duration::from_secs(6);
/// A process is gone this long after SIGKILL, or sits in the kernel.
const KILL_TIME: Duration = Duration::from_secs(3);

pub(crate) const AT_ONCE: Ladder = Ladder { interrupt_ms: 0, terminate_ms: 0 };

/// A holder's process, which is still the one that was meant.
pub(crate) struct Holder {
    pub(crate) pid: i32,
    handle: Handle,
}

impl Holder {
    /// The holder of a session, whether or not it answers and whether or not its folder is there.
    pub(crate) fn find(dir: &Path, process: Option<&Process>) -> Option<Self> {
        by_lock(dir).or_else(|| by_agent(process?))
    }

    /// Lets it go on if it was stopped, and has it look after its files.
    pub(crate) fn wake(&self) {
        for signal in [Signal::CONT, Signal::URG] {
            self.handle.signal(signal);
        }
    }

    /// Kills it. True if it is gone.
    pub(crate) fn end(&self) -> bool {
        self.handle.signal(Signal::KILL);
        self.handle.ends_within(KILL_TIME)
    }
}

/// The holder that wrote its name into the session's lock, if it still has it.
fn by_lock(dir: &Path) -> Option<Holder> {
    if !is_locked(dir) {
        return None;
    }
    let process: Process =
        serde_json::from_slice(&std::fs::read(dir.join(place::LOCK)).ok()?).ok()?;
    Some(Holder { pid: process.pid, handle: handle_of(&process)? })
}

/// The holder that has a lock, whatever is written in it: one that was stopped while it was being
/// born has written nothing yet. It is this session's, since it has the session's folder open, or
/// had it open when that was deleted.
fn by_ownership(dir: &Path, lock: &Path) -> Option<Holder> {
    let pid = owner_of_lock(lock)?;
    let handle = Handle::open(pid).ok()?;
    let same = owner_of_lock(lock) == Some(pid) && is_holder(pid) && has_open(pid, dir);
    same.then_some(Holder { pid, handle })
}

/// Whether a process has a file in this folder open, or had it open when that was deleted.
fn has_open(pid: i32, dir: &Path) -> bool {
    open_files_of(pid).any(|path| path.starts_with(dir))
}

/// A holder that has the session's lock or that of its agent's conversation, and that the log does
/// not know.
fn stray(home: &Home, session: &Session) -> Option<Holder> {
    let dir = home.session(&session.id.0);
    let of_ref = |id: &String| locks::of_ref(home, &session.spec.agent, id);
    let of_ref = session.agent.agent_ref.as_ref().map(of_ref);
    by_ownership(&dir, &dir.join(place::LOCK)).or_else(|| by_ownership(&dir, &of_ref?))
}

/// The parent of the agent that the log knows, if that is a holder.
fn by_agent(agent: &Process) -> Option<Holder> {
    let _agent = handle_of(agent)?;
    let parent = parent_of(agent.pid)?;
    let handle = Handle::open(parent).ok()?;
    // It was the parent when it was opened, and it is still.
    let same = parent_of(agent.pid) == Some(parent);
    (same && is_holder(parent)).then_some(Holder { pid: parent, handle })
}

/// Whether this is a holder of this program, of whatever version.
pub(crate) fn is_holder(pid: i32) -> bool {
    runs_own(pid, &["hold"])
}

/// Whether a holder lives for a session: it has the lock, or it is known by its agent although its
/// folder or its lock is gone.
pub(crate) fn is_held(dir: &Path, session: &Session) -> bool {
    is_locked(dir) || session.process().is_some_and(|p| by_agent(p).is_some())
}

/// Has a holder look after its files, if one holds the session's lock or its agent. Whether there is
/// one.
fn nudge(dir: &Path, process: Option<&Process>) -> bool {
    let found = Holder::find(dir, process);
    found.is_some_and(|holder| holder.handle.signal(Signal::URG))
}

/// Wakes a session's holder if it was stopped. Its number, if so. One whose socket is gone is told to
/// look after it.
pub(crate) fn wake_if_stopped(dir: &Path, process: Option<&Process>) -> Option<i32> {
    let holder = Holder::find(dir, process)?;
    if !dir.join(place::SOCKET).exists() {
        holder.handle.signal(Signal::URG);
    }
    is_stopped(holder.pid).then(|| {
        holder.wake();
        holder.pid
    })
}

/// Connects to a holder and hears who it is.
pub(crate) async fn meet(dir: &Path) -> io::Result<(Peer, Hello)> {
    let mut peer = Peer::connect(dir, place::SOCKET).await?;
    let first = tokio::time::timeout(GREETING_TIME, peer.next()).await;
    let first = first.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    match first.and_then(|frame| Report::read(&frame).ok()) {
        Some(Report::Hello(hello)) => Ok((peer, hello)),
        Some(_) | None => Err(io::Error::other("the holder did not greet")),
    }
}

/// Connects to the holder of the session in `dir`, if one lives. One that was being born when the
/// last daemon died is waited for: its lock tells.
pub(crate) async fn find_holder(dir: &Path, process: Option<&Process>) -> Option<(Peer, Hello)> {
    let begun = tokio::time::Instant::now();
    // Its socket may have been deleted, or its whole folder: the holder makes another one.
    let nudged = !dir.join(place::SOCKET).exists() && nudge(dir, process);
    loop {
        if let Ok(found) = meet(dir).await {
            return Some(found);
        }
        let patience = match (is_locked(dir), nudged) {
            (true, _) => BIRTH_TIME,
            (false, true) => MENDING_TIME,
            (false, false) => Duration::ZERO,
        };
        if begun.elapsed() > patience {
            return None;
        }
        tokio::time::sleep(BIRTH_PACE).await;
    }
}

/// The holder of a living agent for the session in `dir`.
pub(crate) async fn living(dir: &Path) -> Option<Hello> {
    if !is_locked(dir) {
        return None;
    }
    let (_, hello) = meet(dir).await.ok()?;
    hello.ended.is_none().then_some(hello)
}

/// Tells a holder to end its agent, and stays until the connection ends.
pub(crate) async fn order_end(
    mut peer: Peer,
    ladder: Ladder,
    children: Children,
) -> io::Result<()> {
    peer.send(&Order::Children(children)).await?;
    peer.send(&Order::Stop(ladder)).await?;
    while let Some(frame) = peer.next().await? {
        if matches!(Report::read(&frame), Ok(Report::Ended(_))) {
            peer.send(&Order::Collected).await?;
        }
    }
    Ok(())
}

/// Ends a holder that no start waits for, so that its session can be started: it is woken and asked,
/// and killed if that does not help, in a thread that may block. What was done, if there was one.
pub(crate) fn evict(
    runtime: &tokio::runtime::Handle,
    home: &Home,
    session: &Session,
) -> Option<String> {
    let holder = stray(home, session)?;
    let (pid, dir) = (holder.pid, home.session(&session.id.0));
    holder.wake();
    let asked = async {
        let (peer, _) = meet(&dir).await.ok()?;
        order_end(peer, AT_ONCE, Children::StopAll).await.ok()
    };
    drop(runtime.block_on(async { tokio::time::timeout(EVICTION_TIME, asked).await }));
    await_former(&dir);
    if stray(home, session).is_none_or(|left| left.pid != pid) {
        return Some(format!("its former holder (pid {pid}) was woken and has ended"));
    }
    let end = if holder.end() { "was ended" } else { "could not be ended" };
    Some(format!("its former holder (pid {pid}) did not answer and {end}"))
}

/// Waits until the holder of an earlier run has gone. It has nothing left to do but to serve those
/// who still read, and that has a bound of its own.
#[expect(clippy::disallowed_methods, reason = "a lock of another process has no other event")]
pub(crate) fn await_former(dir: &Path) {
    let patience = std::time::Instant::now() + FORMER_TIME;
    while is_locked(dir) && std::time::Instant::now() < patience {
        std::thread::sleep(BIRTH_PACE);
    }
}

/// What a holder's agent was started with. A holder of an earlier version does not know.
pub(crate) async fn remembered_env(dir: &Path) -> Option<(Env, Vec<Limit>)> {
    let (_, told) = ask(dir, Order::Environment).await?;
    if let Report::Environment { env, limits } = told { Some((env, limits)) } else { None }
}

/// Whether the program in the foreground of this process's terminal waits for input there. A holder of
/// an earlier version does not know, and then it does not.
pub(crate) async fn reads_terminal(dir: &Path, process: &Process) -> bool {
    let told = ask(dir, Order::Reading).await;
    told.is_some_and(|(hello, told)| {
        hello.process == *process && told == Report::Reading { reads: true }
    })
}

/// What a holder answers to a question, over a connection of its own.
async fn ask(dir: &Path, question: Order) -> Option<(Hello, Report)> {
    let ask = async {
        let (mut peer, hello) = meet(dir).await.ok()?;
        peer.send(&question).await.ok()?;
        loop {
            match Report::read(&peer.next().await.ok()??).ok()? {
                Report::Refused { .. } => return None,
                told @ (Report::Environment { .. } | Report::Reading { .. }) => {
                    return Some((hello, told));
                }
                Report::Hello(_)
                | Report::Output { .. }
                | Report::Wrote { .. }
                | Report::Ended(_)
                | Report::Audience { .. }
                | Report::Resized { .. }
                | Report::FolderLost { .. }
                | Report::Gap { .. } => {}
            }
        }
    };
    tokio::time::timeout(GREETING_TIME, ask).await.ok().flatten()
}

/// Whether a holder's process may be taken over though the log knows nothing of its start.
pub(crate) fn is_adoptable(home: &Home, session: &Session, hello: &Hello) -> bool {
    let is_later = hello.ended.is_none() && hello.generation > session.agent.generation;
    is_later && is_in_conversation(home, session, hello)
}

/// Whether a holder's process is in the very conversation that the log knows: it is this session's,
/// and it has the lock of the agent's session id. A process under another id is another
/// conversation, which no resume may end up in.
pub(crate) fn is_in_conversation(home: &Home, session: &Session, hello: &Hello) -> bool {
    let has_lock = session.agent.agent_ref.as_ref().is_none_or(|id| {
        let lock = locks::of_ref(home, &session.spec.agent, id);
        locks::is_taken(&lock)
    });
    hello.session == session.id.0 && has_lock
}
