//! What a loop is asked to be, and how that is changed.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// How often in a row an iteration may fail, if nothing else is asked for.
pub const FAILURES_MAX: u32 = 3;

/// What a loop was asked to be. Its words are the first message of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSpec {
    /// How many iterations there are at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// A line for the shell that ends the loop when it succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What an iteration knows of those before it.
    pub context: LoopContext,
    /// Whether the work of every iteration is committed on the session's branch.
    pub auto_commit: bool,
    /// What it may cost, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_micros: Option<u64>,
    /// After how many failures in a row it is paused.
    pub max_failures: u32,
    /// The file that says what is to be done, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<SpecFile>,
}

/// A check list is written for people.
pub const SPEC_BYTES_MAX: u64 = 1024 * 1024;

/// A file that says what is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecFile {
    /// Where it is, seen from the worktree.
    pub path: String,
    /// Where a worktree that is made gets it from: as it lay there, committed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// What an iteration knows of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopContext {
    /// Nothing but what lies in the worktree: a conversation of its own.
    Fresh,
    Continue,
}

/// What is changed of what a loop was asked to be; what is not named stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopChange {
    /// How many iterations there are at most; none: as many as it takes.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub max: Option<Option<u32>>,
    /// What ends it when it succeeds, if something does.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub until: Option<Option<String>>,
    /// What it may cost, if that is limited.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub max_cost_micros: Option<Option<u64>>,
    /// After how many failures in a row it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_failures: Option<u32>,
}

/// A limit that is named is changed, also where it becomes none: `null` is not the same as nothing.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(told: D) -> Result<Option<T>, D::Error> {
    T::deserialize(told).map(Some)
}

impl LoopChange {
    /// What a loop is asked to be with this.
    pub fn of(self, former: &LoopSpec) -> LoopSpec {
        let former = former.clone();
        LoopSpec {
            max: self.max.unwrap_or(former.max),
            until: self.until.unwrap_or(former.until),
            max_cost_micros: self.max_cost_micros.unwrap_or(former.max_cost_micros),
            max_failures: self.max_failures.unwrap_or(former.max_failures),
            ..former
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_lifted_is_told_as_such() {
        let lifted = LoopChange { max: Some(None), until: Some(None), ..LoopChange::default() };
        let kept = LoopChange { max_failures: Some(2), ..LoopChange::default() };
        for change in [lifted, kept] {
            let told = serde_json::to_string(&change).unwrap();
            assert_eq!(serde_json::from_str::<LoopChange>(&told).unwrap(), change, "{told}");
        }
    }
}
