//! The time that has passed, which tests can move.

use crate::clock;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Before a timer for a time of day looks at the clock again: a machine that wakes up, or a clock
/// that is set, makes it late by no more than this.
const CLOCK_PACE: Duration = Duration::from_secs(30);

/// The time that has passed, by a clock that only tests can move.
#[derive(Clone, Default)]
pub(crate) struct Time {
    /// By how much a test has moved it.
    pub(super) moved: watch::Sender<Duration>,
}

impl Time {
    pub(crate) fn now(&self) -> Instant {
        Instant::now() + *self.moved.borrow()
    }

    pub(crate) async fn sleep(&self, span: Duration) {
        self.sleep_until(self.now() + span).await;
    }

    pub(crate) async fn sleep_until(&self, at: Instant) {
        let mut moves = self.moved.subscribe();
        loop {
            let moved = *moves.borrow_and_update();
            let Some(due) = at.checked_sub(moved) else { return };
            tokio::select! {
                () = sleep_until(due) => return,
                Ok(()) = moves.changed() => {}
            }
        }
    }

    /// Sleeps until the clock on the wall shows this time.
    pub(super) async fn sleep_until_wall(&self, at_ms: i64) {
        loop {
            let left = at_ms.saturating_sub(clock::now().as_millisecond());
            let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else { return };
            self.sleep(Duration::from_millis(left).min(CLOCK_PACE)).await;
        }
    }
}
