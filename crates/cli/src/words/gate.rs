//! Words about the gate: everything is paused, or is not any more.

use glis_core::Status;
use glis_core::session::Deferral;
use glis_wire::view::{GateView, SessionRow};

/// How the gate is, where that is worth a line.
pub(crate) fn shut(gate: &GateView) -> Option<String> {
    let since = gate.since.as_deref().unwrap_or_default();
    match gate.state.as_str() {
        "paused" => Some(format!(
            "everything is paused since {since}: nothing starts until `glis resume --all`"
        )),
        "pausing" => Some(format!(
            "everything is being paused since {since}; still at work: {}. `--mode interrupt` or `--mode \
             force` hastens, `glis resume --all` calls it off",
            list(&gate.waits_for)
        )),
        _ => None,
    }
}

/// What is told when everything was asked to pause.
pub(crate) fn paused(gate: &GateView) -> String {
    shut(gate).unwrap_or_else(|| "it was resumed before everything had stopped".to_owned())
}

/// Whether `pause --all` has stopped it, so that it comes back with everything and not alone.
pub(crate) fn holds(session: &SessionRow) -> bool {
    let stopped = matches!(session.status, Status::Paused | Status::Pausing);
    stopped && session.waits_to_start == Some(Deferral::Gate)
}

/// What is told when everything was asked to resume, and nothing was stopped.
pub(crate) const NOTHING_STOPPED: &str = "nothing to resume: `glis pause --all` has stopped no session; `glis resume --paused` resumes what was \
     paused one by one";

/// What is told when everything was asked to resume, and nothing that was stopped is left.
pub(crate) const OPENED: &str =
    "nothing is left that `glis pause --all` has stopped; agents start again from now on";

/// What is told when everything was asked to resume.
pub(crate) fn resumed(gate: &GateView) -> Option<String> {
    gate.note.as_ref().map(|note| format!("note: {note}"))
}

/// What a start of a session waits for.
pub(crate) fn waits(session: &SessionRow) -> Option<String> {
    session.waits_to_start.map(|why| match why {
        Deferral::Gate => {
            "everything is paused; it starts by itself after `glis resume --all`".to_owned()
        }
        Deferral::Limit => {
            "as many agents run as `[concurrency] live` allows; it starts by itself when one ends"
                .to_owned()
        }
    })
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
