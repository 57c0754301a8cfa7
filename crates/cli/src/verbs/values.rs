//! Values as they are typed: times, states, one of several words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use glis_core::amount;
use glis_core::looping::LoopChange;
use glis_core::spec::IdleLimit;
use std::time::Duration;

/// Words of which one is typed, what the help says of each, and what it means.
pub(crate) type Choices<T> = &'static [(&'static str, &'static str, T)];

pub(crate) fn one_of<T: Copy + Send + Sync>(
    choices: Choices<T>,
) -> impl TypedValueParser<Value = T> {
    let words = choices.iter().map(|(word, about, _)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(words).try_map(move |typed| {
        let chosen = choices.iter().find(|(word, ..)| *word == typed);
        chosen.map(|(.., meaning)| *meaning).ok_or("there is no such word")
    })
}

/// A number with its unit: 500ms, 30s, 10m, 2h. Idle times are minutes where none stands there, so that
/// nothing else is guessed; nothing needs no unit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is no time; try 30s or 10m"))?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" if text != "0" => {
            return Err(format!("`{text}` has no unit; write {text}s or {text}m"));
        }
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

pub(super) fn count(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is no number from 1 on"))
}

/// An amount such as 5 or $2.50, in millionths of a dollar.
pub(super) fn dollars(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no amount of dollars; try 5 or 2.50");
    amount::dollars(text).ok_or_else(wrong)
}

/// A limit of a loop and what it becomes: `max=7`, `max-cost=none`.
pub(super) fn setting(text: &str) -> Result<LoopChange, String> {
    let known = "there are max=N, max-cost=DOLLARS, max-failures=N and until=CMD";
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` sets nothing; {known}"))?;
    let limit = Some(value).filter(|value| *value != "none");
    let mut change = LoopChange::default();
    match name {
        "max" => change.max = Some(limit.map(count).transpose()?),
        "max-cost" => change.max_cost_micros = Some(limit.map(dollars).transpose()?),
        "max-failures" => change.max_failures = Some(count(value)?),
        "until" => change.until = Some(limit.map(str::to_owned)),
        _ => return Err(format!("a loop has no limit `{name}`; {known}")),
    }
    Ok(change)
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
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert_eq!(duration("60"), Err("`60` has no unit; write 60s or 60m".to_owned()));
        for bad in ["", "x", "5y", "-1s", "1e999", "1.5"] {
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
        let set = |text| setting(text).unwrap();
        assert_eq!(set("max=7").max, Some(Some(7)));
        assert_eq!(set("max=none"), LoopChange { max: Some(None), ..LoopChange::default() });
        assert_eq!(set("max-cost=1.5").max_cost_micros, Some(Some(1_500_000)));
        assert_eq!(set("max-failures=2").max_failures, Some(2));
        assert_eq!(set("until=test a = b").until, Some(Some("test a = b".to_owned())));
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
