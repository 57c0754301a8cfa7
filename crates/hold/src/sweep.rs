//! Ending what a killed holder has left behind.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use glis_wire::hold::{Process, Swept};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use crate::family::Family;
use crate::folder::{Folder, LockFault};
use crate::kill::{Killer, Spared};

/// Long enough for a server to close its files; the user waits for this.
const GRACE: Duration = Duration::from_secs(2);

/// What survives SIGKILL for so long sits in the kernel and will not go soon.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// A process that the family did not start yet may turn up while another is awaited.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum SweepFault {
    /// A holder lives: ask it.
    #[error("a holder lives for this session")]
    Held,
    /// The session's folder cannot be used.
    #[error("the session's folder cannot be used: {0}")]
    Folder(io::Error),
}

/// Ends every process that carries the session's mark, except those that are to stay, in bounded
/// time, and says which. Refuses while a holder lives; none can start meanwhile.
pub fn sweep(session: &str, dir: &Path, kept: &[Process]) -> Result<Swept, SweepFault> {
    // A folder that was deleted or moved is not made anew: the user may want to put it back.
    let lock = if dir.exists() { Some(take_lock(dir)?) } else { None };
    let mut killer = Killer::new(Family::marked(session), None);
    if !kept.is_empty() {
        killer.spare(Spared::These(kept.to_vec()));
    }
    let _gone = until_gone(&mut killer, Signal::TERM, GRACE)
        || until_gone(&mut killer, Signal::KILL, KILL_WAIT);
    let kept = killer.spared();
    let (killed, stuck) = killer.outcome();
    drop(lock);
    Ok(Swept { killed, stuck, kept })
}

fn take_lock(dir: &Path) -> Result<File, SweepFault> {
    let folder = Folder::open(dir).map_err(SweepFault::Folder)?;
    folder.lock().map_err(|fault| match fault {
        LockFault::Taken => SweepFault::Held,
        LockFault::System(fault) => SweepFault::Folder(fault),
    })
}

fn until_gone(killer: &mut Killer, signal: Signal, within: Duration) -> bool {
    let deadline = Instant::now() + within;
    while killer.round(signal) > 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let mut handles: Vec<PollFd<'_>> =
            killer.handles().map(|handle| PollFd::new(handle, PollFlags::IN)).collect();
        let pause = left.min(LOOK_AGAIN);
        let pause = Timespec::try_from(pause).ok();
        let _ = poll(&mut handles, pause.as_ref());
    }
    true
}
