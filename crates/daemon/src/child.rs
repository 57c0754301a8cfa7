//! A child process that does one thing, within its time.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::process::Child;

/// Waits for the end of a child, and kills its process group when the time is over. True if it ended
/// by itself.
pub(crate) fn ends_within(child: &Child, secs: u32) -> bool {
    let pid = Pid::from_child(child);
    let ended = pidfd_open(pid, PidfdFlags::empty()).and_then(|fd| {
        let time = Timespec { tv_sec: i64::from(secs), tv_nsec: 0 };
        poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&time))
    });
    let in_time = ended.is_ok_and(|ready| ready > 0);
    if !in_time {
        kill_process_group(pid, Signal::KILL).ok();
    }
    in_time
}
