//! Places where a test can have the daemon die. They exist in debug builds only.

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

/// The protocol that this daemon claims to speak, if a test asked for one:
/// `GLIS_FAILPOINT=protocol:9`.
pub(crate) fn protocol() -> Option<u32> {
    if !cfg!(debug_assertions) {
        return None;
    }
    std::env::var("GLIS_FAILPOINT").ok()?.strip_prefix("protocol:")?.parse().ok()
}
