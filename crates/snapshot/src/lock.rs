//! The lock that an agent leaves on its index when it dies in the middle of a git command.

use crate::fault::{About as _, SnapshotFault};
use crate::place::Place;
use crate::scratch::now_ns;
use std::io;
use std::path::{Path, PathBuf};

/// The lock on a worktree's index, if there is one right now. Git is not asked: this is looked at
/// before every start.
pub fn index_lock(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    let git_dir = if dot_git.is_dir() {
        dot_git
    } else {
        let text = std::fs::read_to_string(&dot_git).ok()?;
        worktree.join(text.strip_prefix("gitdir: ")?.trim_end())
    };
    Some(git_dir.join("index.lock")).filter(|lock| lock.symlink_metadata().is_ok())
}

/// Puts a left-over `index.lock` aside and says where it is now. Only for a worktree that no
/// process writes to any more: the caller makes sure of that, and that the lock is not a moment old.
pub fn set_stale_lock_aside(worktree: &Path) -> Result<Option<PathBuf>, SnapshotFault> {
    let lock = Place::find(worktree)?.git_dir.join("index.lock");
    let aside = lock.with_file_name(format!("index.lock.stale-{}", now_ns() / 1_000_000));
    match std::fs::rename(&lock, &aside) {
        Ok(()) => Ok(Some(aside)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).about(&lock),
    }
}
