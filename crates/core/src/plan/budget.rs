//! What may be spent on a task or a plan.

use super::{Plan, Run};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What may be spent on a task or a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Money, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Time: of a task that its agent is at work without a rest, of a plan since it was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

impl Plan {
    /// Whether it has cost what it may cost.
    pub(crate) fn is_spent(&self) -> bool {
        let cost = self.cost_micros.saturating_sub(self.granted_micros);
        self.spec.budget.cost_micros.is_some_and(|max| cost >= max)
    }

    /// What a run may cost, if it has cost that.
    pub(crate) fn spent_on(&self, run: &Run) -> Option<u64> {
        let cost = run.cost_micros.saturating_sub(run.granted_micros);
        let max = self.task(&run.task).and_then(|task| task.budget.cost_micros);
        max.filter(|max| cost >= *max)
    }
}
