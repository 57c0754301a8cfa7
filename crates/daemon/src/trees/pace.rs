//! How often running sessions are saved: each not too often, and not all at once.

use crate::panics::held;
use glis_config::SnapshotConfig;
use glis_core::SessionId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Saves at one time. They read the disk; more of them would only be in each other's way, and in
/// that of a pause.
const AT_ONCE: usize = 2;

/// When running sessions were last saved.
#[derive(Debug)]
pub(crate) struct Pace {
    saved: Mutex<HashMap<SessionId, Last>>,
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Last {
    begun: Option<Instant>,
    due: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { saved: Mutex::default(), places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Pace {
    /// How long the next save has to wait; `None` if none is wanted or one is due already.
    pub(super) fn due(&self, id: &SessionId, config: &SnapshotConfig) -> Option<Duration> {
        if !config.at_turn_end {
            return None;
        }
        let mut saved = held(&self.saved);
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
        held(&self.saved).insert(id.clone(), Last { begun: now, due: false });
    }

    pub(super) fn forget(&self, id: &SessionId) {
        held(&self.saved).remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_that_end_often_are_saved_once_in_a_while() {
        let pace = Pace::default();
        let (id, config) = (SessionId("s".to_owned()), SnapshotConfig::default());
        assert_eq!(pace.due(&id, &config), Some(Duration::ZERO));
        assert_eq!(pace.due(&id, &config), None, "one is due already");
        pace.begun(&id);
        let wait = pace.due(&id, &config).unwrap();
        let gap = Duration::from_secs(config.gap_secs);
        assert!(wait > gap / 2 && wait <= gap, "{wait:?}");
        pace.forget(&id);
        assert_eq!(pace.due(&id, &config), Some(Duration::ZERO));
    }

    #[test]
    fn nothing_is_saved_where_the_configuration_says_so() {
        let config = SnapshotConfig { at_turn_end: false, ..SnapshotConfig::default() };
        assert_eq!(Pace::default().due(&SessionId("s".to_owned()), &config), None);
    }
}
