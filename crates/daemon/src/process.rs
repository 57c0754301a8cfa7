//! Processes that the log knows: by boot, number and start, since a number alone may belong to another by now.

use glis_core::plain::{in_one_line, in_sight};
use glis_core::session::Process;
use glis_os::Handle;
use glis_os::process::{boot_id, runs, start_ticks, variables_of, words_of};
use std::ffi::OsString;

/// A handle on a process, if it is the very one that is meant.
pub(crate) fn handle_of(process: &Process) -> Option<Handle> {
    let handle = Handle::open(process.pid).ok()?;
    let same = boot_id()? == process.boot_id && runs(process.pid, process.start_ticks);
    same.then_some(handle)
}

/// Whether the machine was restarted since a process began. In doubt it was not.
pub(crate) fn is_of_another_boot(process: &Process) -> bool {
    boot_id().is_some_and(|boot| boot != process.boot_id)
}

/// The command of the process that has this one's number now, if it is another one.
pub(crate) fn stranger(process: &Process) -> Option<String> {
    let is_other = start_ticks(process.pid)? != process.start_ticks || is_of_another_boot(process);
    is_other.then(|| in_one_line(&in_sight(&words_of(process.pid).join(" "))))
}

/// The variables that the process began with, if it is the very one that is meant.
pub(crate) fn variables(process: &Process) -> Option<Vec<(OsString, OsString)>> {
    let variables = variables_of(process.pid)?;
    // Looked at afterwards: by then the number may be another process's.
    handle_of(process).map(|_| variables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_os::process::is_stopped;

    #[test]
    fn a_process_is_known_by_more_than_its_number() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let own =
            Process { pid, start_ticks: start_ticks(pid).unwrap(), boot_id: boot_id().unwrap() };
        assert!(handle_of(&own).is_some());
        assert!(!is_stopped(pid));
        let earlier = Process { start_ticks: own.start_ticks - 1, ..own.clone() };
        assert!(handle_of(&earlier).is_none(), "its number was given again");
        let other_boot = Process { boot_id: "another".to_owned(), ..own };
        assert!(handle_of(&other_boot).is_none());
    }
}
