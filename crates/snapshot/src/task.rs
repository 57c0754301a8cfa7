//! A piece of work whose processes can be ended together, for when one of them hangs.
//!
//! Every call of git carries the mark of the task that it belongs to in its environment, and so does
//! whatever git starts itself. Nothing else is needed to find them.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::cell::RefCell;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The variable that carries the mark.
const VARIABLE: &str = "GLIS_TASK";

thread_local! {
    static CURRENT: RefCell<Option<Arc<Task>>> = const { RefCell::new(None) };
}

/// Work for a caller that does not wait for ever.
#[derive(Debug)]
pub struct Task {
    mark: String,
    over: AtomicBool,
}

impl Task {
    /// A task that has not begun.
    pub fn new() -> Arc<Self> {
        static TASKS: AtomicU64 = AtomicU64::new(0);
        let number = TASKS.fetch_add(1, Ordering::Relaxed);
        // The time keeps those of a daemon that had the same number apart.
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mark = format!("{}-{number}-{}", std::process::id(), since.as_nanos());
        Arc::new(Self { mark, over: AtomicBool::new(false) })
    }

    /// What this thread works for, if it works for a task.
    pub fn current() -> Option<Arc<Self>> {
        current()
    }

    /// The variable by which a process of this task is known.
    pub fn variable(&self) -> (&'static str, String) {
        (VARIABLE, self.mark.clone())
    }

    /// Does something as this task.
    pub fn run<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        within(Some(Arc::clone(self)), work)
    }

    /// Ends every process of this task, and says which. What it starts later is not kept from
    /// running; a caller that wants that calls this again.
    pub fn end(&self) -> Vec<String> {
        self.over.store(true, Ordering::Relaxed);
        let wanted = format!("{VARIABLE}={}", self.mark).into_bytes();
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid: i32| end(pid, &wanted)).collect()
    }
}

/// Whether the caller of this thread's task has stopped waiting.
pub fn is_over() -> bool {
    current().is_some_and(|task| task.over.load(Ordering::Relaxed))
}

/// What this thread works for.
pub(crate) fn current() -> Option<Arc<Task>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Does something for a task; also in a thread that helps with it.
pub(crate) fn within<T>(task: Option<Arc<Task>>, work: impl FnOnce() -> T) -> T {
    /// Puts the former task back, also after a panic.
    struct Former(Option<Arc<Task>>);
    impl Drop for Former {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _former = Former(CURRENT.replace(task));
    work()
}

/// The variable that a call of git gets, if it is made for a task.
pub(crate) fn variable() -> Option<(&'static str, String)> {
    current().map(|task| task.variable())
}

/// Ends a process if it carries the mark. The handle is opened first: a process that carries
/// the mark afterwards is the one that it is a handle on.
fn end(pid: i32, wanted: &[u8]) -> Option<String> {
    let carries = || {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == wanted)
    };
    if !carries() {
        return None;
    }
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let ended = carries() && pidfd_send_signal(handle, Signal::KILL).is_ok();
    ended.then(|| format!("{} (pid {pid})", name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::git;
    use std::path::Path;
    use std::process::Stdio;

    #[test]
    fn a_call_that_hangs_is_ended_and_others_are_not() {
        let start = || {
            let mut command = git(Path::new("/"));
            command.args(["hash-object", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::null());
            command.spawn().unwrap()
        };
        let (task, other) = (Task::new(), Task::new());
        let mut hangs = task.run(start);
        let mut goes_on = other.run(start);
        // Between its fork and its exec a process has the environment of its parent.
        let named = std::iter::repeat_with(|| task.end()).find(|ended| !ended.is_empty()).unwrap();
        assert_eq!(named, vec![format!("git (pid {})", hangs.id())]);
        assert!(!hangs.wait().unwrap().success());
        drop(goes_on.stdin.take());
        assert!(goes_on.wait().unwrap().success());
        assert!(!is_over() && task.run(is_over) && !other.run(is_over));
    }
}
