//! Whether every task can be reached.

use crate::Fault;
use crate::Plan;
use glis_core::plan::schedule::{Graph, task_of};
use std::collections::BTreeSet;

/// What is left when everything that can come has come.
fn never(graph: &Graph) -> BTreeSet<usize> {
    let mut left = graph.waits_for.clone();
    let zero = |(place, count): (usize, &u32)| (*count == 0).then_some(place);
    let mut coming: Vec<usize> = left.iter().enumerate().filter_map(zero).collect();
    let mut never: BTreeSet<usize> = (0..left.len()).collect();
    while let Some(place) = coming.pop() {
        never.remove(&place);
        for then in graph.before.get(place).into_iter().flatten() {
            if let Some(count) = left.get_mut(*then) {
                *count -= 1;
                if *count == 0 {
                    coming.push(*then);
                }
            }
        }
    }
    never
}

/// Circles, and what waits behind them for ever.
pub(crate) fn faults(plan: &Plan) -> Vec<Fault> {
    let graph = Graph::of(&plan.links());
    let never = never(&graph);
    let mut awaited = vec![None; graph.before.len()];
    for first in &never {
        for then in graph.before.get(*first).into_iter().flatten() {
            if let Some(awaited) = awaited.get_mut(*then).filter(|awaited| awaited.is_none()) {
                *awaited = Some(*first);
            }
        }
    }
    let mut told: BTreeSet<usize> = BTreeSet::new();
    let mut faults = Vec::new();
    for place in &never {
        let cycle = cycle_from(*place, &awaited);
        let tasks: Vec<usize> = cycle.iter().map(|place| task_of(*place)).collect();
        if tasks.iter().any(|task| told.contains(task)) {
            continue;
        }
        told.extend(&tasks);
        faults.extend(cycle_fault(plan, tasks));
    }
    let behind: BTreeSet<usize> = never.iter().map(|place| task_of(*place)).collect();
    for task in behind.difference(&told).filter_map(|at| plan.tasks.get(*at)) {
        let why = format!("`{}` can never begin: it depends on a cycle", task.id);
        faults.push(Fault::new(task.line, why));
    }
    faults
}

/// Walks back along what is waited for until a place comes again: from there on it is a cycle.
fn cycle_from(place: usize, awaited: &[Option<usize>]) -> Vec<usize> {
    let mut walked = vec![place];
    let mut at = place;
    while let Some(next) = awaited.get(at).copied().flatten() {
        if let Some(again) = walked.iter().position(|seen| *seen == next) {
            return walked.split_off(again);
        }
        walked.push(next);
        at = next;
    }
    Vec::new()
}

/// A cycle as it is told: from its first task in the file.
fn cycle_fault(plan: &Plan, mut tasks: Vec<usize>) -> Option<Fault> {
    tasks.dedup();
    if tasks.len() > 1 && tasks.first() == tasks.last() {
        tasks.pop();
    }
    let first = tasks.iter().copied().min()?;
    let turn = tasks.iter().position(|task| *task == first)?;
    tasks.rotate_left(turn);
    tasks.push(first);
    let ids: Vec<_> =
        tasks.iter().filter_map(|at| plan.tasks.get(*at)).map(|task| task.id.as_str()).collect();
    let why = format!("dependency cycle: {}", ids.join(" \u{2192} "));
    Some(Fault::new(plan.tasks.get(first)?.line, why))
}
