//! How a loop reads to a person.

use super::{created, plain};
use glis_core::looping::{Breaker, LoopContext, LoopEnd, STALE_MAX};
use glis_wire::view::{LoopView, SessionRow, SessionView};

pub(crate) fn begun(s: &SessionView, notes: &[String]) -> String {
    let name = &s.name;
    let mut lines = vec![created(s, notes)];
    if let Some(own) = &s.looped {
        lines.push(format!("{}{}", brief(own), limits(own)));
    }
    lines.push(format!(
        "`glis pause {name}` pauses it after the iteration, `glis show {name}` tells how far it is"
    ));
    lines.join("\n")
}

pub(crate) fn set(s: &SessionView) -> String {
    let own = s.looped.as_deref();
    own.map_or(String::new(), |own| format!("`{}`: {}{}", s.name, brief(own), limits(own)))
}

/// What `resume` says of one that goes on: with the iteration that was cut, or with the next.
pub(super) fn resumed(s: &SessionView) -> Option<String> {
    let own = s.looped.as_deref().filter(|own| own.state == "running")?;
    let id = s.agent_session_ref.as_ref()?;
    Some(format!("{}, in the conversation {id}", brief(own)))
}

/// What `ls` says of one.
pub(super) fn note(s: &SessionRow) -> Option<String> {
    let own = s.looped.as_deref()?;
    let why = own.broke.map(|by| format!(": {}", broke(by, own)));
    let why = why.or_else(|| own.done_by.map(|by| format!(": {}", done(by))));
    let tasks = counts(s).map_or(String::new(), |tasks| format!(" {tasks}"));
    Some(format!("{}{tasks}{}", brief(own), why.unwrap_or_default()))
}

/// What `show` says of one.
pub(super) fn whole(s: &SessionView) -> Option<String> {
    let own = s.looped.as_deref()?;
    let mut parts = vec![format!("{}{}", brief(own), limits(own))];
    if own.failures > 0 {
        parts.push(format!("{} in a row failed", own.failures));
    }
    if own.without_progress > 0 {
        parts.push(format!("{} in a row changed nothing", own.without_progress));
    }
    parts.extend(own.cost.map(|cost| format!("${cost:.4} so far")));
    parts.extend(own.broke.map(|by| format!("paused by itself, because {}", broke(by, own))));
    parts.extend(own.done_by.map(|by| done(by).to_owned()));
    parts.extend(own.note.as_ref().map(|note| format!("after the last one: {}", plain(note))));
    Some(parts.join("; "))
}

/// The tasks of a session, as `\u{2713}2 \u{25cf}1 \u{25cb}3`.
pub(super) fn counts(s: &SessionRow) -> Option<String> {
    let any = s.tasks_done + s.tasks_active + s.tasks_open > 0;
    let SessionRow { tasks_done, tasks_active, tasks_open, .. } = s;
    any.then(|| format!("\u{2713}{tasks_done} \u{25cf}{tasks_active} \u{25cb}{tasks_open}"))
}

/// Which iteration it is at, and whether it goes on.
fn brief(own: &LoopView) -> String {
    let of = own.max.map_or(String::new(), |max| format!(" of {max}"));
    let state = match own.state.as_str() {
        "running" => String::new(),
        "pausing" => ", PAUSING... after this iteration".to_owned(),
        other => format!(", {other}"),
    };
    format!("iteration {}{of}{state}", own.iteration)
}

fn limits(own: &LoopView) -> String {
    let mut parts = Vec::new();
    parts.extend(own.until.as_ref().map(|line| format!("until `{}`", plain(line))));
    parts.extend(own.spec.as_ref().map(|path| format!("from {}", plain(path))));
    if own.context == LoopContext::Continue {
        parts.push("in one conversation".to_owned());
    }
    if own.auto_commit {
        parts.push("each committed".to_owned());
    }
    parts.extend(own.max_cost.map(|most| format!("for ${most} at most")));
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn broke(by: Breaker, own: &LoopView) -> String {
    match by {
        Breaker::Failures => format!("{} iterations in a row failed", own.failures),
        Breaker::NoProgress => format!("{STALE_MAX} iterations in a row changed nothing"),
        Breaker::NotResumable => "its agent does not come back".to_owned(),
        Breaker::Cost => "it reached its cost limit".to_owned(),
    }
}

fn done(by: LoopEnd) -> &'static str {
    match by {
        LoopEnd::Max => "as many as were asked for",
        LoopEnd::Until => "goal reached",
        LoopEnd::List => "its list is done",
    }
}
