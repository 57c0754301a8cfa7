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
use glis_config::MemoryConfig;
use glis_core::{Event, Input};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

const PRESSURE: &str = "/proc/pressure/memory";
const MEMINFO: &str = "/proc/meminfo";

/// Between two looks at the memory that is left: as often as the kernel would tell of pressure.
const LOOK_PACE: Duration = Duration::from_secs(10);

/// Memory is not short with a quarter of it left: agents take seconds to fill so much, and pressure is
/// told again every few seconds.
const PLENTY_PERCENT: u64 = 25;

/// Where it is told.
enum Source {
    /// By the kernel, whenever processes have waited for memory for too long.
    Pressure(AsyncFd<OwnedFd>),
    /// In this file, which has to be looked at.
    Available(PathBuf),
    /// By a test.
    ByHand(Signal),
}

/// Tells the controller whenever memory runs short. It belongs to the runtime that this is called in.
pub(crate) fn begin(mailbox: Mailbox, settings: Arc<Settings>) {
    drop(tokio::spawn(async move {
        match source(&settings.now().memory) {
            Source::Pressure(trigger) => {
                while let Ok(mut ready) = trigger.ready(Interest::PRIORITY).await {
                    ready.clear_ready();
                    // The kernel's file is made when it is read, and never waited for.
                    let told = std::fs::read_to_string(PRESSURE).unwrap_or_default();
                    let meminfo = std::fs::read_to_string(MEMINFO).unwrap_or_default();
                    if bears_out(&told, &settings.now().memory) && !is_plenty(&meminfo) {
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
    }));
}

fn source(config: &MemoryConfig) -> Source {
    match by_hand::named() {
        Some(Named::Signal(signal)) => Source::ByHand(signal),
        Some(Named::Meminfo(file)) => Source::Available(file),
        None => trigger(config)
            .map_or_else(|_| Source::Available(PathBuf::from(MEMINFO)), Source::Pressure),
    }
}

/// Asks the kernel to tell. It takes a text with its end, and leaves the last byte out.
#[expect(
    deprecated,
    reason = "its successor is unsafe for descriptors that may be closed; an `OwnedFd` is not"
)]
fn trigger(config: &MemoryConfig) -> io::Result<AsyncFd<OwnedFd>> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(PRESSURE, flags, Mode::empty())?;
    rustix::io::write(&file, threshold(config).as_bytes())?;
    AsyncFd::with_interest(file, Interest::PRIORITY)
}

fn threshold(config: &MemoryConfig) -> String {
    let window = u64::from(config.window_secs) * 1_000_000;
    format!("some {} {window}\0", window * u64::from(config.pressure_percent) / 100)
}

/// Whether what the kernel measures bears out what it has just told. It was seen to tell of pressure
/// where none had been for a minute (Linux 6.18, again and again in the first half minute of a trigger),
/// and each time an agent would have been suspended. What it has measured over ten seconds shows half of
/// the pressure at least; where that cannot be read, it is believed.
fn bears_out(told: &str, config: &MemoryConfig) -> bool {
    let some = told.lines().find_map(|line| line.strip_prefix("some avg10="));
    let measured = some.and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    let expected = f64::from(config.pressure_percent) * f64::from(config.window_secs) / 10.0;
    measured.is_none_or(|measured| measured * 2.0 >= expected)
}

/// Whether so much memory is left that the pressure must have another reason. A single program that
/// thrashes within a bound of its own (a cgroup) makes the whole machine count as pressed, and what is
/// given back here does not reach it. Where it cannot be read, the pressure is believed.
fn is_plenty(meminfo: &str) -> bool {
    percent_left(meminfo).is_some_and(|left| left >= PLENTY_PERCENT)
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
        // The kernel's file is made when it is read, and never waited for.
        let left = std::fs::read_to_string(file).ok().and_then(|told| percent_left(&told));
        if left.is_some_and(|left| left < u64::from(least)) {
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

/// How much of the machine's memory is available, in percent.
fn percent_left(meminfo: &str) -> Option<u64> {
    let of = |name: &str| -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    of("MemAvailable:")?.checked_mul(100)?.checked_div(of("MemTotal:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_ten_seconds_is_a_second() {
        assert_eq!(threshold(&MemoryConfig::default()), "some 1000000 10000000\0");
    }

    #[test]
    fn pressure_that_the_kernel_does_not_measure_is_none() {
        let measured = |avg10: &str| {
            format!(
                "some avg10={avg10} avg60=0.14 avg300=0.07 total=92840009\n\
                 full avg10=9.00 avg60=0.00 avg300=0.00 total=22941150\n"
            )
        };
        let usual = MemoryConfig::default();
        for (avg10, so) in [("0.02", false), ("4.99", false), ("5.00", true), ("63.20", true)] {
            assert_eq!(bears_out(&measured(avg10), &usual), so, "{avg10}");
        }
        // Of a window of two seconds, ten seconds have a fifth.
        let short = MemoryConfig { window_secs: 2, ..MemoryConfig::default() };
        assert!(bears_out(&measured("1.00"), &short));
        assert!(!bears_out(&measured("0.99"), &short));
        assert!(bears_out("", &usual), "what cannot be read says nothing");
    }

    #[test]
    fn what_is_left_is_told_in_percent() {
        let told = "MemTotal:       8000 kB\nMemFree:  10 kB\nMemAvailable:   400 kB\n";
        assert_eq!(percent_left(told), Some(5));
        assert_eq!(percent_left("MemTotal: 0 kB\nMemAvailable: 1 kB\n"), None);
        assert_eq!(percent_left("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn pressure_counts_only_where_memory_is_short_as_well() {
        let left = |available: u32| format!("MemTotal: 24000 kB\nMemAvailable: {available} kB\n");
        for (available, plenty) in [(20_000, true), (6_000, true), (5_999, false), (400, false)] {
            assert_eq!(is_plenty(&left(available)), plenty, "{available} of 24000");
        }
        assert!(!is_plenty(""), "what cannot be read says nothing");
    }

    /// Where the kernel measures pressure, it takes the text.
    #[tokio::test]
    async fn the_kernel_takes_the_threshold_where_it_measures_pressure() {
        let refused = trigger(&MemoryConfig::default()).err();
        let kind = refused.map(|fault| fault.kind());
        assert_ne!(kind, Some(io::ErrorKind::InvalidInput));
    }
}
