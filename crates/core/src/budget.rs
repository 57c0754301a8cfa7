//! What may be used of agents.

use crate::amount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What may be used of an agent: by a task, a plan, a session, on a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Budget {
    /// Money, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Tokens, read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Time: of a task that its agent is at work without a rest, of a plan since it was executed, of a session that it
    /// is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secs: Option<u64>,
}

impl Budget {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Its time, if that is limited.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.secs.map(Duration::from_secs)
    }
}

/// What was typed is no budget: its part that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoBudget(pub String);

impl FromStr for Budget {
    type Err = NoBudget;

    /// `usd=5,tokens=200k,time=2h`, each of them once.
    fn from_str(told: &str) -> Result<Self, NoBudget> {
        let mut budget = Self::default();
        for part in told.split(',').map(str::trim) {
            let wrong = || NoBudget(part.to_owned());
            let (what, amount) = part.split_once('=').ok_or_else(wrong)?;
            let (place, read): (_, fn(&str) -> Option<u64>) = match what {
                "usd" => (&mut budget.cost_micros, amount::dollars),
                "tokens" => (&mut budget.tokens, amount::count),
                "time" => (&mut budget.secs, amount::seconds),
                _ => return Err(wrong()),
            };
            if place.is_some() {
                return Err(wrong());
            }
            *place = Some(read(amount).ok_or_else(wrong)?);
        }
        Ok(budget)
    }
}

impl fmt::Display for Budget {
    /// As it is typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.cost_micros.map(|micros| format!("usd={}", plain_dollars(micros))),
            self.tokens.map(|tokens| format!("tokens={}", counted(tokens))),
            self.secs.map(|secs| format!("time={}", timed(secs))),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

/// Dollars without what says nothing: `5`, `2.50`, at most cents where there are any.
pub(crate) fn plain_dollars(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    match cents % 100 {
        _ if (1..10_000).contains(&micros) => {
            format!("0.{micros:06}").trim_end_matches('0').to_owned()
        }
        0 => (cents / 100).to_string(),
        part => format!("{}.{part:02}", cents / 100),
    }
}

pub(crate) fn counted(tokens: u64) -> String {
    match tokens {
        1_000_000.. if tokens.is_multiple_of(1_000_000) || tokens >= 10_000_000 => {
            format!("{}M", tokens / 1_000_000)
        }
        1000.. if tokens.is_multiple_of(1000) || tokens >= 10_000 => format!("{}k", tokens / 1000),
        _ => tokens.to_string(),
    }
}

/// As it is typed: in one unit, and exactly.
fn timed(secs: u64) -> String {
    match secs {
        _ if secs.is_multiple_of(3600) && secs > 0 => format!("{}h", secs / 3600),
        _ if secs.is_multiple_of(60) && secs > 0 => format!("{}m", secs / 60),
        _ => format!("{secs}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(told: &str) -> Budget {
        told.parse().unwrap()
    }

    #[test]
    fn a_budget_is_read_as_it_is_told() {
        let all = "usd=2.50,tokens=200k,time=90m";
        assert_eq!(budget(all).to_string(), all);
        let parts = (Some(2_500_000), Some(200_000), Some(5400));
        let read = budget(all);
        assert_eq!((read.cost_micros, read.tokens, read.secs), parts);
        for one in ["usd=5", "tokens=2M", "tokens=1500", "time=2h", "time=45s", "usd=0.000001"] {
            assert_eq!(budget(one).to_string(), one);
        }
        let spoken = budget(" time=60m , usd=$5.00 ").to_string();
        assert_eq!(spoken, "usd=5,time=1h");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let wrong = |told: &str| told.parse::<Budget>().unwrap_err().0;
        assert_eq!(wrong("usd=5,hours=2"), "hours=2");
        assert_eq!(wrong("usd=5,usd=6"), "usd=6");
        for told in ["", "5", "usd=0", "tokens=-1", "tokens=0", "time=soon", "usd=", "tokens=2G"] {
            assert_eq!(wrong(told), told);
        }
    }
}
