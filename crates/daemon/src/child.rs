//! A child process that does one thing, within its time.

use glis_snapshot::Task;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::process::{Child, Command};

/// How often what is left of a command that was ended is looked for: it may be forking.
const SWEEPS_MAX: usize = 10;
/// How much of a command's last words is told.
const LAST_BYTES: u64 = 400;

/// A command as the user has written it, in the configuration or in a plan.
#[expect(clippy::disallowed_methods, reason = "the user's own command")]
pub(crate) fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    shell
}

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

/// Ends everything that a command has started, also what has left its process group.
pub(crate) fn end_all(task: &Task) {
    let ended = std::iter::repeat_with(|| task.end()).take(SWEEPS_MAX);
    ended.take_while(|ended| !ended.is_empty()).for_each(drop);
}

/// The end of what a command has written.
pub(crate) fn last_words(log: &mut File) -> String {
    let len = log.metadata().map_or(0, |facts| facts.len());
    let mut last = Vec::new();
    let from = SeekFrom::Start(len.saturating_sub(LAST_BYTES));
    drop(log.seek(from).and_then(|_| log.read_to_end(&mut last)));
    String::from_utf8_lossy(&last).trim().to_owned()
}
