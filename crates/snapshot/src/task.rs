//! A piece of work whose processes can be ended together, for when one of them hangs.
//!
//! Every call of git carries the mark of the task that it belongs to in its environment, and so does
//! whatever git starts itself. Nothing else is needed to find them.

use glis_os::Handle;
use glis_os::process::{all, carries, folder_of, name_of, used_by, words_of};
use rustix::process::Signal;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

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
    /// Goes up with every step of our own threads.
    steps: AtomicU64,
    /// How many of them wait for something that may take its time.
    patient: AtomicUsize,
}

/// What a task has done so far. If it is the same a while later, the task has not moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effort {
    steps: u64,
    /// Each of its processes, with the time that it has used and the bytes that it has moved.
    processes: Vec<(i32, [u64; 4])>,
}

impl Effort {
    /// Whether a process of the task is there.
    pub fn has_processes(&self) -> bool {
        !self.processes.is_empty()
    }
}

impl Task {
    /// A task that has not begun.
    pub fn new() -> Arc<Self> {
        static TASKS: AtomicU64 = AtomicU64::new(0);
        let number = TASKS.fetch_add(1, Ordering::Relaxed);
        // The time keeps those of a daemon that had the same number apart.
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mark = format!("{}-{number}-{}", std::process::id(), since.as_nanos());
        let (over, steps) = (AtomicBool::new(false), AtomicU64::new(0));
        Arc::new(Self { mark, over, steps, patient: AtomicUsize::new(0) })
    }

    /// A task that has begun, by its mark: of it nothing is known but that.
    pub fn of_mark(mark: String) -> Arc<Self> {
        let (over, steps) = (AtomicBool::new(false), AtomicU64::new(0));
        Arc::new(Self { mark, over, steps, patient: AtomicUsize::new(0) })
    }

    /// What this thread works for, if it works for a task.
    pub fn current() -> Option<Arc<Self>> {
        current()
    }

    /// The variable by which a process of this task is known.
    pub fn variable(&self) -> (&'static str, String) {
        (VARIABLE, self.mark.clone())
    }

    pub fn run<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        within(Some(Arc::clone(self)), work)
    }

    /// Ends every process of this task, and says which. What it starts later is not kept from
    /// running; a caller that wants that calls this again.
    pub fn end(&self) -> Vec<String> {
        self.over.store(true, Ordering::Relaxed);
        let wanted = self.entry();
        all().filter_map(|pid| end(pid, &wanted)).collect()
    }

    /// What it has done so far; `None` while it waits for something that may take its time.
    pub fn effort(&self) -> Option<Effort> {
        if self.patient.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let wanted = self.entry();
        let own = all().filter(|pid| carries(*pid, &wanted));
        let processes = own.map(|pid| (pid, used_by(pid))).collect();
        Some(Effort { steps: self.steps.load(Ordering::Relaxed), processes })
    }

    fn entry(&self) -> String {
        format!("{VARIABLE}={}", self.mark)
    }
}

/// Waits for something that may take its time, as the task of this thread: it does not count as hung.
pub fn patiently<T>(wait: impl FnOnce() -> T) -> T {
    /// Ends the waiting, also after a panic.
    struct Waits(Option<Arc<Task>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            if let Some(task) = &self.0 {
                task.patient.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
    let task = current();
    if let Some(task) = &task {
        task.patient.fetch_add(1, Ordering::Relaxed);
    }
    let _waits = Waits(task);
    wait()
}

/// This thread has come a step further with its task.
pub(crate) fn step() {
    CURRENT.with_borrow(|task| {
        if let Some(task) = task {
            task.steps.fetch_add(1, Ordering::Relaxed);
        }
    });
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
    step();
    current().map(|task| task.variable())
}

/// Ends a process if it carries the mark. The handle is opened first: a process that carries
/// the mark afterwards is the one that it is a handle on.
fn end(pid: i32, wanted: &str) -> Option<String> {
    if !carries(pid, wanted) {
        return None;
    }
    let handle = Handle::open(pid).ok()?;
    let described = describe(pid);
    let ended = carries(pid, wanted) && handle.signal(Signal::KILL);
    ended.then_some(described)
}

/// A process as a person would look for it: what it does, its number, and where.
fn describe(pid: i32) -> String {
    let (name, words) = (name_of(pid), words_of(pid));
    // Our settings come first, each behind a `-c`.
    let settings = words.iter().skip(1).take_while(|word| *word == "-c" || word.contains('='));
    let verb = words.get(1 + settings.count()).filter(|_| name == "git");
    let verb = verb.map(|verb| format!(" {verb}")).unwrap_or_default();
    let place = folder_of(pid);
    let place = place.map(|at| format!(" in {}", at.display())).unwrap_or_default();
    format!("{name}{verb} (pid {pid}){place}")
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
        let at_rest = std::iter::repeat_with(|| task.effort().unwrap()).find(Effort::has_processes);
        assert!(at_rest.is_some() && task.run(|| patiently(|| task.effort())).is_none());
        let named = std::iter::repeat_with(|| task.end()).find(|ended| !ended.is_empty()).unwrap();
        assert_eq!(named, vec![format!("git hash-object (pid {}) in /", hangs.id())]);
        assert!(!hangs.wait().unwrap().success());
        drop(goes_on.stdin.take());
        assert!(goes_on.wait().unwrap().success());
        assert!(!is_over() && task.run(is_over) && !other.run(is_over));
    }
}
