//! Numbers that follow from a seed.

/// Numbers from a seed (xorshift), the same ones every time.
pub(crate) struct Dice(u64);

impl Dice {
    /// Zero, from which these dice do not get away, counts as one.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed.max(1))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }

    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[usize::try_from(self.below(all.len() as u64)).unwrap_or_default()]
    }
}
