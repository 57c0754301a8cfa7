//! When a usage limit ends, by the calendar: what an agent tells becomes seconds since 1970.

use glis_agent::reset::{self, Reset};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

/// A time of day that has passed by less than this was told before it was heard; one that has passed
/// by more is that of the next day.
const HEARD_LATE: SignedDuration = SignedDuration::from_hours(1);

/// What an agent tells, as seconds since 1970 if that can be known, and otherwise as it was told.
pub(crate) fn in_seconds(told: String) -> String {
    let now = crate::clock::now().to_zoned(TimeZone::system());
    seconds(&told, &now).map_or(told, |seconds| seconds.to_string())
}

/// The seconds since 1970 at which a limit ends that was told now.
fn seconds(told: &str, now: &Zoned) -> Option<i64> {
    match reset::read(told)? {
        Reset::Unix(seconds) => Some(seconds),
        Reset::In(seconds) => now.timestamp().as_second().checked_add(seconds),
        Reset::Moment(moment) => Some(moment.parse::<Timestamp>().ok()?.as_second()),
        Reset::Clock { day, year, hour, minute, zone } => {
            let zone = match zone {
                Some(name) => TimeZone::get(&name).ok()?,
                None => now.time_zone().clone(),
            };
            let there = now.with_time_zone(zone.clone());
            let time = Time::new(hour, minute, 0, 0).ok()?;
            let on =
                |date: Date| Some(date.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp());
            let soon = |at: &Timestamp| *at > now.timestamp() - HEARD_LATE;
            let (first, next) = match day {
                None => (there.date(), there.date().tomorrow().ok()?),
                Some((month, day)) => {
                    let year = year.unwrap_or_else(|| there.year());
                    let of = |year| Date::new(year, month, day).ok();
                    (of(year)?, of(year.checked_add(1)?)?)
                }
            };
            let at = on(first)?;
            let at = if soon(&at) || year.is_some() { at } else { on(next)? };
            Some(at.as_second())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a time becomes that is told in Zurich, on a Monday at half past two in the afternoon.
    fn told(words: &str) -> Option<String> {
        let now: Zoned = "2026-11-16T14:30:00+01:00[Europe/Zurich]".parse().unwrap();
        let at = seconds(words, &now)?;
        Some(Timestamp::from_second(at).unwrap().to_string())
    }

    #[test]
    fn what_the_agents_tell_becomes_a_time() {
        let cases = [
            ("1794810488", "2026-11-16T06:28:08Z"),
            ("resets 3pm (Europe/Zurich)", "2026-11-16T14:00:00Z"),
            ("resets 3pm (America/New_York)", "2026-11-16T20:00:00Z"),
            ("resets Nov 20, 10:34pm (Europe/Zurich)", "2026-11-20T21:34:00Z"),
            ("try again at 6:24 PM.", "2026-11-16T17:24:00Z"),
            ("try again at Nov 19th, 2026 5:44 PM.", "2026-11-19T16:44:00Z"),
            ("try again in 2 days 3 hours", "2026-11-18T16:30:00Z"),
            ("2026-11-16T18:00:00Z", "2026-11-16T18:00:00Z"),
            // Of the next day, of the next year, and of a moment ago.
            ("9:00 AM", "2026-11-17T08:00:00Z"),
            ("Jan 2, 9am", "2027-01-02T08:00:00Z"),
            ("2:15 PM", "2026-11-16T13:15:00Z"),
        ];
        for (words, at) in cases {
            assert_eq!(told(words).as_deref(), Some(at), "{words}");
        }
    }

    #[test]
    fn what_no_calendar_has_is_unknown() {
        for words in
            ["", "soon", "resets 3pm (Middle/Earth)", "Feb 30, 3pm", "2026-13-45T99:00:00Z"]
        {
            assert_eq!(told(words), None, "{words}");
        }
    }

    /// An hour that the clocks leave out is taken for the one behind it.
    #[test]
    fn a_time_that_summer_leaves_out_is_found() {
        let now: Zoned = "2026-03-29T01:00:00+01:00[Europe/Zurich]".parse().unwrap();
        let at = seconds("2:30am", &now).map(|at| Timestamp::from_second(at).unwrap().to_string());
        assert_eq!(at.as_deref(), Some("2026-03-29T01:30:00Z"));
    }
}
