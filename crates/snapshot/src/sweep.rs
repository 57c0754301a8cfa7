//! Removing what killed saves and restores left behind.

use crate::coming;
use crate::fault::{About as _, SnapshotFault};
use crate::scratch::{ALIVE, HOME, KEEP_TEXT, PREFIX, common_of};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What is younger than this when a sweep begins may belong to a save that began after the sweep
/// had looked for living ones. A tick of the file system's clock is shorter.
const SWEEP_MARGIN: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Throw-away repositories of savers that are no more.
    pub folders: usize,
    /// Locks of refs in our own namespace whose holders are gone.
    pub locks: usize,
    /// Marks that kept a pack from being taken for garbage.
    pub keeps: usize,
    /// Worktrees that were on their way back.
    pub comings: usize,
}

/// Removes what a killed save or restore left behind: our throw-away folders, our own refs' locks,
/// worktrees that were half filled.
/// Nothing else is ever touched, and nothing of a save that still runs.
pub fn sweep(repo_root: &Path) -> Result<Swept, SnapshotFault> {
    let common = common_of(repo_root)?;
    let home = common.join(HOME);
    let mut swept = Swept { comings: coming::sweep(&common)?, ..Swept::default() };
    let mut living = 0;
    let begun = SystemTime::now() - SWEEP_MARGIN;
    for entry in fs::read_dir(&home).into_iter().flatten().flatten() {
        if !entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let alive = File::open(entry.path().join(ALIVE));
        let free = alive.as_ref().map_or(true, |file| {
            rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
        });
        // A folder without the file is one whose maker died, or is about to make it.
        let young = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|at| at.elapsed().is_ok_and(|age| age < std::time::Duration::from_secs(5)));
        if free && (alive.is_ok() || !young) {
            crate::packs::unlock(&common, &entry.path());
            fs::remove_dir_all(entry.path()).about(&entry.path())?;
            swept.folders += 1;
        } else {
            living += 1;
        }
    }
    if living == 0 {
        for_each_lock(&common.join("refs/glis"), begun, &mut |path| {
            swept.locks += usize::from(fs::remove_file(path).is_ok());
        });
        for entry in fs::read_dir(common.join("objects/pack")).into_iter().flatten().flatten() {
            let path = entry.path();
            let ours = path.extension().is_some_and(|end| end == "keep")
                && is_older(&path, begun)
                && fs::read(&path).is_ok_and(|text| text == KEEP_TEXT);
            if ours && fs::remove_file(&path).is_ok() {
                swept.keeps += 1;
            }
        }
    }
    Ok(swept)
}

/// Locks on our own refs whose holders are gone; none is named while a save is at work.
pub fn stale_locks(repo_root: &Path) -> Result<Vec<PathBuf>, SnapshotFault> {
    let common = common_of(repo_root)?;
    let begun = SystemTime::now() - SWEEP_MARGIN;
    let savers = fs::read_dir(common.join(HOME)).into_iter().flatten().flatten();
    let mut savers = savers.filter_map(|entry| File::open(entry.path().join(ALIVE)).ok());
    let shared = FlockOperation::NonBlockingLockShared;
    let mut found = Vec::new();
    if savers.all(|alive| rustix::fs::flock(&alive, shared).is_ok()) {
        for_each_lock(&common.join("refs/glis"), begun, &mut |path| found.push(path));
    }
    Ok(found)
}

fn is_older(path: &Path, than: SystemTime) -> bool {
    fs::symlink_metadata(path).and_then(|meta| meta.modified()).is_ok_and(|at| at < than)
}

fn for_each_lock(dir: &Path, begun: SystemTime, found: &mut dyn FnMut(PathBuf)) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            for_each_lock(&entry.path(), begun, found);
        } else if entry.file_name().as_bytes().ends_with(b".lock") && is_older(&entry.path(), begun)
        {
            found(entry.path());
        }
    }
}
