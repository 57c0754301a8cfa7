//! The time that passes for a bot, and the clock on the wall.
//!
//! In debug builds both are in the hands of a test. `GLIS_CHAT_TIME` names a folder: `moved` in it holds the
//! milliseconds by which time was moved forward, and each thread that waits says there in a file of its own
//! (`waits-NAME`) how far it would have to be moved for it to go on. `GLIS_CLOCK` names a file with the seconds by
//! which the clock on the wall is wrong, as it does for the daemon.

use rustix::time::{ClockId, clock_gettime};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// How often a moved time is looked at. Nothing looks where no test moves it.
pub(crate) const LOOK: Duration = Duration::from_millis(2);
/// A request is lost after this where a test moves time: a network that is silent for minutes must not take
/// minutes.
const LOST_BY_HAND: Duration = Duration::from_secs(1);

/// The folder of a test. In a released program nothing can be asked for.
fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || std::env::var_os("GLIS_CHAT_TIME").filter(|_| cfg!(debug_assertions));
    FOLDER.get_or_init(|| read().map(PathBuf::from)).as_ref()
}

fn number_in(file: PathBuf) -> Option<i64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn moved() -> Duration {
    let told = folder().and_then(|folder| number_in(folder.join("moved")));
    Duration::from_millis(told.unwrap_or_default().unsigned_abs())
}

pub(crate) fn is_by_hand() -> bool {
    folder().is_some()
}

/// The time that has passed since something in the past. It only goes forward, also while the machine sleeps: who
/// was asleep was away.
pub(crate) fn passed() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let secs = u64::try_from(now.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(now.tv_nsec).unwrap_or_default();
    Duration::new(secs, nanos) + moved()
}

/// The same in whole milliseconds.
pub(crate) fn passed_ms() -> u64 {
    u64::try_from(passed().as_millis()).unwrap_or(u64::MAX)
}

/// The clock on the wall in milliseconds. It may be set.
pub(crate) fn wall_ms() -> i64 {
    let now = jiff::Timestamp::now().as_millisecond();
    if !cfg!(debug_assertions) {
        return now;
    }
    let wrong_by = std::env::var_os("GLIS_CLOCK").and_then(|file| number_in(PathBuf::from(file)));
    now.saturating_add(wrong_by.unwrap_or_default().saturating_mul(1000))
}

/// For how long a request is waited for that would be given up after this time.
pub(crate) fn on_the_wire(time: Duration) -> Duration {
    if is_by_hand() { time.min(LOST_BY_HAND) } else { time }
}

/// Tells a test that this thread waits, until it goes on.
pub(crate) struct Waiting(Option<PathBuf>);

impl Waiting {
    pub(crate) fn until(passed_then: Duration) -> Self {
        let Some(folder) = folder() else { return Self(None) };
        let target = moved() + passed_then.saturating_sub(passed());
        let thread = thread::current();
        let name = thread.name().unwrap_or("unnamed");
        let file = folder.join(format!("waits-{name}"));
        let fresh = folder.join(format!("fresh-{name}"));
        // Read at any moment: never half of it.
        if std::fs::write(&fresh, target.as_millis().to_string()).is_ok() {
            drop(std::fs::rename(fresh, &file));
        }
        Self(Some(file))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            drop(std::fs::remove_file(file));
        }
    }
}
