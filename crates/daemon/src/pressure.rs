//! Being told that the machine runs short of memory.
//!
//! Where the kernel measures pressure, it tells by itself: nothing is looked at again and again. Where it
//! does not, the memory that is left is looked at when something has happened that takes memory (a
//! process has started, a turn or a tool has begun or ended) or has given some back. In an idle house
//! nothing happens, and nothing looks.

mod by_hand;

use by_hand::{Named, Signal};

use crate::mailbox::{Mailbox, Published};
use crate::settings::Settings;
use crate::tasks::beside;
use glis_config::MemoryConfig;
use glis_core::{Event, Input};
use glis_os::memory::{MEMINFO, Pressure, left_percent, waited_percent};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

/// Between two looks at the memory that is left: as often as the kernel would tell of pressure.
const LOOK_PACE: Duration = Duration::from_secs(10);

/// Memory is not short with a quarter of it left: agents take seconds to fill so much, and pressure is
/// told again every few seconds.
const PLENTY_PERCENT: u64 = 25;

enum Source {
    /// By the kernel, whenever processes have waited for memory for too long.
    Pressure(Pressure),
    /// In this file, which has to be looked at.
    Available(PathBuf),
    /// By a test.
    ByHand(Signal),
}

/// Tells the controller whenever memory runs short. It belongs to the runtime that this is called in.
pub(crate) fn begin(mailbox: Mailbox, settings: Arc<Settings>) {
    beside(async move {
        match source(&settings.now().memory) {
            Source::Pressure(pressure) => {
                while pressure.told().await.is_ok() {
                    let left = left_percent(Path::new(MEMINFO));
                    if bears_out(waited_percent(), &settings.now().memory) && !is_plenty(left) {
                        mailbox.tell(Input::MemoryShort).await;
                    }
                }
            }
            Source::ByHand(signal) => {
                while signal.next().await {
                    mailbox.tell(Input::MemoryShort).await;
                }
            }
            Source::Available(file) => look_when_it_matters(&mailbox, &settings, &file).await,
        }
    });
}

fn source(config: &MemoryConfig) -> Source {
    match by_hand::named() {
        Some(Named::Signal(signal)) => Source::ByHand(signal),
        Some(Named::Meminfo(file)) => Source::Available(file),
        None => Pressure::watch(config.pressure_percent, config.window_secs)
            .map_or_else(|_| Source::Available(PathBuf::from(MEMINFO)), Source::Pressure),
    }
}

/// Whether what the kernel measures bears out what it has just told. It was seen to tell of pressure
/// where none had been for a minute (Linux 6.18, again and again in the first half minute of a trigger),
/// and each time an agent would have been suspended. What it has measured over ten seconds shows half of
/// the pressure at least; where that cannot be read, it is believed.
fn bears_out(measured: Option<f64>, config: &MemoryConfig) -> bool {
    let expected = f64::from(config.pressure_percent) * f64::from(config.window_secs) / 10.0;
    measured.is_none_or(|measured| measured * 2.0 >= expected)
}

/// Whether so much memory is left that the pressure must have another reason. A single program that
/// thrashes within a bound of its own (a cgroup) makes the whole machine count as pressed, and what is
/// given back here does not reach it. Where it cannot be read, the pressure is believed.
fn is_plenty(left_percent: Option<u64>) -> bool {
    left_percent.is_some_and(|left| left >= PLENTY_PERCENT)
}

async fn look_when_it_matters(mailbox: &Mailbox, settings: &Settings, file: &Path) {
    let mut news = mailbox.news.subscribe();
    let mut looked_at: Option<Instant> = None;
    loop {
        let matters = match news.recv().await {
            Ok(published) => matters(&published),
            Err(RecvError::Lagged(_)) => Some(Matters::Takes),
            Err(RecvError::Closed) => return,
        };
        let soon = looked_at.is_some_and(|at| at.elapsed() < LOOK_PACE);
        match matters {
            None => continue,
            Some(Matters::Takes) if soon => continue,
            Some(Matters::Takes | Matters::GivesBack) => {}
        }
        looked_at = Some(Instant::now());
        let least = settings.now().memory.available_percent;
        if left_percent(file).is_some_and(|left| left < u64::from(least)) {
            mailbox.tell(Input::MemoryShort).await;
        }
    }
}

/// What an event has to do with memory.
enum Matters {
    Takes,
    GivesBack,
}

fn matters(published: &Published) -> Option<Matters> {
    let event = &published.recorded.event;
    let takes = matches!(
        event,
        Event::ProcessStarted { .. }
            | Event::TurnBegan { .. }
            | Event::TurnEnded { .. }
            | Event::ToolBegan { .. }
            | Event::ToolEnded { .. }
    );
    // Whether that was enough is seen at once.
    let gives_back = matches!(event, Event::Suspended { .. });
    if takes { Some(Matters::Takes) } else { gives_back.then_some(Matters::GivesBack) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_os::memory::percent_in;

    #[test]
    fn pressure_that_the_kernel_does_not_measure_is_none() {
        let usual = MemoryConfig::default();
        for (avg10, so) in [(0.02, false), (4.99, false), (5.00, true), (63.20, true)] {
            assert_eq!(bears_out(Some(avg10), &usual), so, "{avg10}");
        }
        // Of a window of two seconds, ten seconds have a fifth.
        let short = MemoryConfig { window_secs: 2, ..MemoryConfig::default() };
        assert!(bears_out(Some(1.00), &short));
        assert!(!bears_out(Some(0.99), &short));
        assert!(bears_out(None, &usual), "what cannot be read says nothing");
    }

    #[test]
    fn pressure_counts_only_where_memory_is_short_as_well() {
        let left = |available: u32| format!("MemTotal: 24000 kB\nMemAvailable: {available} kB\n");
        for (available, plenty) in [(20_000, true), (6_000, true), (5_999, false), (400, false)] {
            assert_eq!(is_plenty(percent_in(&left(available))), plenty, "{available} of 24000");
        }
        assert!(!is_plenty(percent_in("")), "what cannot be read says nothing");
    }
}
