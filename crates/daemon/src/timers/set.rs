//! Which timers are set, and which of them is the next.

use glis_core::{Subject, TimerKey};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::time::Instant;

type Name = (Subject, TimerKey);

/// When a timer fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// At the end of a span, by a clock that nothing sets back.
    Span(Instant),
    /// When the clock on the wall shows it, in milliseconds.
    Wall(i64),
}

#[derive(Default)]
pub(super) struct Set {
    named: HashMap<Arc<Name>, Due>,
    order: BTreeMap<Due, Vec<Arc<Name>>>,
}

impl Set {
    pub(super) fn insert(&mut self, name: Name, due: Due) {
        self.remove(&name);
        let name = Arc::new(name);
        self.order.entry(due).or_default().push(Arc::clone(&name));
        self.named.insert(name, due);
    }

    pub(super) fn remove(&mut self, name: &Name) -> Option<Due> {
        let due = self.named.remove(name)?;
        if let Some(names) = self.order.get_mut(&due) {
            names.retain(|other| **other != *name);
            if names.is_empty() {
                self.order.remove(&due);
            }
        }
        Some(due)
    }

    /// The next of either kind.
    pub(super) fn next(&self) -> (Option<Due>, Option<Due>) {
        let mut spans = self.order.range(..Due::Wall(i64::MIN));
        let mut walls = self.order.range(Due::Wall(i64::MIN)..);
        (spans.next().map(|(due, _)| *due), walls.next().map(|(due, _)| *due))
    }

    /// Takes out one that fires now; nothing if that was forgotten meanwhile.
    pub(super) fn take(&mut self, due: Due) -> Option<Name> {
        let name = self.order.get(&due)?.first().map(|name| Name::clone(name))?;
        self.remove(&name).map(|_| name)
    }

    pub(super) fn due(&self, name: &Name) -> Option<Due> {
        self.named.get(name).copied()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &TimerKey> {
        self.named.keys().map(|name| &name.1)
    }
}
