//! The lock that a killed agent's git leaves on the index of its worktree.

use crate::jobs::Jobs;
use glis_core::session::Session;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A lock that is younger may belong to a git that has just begun.
const YOUNG: Duration = Duration::from_secs(2);

/// Sets an `index.lock` aside that no process holds any more. The session has no process; what is
/// looked for is a git that the user runs.
pub(super) fn set_stale_aside(jobs: &Jobs, session: &Session, worktree: &Path) {
    // In place it is the user's own repository, and what works there is not ours to judge.
    let Ok(worktree) = worktree.canonicalize() else { return };
    let lock = glis_snapshot::index_lock(&worktree).filter(|_| !session.spec.in_place);
    let Some(young) = lock.and_then(|lock| age(&lock)) else { return };
    jobs.wait_blocking(YOUNG.saturating_sub(young));
    // Still the same lock, and no process could hold it.
    if stale(&worktree).is_none() {
        return;
    }
    match glis_snapshot::set_stale_lock_aside(&worktree) {
        Ok(Some(aside)) => crate::diary(&format!(
            "session {}: a stale index.lock is now {}",
            session.id,
            aside.display()
        )),
        Ok(None) => {}
        Err(fault) => crate::diary(&format!("session {}: index.lock: {fault}", session.id)),
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
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut processes = processes.map(|entry| entry.path()).filter(|path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    });
    processes.any(|process| {
        // A person's shell may stand in the worktree for days without touching it.
        let is_git =
            std::fs::read_to_string(process.join("comm")).is_ok_and(|name| name.starts_with("git"));
        // One that may not be looked at may be anywhere.
        let works_there = std::fs::read_link(process.join("cwd")).map_or_else(
            |fault| fault.kind() == io::ErrorKind::PermissionDenied,
            |cwd| cwd.starts_with(worktree),
        );
        let mut open = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        is_git && works_there
            || open.any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == lock))
    })
}
