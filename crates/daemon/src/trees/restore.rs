//! Bringing a worktree back: compared before every start, restored from a snapshot, removed once one
//! holds it.

use super::save::named;
use super::{Trees, lock};
use crate::trash;
use crate::worktrees::{owner, repository, top};
use glis_core::input::Done;
use glis_core::reason::Why;
use glis_core::refusal::ResumeFault;
use glis_core::session::{Phase, Session};
use glis_core::tree::{Clearing, Found, PathList, SnapshotRef};
use glis_snapshot::{
    ClearRequest, Cleared, Difference, LeftOut, RestoreRequest, Restored, Shelf, SnapshotFault,
    Stand, Unreadable,
};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use tracing::{info, warn};

impl Trees {
    /// Puts a worktree that a restore had to leave on a commit back on the session's branch, as soon as
    /// that loses nothing. Nothing runs in it yet.
    pub(crate) fn reattach(session: &Session) {
        let (Some(worktree), Some(branch)) = (&session.place.worktree, &session.place.branch)
        else {
            return;
        };
        match glis_snapshot::reattach(Path::new(worktree), branch) {
            Ok(true) => info!("back on {branch}"),
            Ok(false) => {}
            Err(fault) => {
                warn!("not on {branch}: {fault}");
            }
        }
    }

    /// Brings a worktree back at another place, to be looked at.
    pub(crate) fn restore_elsewhere(
        session: &Session,
        reference: &str,
        to: &Path,
    ) -> Result<Vec<String>, SnapshotFault> {
        let restored = glis_snapshot::restore(&RestoreRequest {
            repo_root: &repository(session),
            reference,
            to,
            // Not locked for the session: it would be found as the session's own.
            lock_owner: &format!("a copy for {}", session.name),
            stand: Stand::Detached,
            own: session.place.worktree.as_deref().map(Path::new),
        })?;
        Ok(notes(restored).collect())
    }

    /// Looks at the worktree before a start: is it as it was left? What is gone comes back, what
    /// was changed is saved as it is, and nothing is overwritten.
    pub(crate) fn look(&self, session: &Session) -> Result<Option<Found>, ResumeFault> {
        let system = |fault: SnapshotFault| ResumeFault::System(fault.to_string());
        let Some(worktree) = top(session).map_err(system)? else { return Ok(None) };
        if !session.spec.in_place && is_gone(&worktree)? {
            let missing = || ResumeFault::NoDirectory(worktree.display().to_string());
            // What is to come back is what was left, and only without that the latest.
            let kept = session.saved.last().cloned();
            let snapshot = kept.ok_or_else(missing)?;
            let restored = restore_to(session, &snapshot.name, &worktree);
            let restored = restored.map_err(|fault| {
                if matches!(fault, SnapshotFault::Missing(_)) {
                    missing()
                } else {
                    ResumeFault::NotRestored(fault.to_string())
                }
            })?;
            let notes = self.provided(session, &worktree, restored);
            return Ok(Some(Found::Restored { snapshot, notes }));
        }
        lock::set_stale_aside(&self.jobs, session, &worktree);
        let Some(left) = &session.saved.baseline else { return Ok(None) };
        match glis_snapshot::compare(&worktree, &repository(session), &left.name, &self.limits()) {
            Ok(Difference::Untouched) => Ok(Some(Found::Untouched)),
            Ok(Difference::Changed(changes)) => {
                let why = "found changed before a start";
                let saved = self.save(session, &worktree, why, Unreadable::List).map_err(system)?;
                let paths: BTreeSet<_> = changes.iter().map(|change| shown(&change.path)).collect();
                Ok(Some(Found::Changed { snapshot: named(&saved), paths: PathList::of(paths) }))
            }
            Ok(Difference::Gone) => Err(ResumeFault::WrongRoot(format!(
                "{} is no longer a worktree",
                worktree.display()
            ))),
            Err(SnapshotFault::InTheWay { path, .. }) => {
                Err(ResumeFault::WrongRoot(format!("another worktree is at {}", path.display())))
            }
            Err(fault @ (SnapshotFault::Missing(_) | SnapshotFault::Incomplete { .. })) => {
                warn!("not compared: {fault}");
                Ok(None)
            }
            Err(fault) => Err(system(fault)),
        }
    }

    /// Brings the session's own worktree back to what a snapshot holds.
    pub(super) fn restore(&self, session: &Session, reference: &str) -> Result<Done, String> {
        let worktree = PathBuf::from(session.place.worktree.as_deref().unwrap_or_default());
        let (repo_root, told) = (repository(session), |fault: SnapshotFault| fault.to_string());
        let commit = glis_snapshot::commit_of(&repo_root, reference).map_err(told)?;
        let snapshot = SnapshotRef { name: reference.to_owned(), commit, changed: None };
        // Done again after a crash, or asked for in vain.
        let same = glis_snapshot::compare(&worktree, &repo_root, reference, &self.limits());
        if matches!(same, Ok(Difference::Untouched)) {
            let aside = trash::asides(session, Some(&worktree), &worktree).pop();
            let note = aside.map(|(at, _)| format!("what was there may be at {}", at.display()));
            return Ok(Done::Restored { snapshot, notes: note.into_iter().collect() });
        }
        let restored = restore_to(session, reference, &worktree).map_err(told)?;
        Ok(Done::Restored { snapshot, notes: self.provided(session, &worktree, restored) })
    }

    /// Removes the worktree of a session that is being paused.
    pub(super) fn clear_now(&self, session: &Session) -> Result<Option<Why>, Why> {
        let stays = |why: String| Why::from(format!("Failed to remove worktree: {why}"));
        let (Some(worktree), Some(snapshot)) = (&session.place.worktree, &session.saved.baseline)
        else {
            return Err(stays("there is no snapshot of it".to_owned()));
        };
        let takes_all =
            matches!(&session.phase, Phase::Pausing(pause) if pause.clearing == Clearing::Always);
        let left_out = if takes_all { LeftOut::Goes } else { LeftOut::Stays };
        let cleared = self.cleared(session, worktree, &snapshot.name, left_out);
        let cleared = cleared.map_err(|fault| stays(fault.to_string()))?;
        Ok(cleared.leftover.map(|path| stays(format!("{} is left", path.display()))))
    }

    /// Removes the worktree of a session that is put aside, if its latest snapshot has all of it; else it is moved into
    /// the trash with the rest. Done again after a crash, this ends what was begun.
    pub(super) fn clear_saved(&self, session: &Session) {
        let Some(worktree) = &session.place.worktree else { return };
        let Ok(Some(latest)) = latest(session) else { return };
        match self.cleared(session, worktree, &latest, LeftOut::Stays) {
            Ok(Cleared { leftover: Some(left) }) => {
                warn!("{} is left", left.display());
            }
            // The snapshot knows where it was.
            Ok(Cleared { leftover: None }) => drop(trash::drop_branch(session)),
            Err(_) => {}
        }
    }

    fn cleared(
        &self,
        session: &Session,
        worktree: &str,
        reference: &str,
        left_out: LeftOut,
    ) -> Result<Cleared, SnapshotFault> {
        glis_snapshot::clear(&ClearRequest {
            repo_root: &repository(session),
            worktree: Path::new(worktree),
            lock_owner: &owner(session),
            reference,
            left_out,
            limits: self.limits(),
        })
    }

    /// Brings a worktree back of which only the snapshot was put aside.
    pub(super) fn restore_saved(&self, session: &Session) -> Result<(), SnapshotFault> {
        let Some(worktree) = session.place.worktree.as_deref().map(Path::new) else {
            return Ok(());
        };
        if let Some(latest) = latest(session)? {
            let restored = restore_to(session, &latest, worktree)?;
            self.provided(session, worktree, restored);
        }
        Ok(())
    }

    /// What a snapshot does not hold may come from where a fresh worktree gets it. Says what is not as
    /// it was all the same.
    fn provided(&self, session: &Session, worktree: &Path, mut restored: Restored) -> Vec<String> {
        let missing = self.provision.bring(session, worktree);
        restored.left_out.retain(|item| {
            worktree.join(OsStr::from_bytes(&item.path)).symlink_metadata().is_err()
        });
        notes(restored).chain(missing).collect()
    }
}

/// Whether nothing is there that could be overwritten. A disk that cannot be looked at is no reason
/// to believe so.
fn is_gone(worktree: &Path) -> Result<bool, ResumeFault> {
    match std::fs::read_dir(worktree) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(fault) if fault.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(fault) => Err(ResumeFault::System(format!("{}: {fault}", worktree.display()))),
    }
}

/// What no snapshot holds of any file.
const NEVER_KEPT: &str = "its files are new: their times, hard links between them, extended attributes \
                          and access control lists did not come back";

fn notes(restored: Restored) -> impl Iterator<Item = String> {
    let left_out = restored.left_out.into_iter();
    let left_out = left_out.map(|item| format!("not in the snapshot: {}", item.shown()));
    restored.notes.into_iter().chain(left_out).chain([NEVER_KEPT.to_owned()])
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

fn latest(session: &Session) -> Result<Option<String>, SnapshotFault> {
    let (repo, id) = (repository(session), &session.id.0);
    let listed = glis_snapshot::list_last(&repo, id, Shelf::Snapshots, Some(1))?;
    Ok(listed.into_iter().next_back().map(|latest| latest.reference))
}

/// Brings the session's worktree back at its place.
fn restore_to(session: &Session, reference: &str, to: &Path) -> Result<Restored, SnapshotFault> {
    let (repo_root, lock_owner) = (repository(session), owner(session));
    glis_snapshot::restore(&RestoreRequest {
        repo_root: &repo_root,
        reference,
        to,
        lock_owner: &lock_owner,
        stand: Stand::AsItWas,
        own: None,
    })
}
