//! Wall-clock time as text: UTC, by hand, since nothing else here needs a calendar.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SECS_PER_DAY: u64 = 86_400;

/// Says the present moment, as in `2026-03-01T12:00:00.250Z`.
pub(crate) fn now() -> String {
    utc(SystemTime::now())
}

/// Says the moment `wait` from here.
pub(crate) fn after(wait: Duration) -> String {
    SystemTime::now().checked_add(wait).map_or_else(now, utc)
}

fn utc(moment: SystemTime) -> String {
    // A clock before 1970 is a broken clock, and the epoch says so plainly enough.
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, secs) = (since.as_secs() / SECS_PER_DAY, since.as_secs() % SECS_PER_DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (secs / 3600, secs / 60 % 60, secs % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Turns days since 1970 into year, month and day.
///
/// Years are counted from March, so the leap day is the last of its year and every month's first
/// day follows from one linear formula.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468; // Days from 0000-03-01 to 1970-01-01.
    let (era, of_era) = (shifted / 146_097, shifted % 146_097); // 400 years.
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secs: u64, expected: &str) {
        assert_eq!(utc(UNIX_EPOCH + Duration::from_millis(secs * 1000 + 7)), expected);
    }

    #[test]
    fn known_moments_are_written_as_calendars_write_them() {
        check(0, "1970-01-01T00:00:00.007Z");
        check(951_782_399, "2000-02-28T23:59:59.007Z");
        check(951_782_400, "2000-02-29T00:00:00.007Z");
        check(1_709_251_200, "2024-03-01T00:00:00.007Z");
        check(4_102_444_799, "2099-12-31T23:59:59.007Z");
    }
}
