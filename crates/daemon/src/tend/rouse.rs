//! Holders that do not answer: found by who they are, woken, and ended at the last.
//!
//! A number alone may belong to anybody by now. A holder is known by its boot, its number and its
//! start time, and it is only ever signalled through a handle that was opened before these were
//! compared.

use super::bond::{meet, order_end};
use super::left::{self, is_locked};
use crate::adapters::Adapters;
use crate::controller::{Look, Published};
use glis_core::session::{Process, Session};
use glis_core::{Event, SessionId};
use glis_wire::hold::{Children, Ladder, ProcessMark, place};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::{Instant, timeout_at};

/// What a holder needs beside its ladder: to hear of it, to see who is left after SIGKILL, to read the
/// last output and to tell.
const BESIDE_LADDER: Duration = Duration::from_secs(6);
/// A process is gone this long after SIGKILL, or sits in the kernel.
const KILL_TIME: Duration = Duration::from_secs(3);
/// How long whoever tends a holder may take to notice that it is gone, and to sweep what it left.
const NOTICE_TIME: Duration = Duration::from_secs(12);

const AT_ONCE: Ladder = Ladder { interrupt_ms: 0, terminate_ms: 0 };

/// A holder's process, which is still the one that was meant.
pub(crate) struct Holder {
    pub(crate) pid: i32,
    handle: OwnedFd,
}

impl Holder {
    /// The holder of a session, whether or not it answers and whether or not its folder is there.
    pub(crate) fn find(dir: &Path, process: Option<&Process>) -> Option<Self> {
        by_lock(dir).or_else(|| by_agent(process?))
    }

    /// Lets it go on if it was stopped, and has it look after its files.
    fn wake(&self) {
        for signal in [Signal::CONT, Signal::URG] {
            pidfd_send_signal(&self.handle, signal).ok();
        }
    }

    /// Kills it. True if it is gone.
    fn end(&self) -> bool {
        pidfd_send_signal(&self.handle, Signal::KILL).ok();
        let time = Timespec::try_from(KILL_TIME).ok();
        poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], time.as_ref()).is_ok_and(|n| n > 0)
    }
}

/// Has a holder look after its files, if one holds the session's lock or its agent.
pub(super) fn nudge(dir: &Path, process: Option<&Process>) {
    if let Some(holder) = Holder::find(dir, process) {
        pidfd_send_signal(&holder.handle, Signal::URG).ok();
    }
}

/// Wakes a session's holder if it was stopped. Its number, if so.
pub(super) fn wake_if_stopped(dir: &Path, process: Option<&Process>) -> Option<i32> {
    let holder = Holder::find(dir, process)?;
    is_stopped(holder.pid).then(|| {
        holder.wake();
        holder.pid
    })
}

/// The holder that wrote its name into the session's lock, if it still has it.
fn by_lock(dir: &Path) -> Option<Holder> {
    if !is_locked(dir) {
        return None;
    }
    let mark: ProcessMark =
        serde_json::from_slice(&std::fs::read(dir.join(place::LOCK)).ok()?).ok()?;
    let process = Process { pid: mark.pid, start_ticks: mark.start_ticks, boot_id: mark.boot_id };
    let handle = pin(&process)?;
    Some(Holder { pid: process.pid, handle })
}

/// The parent of the agent that the log knows, if that is a holder.
fn by_agent(agent: &Process) -> Option<Holder> {
    let _agent = pin(agent)?;
    let (parent, _) = stat(agent.pid)?;
    let handle = pidfd_open(Pid::from_raw(parent)?, PidfdFlags::empty()).ok()?;
    // It was the parent when it was opened, and it is still.
    let same = stat(agent.pid).is_some_and(|(now, _)| now == parent);
    (same && is_holder(parent)).then_some(Holder { pid: parent, handle })
}

/// A handle on a process, if it is the very one.
fn pin(process: &Process) -> Option<OwnedFd> {
    let handle = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()?;
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let same = boot_id.trim() == process.boot_id
        && stat(process.pid).is_some_and(|(_, ticks)| ticks == process.start_ticks);
    same.then_some(handle)
}

/// What the kernel says of a process.
struct Stat {
    state: u8,
    parent: i32,
    start_ticks: u64,
}

/// Its name may contain anything, so fields are counted from the last bracket.
fn stat_of(pid: i32) -> Option<Stat> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    Some(Stat { state, parent, start_ticks: fields.nth(17)?.parse().ok()? })
}

fn is_stopped(pid: i32) -> bool {
    stat_of(pid).is_some_and(|stat| matches!(stat.state, b'T' | b't'))
}

/// Parent and start time of a process that has not ended.
fn stat(pid: i32) -> Option<(i32, u64)> {
    let stat = stat_of(pid).filter(|stat| !matches!(stat.state, b'Z' | b'X'))?;
    Some((stat.parent, stat.start_ticks))
}

/// The parent of a process.
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    stat(pid).map(|(parent, _)| parent)
}

/// Whether this is a holder of this program, of whatever version.
fn is_holder(pid: i32) -> bool {
    let Ok(line) = std::fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    let program = |pid: &str| {
        let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let name = path.file_name()?.as_bytes();
        Some(name.strip_suffix(b" (deleted)").unwrap_or(name).to_vec())
    };
    let verb = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    verb == b"hold" && program("self").is_some_and(|own| program(&pid.to_string()) == Some(own))
}

/// Sees to it that a process which was told to end does end, whoever hangs.
pub(crate) async fn see_to_end(
    hands: Arc<Adapters>,
    session: Session,
    generation: u32,
    ladder: Ladder,
    children: Children,
) {
    let mut news = hands.line.news.subscribe();
    let (id, dir) = (session.id.clone(), hands.home.session(&session.id.0));
    let granted =
        Duration::from_millis(u64::from(ladder.interrupt_ms) + u64::from(ladder.terminate_ms));
    let watch = Watch { hands: &hands, id: &id, generation };
    if watch.ended_within(&mut news, granted + BESIDE_LADDER).await {
        return;
    }
    let process = session.process.clone();
    let holder = Holder::find(&dir, process.as_ref());
    if let Some(holder) = &holder {
        hands
            .note_end(&id, format!("its holder (pid {}) did not answer and was woken", holder.pid));
        holder.wake();
    }
    if let Ok((peer, hello)) = meet(&dir).await
        && hello.generation == generation
    {
        drop(tokio::spawn(order_end(peer, AT_ONCE, children)));
    }
    if watch.ended_within(&mut news, BESIDE_LADDER).await {
        return;
    }
    let mut left = String::from("its holder could not be found");
    if let Some(holder) = holder {
        let pid = holder.pid;
        let gone = tokio::task::spawn_blocking(move || holder.end()).await.unwrap_or_default();
        left = format!("its holder (pid {pid}) did not answer and could not be ended");
        if gone {
            left = format!("its holder (pid {pid}) did not answer and was ended");
        }
    }
    crate::diary(&format!("session {id}: {left}"));
    hands.note_end(&id, left.clone());
    // Whoever tends it notices, and sweeps; where nobody does, it is done here.
    if watch.ended_within(&mut news, NOTICE_TIME).await {
        return;
    }
    super::bond::finish_by_force(&hands, &session, generation, left).await;
}

/// Whom somebody waits for.
struct Watch<'a> {
    hands: &'a Adapters,
    id: &'a SessionId,
    generation: u32,
}

impl Watch<'_> {
    async fn ended_within(
        &self,
        news: &mut broadcast::Receiver<Arc<Published>>,
        time: Duration,
    ) -> bool {
        let until = Instant::now() + time;
        loop {
            let now = self.hands.line.look(Look::One(self.id.0.clone())).await;
            let runs = |now: &Session| now.generation == self.generation && now.process.is_some();
            if !now.first().is_some_and(runs) {
                return true;
            }
            let ended = async {
                loop {
                    match news.recv().await {
                        Ok(told) if !told.recorded.subject.is(self.id) => {}
                        Ok(told) if !matches!(told.recorded.event, Event::ProcessEnded { .. }) => {}
                        // Whoever was left behind by the news looks again.
                        Ok(_) | Err(_) => return,
                    }
                }
            };
            if timeout_at(until, ended).await.is_err() {
                return false;
            }
        }
    }
}

/// Whether a holder lives for a session: it has the lock, or it is known by its agent although its
/// folder is gone.
pub(crate) fn is_held(dir: &Path, session: &Session) -> bool {
    is_locked(dir)
        || (!dir.is_dir() && session.process.as_ref().is_some_and(|p| by_agent(p).is_some()))
}

/// What was done about a process whose holder could not be reached.
pub(super) fn unreached(
    hands: &Adapters,
    session: &Session,
    why: &str,
) -> glis_core::leftover::Leftovers {
    let mut left = left::sweep(hands, session);
    if let Some(unclear) = &mut left.unclear {
        *unclear = format!("{why}; {unclear}");
    }
    left.notes = hands.take_end_notes(&session.id);
    left
}
