//! Whether a worktree could be saved right now: a quick look before an agent is disturbed whose
//! worktree has to be saved afterwards.

use crate::fault::{About as _, SnapshotFault};
use crate::place::Place;
use crate::scratch::{Scratch, common_of};
use rustix::fs::Access;
use std::path::Path;

/// Below this a snapshot of even a small change does not fit: its pack, the index of that, two
/// folders and a ref, each of them at least one block.
const FREE_BYTES_MIN: u64 = 128 * 1024;

/// Says why a snapshot of this worktree would surely fail, if it would. Nothing that anybody sees is
/// changed: a throw-away folder is made among our own files in the repository, and removed.
pub fn can_save(worktree: &Path, repo_root: &Path) -> Result<(), SnapshotFault> {
    let place = Place::find(worktree)?;
    let common = common_of(repo_root)?;
    if place.common.canonicalize().ok() != common.canonicalize().ok() {
        let why = "it belongs to another repository".to_owned();
        return Err(SnapshotFault::InTheWay { path: worktree.to_owned(), why });
    }
    let objects = place.common.join("objects");
    let facts = rustix::fs::statvfs(&objects).about(&objects)?;
    if facts.f_bavail.saturating_mul(facts.f_frsize) < FREE_BYTES_MIN {
        return Err(SnapshotFault::DiskFull(objects.display().to_string()));
    }
    rustix::fs::access(&objects, Access::WRITE_OK | Access::EXEC_OK).about(&objects)?;
    Scratch::create(&place.common, place.format, &[]).map(drop)
}
