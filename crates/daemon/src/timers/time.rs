//! The time that has passed, which tests can move.

use super::set::Due;
use crate::clock;
use std::future::pending;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// The time that has passed, by a clock that only tests can move.
#[derive(Clone, Default)]
pub(crate) struct Time {
    /// By how much a test has moved it.
    pub(super) moved: watch::Sender<Duration>,
    /// How often the clock on the wall was set.
    pub(super) sets: watch::Sender<u64>,
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

    /// Sleeps until then; for ever, if there is no such time.
    pub(super) async fn until(&self, due: Option<Due>) {
        match due {
            Some(Due::Span(at)) => self.sleep_until(at).await,
            Some(Due::Wall(at_ms)) => self.sleep_until_wall(at_ms).await,
            None => pending().await,
        }
    }

    /// Sleeps until the clock on the wall shows this time. It is looked at once, and again when it was
    /// set; a test that has set it moves time, too.
    async fn sleep_until_wall(&self, at_ms: i64) {
        let (mut moves, mut sets) = (self.moved.subscribe(), self.sets.subscribe());
        loop {
            moves.mark_unchanged();
            sets.mark_unchanged();
            let left = at_ms.saturating_sub(clock::now().as_millisecond());
            let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else { return };
            tokio::select! {
                () = sleep(Duration::from_millis(left)) => {}
                Ok(()) = moves.changed() => {}
                Ok(()) = sets.changed() => {}
            }
        }
    }
}
