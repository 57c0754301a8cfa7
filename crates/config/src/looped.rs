//! How loops are looked back at, as configured.

use serde::{Deserialize, Serialize};

/// How loops are looked back at.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoopConfig {
    /// How long the command of `--until` may take.
    pub until_secs: u32,
}

impl Default for LoopConfig {
    fn default() -> Self {
        // A whole test suite, as for a set-up.
        Self { until_secs: 600 }
    }
}
