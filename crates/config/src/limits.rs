//! How many agents run at once.

use glis_core::limits::{Limits, Over};
use serde::{Deserialize, Serialize};

/// How many agents run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Beyond so many the user is warned; 0 never warns.
    pub warn: u32,
    /// Beyond so many nothing starts; 0 is no limit.
    pub live: u32,
    /// What becomes of a start beyond that.
    pub over: Over,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let Limits { live, over, .. } = Limits::default();
        Self { warn: 10, live, over }
    }
}

impl LimitsConfig {
    /// What the house goes by.
    pub fn limits(self) -> Limits {
        Limits { live: self.live, over: self.over, closed: false }
    }
}
