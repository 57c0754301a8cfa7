//! What has to come before what, and whether every task can be reached.
//!
//! Each task has a beginning and an end. It begins after the ends of what it needs and after the
//! beginning of its group; it ends after its own beginning, and a group after the ends of its tasks.

use crate::Plan;
use crate::fault::Fault;
use std::collections::BTreeSet;

/// The beginnings and ends of a plan's tasks, and what each of them waits for.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    /// How many others each waits for.
    pub(crate) waits_for: Vec<u32>,
    /// Which others wait for it.
    pub(crate) before: Vec<Vec<usize>>,
}

/// The place of a task's beginning.
pub(crate) fn begin(task: usize) -> usize {
    2 * task
}

/// The place of a task's end.
pub(crate) fn end(task: usize) -> usize {
    2 * task + 1
}

/// The task that a beginning or an end belongs to.
pub(crate) fn task_of(place: usize) -> usize {
    place / 2
}

impl Graph {
    /// Names that are not there lead nowhere.
    pub(crate) fn of(plan: &Plan) -> Self {
        let places = plan.places();
        let size = 2 * plan.tasks.len();
        let mut graph = Self { waits_for: vec![0; size], before: vec![Vec::new(); size] };
        for (at, task) in plan.tasks.iter().enumerate() {
            graph.order(begin(at), end(at));
            if let Some(parent) = task.parent.as_deref().and_then(|id| places.get(id)) {
                graph.order(begin(*parent), begin(at));
                graph.order(end(at), end(*parent));
            }
            let needs: BTreeSet<_> = task.needs.iter().filter_map(|id| places.get(&**id)).collect();
            for need in needs {
                graph.order(end(*need), begin(at));
            }
        }
        graph
    }

    fn order(&mut self, first: usize, then: usize) {
        if let (Some(before), Some(waits_for)) =
            (self.before.get_mut(first), self.waits_for.get_mut(then))
        {
            before.push(then);
            *waits_for += 1;
        }
    }

    /// What is left when everything that can come has come.
    fn never(&self) -> BTreeSet<usize> {
        let mut left = self.waits_for.clone();
        let zero = |(place, count): (usize, &u32)| (*count == 0).then_some(place);
        let mut coming: Vec<usize> = left.iter().enumerate().filter_map(zero).collect();
        let mut never: BTreeSet<usize> = (0..left.len()).collect();
        while let Some(place) = coming.pop() {
            never.remove(&place);
            for then in self.before.get(place).into_iter().flatten() {
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
}

/// Circles, and what waits behind them for ever.
pub(crate) fn faults(plan: &Plan) -> Vec<Fault> {
    let graph = Graph::of(plan);
    let never = graph.never();
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
        let circle = circle_from(*place, &awaited);
        let tasks: Vec<usize> = circle.iter().map(|place| task_of(*place)).collect();
        if tasks.iter().any(|task| told.contains(task)) {
            continue;
        }
        told.extend(&tasks);
        faults.extend(circle_fault(plan, tasks));
    }
    let behind: BTreeSet<usize> = never.iter().map(|place| task_of(*place)).collect();
    for task in behind.difference(&told).filter_map(|at| plan.tasks.get(*at)) {
        let why = format!("`{}` can never begin: it waits for a circle", task.id);
        faults.push(Fault::new(task.line, why));
    }
    faults
}

/// Walks back along what is waited for until a place comes again: from there on it is a circle.
fn circle_from(place: usize, awaited: &[Option<usize>]) -> Vec<usize> {
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

/// A circle as it is told: from its first task in the file.
fn circle_fault(plan: &Plan, mut tasks: Vec<usize>) -> Option<Fault> {
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
    let why = format!("tasks wait for each other: {}", ids.join(" \u{2192} "));
    Some(Fault::new(plan.tasks.get(first)?.line, why))
}
