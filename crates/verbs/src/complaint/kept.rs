//! What is said where a pause keeps a process, or cannot.

use super::{Complaint, Kind};
use glis_core::spec::Mode;

/// Its worktree is needed by a process that is stopped in it.
pub(super) fn process(session: &str) -> Complaint {
    let message = format!("a pause of `{session}` keeps its process, which stands in its worktree");
    Complaint::new(Kind::Refused, message)
        .hint(format!("`glis stop {session}` ends the process; what is paused stays paused"))
}

/// There is a better way to bring this one back, or none.
pub(super) fn nothing(agent: &str, mode: Mode) -> Complaint {
    let what = match mode {
        Mode::Terminal => "is resumed in its own conversation",
        Mode::Headless => "has no terminal",
    };
    let message = format!("--keep-process is for a command in a terminal, and {agent} {what}");
    Complaint::new(Kind::Usage, message).hint("leave it out: a pause saves everything without it")
}
