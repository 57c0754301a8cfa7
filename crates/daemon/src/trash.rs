//! What was removed: put aside as it was, taken back, or deleted for good.

use crate::worktrees::{owner, repository};
use glis_core::input::Done;
use glis_core::session::Session;
use glis_record::durable::private_folder;
use glis_snapshot::{Shelf, SnapshotFault, worktree};
use glis_wire::home::Home;
use std::io;
use std::path::{Path, PathBuf};
use tracing::warn;

fn folder(home: &Home, session: &Session) -> PathBuf {
    home.trash().join(&session.id.0)
}

/// The worktree, if it is one that we made.
fn own_worktree(session: &Session) -> Option<&Path> {
    let ours = !session.spec.in_place && session.place.branch.is_some();
    session.place.worktree.as_deref().map(Path::new).filter(|_| ours)
}

/// Moves what the session holds into the trash. Nothing is deleted that is not saved, and what
/// cannot be moved stays where it is. `save` saves the worktree before it is moved, and may leave nothing to move.
pub(crate) fn put_aside(
    home: &Home,
    session: &Session,
    save: impl FnOnce(),
) -> Result<Done, String> {
    let trash = folder(home, session);
    let moved = private_folder(&trash)
        .and_then(|()| move_folder(&home.session(&session.id.0), &trash.join("session")));
    moved.map_err(|fault| fault.to_string())?;
    save();
    let (repo, target) = (repository(session), trash.join("worktree"));
    if let Some(path) = own_worktree(session)
        && path.is_dir()
        && !target.exists()
        && let Err(fault) = worktree::shift(&repo, path, &target)
    {
        warn!("the worktree {} stays where it is: {fault}", path.display());
    }
    for (from, to) in asides(session, own_worktree(session), &trash) {
        if let Err(fault) = worktree::shift(&repo, &from, &to) {
            warn!("{} stays where it is: {fault}", from.display());
        }
    }
    if let Err(fault) = glis_snapshot::to_trash(&repo, &session.id.0) {
        warn!("the snapshots of {} stay where they are: {fault}", session.id);
    }
    Ok(Done::PutAside { place: trash.to_string_lossy().into_owned() })
}

/// Takes everything back to where it was. `restore` makes the worktree of a task of which only a snapshot was kept.
pub(crate) fn bring_back(
    home: &Home,
    session: &Session,
    restore: impl FnOnce() -> Result<(), SnapshotFault>,
) -> Result<Done, String> {
    let trash = folder(home, session);
    let (repo, from) = (repository(session), trash.join("worktree"));
    if let Some(path) = own_worktree(session)
        && from.exists()
    {
        if path.symlink_metadata().is_ok() {
            return Err(format!("{} is in the way", path.display()));
        }
        let parent = path.parent().unwrap_or(path);
        private_folder(parent).map_err(|fault| format!("{}: {fault}", parent.display()))?;
        worktree::shift(&repo, &from, path).map_err(|fault| fault.to_string())?;
    }
    if let Some(path) = own_worktree(session) {
        let home = path.parent().unwrap_or(path);
        for (from, to) in asides(session, Some(&trash.join(name_of(path))), home) {
            worktree::shift(&repo, &from, &to).map_err(|fault| fault.to_string())?;
        }
    }
    if has_repository(&repo) {
        let moved = glis_snapshot::from_trash(&repo, &session.id.0);
        moved.map_err(|fault| fault.to_string())?;
        let of_task = own_worktree(session).filter(|_| session.spec.task.is_some());
        if of_task.is_some_and(|path| !path.exists()) {
            restore().map_err(|fault| fault.to_string())?;
        }
    }
    let folder = home.session(&session.id.0);
    move_folder(&trash.join("session"), &folder).map_err(|fault| fault.to_string())?;
    // Only if it is empty; whatever else is there stays.
    drop(std::fs::remove_dir(&trash));
    Ok(Done::BroughtBack)
}

/// Deletes what the trash has of a session. Its branch stays, unless it is that of a task and its plan has all of it.
pub(crate) fn empty(home: &Home, session: &Session) -> Result<Done, String> {
    let trash = folder(home, session);
    let (repo, tree) = (repository(session), trash.join("worktree"));
    if has_repository(&repo) {
        let beside = own_worktree(session).map(|path| trash.join(name_of(path)));
        let beside = asides(session, beside.as_deref(), &trash).into_iter().map(|(at, _)| at);
        for tree in std::iter::once(tree).chain(beside).filter(|tree| tree.exists()) {
            worktree::remove(&repo, &tree, &owner(session)).map_err(|fault| fault.to_string())?;
        }
        let deleted = glis_snapshot::delete(&repo, &session.id.0, Shelf::Trash);
        deleted.map_err(|fault| fault.to_string())?;
        drop_branch(session).map_err(|fault| fault.to_string())?;
    }
    match std::fs::remove_dir_all(&trash) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: {fault}", trash.display()))
        }
        Ok(()) | Err(_) => Ok(Done::Emptied),
    }
}

/// Deletes the branch of a task if the plan's has everything of it.
pub(crate) fn drop_branch(session: &Session) -> Result<(), SnapshotFault> {
    let plan = session.spec.base_branch.as_ref().filter(|_| session.spec.task.is_some());
    if let (Some(branch), Some(into)) = (&session.place.branch, plan) {
        glis_snapshot::drop_merged(&repository(session), branch, into)?;
    }
    Ok(())
}

/// Whether there is a repository that could know of anything: a session in place may have none, and
/// one may have gone.
fn has_repository(repo: &Path) -> bool {
    matches!(glis_snapshot::top_of(repo), Ok(Some(_)))
}

fn name_of(path: &Path) -> &std::ffi::OsStr {
    path.file_name().unwrap_or_default()
}

/// What restores have set aside beside a worktree, the latest last, with the place of each in another
/// folder.
pub(crate) fn asides(
    session: &Session,
    worktree: Option<&Path>,
    other: &Path,
) -> Vec<(PathBuf, PathBuf)> {
    let Some(worktree) = worktree.filter(|_| !session.spec.in_place) else { return Vec::new() };
    let start = format!("{}.aside-", name_of(worktree).to_string_lossy());
    let entries = worktree.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> =
        names.filter(|name| name.to_string_lossy().starts_with(&start)).collect();
    names.sort();
    names.iter().map(|name| (worktree.with_file_name(name), other.join(name))).collect()
}

/// Moving twice is moving once.
fn move_folder(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
