//! Complaints about what may not start: everything is paused, or every place is taken.

use super::{Complaint, Kind};

pub(super) fn shut(session: &str) -> Complaint {
    Complaint::new(
        Kind::Refused,
        format!("everything is paused, so that `{session}` cannot start or go on alone"),
    )
    .hint("`glis resume --all` resumes what was running; `glis send` stores a message until then")
}

pub(super) fn damaged(path: &str, why: &str) -> Complaint {
    Complaint::new(
        Kind::Refused,
        format!("the list of what was paused cannot be used: {path}: {why}; nothing was resumed"),
    )
    .hint("`glis resume --all --from-log` goes by the event log instead; the file is kept")
}

pub(super) fn still_at_work(session: &str, doing: &str) -> Complaint {
    Complaint::new(
        Kind::NotSafe,
        format!(
            "Agent not in safe state: `{session}` is still at work ({doing}); it pauses at the end of \
             its turn, and nothing else starts meanwhile"
        ),
    )
    .hint("`glis pause --all --mode interrupt` or `--mode force` stops it now; `glis resume --all` calls it off")
}

pub(super) fn full(session: &str, live: u32, holders: &[String]) -> Complaint {
    Complaint::new(
        Kind::Refused,
        format!(
            "`{session}` cannot start: {}, and `[concurrency] live` is {live}: {}",
            run(holders.len()),
            holders.join(", ")
        ),
    )
    .hint(
        "`glis stop NAME` or `glis pause NAME` frees a place; or raise `[concurrency] live` in the \
         configuration, or let starts wait there with `over = \"queue\"`",
    )
}

/// That so many agents run.
pub fn run(agents: usize) -> String {
    if agents == 1 { "1 agent runs".to_owned() } else { format!("{agents} agents run") }
}
