//! Which tasks can be worked on: the work for each that is finished does not grow with the plan.

use crate::Plan;
use crate::graph::{Graph, begin, end, task_of};
use std::collections::{BTreeSet, HashMap};

/// A plan as far as it is done.
#[derive(Debug, Clone)]
pub struct Schedule {
    graph: Graph,
    ids: Vec<String>,
    places: HashMap<String, usize>,
    is_group: Vec<bool>,
    /// Tasks that can be worked on, in the order of the file.
    ready: BTreeSet<usize>,
    /// Tasks that are worked on or given up.
    taken: BTreeSet<usize>,
    done: usize,
}

impl Schedule {
    /// Nothing of the plan is done.
    pub fn new(plan: &Plan) -> Self {
        let graph = Graph::of(plan);
        let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
        let places: HashMap<_, _> =
            ids.iter().enumerate().map(|(at, id)| (id.clone(), at)).collect();
        let mut is_group = vec![false; ids.len()];
        for parent in plan.tasks.iter().filter_map(|task| task.parent.as_ref()) {
            if let Some(group) = places.get(parent).and_then(|at| is_group.get_mut(*at)) {
                *group = true;
            }
        }
        let mut schedule = Self {
            graph,
            ids,
            places,
            is_group,
            ready: BTreeSet::new(),
            taken: BTreeSet::new(),
            done: 0,
        };
        let beginnings: Vec<usize> = (0..schedule.ids.len())
            .map(begin)
            .filter(|place| schedule.graph.waits_for.get(*place) == Some(&0))
            .collect();
        for place in beginnings {
            schedule.come(place);
        }
        schedule
    }

    /// The tasks that can be worked on, in the order of the file.
    pub fn ready(&self) -> impl Iterator<Item = &str> {
        self.ready.iter().filter_map(|at| self.ids.get(*at)).map(String::as_str)
    }

    /// A task is worked on, or is not to be. True if it was ready.
    pub fn take(&mut self, id: &str) -> bool {
        let Some(at) = self.places.get(id).copied() else { return false };
        self.ready.remove(&at) && self.taken.insert(at)
    }

    /// A task that was taken is to be had again. True if it was taken.
    pub fn give_back(&mut self, id: &str) -> bool {
        let Some(at) = self.places.get(id).copied() else { return false };
        self.taken.remove(&at) && self.ready.insert(at)
    }

    /// A task is done. True if it was ready or taken.
    pub fn finish(&mut self, id: &str) -> bool {
        let Some(at) = self.places.get(id).copied() else { return false };
        let was = self.taken.remove(&at) | self.ready.remove(&at);
        if was {
            self.come(end(at));
        }
        was
    }

    /// Whether everything is done.
    pub fn is_over(&self) -> bool {
        self.done == self.ids.len()
    }

    /// A beginning or an end has come, and with it everything that has waited for nothing else.
    fn come(&mut self, place: usize) {
        let mut coming = vec![place];
        while let Some(place) = coming.pop() {
            let task = task_of(place);
            let is_group = self.is_group.get(task).copied().unwrap_or_default();
            if place == end(task) {
                self.done += 1;
            } else if !is_group {
                // Its end comes with the work.
                self.ready.insert(task);
                continue;
            }
            for then in self.graph.before.get(place).cloned().unwrap_or_default() {
                if let Some(count) = self.graph.waits_for.get_mut(then) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        coming.push(then);
                    }
                }
            }
        }
    }
}
