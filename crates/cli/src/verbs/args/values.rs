//! Values as they are typed: times, states.

use glis_core::spec::IdleLimit;
use std::time::Duration;

/// A limit of a loop that is there, and what it becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    Max(Option<u32>),
    MaxCost(Option<u64>),
    MaxFailures(u32),
    Until(Option<String>),
}

/// A number with its unit: 500ms, 30s, 10m, 2h. A bare number is seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is no time; try 30s or 10m"))?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("`{unit}` is no unit of time; there are ms, s, m, h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is no time; try 30s or 10m"))
}

/// How long a new session may be idle.
pub(super) fn idle_limit(text: &str) -> Result<IdleLimit, String> {
    text.parse().map_err(|_| format!("`{text}` is no time; try 10 (minutes), 10m, 90s or off"))
}

/// One or more.
pub(super) fn count(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is no number from 1 on"))
}

/// An amount such as 5 or $2.50, in millionths of a dollar.
pub(super) fn dollars(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no amount of dollars; try 5 or 2.50");
    let (whole, part) =
        text.trim_start_matches('$').split_once('.').unwrap_or((text.trim_start_matches('$'), "0"));
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(wrong());
    }
    let millionths = format!("{part:0<6}").parse::<u64>().map_err(|_| wrong())?;
    let whole = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(1_000_000));
    let amount = whole.and_then(|whole| whole.checked_add(millionths)).ok_or_else(wrong)?;
    if amount == 0 { Err(wrong()) } else { Ok(amount) }
}

/// A limit of a loop and what it becomes: `max=7`, `max-cost=none`.
pub(super) fn setting(text: &str) -> Result<Setting, String> {
    let known = "there are max=N, max-cost=DOLLARS, max-failures=N and until=CMD";
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` sets nothing; {known}"))?;
    let lifted = value == "none";
    match name {
        "max" if lifted => Ok(Setting::Max(None)),
        "max" => count(value).map(|number| Setting::Max(Some(number))),
        "max-cost" if lifted => Ok(Setting::MaxCost(None)),
        "max-cost" => dollars(value).map(|amount| Setting::MaxCost(Some(amount))),
        "max-failures" => count(value).map(Setting::MaxFailures),
        "until" if lifted => Ok(Setting::Until(None)),
        "until" => Ok(Setting::Until(Some(value.to_owned()))),
        _ => Err(format!("a loop has no limit `{name}`; {known}")),
    }
}

pub(super) fn status(text: &str) -> Result<glis_core::Status, String> {
    let known = glis_core::Status::ALL;
    known.into_iter().find(|status| status.word() == text).ok_or_else(|| {
        let words: Vec<_> = known.iter().map(|status| status.word()).collect();
        format!("there is no such state; there are {}", words.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "x", "5y", "-1s", "1e999"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn amounts_are_dollars() {
        assert_eq!(dollars("5"), Ok(5_000_000));
        assert_eq!(dollars("$2.50"), Ok(2_500_000));
        assert_eq!(dollars("0.000001"), Ok(1));
        for bad in ["", "0", "-1", "1e3", "1,5", "2.", ".5", "0.0000001", "99999999999999999999"] {
            assert!(dollars(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_are_set_by_name() {
        assert_eq!(setting("max=7"), Ok(Setting::Max(Some(7))));
        assert_eq!(setting("max=none"), Ok(Setting::Max(None)));
        assert_eq!(setting("max-cost=1.5"), Ok(Setting::MaxCost(Some(1_500_000))));
        assert_eq!(setting("max-failures=2"), Ok(Setting::MaxFailures(2)));
        assert_eq!(setting("until=test a = b"), Ok(Setting::Until(Some("test a = b".to_owned()))));
        for bad in ["max", "max=0", "max=x", "max-failures=none", "cost=1", ""] {
            assert!(setting(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn states_are_the_contracts() {
        assert_eq!(status("paused"), Ok(glis_core::Status::Paused));
        assert!(status("Paused").is_err());
    }
}
