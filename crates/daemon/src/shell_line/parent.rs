//! The parent of a line, a process of its own: whatever the line leaves behind becomes its child, also what has left
//! its process group and cleared its environment, and ends with it.

use crate::child::shell;
use glis_os::Handle;
use glis_os::process::{children_of, own_pid};
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpid, getppid, set_child_subreaper, setpgid, waitpid,
};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What was killed is gone at once, unless the kernel holds it or it forks faster than it is killed; then somebody
/// waits for the word of the line.
const END_WAIT: Duration = Duration::from_secs(5);

/// Runs the line and ends all that it has started; as what it ended itself, a status as shells tell it.
pub fn run(line: &str) -> ExitCode {
    let adopts = set_child_subreaper(Some(getpid()));
    let Ok(mut child) = adopts.map_err(Into::into).and_then(|()| shell(line).spawn()) else {
        return ExitCode::FAILURE;
    };
    // The line has our group for its own from here on: who cuts it short kills that, and we go on to the end.
    getpgid(getppid()).and_then(|others| setpgid(None, Some(others))).ok();
    let status = child.wait();
    end_children();
    let code = status.map(|status| status.code().or(status.signal().map(|signal| 128 + signal)));
    let code = code.ok().flatten().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The children of one that is killed are ours then.
fn end_children() {
    let until = Instant::now() + END_WAIT;
    while let Ok(children) = children_of(own_pid())
        && !children.is_empty()
        && Instant::now() < until
    {
        for pid in children {
            if let Ok(child) = Handle::open(pid)
                && child.signal(Signal::KILL)
            {
                child.ends_within(until.saturating_duration_since(Instant::now()));
            }
            waitpid(Pid::from_raw(pid), WaitOptions::NOHANG).ok();
        }
    }
}
