//! What agents may use before a person is asked.

use glis_core::budget::{Budget, NoBudget};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What agents may use.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetConfig {
    #[serde(deserialize_with = "read", serialize_with = "written")]
    pub session: Budget,
    #[serde(deserialize_with = "read_day", serialize_with = "written")]
    pub day: Budget,
}

/// Reads a budget as it is typed; an empty one is none.
fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Budget, D::Error> {
    let told = String::deserialize(from)?;
    if told.is_empty() {
        return Ok(Budget::default());
    }
    told.parse().map_err(|NoBudget(part)| {
        de::Error::custom(format!(
            "{part:?} is no part of a budget; \"usd=5\", \"tokens=200k\", \"time=2h\" and \"usd=5,time=2h\" are"
        ))
    })
}

/// Of a day there is so much time as there is.
fn read_day<'de, D: Deserializer<'de>>(from: D) -> Result<Budget, D::Error> {
    let budget = read(from)?;
    if budget.secs.is_some() {
        return Err(de::Error::custom("a day has a budget of money and tokens, and none of time"));
    }
    Ok(budget)
}

fn written<S: Serializer>(budget: &Budget, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<BudgetConfig, String> {
        toml::from_str(text).map_err(|fault| fault.message().to_owned())
    }

    #[test]
    fn budgets_are_read_as_they_are_typed() {
        let budget = parsed("session = \"usd=5,time=2h\"\nday = \"usd=20\"").unwrap();
        assert_eq!(budget.session.to_string(), "usd=5,time=2h");
        assert_eq!(toml::to_string(&budget).unwrap().lines().last(), Some("day = \"usd=20\""));
        assert!(parsed("session = \"\"").unwrap().session.is_empty());
        assert!(parsed("session = \"five\"").unwrap_err().contains("usd=5"));
        assert!(parsed("day = \"time=2h\"").unwrap_err().contains("none of time"));
    }
}
