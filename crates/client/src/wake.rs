//! A daemon that was stopped is woken: by a signal to the very process that has its place.

use crate::watcher::Watcher;
use glis_os::Handle;
use glis_os::process::{is_stopped, owner_of_lock};
use glis_wire::home::Home;
use rustix::process::Signal;

/// Wakes the daemon of this house if it was stopped, and tells so.
pub(crate) fn if_stopped(home: &Home, watcher: &mut dyn Watcher) {
    if let Some(pid) = woken(home) {
        watcher.woken(pid);
    }
}

fn woken(home: &Home) -> Option<i32> {
    // Who has this lock has the place of this house's daemon.
    let pid = owner_of_lock(&home.state)?;
    let process = Handle::open(pid).ok()?;
    // It had the place when it was opened, and it has it still: the number is no other's.
    let same = is_stopped(pid) && owner_of_lock(&home.state) == Some(pid);
    (same && process.signal(Signal::CONT)).then_some(pid)
}
