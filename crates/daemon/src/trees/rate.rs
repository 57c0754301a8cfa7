//! How often running sessions are saved: each not too often, and not all at once.

use crate::config::SnapshotConfig;
use glis_core::SessionId;
use glis_snapshot::Task;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Saves at one time. They read the disk; more of them would only be in each other's way, and in
/// that of whoever pauses.
const AT_ONCE: usize = 2;

/// When running sessions were last saved.
#[derive(Debug)]
pub(crate) struct Keeping {
    saved: Mutex<HashMap<SessionId, Last>>,
    turns: Mutex<HashMap<SessionId, Arc<Mutex<()>>>>,
    places: Arc<Semaphore>,
    /// What whoever has a session's turn works for.
    at_work: Mutex<HashMap<SessionId, Arc<Task>>>,
}

#[derive(Debug, Default)]
struct Last {
    begun: Option<Instant>,
    due: bool,
}

impl Default for Keeping {
    fn default() -> Self {
        Self {
            saved: Mutex::default(),
            turns: Mutex::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            at_work: Mutex::default(),
        }
    }
}

impl Keeping {
    /// Held by whoever is at work on a session's files: saving, restoring and moving them at once
    /// would save what is half restored.
    pub(super) fn turn(&self, id: &SessionId) -> Arc<Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(id.clone()).or_default())
    }

    /// Says what whoever has the turn works for, until that is done.
    pub(super) fn has_turn(&self, id: &SessionId) -> AtWork<'_> {
        let mut at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.extend(Task::current().map(|task| (id.clone(), task)));
        AtWork { keeping: self, id: id.clone() }
    }

    /// What whoever has a session's turn works for: if that hangs, so does everybody behind it.
    pub(crate) fn at_work(&self, id: &SessionId) -> Option<Arc<Task>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// How long the next save has to wait; `None` if none is wanted or one is due already.
    pub(super) fn due(&self, id: &SessionId, config: &SnapshotConfig) -> Option<Duration> {
        if !config.at_turn_end {
            return None;
        }
        let mut saved = self.table();
        let last = saved.entry(id.clone()).or_default();
        if std::mem::replace(&mut last.due, true) {
            return None;
        }
        let gap = Duration::from_secs(config.gap_secs);
        Some(last.begun.map_or(Duration::ZERO, |begun| gap.saturating_sub(begun.elapsed())))
    }

    /// Waits until few enough others are at it.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// A save begins: whatever ends from now on wants another.
    pub(super) fn begun(&self, id: &SessionId) {
        let now = Some(Instant::now());
        self.table().insert(id.clone(), Last { begun: now, due: false });
    }

    pub(super) fn forget(&self, id: &SessionId) {
        self.table().remove(id);
    }

    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Last>> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody has a session's turn.
pub(super) struct AtWork<'k> {
    keeping: &'k Keeping,
    id: SessionId,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.keeping.at_work.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_that_end_often_are_saved_once_in_a_while() {
        let keeping = Keeping::default();
        let (id, config) = (SessionId("s".to_owned()), SnapshotConfig::default());
        assert_eq!(keeping.due(&id, &config), Some(Duration::ZERO));
        assert_eq!(keeping.due(&id, &config), None, "one is due already");
        keeping.begun(&id);
        let wait = keeping.due(&id, &config).unwrap();
        let gap = Duration::from_secs(config.gap_secs);
        assert!(wait > gap / 2 && wait <= gap, "{wait:?}");
        keeping.forget(&id);
        assert_eq!(keeping.due(&id, &config), Some(Duration::ZERO));
    }

    #[test]
    fn whoever_does_not_want_it_is_not_saved() {
        let config = SnapshotConfig { at_turn_end: false, ..SnapshotConfig::default() };
        assert_eq!(Keeping::default().due(&SessionId("s".to_owned()), &config), None);
    }
}
