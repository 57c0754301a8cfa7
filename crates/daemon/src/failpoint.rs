//! Places where a test can have the daemon die or fail. Those that kill exist in debug builds only;
//! what becomes of an internal error of glis has to be seen on the shipped program too, and a user
//! who sets the daemon's environment may end it anyway.

use glis_core::Recorded;

/// Kills this very process, as `kill -9` would, if the test asked for it at this side of one of
/// these events: `GLIS_FAILPOINT=before:paused`.
pub(crate) fn pass(side: &str, events: &[Recorded]) {
    // In a released program nothing can be asked for.
    if !cfg!(debug_assertions) {
        return;
    }
    let Ok(wanted) = std::env::var("GLIS_FAILPOINT") else { return };
    let named = |recorded: &Recorded| {
        wanted.strip_prefix(side).and_then(|rest| rest.strip_prefix(':'))
            == Some(&crate::view::event_name(&recorded.event))
    };
    if events.iter().any(named) {
        let this = rustix::process::getpid();
        // The signal is on its way when this returns, if it returns at all.
        rustix::process::kill_process(this, rustix::process::Signal::KILL).ok();
        std::process::abort();
    }
}

/// Panics or aborts here, if the test asked for it at this place, for what has this name:
/// `GLIS_FAILPOINT=panic@save@blue`, `GLIS_FAILPOINT=abort@save@blue`.
#[expect(clippy::panic, reason = "that is what the test asks for")]
pub(crate) fn reach(place: &str, name: &str) {
    let Ok(wanted) = std::env::var("GLIS_FAILPOINT") else { return };
    let mut parts = wanted.split('@');
    let how = parts.next();
    if parts.next() != Some(place) || parts.next() != Some(name) {
        return;
    }
    match how {
        Some("panic") => panic!("a test asked for it at {place}"),
        Some("abort") => std::process::abort(),
        Some(_) | None => {}
    }
}

/// The protocol that this daemon claims to speak, if a test asked for one:
/// `GLIS_FAILPOINT=protocol:9`.
pub(crate) fn protocol() -> Option<u32> {
    std::env::var("GLIS_FAILPOINT").ok()?.strip_prefix("protocol:")?.parse().ok()
}
