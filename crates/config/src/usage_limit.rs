//! Whether a session goes on by itself after a usage limit, and within which bounds.

use crate::idle::seconds;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What is set about sessions that are parked at a usage limit.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsageLimitConfig {
    pub resume: bool,
    pub until: Option<Until>,
    pub windows: u32,
    pub quiet: Option<Quiet>,
}

impl Default for UsageLimitConfig {
    fn default() -> Self {
        // A day's work of an agent whose allowance lasts for five hours at a time.
        Self { resume: false, until: None, windows: 3, quiet: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Up to 23.
    pub hour: i8,
    /// Up to 59.
    pub minute: i8,
}

/// The latest moment that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Until {
    /// The first such time of day after the limit was met.
    Clock(Clock),
    Span(Duration),
}

/// Hours of the day, perhaps over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Quiet {
    /// They begin at this time,
    pub from: Clock,
    /// and are over at this one.
    pub to: Clock,
}

/// `18:30`, as people write it.
fn clock(told: &str) -> Option<Clock> {
    let (hour, minute) = told.trim().split_once(':')?;
    let (hour, minute) = (hour.parse().ok()?, minute.parse().ok()?);
    ((0..24).contains(&hour) && (0..60).contains(&minute)).then_some(Clock { hour, minute })
}

impl std::fmt::Display for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

impl TryFrom<String> for Until {
    type Error = String;

    fn try_from(told: String) -> Result<Self, String> {
        let span = || seconds(&told).map(|secs| Self::Span(Duration::from_secs(secs)));
        clock(&told).map(Self::Clock).or_else(span).ok_or_else(|| {
            format!("{told:?} is neither a time of day nor a span; \"08:00\" and \"6h\" are")
        })
    }
}

impl From<Until> for String {
    fn from(until: Until) -> Self {
        match until {
            Until::Clock(clock) => clock.to_string(),
            Until::Span(span) => format!("{}s", span.as_secs()),
        }
    }
}

impl TryFrom<String> for Quiet {
    type Error = String;

    fn try_from(told: String) -> Result<Self, String> {
        let hours = told.split_once('-').and_then(|(from, to)| Some((clock(from)?, clock(to)?)));
        match hours {
            Some((from, to)) if from != to => Ok(Self { from, to }),
            Some(_) => Err(format!("{told:?} is a whole day, or nothing")),
            None => Err(format!("{told:?} are no hours; \"22:00-07:00\" are")),
        }
    }
}

impl From<Quiet> for String {
    fn from(quiet: Quiet) -> Self {
        format!("{}-{}", quiet.from, quiet.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<UsageLimitConfig, String> {
        toml::from_str(text).map_err(|fault| fault.message().to_owned())
    }

    #[test]
    fn nothing_goes_on_by_itself_unless_it_is_allowed() {
        let usual = read("").unwrap();
        assert_eq!((usual.resume, usual.windows), (false, 3));
        assert_eq!((usual.until, usual.quiet), (None, None));
    }

    #[test]
    fn bounds_are_times_of_day_and_spans() {
        let until = |text: &str| read(&format!("until = {text:?}")).map(|limit| limit.until);
        assert_eq!(until("08:00"), Ok(Some(Until::Clock(Clock { hour: 8, minute: 0 }))));
        assert_eq!(until("6h"), Ok(Some(Until::Span(Duration::from_secs(21_600)))));
        for other in ["", "8", "24:00", "8:60", "soon", "-1:00"] {
            assert!(until(other).unwrap_err().contains("neither"), "{other}");
        }
        let quiet = read("quiet = \"22:00 - 07:30\"").unwrap().quiet.unwrap();
        assert_eq!(String::from(quiet), "22:00-07:30");
        assert!(read("quiet = \"22:00\"").unwrap_err().contains("no hours"));
        assert!(read("quiet = \"22:00-22:00\"").unwrap_err().contains("whole day"));
    }
}
