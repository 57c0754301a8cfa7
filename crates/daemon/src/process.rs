//! What the kernel knows about a process: its state, its parent, when it began.
//!
//! A number alone may belong to another process by now. A process is known by its boot, its number
//! and its start time, and it is only ever signalled through a handle that was opened before these
//! were compared.

use glis_core::plain::{in_one_line, in_sight};
use glis_core::session::Process;
use glis_wire::hold::ProcessMark;
use glis_wire::stat::Stat;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

/// The process that a holder tells of, as the log knows it.
pub(crate) fn process_of(mark: &ProcessMark) -> Process {
    Process { pid: mark.pid, start_ticks: mark.start_ticks, boot_id: mark.boot_id.clone() }
}

/// What the kernel tells of a process.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The same of a process that has not ended.
fn living(pid: i32) -> Option<Stat> {
    stat(pid).filter(|stat| !stat.is_over())
}

/// Whether the process was stopped.
pub(crate) fn is_stopped(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.is_stopped())
}

/// When a process that has not ended began, in clock ticks since the machine did.
pub(crate) fn start_ticks(pid: i32) -> Option<u64> {
    living(pid).map(|stat| stat.start_ticks)
}

/// Whether the process that began at this tick still runs.
pub(crate) fn runs(pid: i32, began: u64) -> bool {
    start_ticks(pid) == Some(began)
}

/// The parent of a process that has not ended.
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    living(pid).map(|stat| stat.parent)
}

/// A handle on a process, if it is the very one that is meant.
pub(crate) fn handle_of(process: &Process) -> Option<OwnedFd> {
    let handle = open(process.pid)?;
    let same = boot()? == process.boot_id && runs(process.pid, process.start_ticks);
    same.then_some(handle)
}

/// Whether the machine was restarted since a process began. In doubt it was not.
pub(crate) fn is_of_another_boot(process: &Process) -> bool {
    boot().is_some_and(|boot| boot != process.boot_id)
}

/// The command of the process that has this one's number now, if it is another one.
pub(crate) fn stranger(process: &Process) -> Option<String> {
    let is_other = start_ticks(process.pid)? != process.start_ticks || is_of_another_boot(process);
    let command = std::fs::read(format!("/proc/{}/cmdline", process.pid)).ok()?;
    let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
    is_other.then(|| in_one_line(&in_sight(&command)))
}

fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// The variables that the process began with, if it is the very one that is meant.
pub(crate) fn variables(process: &Process) -> Option<Vec<(OsString, OsString)>> {
    let environment = std::fs::read(format!("/proc/{}/environ", process.pid)).ok()?;
    // Looked at afterwards: by then the number may be another process's.
    handle_of(process)?;
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let pair = |pair: &[u8]| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        Some((text(pair.get(..at)?), text(pair.get(at + 1..)?)))
    };
    Some(environment.split(|byte| *byte == 0).filter_map(pair).collect())
}

/// A handle on the process that has this number now.
pub(crate) fn open(pid: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_more_than_its_number() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let boot_id = boot_id.trim().to_owned();
        let own = Process { pid, start_ticks: start_ticks(pid).unwrap(), boot_id };
        assert!(handle_of(&own).is_some());
        assert!(!is_stopped(pid));
        let earlier = Process { start_ticks: own.start_ticks - 1, ..own.clone() };
        assert!(handle_of(&earlier).is_none(), "its number was given again");
        let other_boot = Process { boot_id: "another".to_owned(), ..own };
        assert!(handle_of(&other_boot).is_none());
    }
}
