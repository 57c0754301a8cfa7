//! How plans are executed.

use serde::{Deserialize, Serialize};

/// What is set about plans.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlanConfig {
    /// How long the `accept` of a task may take.
    pub accept_secs: u32,
    /// How often in a row an agent is told by itself why its work was not accepted.
    pub retries: u32,
    /// Whether plans and loops wait for the end of a usage limit and go on by themselves, within the bounds of
    /// `[limit]`.
    pub wait_for_limits: bool,
    /// Whether the session of a task is removed once it is merged.
    pub clean: bool,
}

impl Default for PlanConfig {
    fn default() -> Self {
        // A whole test suite fits; what takes longer hangs.
        Self { accept_secs: 60 * 60, retries: 2, wait_for_limits: true, clean: false }
    }
}
