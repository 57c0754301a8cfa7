//! What is spent on a task or a plan.

use super::{Plan, Run};

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
