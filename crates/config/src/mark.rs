//! Whether a file is still the one that was read.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// By what a file is known to be another one than before, also one that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(Option<(u64, u64, i64, i64, i64, i64)>);

impl Mark {
    /// As it is now. Taken before it is read: what is changed while it is read is read again.
    pub fn of(path: &Path) -> Self {
        let facts = std::fs::metadata(path).ok();
        Self(facts.map(|facts| {
            let (modified, changed) = (facts.mtime_nsec(), facts.ctime_nsec());
            (facts.ino(), facts.len(), facts.mtime(), modified, facts.ctime(), changed)
        }))
    }
}
