//! The buttons below a plan.

use crate::button::{Act, Keys};
use crate::command::PlanVerb;
use crate::words;
use glis_core::merge::Unmerged;
use glis_core::pause::PauseMode;
use glis_core::plan::{Ruling, RunFault, TaskSpec};
use glis_wire::plan::PlanView;

/// So much of a task's name stands on a button.
const LABEL_CHARS: usize = 24;

fn key(label: String, place: &str, verb: PlanVerb) -> (String, Act) {
    (label, Act::Plan { place: place.to_owned(), verb })
}

/// Begins a plan, or goes on with it.
pub(super) fn execute_key(place: &str) -> (String, Act) {
    key("Execute".to_owned(), place, PlanVerb::Execute)
}

/// What can be said to a task that an agent proposes, where all of it was shown.
pub(super) fn proposal_keys(place: &str, task: &TaskSpec, is_whole: bool) -> Vec<(String, Act)> {
    let (label, said) = (words::short(&task.id, LABEL_CHARS), Some(task.said()));
    let approve = PlanVerb::Approve { task: task.id.clone(), said };
    let decline = PlanVerb::Decline { task: task.id.clone() };
    let mut keys = vec![key(format!("Decline {label}"), place, decline)];
    if is_whole {
        keys.insert(0, key(format!("Approve {label}"), place, approve));
    }
    keys
}

/// The ways on from where a plan is: a row for each task that stands still, and one for all of it.
pub(super) fn keys_of(place: &str, plan: &PlanView) -> Keys {
    let mut rows = Keys::new();
    // A handful is what fits on a screen; the rest is typed.
    for run in words::stuck(plan).take(6) {
        let task = run.task_id.clone();
        let label = words::short(&task, LABEL_CHARS);
        let mut row = Vec::new();
        if words::can_resume(run) {
            let resume = PlanVerb::Resume { task: task.clone() };
            row.push(key(format!("Resume {label}"), place, resume));
        }
        let rule = |label, ruling| key(label, place, PlanVerb::Rule { task: task.clone(), ruling });
        if run.unmerged == Some(Unmerged::Review) {
            row.push(rule(format!("Merge {label}"), Ruling::Accept));
            row.push(rule(format!("Reject {label}"), Ruling::Reject));
        } else if matches!(run.fault, Some(RunFault::NotAccepted(_))) {
            row.push(rule(format!("Take {label} as it is"), Ruling::Accept));
        }
        if run.asks.is_none() && run.doubt.is_none() && run.unmerged != Some(Unmerged::Review) {
            let restart = PlanVerb::Restart { task: task.clone() };
            row.push(key(format!("Begin {label} anew"), place, restart));
        }
        rows.push(row);
    }
    rows.retain(|row| !row.is_empty());
    if plan.done || plan.gate_shut {
        return rows;
    }
    if plan.paused.is_some() {
        rows.push(vec![execute_key(place)]);
    } else if !plan.at_rest {
        let pause = PlanVerb::Pause { mode: PauseMode::Interrupt };
        rows.push(vec![key("Pause".to_owned(), place, pause)]);
    }
    rows
}
