//! How many agents may run at once, and what becomes of those beyond.

use crate::budget::Budget;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many agents may run at once. The house goes by what it was last told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// So many; 0 if there is no limit.
    pub live: u32,
    /// What becomes of a start beyond that.
    pub over: Over,
    /// The daemon ends its agents and then itself: nothing starts, and what waits is left to the next one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// What all sessions together may use on a day.
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub day: Budget,
}

impl Default for Limits {
    /// What the configuration says where it says nothing: fifteen agents of some hundred megabytes
    /// each are what a machine of today bears.
    fn default() -> Self {
        Self { live: 15, over: Over::Queue, closed: false, day: Budget::default() }
    }
}

impl Limits {
    /// Whether there is no place beside so many agents.
    pub fn are_reached_by(self, agents: usize) -> bool {
        let most = usize::try_from(self.live).unwrap_or(usize::MAX);
        self.closed || (most > 0 && agents >= most)
    }
}

/// What becomes of a start for which there is no place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// It waits for one, in the order in which it came.
    #[default]
    Queue,
    Refuse,
}
