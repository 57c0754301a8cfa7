//! A child process that does one thing, within its time.

use glis_snapshot::Task;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::process::Command;

/// How often what is left of a command that was ended is looked for: it may be forking.
const SWEEPS_MAX: usize = 10;
/// So much of a command's last words is told in a line.
pub(crate) const LINE_BYTES: u64 = 400;

/// A command as the user has written it, in the configuration or in a plan.
#[expect(clippy::disallowed_methods, reason = "the user's own command")]
pub(crate) fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    shell
}

/// Ends everything that a command has started, also what has left its process group.
pub(crate) fn end_all(task: &Task) {
    let ended = std::iter::repeat_with(|| task.end()).take(SWEEPS_MAX);
    ended.take_while(|ended| !ended.is_empty()).for_each(drop);
}

/// The end of what a command has written, at most so many bytes of it.
pub(crate) fn last_words(log: &mut File, bytes_max: u64) -> String {
    let len = log.metadata().map_or(0, |facts| facts.len());
    let mut last = Vec::new();
    let from = SeekFrom::Start(len.saturating_sub(bytes_max));
    drop(log.seek(from).and_then(|_| log.read_to_end(&mut last)));
    String::from_utf8_lossy(&last).trim().to_owned()
}
