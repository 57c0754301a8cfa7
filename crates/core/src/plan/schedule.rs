//! Which tasks can be worked on: the work for each that is finished does not grow with the plan.
//!
//! Each task has a beginning and an end. It begins after the ends of what it needs and after the
//! beginning of its group; it ends after its own beginning, and a group after the ends of its tasks.
//! A group that is worked on itself is so when all of them have ended, and ends with that.

use crate::shared::{SharedMap, whole};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A task as far as the order is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Link<'t> {
    pub id: &'t str,
    /// The group that it belongs to.
    pub parent: Option<&'t str>,
    /// What has to be done before.
    pub needs: &'t [String],
    /// Whether it is worked on. Only a group may not be.
    pub works: bool,
}

/// The beginnings and ends of tasks, and what each of them waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// How many others each waits for.
    pub waits_for: Vec<u32>,
    /// Which others wait for it.
    pub before: Vec<Vec<usize>>,
}

/// The place of a task's beginning.
pub fn begin(task: usize) -> usize {
    2 * task
}

/// The place of a task's end.
pub fn end(task: usize) -> usize {
    2 * task + 1
}

/// The task that a beginning or an end belongs to.
pub fn task_of(place: usize) -> usize {
    place / 2
}

impl Graph {
    /// Names that are not there lead nowhere.
    pub fn of(tasks: &[Link<'_>]) -> Self {
        let places: BTreeMap<&str, usize> =
            tasks.iter().enumerate().map(|(at, task)| (task.id, at)).collect();
        let size = 2 * tasks.len();
        let mut graph = Self { waits_for: vec![0; size], before: vec![Vec::new(); size] };
        for (at, task) in tasks.iter().enumerate() {
            graph.order(begin(at), end(at));
            if let Some(parent) = task.parent.and_then(|id| places.get(id)) {
                graph.order(begin(*parent), begin(at));
                graph.order(end(at), end(*parent));
            }
            let needs: BTreeSet<_> =
                task.needs.iter().filter_map(|id| places.get(id.as_str())).collect();
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
}

/// A plan as far as it is done. A copy costs nothing to speak of: copies share what they have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    #[serde(with = "whole")]
    order: Arc<Order>,
    /// How many others each beginning and each end still waits for.
    waits_for: SharedMap<usize, u32>,
    /// Tasks that can be worked on, in the order of the file.
    ready: SharedMap<usize, ()>,
    /// Tasks that are worked on or given up.
    taken: SharedMap<usize, ()>,
    done: usize,
}

/// What stays as it is, whatever is done.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Order {
    /// Which others wait for each beginning and each end.
    before: Vec<Vec<usize>>,
    ids: Vec<String>,
    places: BTreeMap<String, usize>,
    is_group: Vec<bool>,
    /// Of the groups: which are worked on when all of them is done.
    #[serde(default)]
    works: Vec<bool>,
}

impl Schedule {
    /// Nothing of the plan is done.
    pub fn new(tasks: &[Link<'_>]) -> Self {
        let ids: Vec<String> = tasks.iter().map(|task| task.id.to_owned()).collect();
        let places: BTreeMap<_, _> =
            ids.iter().enumerate().map(|(at, id)| (id.clone(), at)).collect();
        let mut is_group = vec![false; ids.len()];
        for parent in tasks.iter().filter_map(|task| task.parent) {
            if let Some(group) = places.get(parent).and_then(|at| is_group.get_mut(*at)) {
                *group = true;
            }
        }
        let Graph { waits_for, before } = Graph::of(tasks);
        let beginnings: Vec<usize> =
            (0..ids.len()).map(begin).filter(|place| waits_for.get(*place) == Some(&0)).collect();
        let works = tasks.iter().map(|task| task.works).collect();
        let order = Arc::new(Order { before, ids, places, is_group, works });
        let waits_for = waits_for.into_iter().enumerate().collect();
        let mut schedule = Self { order, waits_for, ..Self::default() };
        for place in beginnings {
            schedule.come(place, false);
        }
        schedule
    }

    /// The tasks that can be worked on, in the order of the file.
    pub fn ready(&self) -> impl Iterator<Item = &str> {
        self.ready.keys().filter_map(|at| self.order.ids.get(*at)).map(String::as_str)
    }

    /// Whether a task can be worked on.
    pub fn is_ready(&self, id: &str) -> bool {
        self.place(id).is_some_and(|at| self.ready.contains_key(&at))
    }

    /// Where a task stands in the file, counted from 0.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.order.places.get(id).copied()
    }

    /// A task is worked on, or is not to be. True if it was ready.
    pub fn take(&mut self, id: &str) -> bool {
        let Some(at) = self.place(id) else { return false };
        let was = self.ready.remove_mut(&at);
        if was {
            self.taken.insert_mut(at, ());
        }
        was
    }

    /// A task that was taken is to be had again. True if it was taken.
    pub fn give_back(&mut self, id: &str) -> bool {
        let Some(at) = self.place(id) else { return false };
        let was = self.taken.remove_mut(&at);
        if was {
            self.ready.insert_mut(at, ());
        }
        was
    }

    /// A task is done. True if it was ready or taken.
    pub fn finish(&mut self, id: &str) -> bool {
        self.place(id).and_then(|at| self.finish_at(at)).is_some()
    }

    /// A task is done, and so is what becomes ready with it and was done before. The rest that becomes ready.
    pub(crate) fn finish_with(&mut self, id: &str, is_done: impl Fn(&str) -> bool) -> Vec<String> {
        let open = self.place(id).and_then(|at| self.finish_at(at)).unwrap_or_default();
        self.finish_done(open, is_done)
    }

    /// Finishes every task that is ready and done, and whatever is ready then.
    pub(crate) fn finish_all(&mut self, is_done: impl Fn(&str) -> bool) {
        let open = self.ready.keys().copied().collect();
        self.finish_done(open, is_done);
    }

    /// Finishes those of these that are done, and whatever is ready then. Those that are not.
    fn finish_done(&mut self, mut open: Vec<usize>, is_done: impl Fn(&str) -> bool) -> Vec<String> {
        let mut rest = Vec::new();
        while let Some(at) = open.pop() {
            let Some(id) = self.order.ids.get(at).cloned() else { continue };
            if is_done(&id) {
                open.extend(self.finish_at(at).into_iter().flatten());
            } else {
                rest.push(id);
            }
        }
        rest
    }

    /// The tasks that can be worked on because of it; nothing if it was not ready or taken.
    fn finish_at(&mut self, at: usize) -> Option<Vec<usize>> {
        let was = self.taken.remove_mut(&at) | self.ready.remove_mut(&at);
        was.then(|| self.come(end(at), true))
    }

    pub fn is_over(&self) -> bool {
        self.done == self.order.ids.len()
    }

    /// A beginning or an end has come, an end with the work or without it, and with it everything that has waited
    /// for nothing else. The tasks that can be worked on then.
    fn come(&mut self, place: usize, worked: bool) -> Vec<usize> {
        let order = Arc::clone(&self.order);
        let (mut coming, mut ready) = (vec![(place, worked)], Vec::new());
        while let Some((place, worked)) = coming.pop() {
            let (task, is_end) = (task_of(place), place == end(task_of(place)));
            let is = |of: &[bool]| of.get(task).copied().unwrap_or_default();
            // The end of a task comes with its work, and so does that of a group that has some.
            let is_due = if is(&order.is_group) { is_end && is(&order.works) } else { !is_end };
            if is_due && !worked {
                self.ready.insert_mut(task, ());
                ready.push(task);
                continue;
            }
            self.done += usize::from(is_end);
            for then in order.before.get(place).into_iter().flatten() {
                if let Some(count) = self.waits_for.get_mut(then) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        coming.push((*then, false));
                    }
                }
            }
        }
        ready
    }
}
