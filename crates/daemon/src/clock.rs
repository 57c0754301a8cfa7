//! The clock on the wall, which may be wrong. It stamps what people read; nothing is decided or
//! timed by it.

use jiff::{SignedDuration, Timestamp};

/// What time it is. In debug builds a test can set the clock while the daemon runs: `GLIS_CLOCK`
/// names a file with the seconds by which it is wrong.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    // In a released program nothing can be asked for.
    if !cfg!(debug_assertions) {
        return now;
    }
    let wrong_by = || -> Option<i64> {
        let file = std::env::var_os("GLIS_CLOCK")?;
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    let shown = wrong_by().and_then(|secs| now.checked_add(SignedDuration::from_secs(secs)).ok());
    shown.unwrap_or(now)
}

/// What time it is, as people and files read it.
pub(crate) fn stamp() -> String {
    now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
