//! Being told by the kernel that the clock on the wall was set, so that no timer has to look at it again
//! and again.

use crate::tasks::beside;
use glis_os::Clock;
use std::time::Duration;
use tokio::sync::watch;
use tracing::warn;

/// Before the clock is looked at again where the kernel cannot be asked to tell.
const CLOCK_PACE: Duration = Duration::from_secs(30);

/// Counts how often the clock was set, and how often the machine has woken up: that sets it as well. It
/// belongs to the runtime that this is called in.
pub(super) fn follow(sets: watch::Sender<u64>) {
    beside(async move {
        let clock = match Clock::watch() {
            Ok(clock) => Some(clock),
            Err(fault) => {
                warn!("the kernel does not tell when the clock is set: {fault}");
                None
            }
        };
        loop {
            match &clock {
                Some(clock) if clock.set().await.is_ok() => {}
                Some(_) | None => tokio::time::sleep(CLOCK_PACE).await,
            }
            sets.send_modify(|times| *times += 1);
        }
    });
}
