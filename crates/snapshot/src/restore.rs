//! Bringing a worktree back: files, index, HEAD and whatever was in progress, at the same place or
//! at another. What is in the way is saved and put aside, never overwritten.

use crate::aside::{self, SetAside};
use crate::coming::Coming;
use crate::fault::{About as _, SnapshotFault};
use crate::loaded::Loaded;
use crate::moved::real;
use crate::put_back::{HeadState, Stand, Target, Way};
use crate::rebuild::{fill_worktree, stand_up};
use crate::refs;
use crate::scratch::common_of;
use crate::state::{NotCaptured, Why};
use std::path::{Path, PathBuf};

/// What is to come back, and where to.
#[derive(Debug, Clone)]
pub struct RestoreRequest<'a> {
    /// A folder of the repository.
    pub repo_root: &'a Path,
    pub reference: &'a str,
    pub to: &'a Path,
    /// Who the worktree is for; kept in git's lock of it.
    pub lock_owner: &'a str,
    /// Whether HEAD may go back to its branch.
    pub stand: Stand,
    /// The worktree of the session itself, if there is one: nothing is restored inside it.
    pub own: Option<&'a Path>,
}

/// A worktree that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub path: PathBuf,
    /// What its HEAD stands on.
    pub head: HeadState,
    pub set_aside: Option<SetAside>,
    /// What was there and is not in the snapshot. Folders without a file are made anew.
    pub left_out: Vec<NotCaptured>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

/// Brings a worktree back from a snapshot.
pub fn restore(request: &RestoreRequest<'_>) -> Result<Restored, SnapshotFault> {
    let common = common_of(request.repo_root)?;
    refuse_inside(request, &common)?;
    let found = refs::exact(&common, request.reference)?;
    aside::refuse_main(&common, request.to)?;
    let session = found.value("session").unwrap_or("unknown");
    // Whether it is whole is looked at meanwhile: until that is known, nothing stands at its place.
    std::thread::scope(|scope| {
        let verify = || crate::list::verify(request.repo_root, request.reference);
        let verified = crate::threads::within(scope, verify)?;
        let is_whole =
            move || verified.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match Loaded::read(&common, found.commit, request.reference) {
            Ok(loaded) => come_back(request, &common, loaded, session, is_whole),
            // What is missing says more than what could not be read without it.
            Err(fault) => is_whole().and(Err(fault)),
        }
    })
}

fn come_back(
    request: &RestoreRequest<'_>,
    common: &Path,
    loaded: Loaded,
    session: &str,
    is_whole: impl FnOnce() -> Result<(), SnapshotFault>,
) -> Result<Restored, SnapshotFault> {
    let mut notes = Vec::new();
    if let Some(parent) = request.to.parent() {
        std::fs::create_dir_all(parent).about(parent)?;
    }
    let coming = Coming::begin(common, request.to)?;
    let back = bring(request, (common, session), &loaded, &coming, &mut notes, is_whole);
    if back.is_err() {
        // Why it failed says more than why the rest of it stays.
        drop(coming.remove());
    }
    let (head, set_aside) = back?;
    let left_out = loaded.not_captured.into_iter().filter(|item| item.why != Why::EmptyFolder);
    let left_out = left_out.collect();
    Ok(Restored { path: request.to.to_owned(), head, set_aside, left_out, notes })
}

/// Fills the worktree beside its place and puts it there. What is in the way is set aside when
/// nothing is left to do that takes long or much room.
fn bring(
    request: &RestoreRequest<'_>,
    (common, session): (&Path, &str),
    loaded: &Loaded,
    coming: &Coming,
    notes: &mut Vec<String>,
    is_whole: impl FnOnce() -> Result<(), SnapshotFault>,
) -> Result<(HeadState, Option<SetAside>), SnapshotFault> {
    let (to, stand) = (request.to, request.stand);
    let reason = coming.reason(request.lock_owner);
    let way = Way { stand, umask: loaded.state.umask(), alive: coming.alive() };
    let target = Target { to: coming.path(), lock_owner: &reason, way };
    let filled = fill_worktree(common, loaded, &target, notes);
    is_whole()?;
    let place = filled?;
    coming.sync()?;
    let set_aside = aside::clear_the_way(common, to, session, notes)?;
    let head = stand_up(&place, loaded, way, notes)?;
    coming.arrive(request.lock_owner)?;
    Ok((head, set_aside))
}

/// A worktree in another, or among git's own files, would go with them.
fn refuse_inside(request: &RestoreRequest<'_>, common: &Path) -> Result<(), SnapshotFault> {
    let to = real(request.to);
    let inside = |folder: &Path| {
        let folder = real(folder);
        to != folder && to.starts_with(&folder)
    };
    let why = if request.own.is_some_and(inside) {
        "it is inside the session's own worktree"
    } else if to == real(common) || inside(common) {
        "git keeps its own files there"
    } else {
        return Ok(());
    };
    Err(SnapshotFault::InTheWay { path: request.to.to_owned(), why: why.to_owned() })
}
