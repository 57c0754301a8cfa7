//! Each snapshot is a pack, and every call of git opens the index of every pack: an index of many packs is opened once.

use crate::scratch::Scratch;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// So many packs are in no common index before one is written: git's own `gc --auto` would begin at as many.
const OUTSIDE_MAX: usize = 50;

/// Where the number of packs stands in an index of many, in four bytes.
const PACKS_AT: std::ops::Range<usize> = 8..12;

/// Git's index of many packs, and its lock on it.
const INDEX: &str = "objects/pack/multi-pack-index";
const LOCK: &str = "objects/pack/multi-pack-index.lock";

/// Gives a repository an index of all its packs, if too many are in none. Without it everything is slower and nothing
/// else, so a failure is nobody's matter.
pub(crate) fn index_together(common: &Path, scratch: &Scratch) {
    let packs = || fs::read_dir(common.join("objects/pack")).into_iter().flatten().flatten();
    let is = |path: &Path, wanted: &str| path.extension().is_some_and(|end| end == wanted);
    let indexes = packs().filter(|entry| is(&entry.path(), "idx")).count();
    if indexes <= inside(common) + OUTSIDE_MAX {
        return;
    }
    for pack in packs().filter(|entry| is(&entry.path(), "idx") || is(&entry.path(), "pack")) {
        let here = scratch.path().join("objects/pack").join(pack.file_name());
        if fs::hard_link(pack.path(), here).is_err() {
            return;
        }
    }
    let written = scratch.git().args(["multi-pack-index", "write"]).output();
    // A link to a file of ours, so that a sweep knows whose lock a kill left.
    let locked = || fs::hard_link(scratch.path().join(INDEX), common.join(LOCK)).is_ok();
    if written.is_ok_and(|written| written.status.success()) && locked() {
        let renamed = fs::rename(common.join(LOCK), common.join(INDEX));
        drop(renamed.or_else(|_| fs::remove_file(common.join(LOCK))));
    }
}

/// Takes a lock away that a save left which was killed while it worked in `scratch`.
pub(crate) fn unlock(common: &Path, scratch: &Path) {
    let file = |path: PathBuf| fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    let lock = file(common.join(LOCK));
    if lock.is_some() && lock == file(scratch.join(INDEX)) {
        drop(fs::remove_file(common.join(LOCK)));
    }
}

/// How many packs are in an index of many.
fn inside(common: &Path) -> usize {
    let head = fs::File::open(common.join(INDEX)).and_then(|mut file| {
        let mut head = [0; PACKS_AT.end];
        std::io::Read::read_exact(&mut file, &mut head).map(|()| head)
    });
    let number = head.ok().and_then(|head| head.get(PACKS_AT)?.try_into().ok());
    number.map_or(0, |number| usize::try_from(u32::from_be_bytes(number)).unwrap_or_default())
}
