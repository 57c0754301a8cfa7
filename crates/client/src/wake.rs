//! A daemon that was stopped is woken: by a signal to the very process that has its place.

use crate::watcher::Watcher;
use glis_wire::home::Home;
use glis_wire::locks::owner_in;
use glis_wire::stat::Stat;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::unix::fs::MetadataExt as _;

/// Wakes the daemon of this house if it was stopped, and tells so.
pub(crate) fn if_stopped(home: &Home, watcher: &mut dyn Watcher) {
    if let Some(pid) = woken(home) {
        watcher.woken(pid);
    }
}

fn woken(home: &Home) -> Option<i32> {
    let pid = owner(home)?;
    let process = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    // It had the place when it was opened, and it has it still: the number is no other's.
    let same = is_stopped(pid) && owner(home) == Some(pid);
    (same && pidfd_send_signal(&process, Signal::CONT).is_ok()).then_some(pid)
}

/// The process that has the place of this house's daemon.
fn owner(home: &Home) -> Option<i32> {
    let inode = std::fs::metadata(&home.state).ok()?.ino();
    owner_in(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

fn is_stopped(pid: i32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    Stat::parse(&line).is_some_and(|stat| stat.is_stopped())
}
