//! A record of the log, and by its chain every record before it.

use super::row::{FNV_START, fnv};

/// Names a record: its number, its sum, and a sum over the sums of all up to it. It
/// tells by one record whether a log is the same up to there, and by all of them whether each still
/// is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) seq: u64,
    pub(crate) sum: i64,
    pub(crate) chain: u64,
}

impl Default for Mark {
    /// Before the first record.
    fn default() -> Self {
        Self { seq: 0, sum: 0, chain: FNV_START }
    }
}

impl Mark {
    /// Goes on to the next record.
    pub(crate) fn add(&mut self, seq: u64, sum: i64) {
        let chain = fnv(fnv(self.chain, &seq.to_le_bytes()), &sum.to_le_bytes());
        *self = Self { seq, sum, chain };
    }

    pub(crate) fn words(&self) -> String {
        format!("{} {:016x} {:016x}", self.seq, self.sum.cast_unsigned(), self.chain)
    }

    pub(crate) fn read(words: &str) -> Option<Self> {
        let mut words = words.split(' ');
        let seq = words.next()?.parse().ok()?;
        let sum = u64::from_str_radix(words.next()?, 16).ok()?.cast_signed();
        let chain = u64::from_str_radix(words.next()?, 16).ok()?;
        words.next().is_none().then_some(Self { seq, sum, chain })
    }
}

/// What was found in a stretch of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    /// The last record of the stretch, with all before it.
    pub(crate) end: Mark,
    /// Records that are not what was written.
    pub(crate) damaged: Vec<u64>,
}
