//! Time in the hands of a test, in debug builds only.
//!
//! `GLIS_TIME` names a folder. `moved` in it holds the milliseconds by which time has been moved
//! forward, and takes effect when it is replaced; `set` holds the kinds of the timers that are set, a
//! line each, so that a test can wait for one before it moves time; `fired` holds those that have fired.

use super::time::Time;
use crate::tasks::beside;
use glis_core::TimerKey;
use glis_os::watch::Watch;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder, if a test has named one. In a released program nothing can be asked for.
fn folder() -> Option<PathBuf> {
    if !cfg!(debug_assertions) {
        return None;
    }
    std::env::var_os("GLIS_TIME").map(PathBuf::from)
}

/// Follows what the test does to time.
pub(super) fn begin(time: &Time) {
    let Some(folder) = folder() else { return };
    let time = time.clone();
    beside(async move {
        let Ok(watch) = Watch::new() else { return };
        if watch.entries_of(&folder).is_err() {
            return;
        }
        loop {
            if let Some(moved) = moved(&folder) {
                time.moved.send_if_modified(|known| {
                    let further = moved > *known;
                    *known = moved.max(*known);
                    further
                });
            }
            if watch.next().await.is_err() {
                return;
            }
        }
    });
}

fn moved(folder: &Path) -> Option<Duration> {
    let told = std::fs::read_to_string(folder.join("moved")).ok()?;
    told.trim().parse().ok().map(Duration::from_millis)
}

/// Shows which timers are set.
pub(super) fn show<'k>(keys: impl Iterator<Item = &'k TimerKey>) {
    let Some(folder) = folder() else { return };
    let kinds: Vec<_> = keys.map(|key| format!("{}\n", kind(*key))).collect();
    let fresh = folder.join("set.fresh");
    // Read at any moment: never half of it.
    if std::fs::write(&fresh, kinds.concat()).is_ok() {
        std::fs::rename(fresh, folder.join("set")).ok();
    }
}

/// Shows that a timer has fired: its kind, as another line.
pub(super) fn show_fired(key: TimerKey) {
    let Some(folder) = folder() else { return };
    let file = OpenOptions::new().create(true).append(true).open(folder.join("fired"));
    if let Ok(mut file) = file {
        writeln!(file, "{}", kind(key)).ok();
    }
}

fn kind(key: TimerKey) -> &'static str {
    match key {
        TimerKey::SafeState(_) => "safe_state",
        TimerKey::Ready(_) => "ready",
        TimerKey::Step(_) => "step",
        TimerKey::Compact => "compact",
        TimerKey::Retry(_) => "retry",
        TimerKey::Idle(_) => "idle",
        TimerKey::Gate(_) => "gate",
        TimerKey::Verdict => "verdict",
        TimerKey::ResumeAt(_) => "resume_at",
        TimerKey::Snooze(_) => "snooze",
        TimerKey::Budget => "budget",
        TimerKey::Work { .. } => "work",
    }
}
