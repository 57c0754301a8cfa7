//! Removing a worktree of ours that a snapshot holds, and only such a one.

use crate::admin::{Record, delete_tree};
use crate::aside;
use crate::compare::{Difference, compare_at};
use crate::fault::{About as _, SnapshotFault};
use crate::git::run;
use crate::list::verify;
use crate::moved::hidden_sibling;
use crate::place::Place;
use crate::read::Limits;
use crate::scratch::{common_of, sync_dir};
use crate::state::{NotCaptured, Why};
use crate::survey::survey;
use crate::{list, worktree};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct ClearRequest<'a> {
    /// A folder of the repository.
    pub repo_root: &'a Path,
    pub worktree: &'a Path,
    /// Who it was made for, in git's lock of it.
    pub lock_owner: &'a str,
    /// The snapshot that holds it.
    pub reference: &'a str,
    /// What to do about what the snapshot does not hold.
    pub left_out: LeftOut,
    /// What the snapshot was taken with.
    pub limits: Limits,
}

/// A worktree that is no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleared {
    /// What could not be deleted, or was not known to be in a snapshot, and where that is.
    pub leftover: Option<PathBuf>,
}

/// What to do about what a snapshot does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    Stays,
    /// It goes with the rest.
    Goes,
}

/// Removes a worktree, after the snapshot was read back and compared with it. It is first moved
/// out of everybody's reach, and compared again there: what was written in between would be lost.
/// Doing it again after a crash ends what was begun, and then looks at the worktree itself: it may
/// have come back meanwhile.
pub fn clear(request: &ClearRequest<'_>) -> Result<Cleared, SnapshotFault> {
    let mut leftover = None;
    for doomed in doomed(request.worktree) {
        leftover = leftover.or(delete(doomed));
    }
    let moving = hidden_sibling(request.worktree, "moving");
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    if is_there(&moving) {
        let held =
            verify(request.repo_root, request.reference).and_then(|()| judge(request, &moving));
        match held {
            Ok(()) => leftover = leftover.or(destroy(request, &moving)?),
            // The worktree came back meanwhile, and this is not known to be in any snapshot.
            Err(_) if is_there(request.worktree) => {
                leftover = leftover.or(Some(set_aside(request, &moving)?));
            }
            Err(fault) => {
                shift(&moving, request.worktree)?;
                return Err(fault);
            }
        }
    }
    if is_there(request.worktree) {
        ours(request)?;
        verify(request.repo_root, request.reference)?;
        judge(request, request.worktree)?;
        shift(request.worktree, &moving)?;
        if let Err(fault) = judge(request, &moving) {
            shift(&moving, request.worktree)?;
            return Err(fault);
        }
        leftover = leftover.or(destroy(request, &moving)?);
    }
    // The worktree is gone, whatever git thinks of it; a restore puts the record out of its way.
    drop(forget(request));
    Ok(Cleared { leftover })
}

/// Deletes what was moved away. Once it is renamed, the snapshot is all there is to keep, however far
/// the deletion gets.
fn destroy(request: &ClearRequest<'_>, moving: &Path) -> Result<Option<PathBuf>, SnapshotFault> {
    let names = (1..).map(|n| if n == 1 { "doomed".to_owned() } else { format!("doomed-{n}") });
    let mut free = names.map(|word| hidden_sibling(request.worktree, &word));
    let doomed = free.find(|path| fs::symlink_metadata(path).is_err());
    let doomed = doomed.unwrap_or_else(|| hidden_sibling(request.worktree, "doomed"));
    shift(moving, &doomed)?;
    Ok(delete(doomed))
}

/// Sets aside what an earlier removal has left and what cannot be compared any more.
fn set_aside(request: &ClearRequest<'_>, moving: &Path) -> Result<PathBuf, SnapshotFault> {
    let common = common_of(request.repo_root)?;
    if Record::named_by(&common, moving).is_some_and(|record| record.is_at(request.worktree)) {
        // What git keeps there is the other one's by now.
        fs::remove_file(moving.join(".git")).about(moving)?;
    }
    let aside = aside::path_aside(request.worktree);
    shift(moving, &aside)?;
    Ok(aside)
}

/// Deletes for good, and returns what could not be.
fn delete(doomed: PathBuf) -> Option<PathBuf> {
    delete_tree(&doomed).is_err().then_some(doomed)
}

/// What earlier removals have left to delete.
fn doomed(worktree: &Path) -> Vec<PathBuf> {
    let start = hidden_sibling(worktree, "doomed");
    let start = start.file_name().unwrap_or_default().as_bytes().to_vec();
    let entries = worktree.parent().and_then(|folder| fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let ours = names.filter(|name| {
        let end = name.as_bytes().strip_prefix(start.as_slice());
        end.is_some_and(|end| end.is_empty() || end.starts_with(b"-"))
    });
    ours.map(|name| worktree.with_file_name(name)).collect()
}

/// What of a worktree would be lost with it.
pub fn losable(list: Vec<NotCaptured>) -> Vec<NotCaptured> {
    let lost = |item: &NotCaptured| match item.why {
        // A restore makes it again.
        Why::EmptyFolder => false,
        Why::Ignored
        | Why::TooLarge { .. }
        | Why::NotAFile
        | Why::Unreadable
        | Why::Moving
        | Why::Repository { .. } => true,
    };
    list.into_iter().filter(lost).collect()
}

/// Only what is locked for this owner, at this place, was made by us.
fn ours(request: &ClearRequest<'_>) -> Result<(), SnapshotFault> {
    let found = worktree::find(request.repo_root, request.lock_owner)?;
    let same = |path: &Path| path.canonicalize().ok() == request.worktree.canonicalize().ok();
    if found.is_some_and(|found| same(&found.path)) {
        return Ok(());
    }
    let why = "it is not a worktree that was made for this session".to_owned();
    Err(SnapshotFault::InTheWay { path: request.worktree.to_owned(), why })
}

fn judge(request: &ClearRequest<'_>, at: &Path) -> Result<(), SnapshotFault> {
    let stays = |why: String| SnapshotFault::InTheWay { path: request.worktree.to_owned(), why };
    let limits = &request.limits;
    match compare_at(at, request.repo_root, request.reference, limits, Place::find_moved)? {
        Difference::Untouched => {}
        Difference::Changed(changes) => {
            let first = changes.first().map(|change| String::from_utf8_lossy(&change.path));
            let first = first.unwrap_or_default();
            let why = format!("{} paths are not as in its snapshot, {first} first", changes.len());
            return Err(stays(why));
        }
        Difference::Gone => return Err(SnapshotFault::Gone(at.to_owned())),
    }
    if request.left_out == LeftOut::Goes {
        return Ok(());
    }
    let mut lost = losable(list::not_captured(request.repo_root, request.reference)?);
    // What was made since the snapshot is in no list yet.
    lost.extend(losable(survey(&Place::find(at)?)?.not_captured));
    match lost.first() {
        None => Ok(()),
        Some(item) => Err(stays(format!("{} is in no snapshot", item.shown()))),
    }
}

fn shift(from: &Path, to: &Path) -> Result<(), SnapshotFault> {
    fs::rename(from, to).about(from)?;
    from.parent().map_or(Ok(()), sync_dir)
}

/// Takes the worktree out of git's own list.
fn forget(request: &ClearRequest<'_>) -> Result<(), SnapshotFault> {
    let common = common_of(request.repo_root)?;
    let known = worktree::find(request.repo_root, request.lock_owner)?;
    if let Some(known) = known.filter(|known| !known.path.exists()) {
        let path = known.path.to_string_lossy();
        // Twice: the worktree is locked, by us.
        run(&common, &["worktree", "remove", "--force", "--force", "--", &path])?;
    }
    Ok(())
}
