//! What is used of a budget.

use crate::budget::{Budget, counted, plain_dollars};
use crate::rare::Seldom;
use crate::timer::WallMs;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// From here on a person is told that it goes towards its end.
pub const WARN_PERCENT: u64 = 80;
/// The answers to the question whether as much is granted again.
pub(crate) const GRANT: &str = "grant";
pub(crate) const LEAVE: &str = "leave";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Used {
    pub cost_micros: u64,
    pub tokens: u64,
    /// Time at work.
    pub ms: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spending {
    /// All that was ever used, as far as it was told.
    pub used: Used,
    /// What was used when the budget was granted: it counts from there.
    pub since: Used,
    /// It was told that it goes towards its end.
    pub warned: bool,
    /// What is used up, until as much is granted again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<String>,
    /// Since when the session is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_since: Option<WallMs>,
}

impl Spending {
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What was used of the budget that counts now.
    pub fn spent(&self) -> Used {
        let Used { cost_micros, tokens, ms } = self.used;
        Used {
            cost_micros: cost_micros.saturating_sub(self.since.cost_micros),
            tokens: tokens.saturating_sub(self.since.tokens),
            ms: ms.saturating_sub(self.since.ms),
        }
    }

    /// How far it goes, in percent, and what of it goes so far: `$4.10 of $5`.
    pub fn share(&self, budget: &Budget) -> Option<(u64, String)> {
        let spent = self.spent();
        let share = |spent: u64, most: u64| spent.saturating_mul(100) / most.max(1);
        let money = budget.cost_micros.map(|most| {
            let (is, may) = (plain_dollars(spent.cost_micros), plain_dollars(most));
            (share(spent.cost_micros, most), format!("${is} of ${may}"))
        });
        let tokens = budget.tokens.map(|most| {
            let (is, may) = (counted(spent.tokens), counted(most));
            (share(spent.tokens, most), format!("{is} of {may} tokens"))
        });
        let time = budget.secs.map(|most| {
            let secs = spent.ms / 1000;
            (share(secs, most), worked(secs, most))
        });
        [money, tokens, time].into_iter().flatten().max_by_key(|(share, _)| *share)
    }

    /// It counts from here on.
    pub(crate) fn grant(&mut self) {
        let busy_since = self.busy_since;
        *self = Self { used: self.used, since: self.used, busy_since, ..Self::default() };
    }

    pub(crate) fn apply(&mut self, event: &SpendingEvent) {
        match event {
            // It is folded where the day is.
            SpendingEvent::Began { .. } => {}
            // What was used before counts for nothing.
            SpendingEvent::Set { cost_micros, tokens, .. } => {
                (self.used.cost_micros, self.used.tokens) = (*cost_micros, *tokens);
                self.grant();
                self.busy_since = None;
            }
            SpendingEvent::Used { cost_micros, tokens } => {
                (self.used.cost_micros, self.used.tokens) = (*cost_micros, *tokens);
            }
            SpendingEvent::Warned { .. } => self.warned = true,
            SpendingEvent::Reached { what } => self.reached = Some(what.clone()),
            SpendingEvent::Granted => self.grant(),
        }
    }
}

impl Seldom for Spending {
    fn nothing() -> &'static Self {
        static NOTHING: LazyLock<Spending> = LazyLock::new(Spending::default);
        &NOTHING
    }
}

/// What happens to a budget: of a session, or of the day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpendingEvent {
    /// Of the day: it is another one.
    Began { date: String },
    /// It is another one, or none, and counts from here: so much was used before.
    Set { budget: Option<Box<Budget>>, cost_micros: u64, tokens: u64 },
    /// So much was ever used by now; of the day, on that day.
    Used { cost_micros: u64, tokens: u64 },
    /// It goes towards its end.
    Warned { what: String },
    /// It is used up.
    Reached { what: String },
    /// As much again.
    Granted,
}

/// What all sessions together have used today.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Day {
    /// Which day it is, as a person reads it.
    pub date: String,
    pub spending: Spending,
}

impl Day {
    /// What is used up, said of a session that is stopped for it.
    pub(crate) fn reached(&self) -> Option<String> {
        self.spending.reached.as_ref().map(|what| format!("today: {what}"))
    }

    pub(crate) fn apply(&mut self, event: &SpendingEvent) {
        if let SpendingEvent::Began { date } = event {
            *self = Self { date: date.clone(), ..Self::default() };
        }
        self.spending.apply(event);
    }
}

/// Time at work, of so much.
pub(crate) fn worked(secs: u64, most: u64) -> String {
    format!("{} of {} at work", lasted(secs), lasted(most))
}

/// As it is told: a minute more or less is nothing to somebody who reads hours.
fn lasted(secs: u64) -> String {
    match secs {
        0..60 => format!("{secs}s"),
        60..3600 => format!("{}m", secs / 60),
        _ => match secs % 3600 / 60 {
            0 => format!("{}h", secs / 3600),
            minutes => format!("{}h {minutes}m", secs / 3600),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(told: &str) -> Budget {
        told.parse().unwrap()
    }

    #[test]
    fn the_part_that_goes_furthest_is_told() {
        let used = Used { cost_micros: 4_101_000, tokens: 30_500, ms: 6_540_000 };
        let spending = Spending { used, ..Spending::default() };
        let share = |told| spending.share(&budget(told));
        let of = |percent, words: &str| Some((percent, words.to_owned()));
        assert_eq!(share("usd=5,tokens=200k"), of(82, "$4.11 of $5"));
        assert_eq!(share("tokens=31k"), of(98, "30k of 31k tokens"));
        assert_eq!(share("tokens=30k,time=3h"), of(101, "30k of 30k tokens"));
        assert_eq!(share("time=2h"), of(90, "1h 49m of 2h at work"));
        assert_eq!(spending.share(&Budget::default()), None);
        let mut again = spending.clone();
        again.grant();
        assert_eq!(again.share(&budget("usd=5")), of(0, "$0 of $5"));
        assert_eq!(again.share(&budget("tokens=2M")), of(0, "0 of 2M tokens"));
    }
}
