//! The lock that a killed agent's git leaves on the index of its worktree.

use crate::jobs::Jobs;
use glis_core::session::Session;
use glis_os::process::{all, folder_of, name_of, open_files_of};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tracing::warn;

/// A lock that is younger may belong to a git that has just begun.
const YOUNG: Duration = Duration::from_secs(2);

/// Sets an `index.lock` aside that no process holds any more. The session has no process; what is
/// looked for is a git that the user runs.
pub(super) fn set_stale_aside(jobs: &Jobs, session: &Session, worktree: &Path) {
    // In place it is the user's own repository, and what works there is not ours to judge.
    let Ok(worktree) = worktree.canonicalize() else { return };
    let lock = glis_snapshot::index_lock(&worktree).filter(|_| !session.spec.in_place);
    let Some(young) = lock.and_then(|lock| age(&lock)) else { return };
    jobs.await_blocking(tokio::time::sleep(YOUNG.saturating_sub(young)));
    // Still the same lock, and no process could hold it.
    if stale(&worktree).is_none() {
        return;
    }
    match glis_snapshot::set_stale_lock_aside(&worktree) {
        Ok(Some(aside)) => warn!("a stale index.lock is now {}", aside.display()),
        Ok(None) => {}
        Err(fault) => warn!("index.lock: {fault}"),
    }
}

/// The lock on a worktree's index, if no process holds it any more.
pub(crate) fn stale(worktree: &Path) -> Option<PathBuf> {
    let worktree = worktree.canonicalize().ok()?;
    let lock = glis_snapshot::index_lock(&worktree)?.canonicalize().ok()?;
    let old = age(&lock).is_some_and(|age| age >= YOUNG);
    (old && !is_in_use(&lock, &worktree)).then_some(lock)
}

fn age(lock: &Path) -> Option<Duration> {
    let facts = std::fs::symlink_metadata(lock).ok()?;
    SystemTime::now().duration_since(facts.modified().ok()?).ok()
}

/// Whether a git works in the worktree, or any process has the lock open.
fn is_in_use(lock: &Path, worktree: &Path) -> bool {
    all().any(|pid| {
        // A person's shell may stand in the worktree for days without touching it.
        let is_git = name_of(pid).starts_with("git");
        // One that may not be looked at may be anywhere.
        let works_there = folder_of(pid).map_or_else(
            |fault| fault.kind() == io::ErrorKind::PermissionDenied,
            |cwd| cwd.starts_with(worktree),
        );
        is_git && works_there || open_files_of(pid).any(|open| open == lock)
    })
}
