//! When a usage limit ends, read from the words in which an agent tells it.

/// A time as an agent tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// Seconds since 1970.
    Unix(i64),
    /// So many seconds after it was told.
    In(i64),
    /// A time of day, perhaps of a certain day.
    Clock {
        /// Day of a month, from 1 on.
        day: Option<(i8, i8)>,
        year: Option<i16>,
        hour: i8,
        minute: i8,
        /// The name of the time zone; without one it is that of the agent's machine.
        zone: Option<String>,
    },
    /// A moment as RFC 3339 writes it.
    Moment(String),
}

/// What stands before the time in the agents' own sentences.
const LEADS: [&str; 6] =
    ["try again at ", "try again in ", "retry in ", "resets in ", "resets at ", "resets "];

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Longer than any limit lasts: what is told beyond it is something else.
const SECS_MAX: i64 = 366 * 24 * 3600;

/// Reads what an agent tells; nothing if no time is in it, or one that could be meant in two ways.
pub fn read(told: &str) -> Option<Reset> {
    let told = told.trim().trim_end_matches('.');
    if let Ok(number) = told.parse::<i64>() {
        return since_1970(number);
    }
    let lower = told.to_ascii_lowercase();
    let (lead, time) = LEADS
        .iter()
        .find_map(|lead| lower.split_once(lead).map(|(_, time)| (*lead, time)))
        .unwrap_or(("", &lower));
    let is_span = lead.ends_with("in ");
    match span(time) {
        Some(secs) if is_span || lead.is_empty() => return Some(Reset::In(secs)),
        Some(_) | None if is_span => return None,
        Some(_) | None => {}
    }
    let zone = zone(told);
    clock(time.split_once('(').map_or(time, |(time, _)| time), zone).or_else(|| moment(told))
}

/// Some tell it in thousandths.
fn since_1970(number: i64) -> Option<Reset> {
    match number {
        1_000_000_000..100_000_000_000 => Some(Reset::Unix(number)),
        1_000_000_000_000..100_000_000_000_000 => Some(Reset::Unix(number / 1000)),
        _ => None,
    }
}

/// The name in brackets at the end, as it was written.
fn zone(told: &str) -> Option<String> {
    let (_, named) = told.rsplit_once('(')?;
    named.strip_suffix(')').map(str::to_owned)
}

/// `2 days 3 hours`, `1h 5m`, `37.5s`.
fn span(told: &str) -> Option<i64> {
    let mut secs = 0_i64;
    let mut number: Option<i64> = None;
    for word in told.split([' ', ',']).filter(|word| !word.is_empty() && *word != "and") {
        let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        let (count, unit) = word.split_at(digits);
        // A part of a second is waited for as a whole one.
        let unit = unit
            .strip_prefix('.')
            .map_or(unit, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        let part_of_one = i64::from(word.contains('.'));
        let count = match (count.is_empty(), number.take()) {
            (false, None) => count.parse::<i64>().ok()?.checked_add(part_of_one)?,
            (true, Some(count)) => count,
            (false, Some(_)) | (true, None) => return None,
        };
        if unit.is_empty() {
            number = Some(count);
            continue;
        }
        secs = secs.checked_add(count.checked_mul(unit_secs(unit)?)?)?;
    }
    (number.is_none() && (1..=SECS_MAX).contains(&secs)).then_some(secs)
}

fn unit_secs(unit: &str) -> Option<i64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        _ => return None,
    })
}

/// `3pm`, `7:28am`, `10:00 PM`, `nov 20, 10:34pm`, `nov 19th, 2026 5:44 pm`.
fn clock(told: &str, zone: Option<String>) -> Option<Reset> {
    let words: Vec<&str> = told.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let (words, half) = match words.as_slice() {
        [rest @ .., half @ ("am" | "pm")] => (rest, *half),
        words => (words, ""),
    };
    let (time, before) = words.split_last()?;
    let (time, half) = match (time.strip_suffix("am"), time.strip_suffix("pm"), half) {
        (Some(time), None, "") => (time, "am"),
        (None, Some(time), "") => (time, "pm"),
        (None, None, half) => (*time, half),
        (Some(_), _, _) | (_, Some(_), _) => return None,
    };
    let (hour, minute) = time.split_once(':').unwrap_or((time, "0"));
    let (hour, minute) = (hour.parse::<i8>().ok()?, minute.parse::<i8>().ok()?);
    let hour = match (half, hour) {
        ("am", 12) => 0,
        ("am", 1..=11) | ("", 0..=23) => hour,
        ("pm", 12) => 12,
        ("pm", 1..=11) => hour + 12,
        _ => return None,
    };
    // A bare number is no time of day.
    if !(0..60).contains(&minute) || (half.is_empty() && !time.contains(':')) {
        return None;
    }
    let (day, year) = match before {
        [] | ["at"] => (None, None),
        [month, day] | [month, day, "at"] => (Some(day_of(month, day)?), None),
        [month, day, year] => (Some(day_of(month, day)?), Some(year.parse::<i16>().ok()?)),
        _ => return None,
    };
    Some(Reset::Clock { day, year, hour, minute, zone })
}

fn day_of(month: &str, day: &str) -> Option<(i8, i8)> {
    let short = month.get(..3)?;
    let month = MONTHS.iter().position(|known| *known == short)?;
    let day = day.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<i8>().ok()?;
    let month = i8::try_from(month).ok()? + 1;
    (1..=31).contains(&day).then_some((month, day))
}

/// Whoever knows calendars finds out whether it is one.
fn moment(told: &str) -> Option<Reset> {
    let looks_so = told.len() >= 20
        && told.starts_with(|c: char| c.is_ascii_digit())
        && told.contains('T')
        && told.contains(':');
    looks_so.then(|| Reset::Moment(told.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: Option<(i8, i8)>, year: Option<i16>, (hour, minute): (i8, i8)) -> Reset {
        Reset::Clock { day, year, hour, minute, zone: None }
    }

    #[test]
    fn a_number_is_a_time_since_1970() {
        assert_eq!(read("1794810488"), Some(Reset::Unix(1_794_810_488)));
        assert_eq!(read("1794810488123"), Some(Reset::Unix(1_794_810_488)));
        for other in ["0", "3", "-5", "99999999999999999999", "2026"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_time_of_day_is_read_as_the_agents_write_it() {
        let zurich = |day, hour, minute| {
            let zone = Some("Europe/Zurich".to_owned());
            Some(Reset::Clock { day, year: None, hour, minute, zone })
        };
        let claude = "You've hit your 5-hour limit \u{b7} resets";
        assert_eq!(read(&format!("{claude} 7:28am (Europe/Zurich)")), zurich(None, 7, 28));
        assert_eq!(read("resets 3pm (Europe/Zurich)"), zurich(None, 15, 0));
        let on = read(&format!("{claude} Nov 20, 10:34pm (Europe/Zurich)"));
        assert_eq!(on, zurich(Some((11, 20)), 22, 34));
        let codex = "You\u{2019}ve hit your usage limit. Visit https://x.y/z to purchase more or try again at";
        assert_eq!(read(&format!("{codex} 6:24 AM.")), Some(at(None, None, (6, 24))));
        let on = read(&format!("{codex} Nov 19th, 2026 5:44 PM."));
        assert_eq!(on, Some(at(Some((11, 19)), Some(2026), (17, 44))));
        assert_eq!(read("12:00 AM"), Some(at(None, None, (0, 0))));
        assert_eq!(read("12pm"), Some(at(None, None, (12, 0))));
        assert_eq!(read("18:30"), Some(at(None, None, (18, 30))));
    }

    #[test]
    fn a_span_is_read_in_long_and_short_words() {
        let cases = [
            ("try again in 2 days 3 hours", 183_600),
            ("Please try again in 5 minutes.", 300),
            ("resets in 1h 5m", 3900),
            ("retry in 37.5s", 38),
            ("2 days, 3 hours and 1 minute", 183_660),
        ];
        for (told, secs) in cases {
            assert_eq!(read(told), Some(Reset::In(secs)), "{told}");
        }
    }

    #[test]
    fn a_moment_is_left_to_a_calendar() {
        let told = "2026-11-16T06:00:00Z";
        assert_eq!(read(told), Some(Reset::Moment(told.to_owned())));
    }

    #[test]
    fn what_tells_no_time_is_unknown() {
        let told = [
            "",
            "soon",
            "later today",
            "try again in a while",
            "resets tomorrow",
            "13pm",
            "0am",
            "25:00",
            "6:75 PM",
            "resets Foo 12, 3pm",
            "resets Nov 45, 3pm",
            "in 3 fortnights",
            "try again in 99999999999 days",
            "3",
            "resets 3",
            "3pm pm",
            "\u{663}pm",
        ];
        for told in told {
            assert_eq!(read(told), None, "{told:?}");
        }
    }
}
