//! When a holder looks after its own files.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use crate::folder::Folder;
use crate::{complain, sys};

/// A folder is deleted file by file: what is put back at once would only be in the way.
const DELETION_TIME: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(crate) struct Mending {
    /// When to look next, if there is a reason to.
    pub(crate) at: Option<Instant>,
    /// Attempts that have failed since.
    pub(crate) failed: u32,
    /// The folder was deleted and made anew.
    pub(crate) folder_lost: bool,
}

impl Mending {
    /// Something has happened in the folder.
    pub(crate) fn wanted(&mut self) {
        self.failed = 0;
        self.at = Some(Instant::now() + DELETION_TIME);
    }
}

/// Asks to be told when a file is taken away. Without that, a daemon that misses the socket has to
/// send the signal.
pub(crate) fn watch(folder: &Folder) {
    if let Err(fault) = sys::watch_folder(folder.as_fd()) {
        complain("the folder cannot be watched", &fault);
    }
}
