//! Values as they are typed: times, states.

use std::time::Duration;

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
    fn states_are_the_contracts() {
        assert_eq!(status("paused"), Ok(glis_core::Status::Paused));
        assert!(status("Paused").is_err());
    }
}
