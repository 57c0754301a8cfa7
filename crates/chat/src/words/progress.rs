//! How far loops are.

use super::short;
use glis_core::looping::{Breaker, LoopEnd};
use glis_wire::view::{LoopView, SessionView};

pub fn loop_now(looped: &LoopView) -> String {
    let of = looped.max.map_or_else(String::new, |max| format!(" of {max}"));
    let cost = looped.cost.map_or_else(String::new, |cost| format!(", ${cost:.2}"));
    format!("Loop {}: iteration {}{of}{cost}", looped.state, looped.iteration)
}

/// An iteration is over, and was looked back at.
pub fn iterated(session: &SessionView, iteration: u64) -> Option<String> {
    let looped = session.looped.as_deref()?;
    let of = looped.max.map_or_else(String::new, |max| format!(" of {max}"));
    let tasks = session.tasks_done + session.tasks_active + session.tasks_open;
    let tasks = match tasks {
        0 => String::new(),
        _ => format!(", {} of {tasks} tasks done", session.tasks_done),
    };
    let note =
        looped.note.as_ref().map_or_else(String::new, |note| format!("; {}", short(note, 200)));
    Some(format!("iteration {iteration}{of} is over{tasks}{note}"))
}

/// A loop has come to its end.
pub fn loop_done(session: &SessionView) -> String {
    let by = session.looped.as_deref().and_then(|looped| looped.done_by);
    match by {
        Some(LoopEnd::List) => "the loop is done: so is its list.".to_owned(),
        Some(LoopEnd::Until) => "the loop is done: what it was to reach is reached.".to_owned(),
        Some(LoopEnd::Max) | None => "the loop is done: that was the last iteration.".to_owned(),
    }
}

/// A loop was paused by itself.
pub fn loop_broke(session: &SessionView) -> String {
    let why = match session.looped.as_deref().and_then(|looped| looped.broke) {
        Some(Breaker::Failures) => "too many iterations in a row have failed",
        Some(Breaker::NoProgress) => "too many iterations in a row have changed nothing",
        Some(Breaker::NotResumable) => "its agent cannot be started",
        Some(Breaker::Cost) => "it has cost what it may cost",
        None => "/status has more",
    };
    format!("the loop paused itself: {why}. /resume to go on.")
}
