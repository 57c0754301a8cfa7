//! Numbers that are the same for the same seed.

use std::cell::Cell;

pub(super) struct Random(Cell<u64>);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1))
    }

    pub(super) fn below(&self, most: usize) -> usize {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        usize::try_from((x >> 11) % most as u64).unwrap_or(0)
    }

    pub(super) fn one_in(&self, many: usize) -> bool {
        self.below(many) == 0
    }
}
