//! Time as a bot, its network and the clock on the wall have it, in the hands of a test.

use super::bot::BotHouse;
use super::house::{House, Outcome};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The bot asks the network anew after this.
const POLL: Duration = Duration::from_secs(50);

/// A house with a bot whose time is moved by a test, and that of the network with it.
pub(crate) struct TimedBot {
    pub(crate) bot: BotHouse,
    moved: Mutex<Duration>,
    /// By how many seconds the clock on the wall is wrong, besides.
    wrong_by: AtomicI64,
}

impl TimedBot {
    /// Nothing runs yet.
    pub(crate) fn still() -> Outcome<Self> {
        let mut house = House::new()?;
        let folder = folder(&house);
        std::fs::create_dir(&folder)?;
        house.surround("GLIS_CHAT_TIME", folder.to_string_lossy());
        house.surround("GLIS_CLOCK", clock(&house).to_string_lossy());
        let bot = BotHouse::over(house, "rehearsal", "")?;
        Ok(Self { bot, moved: Mutex::default(), wrong_by: AtomicI64::default() })
    }

    /// The bot runs.
    pub(crate) fn new() -> Outcome<Self> {
        let mut timed = Self::still()?;
        timed.bot.start()?;
        Ok(timed)
    }

    /// So much time passes for the network, the bot and the clock on the wall.
    pub(crate) fn pass(&self, time: Duration) {
        let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        *moved += time;
        let folder = folder(&self.bot.house);
        self.show_clock(*moved);
        // The network first: a bot that is ahead of it would be early.
        self.bot.api.pass(time);
        replace(&folder.join("moved"), &moved.as_millis().to_string());
    }

    /// The clock on the wall is set, so many seconds away from the right time. Nothing else moves.
    pub(crate) fn set_clock(&self, wrong_by: i64) {
        self.wrong_by.store(wrong_by, Ordering::Relaxed);
        self.show_clock(*self.moved.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn show_clock(&self, moved: Duration) {
        let wrong_by = self.wrong_by.load(Ordering::Relaxed);
        let ahead = wrong_by.saturating_add_unsigned(moved.as_secs());
        replace(&clock(&self.bot.house), &ahead.to_string());
    }

    /// How far time has to be moved until some thread of the bot goes on.
    fn next_wait(&self) -> Option<Duration> {
        let moved = *self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = std::fs::read_dir(folder(&self.bot.house)).ok()?.filter_map(Result::ok);
        let waits =
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("waits-"));
        let ends = waits.filter_map(|entry| {
            let told = std::fs::read_to_string(entry.path()).ok()?;
            Some(Duration::from_millis(told.trim().parse().ok()?))
        });
        ends.filter_map(|end| end.checked_sub(moved).filter(|left| !left.is_zero())).min()
    }

    /// Does something while time jumps to whatever the bot waits for, and else runs twenty times as fast.
    pub(crate) fn while_time_flies<T>(&self, act: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // One step, and then what is waited for by now: a thread whose wait begins meanwhile would
                    // sleep through hours, as if the network had been away.
                    let rest = if let Some(left) = self.next_wait() {
                        self.leap(left.min(POLL), &done);
                        Duration::from_millis(4)
                    } else {
                        // Nobody is waited for: it may be the network that is silent, until its time is over.
                        self.pass(Duration::from_millis(200));
                        Duration::from_millis(10)
                    };
                    std::thread::sleep(rest);
                }
            });
            let acted = act();
            done.store(true, Ordering::Relaxed);
            acted
        })
    }

    /// Lets a longer time pass, in steps that leave the bot its turn to ask the network anew.
    pub(crate) fn pass_long(&self, time: Duration) {
        self.leap(time, &AtomicBool::new(false));
    }

    fn leap(&self, time: Duration, done: &AtomicBool) {
        let mut left = time;
        while !left.is_zero() && !done.load(Ordering::Relaxed) {
            let step = left.min(POLL);
            left -= step;
            self.pass(step);
            let patience = Instant::now() + Duration::from_secs(2);
            // Where the bot waits before it asks again, nothing is to be waited for.
            let waits = folder(&self.bot.house).join("waits-main");
            let asked =
                || self.bot.api.polled_at().is_some_and(|at| at + POLL > self.bot.api.now());
            while !asked() && !waits.exists() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

fn folder(house: &House) -> PathBuf {
    house.folder().join("chat-time")
}

fn clock(house: &House) -> PathBuf {
    house.folder().join("chat-clock")
}

fn replace(file: &Path, number: &str) {
    let fresh = file.with_extension("fresh");
    // Read at any moment: never half of it.
    if std::fs::write(&fresh, number).is_ok() {
        drop(std::fs::rename(fresh, file));
    }
}
