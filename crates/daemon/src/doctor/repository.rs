//! What can be wrong with a repository: snapshots that nobody knows, locks that nobody holds.

use super::finding;
use glis_snapshot::Shelf;
use glis_wire::view::{Finding, Health};
use std::collections::BTreeSet;
use std::path::Path;

/// More names than this tell nothing more.
const NAMED_MAX: usize = 3;

pub(super) fn examine(path: &Path, known: &BTreeSet<String>) -> Vec<Finding> {
    if !path.exists() {
        let message = format!("the repository {} is gone", path.display());
        let hint = "its sessions cannot be resumed until it is back";
        return vec![finding("repository", Health::Bad, message, Some(hint))];
    }
    let shelves = [(Shelf::Snapshots, "refs/glis/snap"), (Shelf::Trash, "refs/glis/trash")];
    let orphans = shelves.into_iter().filter_map(|(shelf, place)| {
        let kept = glis_snapshot::sessions(path, shelf).ok()?;
        orphaned(path, place, &kept.difference(known).cloned().collect::<Vec<_>>())
    });
    orphans.chain(locks(path)).collect()
}

/// Snapshots of sessions that this log does not know.
fn orphaned(path: &Path, place: &str, ids: &[String]) -> Option<Finding> {
    let first = ids.first()?;
    let named: Vec<_> = ids.iter().take(NAMED_MAX).map(String::as_str).collect();
    let more = if ids.len() > NAMED_MAX { " and more" } else { "" };
    let message = format!(
        "{} sessions have snapshots in {} and are not in the log: {}{more}",
        ids.len(),
        path.display(),
        named.join(", ")
    );
    let hint = format!(
        "another house may know them. If none does: `git worktree add --detach DIR {place}/{first}/…` \
         looks into one, `git update-ref -d` lets it go"
    );
    Some(finding("repository", Health::Warning, message, Some(&hint)))
}

/// Locks on our own refs that a killed save left.
fn locks(path: &Path) -> Option<Finding> {
    let locks = glis_snapshot::stale_locks(path).ok()?;
    let first = locks.first()?;
    let message = format!("{} stale locks on snapshots, {} first", locks.len(), first.display());
    let hint = "`glis daemon stop`; the daemon that the next command starts removes them";
    Some(finding("repository", Health::Warning, message, Some(hint)))
}
