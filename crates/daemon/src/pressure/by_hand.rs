//! Pressure in the hands of a test, in debug builds only.
//!
//! `GLIS_MEMORY` names a folder. Where it holds a `meminfo`, that is looked at instead of the kernel's;
//! else memory runs short whenever `short` is replaced in it.

use glis_os::watch::{Change, Watch};
use std::path::PathBuf;

pub(super) enum Named {
    /// A file to be looked at.
    Meminfo(PathBuf),
    Signal(Signal),
}

/// Tells when the test says so.
pub(super) struct Signal {
    watch: Watch,
}

impl Signal {
    /// Waits until memory runs short; false if that is never told again.
    pub(super) async fn next(&self) -> bool {
        let is_it = |change: &Change| matches!(change, Change::Entry(name) if name == "short");
        loop {
            match self.watch.next().await {
                Ok(changes) if changes.iter().any(is_it) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

/// What a test has named. In a released program nothing can be asked for.
pub(super) fn named() -> Option<Named> {
    if !cfg!(debug_assertions) {
        return None;
    }
    let folder = std::env::var_os("GLIS_MEMORY").map(PathBuf::from)?;
    let meminfo = folder.join("meminfo");
    if meminfo.exists() {
        return Some(Named::Meminfo(meminfo));
    }
    let watch = Watch::new().ok()?;
    watch.entries_of(&folder).ok()?;
    Some(Named::Signal(Signal { watch }))
}
