//! One at a time on a session's files: saving, restoring and moving them at once would save what is
//! half restored.

use crate::panics::held;
use glis_core::SessionId;
use glis_snapshot::Task;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

#[derive(Debug, Default)]
pub(crate) struct Turns {
    locks: Mutex<HashMap<SessionId, Arc<Mutex<()>>>>,
    /// The task that has a session's turn.
    at_work: Mutex<HashMap<SessionId, Arc<Task>>>,
}

impl Turns {
    /// Does something with a session's files, after what is at work on them already.
    pub(crate) fn wait<T>(&self, id: &SessionId, work: impl FnOnce() -> T) -> T {
        let lock = Arc::clone(held(&self.locks).entry(id.clone()).or_default());
        let _turn = held(&lock);
        work()
    }

    /// The same as a step of an operation: its task can be found and ended. `None` if the step was
    /// given up while it waited.
    pub(crate) fn take<T>(&self, id: &SessionId, work: impl FnOnce() -> Option<T>) -> Option<T> {
        self.wait(id, || {
            if glis_snapshot::is_over() {
                return None;
            }
            held(&self.at_work).extend(Task::current().map(|task| (id.clone(), task)));
            let _at_work = AtWork { turns: self, id };
            work()
        })
    }

    /// Lets go of the turns that nobody has or waits for.
    pub(crate) fn forget(&self) {
        let mut locks = held(&self.locks);
        locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        locks.shrink_to_fit();
    }

    /// The task that has a session's turn: if that hangs, so does everything behind it.
    pub(crate) fn at_work(&self, id: &SessionId) -> Option<Arc<Task>> {
        held(&self.at_work).get(id).cloned()
    }
}

/// A task has a session's turn, until this is dropped.
struct AtWork<'t> {
    turns: &'t Turns,
    id: &'t SessionId,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        held(&self.turns.at_work).remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_that_has_the_turn_is_known_until_its_work_is_done() {
        let (turns, id) = (Turns::default(), SessionId("s".to_owned()));
        let task = Task::new();
        let seen = task.run(|| {
            turns.take(&id, || {
                let at_work = turns.at_work(&id)?;
                Some(Arc::ptr_eq(&at_work, &task))
            })
        });
        assert_eq!(seen, Some(true));
        assert!(turns.at_work(&id).is_none());
    }

    #[test]
    fn a_panic_gives_the_turn_back() {
        let (turns, id) = (Turns::default(), SessionId("s".to_owned()));
        let broken =
            std::panic::AssertUnwindSafe(|| turns.take(&id, || -> Option<()> { panic!() }));
        assert!(std::panic::catch_unwind(broken).is_err());
        assert!(turns.at_work(&id).is_none());
        assert_eq!(turns.take(&id, || Some(7)), Some(7));
        turns.forget();
        assert!(held(&turns.locks).is_empty(), "nobody waits for it");
    }
}
