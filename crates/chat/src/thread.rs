//! What each thread of the process needs: a name, a line for the log, and patience.

use crate::told::Told;
use std::io::Write as _;
use std::thread;

/// Waiting after faults, by how many there were in a row.
const BACKOFF_SECS: [u64; 6] = [1, 2, 4, 8, 16, 30];

/// Begins one.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Told> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map(drop).map_err(|fault| Told::new(&format!("no thread: {fault}"), "try again"))
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
