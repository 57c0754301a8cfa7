//! What is said when a session, or everything, was paused, stopped or resumed.

use super::{ALL_PAUSED, About, LOG_CHARS, in_chat, short, waits};
use glis_core::Status;
use glis_wire::plain::in_sight;
use glis_wire::view::{GateView, SessionView, WaitingFor};

/// Whether what was asked for was done, or was so before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    Now,
    /// There was nothing to do.
    Before,
}

/// Whether everything is paused, so that no session goes on alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Open,
    Shut,
}

pub fn paused(session: &SessionView, (done, gate, about): (Done, Gate, About<'_>)) -> String {
    let done = did(session, (done, about), ("paused.", "was paused already."));
    format!("{done} {}{}", goes_on_by(session, gate, about), was_asking(session))
}

/// What a session did or had done before. It is called by its name where it is not the one that is talked to.
fn did(
    session: &SessionView,
    (done, about): (Done, About<'_>),
    (now, before): (&str, &str),
) -> String {
    let (here, did) = match done {
        Done::Now => ("Session", now),
        Done::Before => ("The session", before),
    };
    if is_here(session, about) {
        format!("{here} {did}")
    } else {
        format!("Session {} {did}", session.name)
    }
}

fn is_here(session: &SessionView, about: About<'_>) -> bool {
    about == About::Session(Some(&session.name))
}

/// The process of a session was ended.
pub fn stopped(session: &SessionView, (done, gate, about): (Done, Gate, About<'_>)) -> String {
    let before = match session.status {
        Status::Paused => "is paused: no process of it runs.",
        _ => "was stopped already.",
    };
    let done = did(session, (done, about), ("stopped.", before));
    format!("{done} {}{}", goes_on_by(session, gate, about), was_asking(session))
}

/// What a session that does not run goes on by.
fn goes_on_by(session: &SessionView, gate: Gate, about: About<'_>) -> String {
    let resume = in_chat(&format!("`glis resume {}`", session.name), about);
    match (session.status == Status::Paused, gate) {
        (true, Gate::Open) => format!("{resume} to continue."),
        (true, Gate::Shut) => {
            format!("Everything is paused. /resumeall first, then {resume} to continue.")
        }
        (false, Gate::Open) if is_here(session, about) => "The next message resumes it.".to_owned(),
        (false, Gate::Open) => {
            format!("/switch {}, then the next message resumes it.", session.name)
        }
        (false, Gate::Shut) => {
            "Everything is paused: the next message waits for /resumeall.".to_owned()
        }
    }
}

pub fn restarted(session: &SessionView, about: About<'_>) -> String {
    let restarted = "restarted: a new conversation in the same worktree.";
    did(session, (Done::Now, about), (restarted, restarted))
}

/// A session was resumed, or is to be as soon as it can.
pub fn resumed(session: &SessionView, (done, about): (Done, About<'_>)) -> String {
    let done = match waits(session) {
        Some(waits) if is_here(session, about) => waits.to_owned(),
        Some(waits) => format!("{}: {waits}", session.name),
        None => did(session, (done, about), ("resumed.", "runs already.")),
    };
    format!("{done}{}", was_asking(session))
}

/// What a session asked when its process ended, a line for each: those questions went with it.
pub(super) fn was_asking(session: &SessionView) -> String {
    let line = |ask: &WaitingFor| {
        format!("\nIt asked, and got no answer: {}", short(&in_sight(&ask.text), LOG_CHARS))
    };
    session.was_asking.iter().map(line).collect()
}

/// What became of a question whose session was stopped.
const STOPPED_UNANSWERED: &str = "Not answered: the session was stopped";

/// What became of a question that went with the process of a session.
pub fn unanswered(session: &SessionView) -> &'static str {
    // The process ends before the stop does.
    if session.operation.as_deref() == Some("stop") {
        return STOPPED_UNANSWERED;
    }
    match session.status {
        Status::Pausing | Status::Paused => "Not answered: the session was paused",
        Status::Suspended => STOPPED_UNANSWERED,
        _ => "Not answered: its process has ended",
    }
}

/// Everything may go on: what does, what was paused by itself and stays so, and why others do not.
pub fn all_resumed(resumed: &[String], paused: &[&str], failed: &[String]) -> String {
    let all = paused.is_empty() && failed.is_empty();
    let done = match (resumed, all) {
        ([], true) => "Everything is resumed.".to_owned(),
        (_, true) => format!("Everything is resumed: {}.", resumed.join(", ")),
        ([], false) => "Agents start again.".to_owned(),
        (_, false) => format!("Resumed: {}.", resumed.join(", ")),
    };
    let not_resumed = |why: &String| format!("\nNot resumed: {why}");
    let done = done + &failed.iter().map(not_resumed).collect::<String>();
    match paused {
        [] => done,
        [one] => format!("{done}\nStill paused: {one}. /switch {one}, then /resume to continue."),
        many => {
            let all = many.join(", ");
            format!("{done}\nStill paused: {all}. /switch NAME, then /resume continues one.")
        }
    }
}

/// What everything is after it was asked to pause.
pub fn gate(gate: &GateView) -> String {
    match gate.state.as_str() {
        "paused" => ALL_PAUSED.to_owned(),
        "pausing" => format!(
            "Everything is being paused. Still at work: {}. They are paused at the end of their turn.",
            gate.waits_for.join(", ")
        ),
        _ => "Everything is resumed.".to_owned(),
    }
}
