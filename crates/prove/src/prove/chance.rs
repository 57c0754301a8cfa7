//! Chance from a seed: the same seed breaks the same things in the same order.

use std::hash::{BuildHasher as _, Hasher as _};
use std::time::Duration;

/// Numbers from a seed (xorshift with a multiplication at the end).
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn from(seed: u64) -> Self {
        // All zeroes would stay zeroes for ever.
        let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Self(mixed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below this one.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = end.max(1) as u64;
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    /// Bytes that cannot be compressed.
    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.next().to_le_bytes()).take(count.div_ceil(5));
        words.flat_map(|word| word.into_iter().take(5)).take(count).collect()
    }

    /// A moment within this time, the early ones more often: most steps of a verb are short.
    pub(super) fn moment(&mut self, within: Duration) -> Duration {
        let micros = u64::try_from(within.as_micros()).unwrap_or(u64::MAX).max(1);
        let end = self.next() % micros + 1;
        Duration::from_micros(self.next() % end)
    }
}

/// A random seed, short enough to be typed.
pub(super) fn fresh_seed() -> u64 {
    // The standard library's hash keys are random, once for each process.
    std::collections::hash_map::RandomState::new().build_hasher().finish() % 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_seed_others() {
        let draw = |seed| {
            let mut chance = Chance::from(seed);
            (0..50).map(|_| chance.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_ne!(draw(0), [0; 50]);
    }

    #[test]
    fn a_moment_lies_within_its_time() {
        let mut chance = Chance::from(1);
        let within = Duration::from_millis(50);
        assert!((0..1000).all(|_| chance.moment(within) < within));
    }
}
