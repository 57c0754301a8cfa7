//! Whether a full disk is why something went wrong with the daemon. It cannot say so itself: with the disk
//! its log is full, too.

use crate::fault::Fault;
use glis_wire::client::Trouble;
use glis_wire::home::Home;
use std::path::Path;

/// Less than this the event log cannot count on: pages of its file, and those of its journal.
const ROOM_BYTES: u64 = 64 * 1024;

/// The same fault, told as a full disk where the disk of the house is full.
pub(crate) fn blame(home: &Home, fault: Fault) -> Fault {
    match fault {
        Fault::Lost(_)
        | Fault::Stuck { .. }
        | Fault::NotStarted { .. }
        | Fault::DoesNotStart { .. }
            if is_full(&home.state) =>
        {
            Fault::NoRoom { state: home.state.clone() }
        }
        Fault::Trouble { kind: Trouble::Storage, message } if is_full(&home.state) => {
            let message = format!("the disk is full: {message}");
            Fault::Trouble { kind: Trouble::Storage, message }
        }
        other @ (Fault::Home(_)
        | Fault::NotStarted { .. }
        | Fault::DoesNotStart { .. }
        | Fault::Stuck { .. }
        | Fault::NoRoom { .. }
        | Fault::NewerDaemon { .. }
        | Fault::OtherProtocol { .. }
        | Fault::Garbled(_)
        | Fault::Lost(_)
        | Fault::ReaderGone
        | Fault::Refused(_)
        | Fault::Unusable { .. }
        | Fault::Trouble { .. }) => other,
    }
}

/// Whether the disk that a folder is on, or is to be on, has no room left for files or for their bytes.
pub(crate) fn is_full(folder: &Path) -> bool {
    let there = folder.ancestors().find_map(|folder| rustix::fs::statvfs(folder).ok());
    there.is_some_and(|disk| {
        let no_bytes = disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM_BYTES;
        // Some file systems do not count files.
        let no_files = disk.f_files > 0 && disk.f_favail == 0;
        no_bytes || no_files
    })
}
