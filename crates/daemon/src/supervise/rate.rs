//! How fast a program prints, over the last five seconds and no longer.

use glis_core::safe::ScreenState;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// What was printed before this says nothing about now.
pub(super) const WINDOW: Duration = Duration::from_secs(5);
/// Half a character a second over that time. A program that prints no more does not count as printing.
const QUIET_BYTES: u64 = 2;

#[derive(Debug, Default)]
pub(super) struct Rate {
    pieces: VecDeque<(Instant, u64)>,
}

impl Rate {
    /// Takes note of so many bytes that came now.
    pub(super) fn note(&mut self, now: Instant, bytes: u64) {
        self.forget(now);
        // Reports come once a second at most, so there are few.
        self.pieces.push_back((now, bytes));
    }

    pub(super) fn flows(&mut self, now: Instant) -> bool {
        self.forget(now);
        self.sum() > QUIET_BYTES
    }

    /// When it does not any more, if nothing else comes.
    pub(super) fn quiet_at(&self) -> Option<Instant> {
        let mut left = self.sum();
        self.pieces.iter().find_map(|(at, bytes)| {
            left -= bytes;
            (left <= QUIET_BYTES).then_some(*at + WINDOW)
        })
    }

    fn forget(&mut self, now: Instant) {
        while self.pieces.front().is_some_and(|(at, _)| now.duration_since(*at) >= WINDOW) {
            self.pieces.pop_front();
        }
    }

    fn sum(&self) -> u64 {
        self.pieces.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// The screen of a program that says nothing about itself.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) rate: Rate,
    /// The screen counts as moving.
    pub(super) moves: bool,
    /// What it was last judged to be.
    judged: Option<ScreenState>,
    /// Something has moved on it, and it has come to rest as it was before.
    pub(super) stirred: bool,
}

impl Flow {
    pub(super) fn of(state: &ScreenState) -> Self {
        Self { moves: *state == ScreenState::Flowing, ..Self::default() }
    }

    /// It moves. Whether that is news.
    pub(super) fn begins(&mut self) -> bool {
        if !self.moves {
            self.judged = None;
        }
        !std::mem::replace(&mut self.moves, true)
    }

    /// It has come to rest, and is judged to be this.
    pub(super) fn rests(&mut self, state: &ScreenState) {
        self.moves = false;
        self.stirred = self.judged.replace(state.clone()).as_ref() == Some(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints `bytes` every `pace` milliseconds for a minute; whether it ever counted as printing, and
    /// whether it did at the end.
    fn printing(bytes: u64, pace: u64) -> (bool, bool) {
        let begun = Instant::now();
        let (mut rate, mut ever, mut last) = (Rate::default(), false, false);
        for at in (0..60_000).step_by(usize::try_from(pace).unwrap()) {
            let now = begun + Duration::from_millis(at);
            rate.note(now, bytes);
            last = rate.flows(now);
            ever |= last;
        }
        (ever, last)
    }

    #[test]
    fn what_prints_slower_than_half_a_character_a_second_never_counts_as_printing() {
        assert_eq!(printing(1, 4000), (false, false));
        assert_eq!(printing(1, 2600), (false, false));
        assert_eq!(printing(2, 5000), (false, false));
    }

    #[test]
    fn what_prints_faster_counts_all_the_time() {
        assert_eq!(printing(1, 1000), (true, true));
        assert_eq!(printing(3, 4000), (true, true));
        assert_eq!(printing(1_000_000, 100), (true, true));
    }

    #[test]
    fn it_is_quiet_five_seconds_after_the_last_that_counted() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let mut rate = Rate::default();
        assert_eq!(rate.quiet_at(), None);
        rate.note(at(0), 10);
        rate.note(at(1000), 10);
        rate.note(at(2000), 1);
        assert_eq!(rate.quiet_at(), Some(at(6000)));
        assert!(rate.flows(at(5999)));
        assert!(!rate.flows(at(6000)));
    }
}
