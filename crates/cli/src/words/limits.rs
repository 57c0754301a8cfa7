//! Words about how many agents run at once.

use glis_core::session::Deferral;
use glis_verbs::complaint::gate::run;
use glis_wire::view::{LimitsView, SessionView};

/// What is worth a line: more agents run than is wished, or sessions wait for a place.
pub(crate) fn told(limits: &LimitsView) -> Vec<String> {
    crowded(limits).into_iter().chain(full(limits)).collect()
}

/// More agents run than is wished.
pub(crate) fn crowded(limits: &LimitsView) -> Option<String> {
    let (agents, warn) = (limits.agents.len(), limits.warn);
    (warn > 0 && u32::try_from(agents).unwrap_or(u32::MAX) > warn)
        .then(|| format!("warning: {} at once; `[concurrency] warn` is {warn}", run(agents)))
}

/// Sessions wait for a place.
pub(crate) fn full(limits: &LimitsView) -> Option<String> {
    let LimitsView { agents, waiting, live, .. } = limits;
    let verb = if waiting.len() == 1 { "waits" } else { "wait" };
    (!waiting.is_empty()).then(|| {
        format!(
            "{} {verb} for a place: {}, `[concurrency] live` is {live} ({}). `glis stop NAME` or \
             `glis pause NAME` frees a place; the same on one that waits withdraws it",
            waiting.join(", "),
            run(agents.len()),
            agents.join(", ")
        )
    })
}

/// Whether a session waits for a place.
pub(crate) fn waits(session: &SessionView) -> bool {
    session.waits_to_start == Some(Deferral::Limit)
}
