//! How long a session may be idle, and when it is suspended.

use glis_wire::view::SessionView;

/// What `timeout NAME` says.
pub(crate) fn idle_timeout(s: &SessionView) -> String {
    format!("Current idle timeout: {}", minutes(s))
}

/// What `timeout NAME MINUTES` says.
pub(crate) fn idle_timeout_set(s: &SessionView) -> String {
    format!("Idle timeout set to {}", minutes(s))
}

/// What `show` says.
pub(super) fn whole(s: &SessionView) -> String {
    match &s.suspend_at {
        Some(at) => format!("{}; suspended at {at} if it stays idle", minutes(s)),
        None => minutes(s),
    }
}

/// A time that is no whole minute was given in seconds.
fn minutes(s: &SessionView) -> String {
    let (minutes, rest) = (s.idle_timeout_secs / 60, s.idle_timeout_secs % 60);
    let counted = |number: u64, unit: &str| match number {
        0 => None,
        1 => Some(format!("1 {unit}")),
        number => Some(format!("{number} {unit}s")),
    };
    let parts = [counted(minutes, "minute"), counted(rest, "second")];
    let told: Vec<_> = parts.into_iter().flatten().collect();
    if told.is_empty() { "off".to_owned() } else { told.join(" ") }
}
