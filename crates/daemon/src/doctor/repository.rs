//! What can be wrong with a repository: moved away, broken, snapshots that are not whole, locks of
//! processes that are gone. All its sessions are looked at together: git takes its time for each call.

use super::finding::{HUNG, finding};
use crate::worktrees;
use glis_core::session::Session;
use glis_snapshot::{Checkup, Difference, Limits, Shelf, SnapshotFault};
use glis_wire::view::{Finding, Health};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More names than this tell nothing more.
const NAMED_MAX: usize = 3;

/// A repository that sessions belong to.
pub(super) struct Repository {
    path: PathBuf,
    state: State,
}

enum State {
    /// Moved away or deleted.
    Gone,
    /// Git does not take it for a repository, or fails in it.
    Broken(String),
    /// It is there; these of the snapshots that its sessions need are not whole.
    There { checkup: Box<Checkup>, faults: BTreeMap<String, SnapshotFault> },
}

impl Repository {
    /// Looks at a repository and at the snapshots that its sessions would come back from.
    pub(super) fn open(path: PathBuf, sessions: &[Arc<Session>]) -> Self {
        let state = if path.is_dir() {
            match Checkup::open(&path) {
                Ok(checkup) => {
                    let needed = sessions.iter().filter_map(|session| needed(session));
                    let faults = checkup.read_back(needed);
                    State::There { checkup: Box::new(checkup), faults }
                }
                Err(fault) => State::Broken(fault.to_string()),
            }
        } else {
            State::Gone
        };
        Self { path, state }
    }

    /// Whether its sessions can be judged by what is in it.
    pub(super) fn is_there(&self) -> bool {
        match &self.state {
            State::There { .. } => true,
            State::Gone | State::Broken(_) => false,
        }
    }

    /// Why the snapshot that a session would come back from is not whole.
    pub(super) fn fault_of(&self, session: &Session) -> Option<(&str, &SnapshotFault)> {
        let State::There { faults, .. } = &self.state else { return None };
        let (name, fault) = faults.get_key_value(needed(session)?)?;
        Some((name, fault))
    }

    /// How a worktree stands to a snapshot of it.
    pub(super) fn compare(
        &mut self,
        worktree: &Path,
        reference: &str,
        limits: &Limits,
    ) -> Result<Difference, SnapshotFault> {
        if let State::There { checkup, .. } = &mut self.state
            && checkup.is_untouched(worktree, reference, limits)
        {
            return Ok(Difference::Untouched);
        }
        glis_snapshot::compare(worktree, &self.path, reference, limits)
    }

    /// What is to be said about the repository itself.
    pub(super) fn findings(
        &self,
        sessions: &[Arc<Session>],
        known: &BTreeSet<String>,
    ) -> Vec<Finding> {
        // A session in place may work in no repository at all.
        let all: Vec<&Session> =
            sessions.iter().map(Arc::as_ref).filter(|session| !session.spec.in_place).collect();
        let path = self.path.display();
        let bad = |message: String, hint: &str| {
            if all.is_empty() {
                return Vec::new();
            }
            let message = format!("{message}; {}", concerned(&all));
            vec![finding("repository", Health::Bad, message, Some(hint))]
        };
        match &self.state {
            State::Gone => bad(
                format!("the repository {path} was moved away or deleted"),
                "move it back to where it was: until then its sessions can be neither saved nor resumed. To \
                 go on where it is now: `glis new NAME --repo DIR --base BRANCH`, with the branch of a \
                 session; `git -C DIR for-each-ref refs/glis` lists the snapshots",
            ),
            State::Broken(why) => bad(
                format!("{path} is no longer a valid repository: {why}"),
                "if it was moved, move it back; else `git fsck` in it says what is broken",
            ),
            State::There { checkup, .. } => {
                let shelves =
                    [(Shelf::Snapshots, "refs/glis/snap"), (Shelf::Trash, "refs/glis/trash")];
                let others = shelves.into_iter().filter_map(|(shelf, place)| {
                    let ids = checkup.sessions(shelf);
                    strangers(&self.path, place, &ids.difference(known).collect::<Vec<_>>())
                });
                others.chain(locks(&self.path)).collect()
            }
        }
    }
}

/// The snapshot that a resume of the session would need.
fn needed(session: &Session) -> Option<&str> {
    session.saved.last().map(|kept| kept.name.as_str())
}

fn concerned(sessions: &[&Session]) -> String {
    let named: Vec<_> = sessions.iter().take(NAMED_MAX).map(|s| s.name.as_str()).collect();
    let more = sessions.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("it has the sessions {}{more}", named.join(", "))
}

/// Snapshots of sessions that this log does not know. They are in order: another home, or the home of
/// another copy of the repository, has its own; a session that this home has lost is told by its
/// folder.
fn strangers(path: &Path, place: &str, ids: &[&String]) -> Option<Finding> {
    let first = ids.first()?;
    let named: Vec<_> = ids.iter().take(NAMED_MAX).map(|id| id.as_str()).collect();
    let more = if ids.len() > NAMED_MAX { " and more" } else { "" };
    let message = format!(
        "{} sessions of another home have snapshots in {}: {}{more}",
        ids.len(),
        path.display(),
        named.join(", ")
    );
    let hint = format!(
        "if no home knows them any more: `git worktree add --detach DIR {place}/{first}/…` looks into \
         one, `git update-ref -d` lets it go"
    );
    Some(finding("repository", Health::Good, message, Some(&hint)))
}

/// Locks on our own refs that a killed save left.
fn locks(path: &Path) -> Option<Finding> {
    let locks = glis_snapshot::stale_locks(path).ok()?;
    let first = locks.first()?;
    let message = format!("{} stale locks on snapshots, {} first", locks.len(), first.display());
    let hint = "`glis daemon stop`; the daemon that the next command starts removes them";
    Some(finding("repository", Health::Warning, message, Some(hint)))
}

/// A repository that could not be looked at, with those of its sessions that nothing is told about.
pub(super) fn hangs(path: &Path, sessions: &[Arc<Session>], why: &str) -> Finding {
    let all: Vec<&Session> = sessions.iter().map(Arc::as_ref).collect();
    let message = format!("{}: {why}; {}", path.display(), concerned(&all));
    finding("repository", Health::Bad, message, Some(HUNG))
}

/// The sessions of each repository.
pub(super) fn by_path(sessions: Vec<Arc<Session>>) -> BTreeMap<PathBuf, Vec<Arc<Session>>> {
    let mut all: BTreeMap<PathBuf, Vec<Arc<Session>>> = BTreeMap::new();
    for session in sessions {
        all.entry(worktrees::repository(&session)).or_default().push(session);
    }
    all
}
