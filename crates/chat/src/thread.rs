//! What each thread of the process needs: a name, a line for the log, and patience.

use glis_verbs::{Complaint, Kind};
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Waiting after faults, by how many there were in a row.
const BACKOFF_SECS: [u64; 6] = [1, 2, 4, 8, 16, 30];

/// What a thread that has panicked held stays usable: each change of it is whole.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Complaint> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map(drop).map_err(|fault| failed(format!("no thread: {fault}"), "try again"))
}

/// What a process ends with that cannot go on: why, and what to do about it.
pub(crate) fn failed(why: impl Into<String>, hint: &str) -> Complaint {
    Complaint::new(Kind::Failed, why).hint(hint)
}

/// A line of the process's own log. What looks like a secret is taken out, though none should be in it.
pub(crate) fn note(line: &str) {
    let line = crate::text::clean(line);
    drop(writeln!(std::io::stderr().lock(), "chat: {line}"));
}

/// For how many seconds to wait after so many faults in a row.
pub(crate) fn backoff(strikes: usize) -> u64 {
    BACKOFF_SECS.get(strikes).or(BACKOFF_SECS.last()).copied().unwrap_or(30)
}
