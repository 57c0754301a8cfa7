//! A hold on a process that outlasts its number.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

/// A process, which stays the one that it was when this was opened. As a descriptor it is readable once the process has
/// ended.
#[derive(Debug)]
pub struct Handle(OwnedFd);

impl Handle {
    /// The process that has this number now.
    pub fn open(pid: i32) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(Errno::SRCH)?;
        Ok(Self(pidfd_open(pid, PidfdFlags::empty())?))
    }

    pub fn of(child: &Child) -> io::Result<Self> {
        Self::open(Pid::from_child(child).as_raw_pid())
    }

    /// Whether the signal was sent: one that has ended takes none.
    pub fn signal(&self, signal: Signal) -> bool {
        pidfd_send_signal(&self.0, signal).is_ok()
    }

    /// Returns when it has ended.
    #[cfg(feature = "async")]
    pub async fn ended(&self) -> io::Result<()> {
        let end = super::polled::polled(self.0.as_fd(), tokio::io::Interest::READABLE)?;
        end.readable().await.map(drop)
    }

    /// Waits for its end; whether it came in time.
    pub fn ends_within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], left.as_ref()) {
                Err(Errno::INTR) => {}
                ready => return ready.is_ok_and(|ready| ready > 0),
            }
        }
    }
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits for the end of a child that has a process group of its own, and kills that group when the time is over. True if
/// it ended by itself. It is not reaped here: until then its number is no other's.
pub fn ends_within(child: &Child, time: Duration) -> bool {
    let in_time = Handle::of(child).is_ok_and(|handle| handle.ends_within(time));
    if !in_time {
        kill_process_group(Pid::from_child(child), Signal::KILL).ok();
    }
    in_time
}
