//! Wall-clock time as text, in UTC.

use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// Says the present moment, as in `2026-03-01T12:00:00.250Z`.
pub(crate) fn now() -> String {
    utc(Timestamp::now())
}

/// Says the moment `wait` from here.
pub(crate) fn after(wait: Duration) -> String {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    utc(Timestamp::now().saturating_add(wait).unwrap_or(Timestamp::MAX))
}

fn utc(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_three_digits_after_the_second() {
        let at = |millis| Timestamp::from_millisecond(millis).map(utc).unwrap();
        assert_eq!(at(951_782_400_007), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(4_102_444_799_250), "2099-12-31T23:59:59.250Z");
    }

    #[test]
    fn a_wait_beyond_the_calendar_ends_with_it() {
        assert!(after(Duration::MAX).starts_with("9999-12-"));
    }
}
