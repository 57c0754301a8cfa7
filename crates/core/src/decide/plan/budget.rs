//! What is spent on a plan: once that is what may be, nothing more begins, and what is worked on comes to its end.

use crate::decision::Decision;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::ids::{PlanId, RunId};
use crate::plan::{Plan, PlanEvent, PlanPause};
use crate::timer::{TimerKey, When};

/// The session of a run has cost so much by now.
pub(super) fn count(draft: &mut Draft<'_>, id: &PlanId, run: RunId, micros: u64) {
    draft.plan_event(id, PlanEvent::RunCost { run, micros });
    stop_if_spent(draft, id);
}

/// Nothing more begins of a plan that has cost what it may.
pub(super) fn stop_if_spent(draft: &mut Draft<'_>, id: &PlanId) {
    stop_if(draft, id, Plan::is_spent);
}

/// A plan that is executed may take its time from now on.
pub(super) fn limit_time(draft: &mut Draft<'_>, id: &PlanId) {
    if let Some(time) = draft.plan(id).and_then(|plan| plan.spec.budget.time()) {
        let (key, when) = (TimerKey::Budget, When::after(time));
        draft.plan_effect(id, Effect::SetTimer { key, when });
    }
}

/// The time of a plan is over.
pub(in crate::decide) fn time_is_up(mut draft: Draft<'_>, id: &PlanId) -> Decision {
    stop_if(&mut draft, id, |plan| plan.spec.budget.time().is_some());
    draft.settle_house()
}

fn stop_if(draft: &mut Draft<'_>, id: &PlanId, is_spent: fn(&Plan) -> bool) {
    let goes_on = |plan: &Plan| plan.paused.is_none() && !plan.is_over();
    if draft.plan(id).is_some_and(|plan| goes_on(plan) && is_spent(plan)) {
        draft.plan_event(id, PlanEvent::Stopped { why: PlanPause::Budget });
    }
}

/// Why an agent is not told what was not accepted.
pub(super) fn is_reached(max_micros: u64) -> String {
    let cents = max_micros.div_ceil(10_000);
    let (dollars, cents) = (cents / 100, cents % 100);
    format!("[glis] it is not tried again: its max_cost of ${dollars}.{cents:02} is reached")
}
