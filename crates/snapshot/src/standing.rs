//! Whether a worktree stands on its branch, and back onto it where that loses nothing.

use crate::fault::{About as _, SnapshotFault};
use crate::git::run_in;
use crate::hash::Oid;
use crate::place::Place;
use crate::restore::{branch_at, out_elsewhere};
use std::path::{Path, PathBuf};

/// A worktree whose HEAD is on a commit and on no branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detached {
    /// The commit.
    pub commit: String,
    /// How the branch stands to it.
    pub branch: BranchStand,
}

/// How a branch stands to a HEAD that is not on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchStand {
    /// It is checked out there.
    Elsewhere(PathBuf),
    /// It is where HEAD is, or HEAD has commits that it lacks, and it has none of its own.
    Behind,
    /// It has commits that HEAD lacks, and HEAD has none of its own.
    Ahead,
    /// Each has commits that the other lacks.
    Diverged,
    /// There is no such branch any more.
    Gone,
}

/// What says that HEAD is on a commit because git itself is at work, and will put it back.
const AT_WORK: [&str; 3] = ["rebase-merge", "rebase-apply", "BISECT_LOG"];

/// Looks whether HEAD is on no branch. Git is asked only if it is: this is looked at with every list
/// of sessions. Nothing, if the worktree cannot be looked at or git is in the middle of a rebase.
pub fn detached(worktree: &Path, branch: &str) -> Option<Detached> {
    if !may_be_detached(worktree) {
        return None;
    }
    let place = Place::find(worktree).ok()?;
    let commit = on_commit(&place)?;
    let stand = stand(&place, branch, &commit).ok()?;
    Some(Detached { commit: commit.to_string(), branch: stand })
}

/// Puts a detached HEAD back on its branch if that loses nothing: the branch is checked out nowhere
/// else, and has no commit that HEAD lacks. Only while nothing runs in the worktree. Says whether
/// it did.
pub fn reattach(worktree: &Path, branch: &str) -> Result<bool, SnapshotFault> {
    if !may_be_detached(worktree) {
        return Ok(false);
    }
    let place = Place::find(worktree)?;
    let Some(commit) = on_commit(&place) else { return Ok(false) };
    if stand(&place, branch, &commit)? != BranchStand::Behind {
        return Ok(false);
    }
    let full = format!("refs/heads/{branch}");
    let tip = branch_at(&place.common, &full);
    if let Some(tip) = tip.filter(|tip| *tip != commit) {
        let (new, old) = (commit.to_string(), tip.to_string());
        let why = "glis: commits of a detached HEAD";
        run_in(&place.common, &["update-ref", "-m", why, &full, &new, &old])?;
    }
    run_in(&place.git_dir, &["symbolic-ref", "-m", "glis: back on its branch", "HEAD", &full])?;
    crate::scratch::sync_dir(&place.git_dir)?;
    Ok(true)
}

/// The commit that HEAD is on if it is on no branch, and git has not put it there for a while only.
fn on_commit(place: &Place) -> Option<Oid> {
    let at_work = AT_WORK.iter().any(|name| place.git_dir.join(name).exists());
    place.head.commit.filter(|_| place.head.branch.is_none() && !at_work)
}

fn stand(place: &Place, branch: &str, head: &Oid) -> Result<BranchStand, SnapshotFault> {
    let full = format!("refs/heads/{branch}");
    let Some(tip) = branch_at(&place.common, &full) else { return Ok(BranchStand::Gone) };
    if let Some(path) = out_elsewhere(place, &full)? {
        return Ok(BranchStand::Elsewhere(path));
    }
    let is_below = |below: &Oid, above: &Oid| {
        let (below, above) = (below.to_string(), above.to_string());
        run_in(&place.common, &["merge-base", "--is-ancestor", &below, &above]).is_ok()
    };
    Ok(if is_below(&tip, head) {
        BranchStand::Behind
    } else if is_below(head, &tip) {
        BranchStand::Ahead
    } else {
        BranchStand::Diverged
    })
}

/// Reads HEAD without git. Where refs are in tables, the file says nothing and git has to be asked.
fn may_be_detached(worktree: &Path) -> bool {
    let read = || -> Result<Vec<u8>, SnapshotFault> {
        let dot_git = worktree.join(".git");
        let git_dir = if dot_git.is_dir() {
            dot_git
        } else {
            let text = std::fs::read_to_string(&dot_git).about(&dot_git)?;
            worktree.join(text.strip_prefix("gitdir: ").unwrap_or_default().trim_end())
        };
        let head = git_dir.join("HEAD");
        std::fs::read(&head).about(&head)
    };
    read().is_ok_and(|text| {
        !text.starts_with(b"ref:") || text.trim_ascii_end().ends_with(b"refs/heads/.invalid")
    })
}
