//! How many agents run and may, and whether anything may start, as front ends and scripts see it.

use glis_core::limits::Over;
use serde::{Deserialize, Serialize};

/// How many agents run at once, and may.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsView {
    /// The names of those that run.
    pub agents: Vec<String>,
    /// The names of those that wait for a place, in their order.
    pub waiting: Vec<String>,
    /// Beyond so many the user is warned; 0 never warns.
    pub warn: u32,
    /// Beyond so many nothing starts; 0 is no limit.
    pub live: u32,
    /// What becomes of a start beyond that.
    pub over: Over,
}

/// The gate: whether anything may start, and what it has stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateView {
    /// `running`, `pausing` or `paused`.
    #[serde(rename = "gate", default = "running")]
    pub state: String,
    /// Since when it is shut.
    #[serde(default, rename = "gate_since", skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The names of those that it has stopped.
    #[serde(default, rename = "gate_stopped", skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<String>,
    /// The names of those that have not stopped yet.
    #[serde(default, rename = "gate_waits_for", skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// What is worth knowing about how it was opened.
    #[serde(default, rename = "gate_note", skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a daemon of before there was a gate does.
fn running() -> String {
    "running".to_owned()
}

impl Default for GateView {
    fn default() -> Self {
        let (stopped, waits_for) = (Vec::new(), Vec::new());
        Self { state: running(), since: None, stopped, waits_for, note: None }
    }
}
