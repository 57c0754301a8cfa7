//! The buttons below a plan.

use crate::button::Act;
use crate::words;
use glis_core::merge::Unmerged;
use glis_core::plan::{Ruling, RunFault};
use glis_wire::plan::PlanView;

/// So much of a task's name stands on a button.
const LABEL_CHARS: usize = 24;

/// Begins a plan, or goes on with it.
pub(super) fn execute_key(place: &str) -> (String, Act) {
    ("Execute".to_owned(), Act::ExecutePlan { place: place.to_owned() })
}

/// The ways on from where a plan is: a row for each task that stands still, and one for all of it.
pub(super) fn keys_of(place: &str, plan: &PlanView) -> Vec<Vec<(String, Act)>> {
    let mut rows: Vec<Vec<(String, Act)>> = Vec::new();
    // A handful is what fits on a screen; the rest is typed.
    for run in words::stuck(plan).take(6) {
        let (task, place) = (run.task_id.clone(), place.to_owned());
        let label = words::short(&task, LABEL_CHARS);
        let mut row = Vec::new();
        if words::can_resume(run) {
            let resume = Act::ResumeTask { place: place.clone(), task: task.clone() };
            row.push((format!("Resume {label}"), resume));
        }
        let rule = |ruling| Act::RuleTask { place: place.clone(), task: task.clone(), ruling };
        if run.unmerged == Some(Unmerged::Review) {
            row.push((format!("Merge {label}"), rule(Ruling::Accept)));
            row.push((format!("Reject {label}"), rule(Ruling::Reject)));
        } else if matches!(run.fault, Some(RunFault::NotAccepted(_))) {
            row.push((format!("Take {label} as it is"), rule(Ruling::Accept)));
        }
        if run.asks.is_none() && run.doubt.is_none() && run.unmerged != Some(Unmerged::Review) {
            row.push((format!("Begin {label} anew"), Act::RestartTask { place, task }));
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
        rows.push(vec![("Pause".to_owned(), Act::PausePlan { place: place.to_owned() })]);
    }
    rows
}
