//! Whether a worktree stands on its branch, and back onto it where that loses nothing.

use crate::admin::records;
use crate::fault::SnapshotFault;
use crate::git::run_in;
use crate::hash::Oid;
use crate::place::Place;
use crate::put_back::{branch_at, out_elsewhere};
use std::path::{Path, PathBuf};

/// A worktree whose HEAD is on a commit and on no branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detached {
    pub commit: String,
    /// What became of the branch.
    pub branch: BranchStand,
}

/// What became of a branch that HEAD is not on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchStand {
    /// It is checked out there.
    Elsewhere(PathBuf),
    /// It is checked out nowhere.
    Free,
    Gone,
}

/// What says that HEAD is on a commit because git itself is at work, and will put it back.
const AT_WORK: [&str; 3] = ["rebase-merge", "rebase-apply", "BISECT_LOG"];

/// Looks whether HEAD is on no branch, by git's own files and without git: this is looked at with
/// every list of sessions, by a thread that nothing may hold up. Nothing, if the worktree cannot be
/// looked at, if git is in the middle of a rebase, or if the repository keeps its refs in tables.
pub fn detached(worktree: &Path, branch: &str) -> Option<Detached> {
    let git_dir = git_dir_of(worktree)?;
    let head = std::fs::read(git_dir.join("HEAD")).ok()?;
    let commit = Oid::from_hex(head.trim_ascii_end())?;
    if is_at_work(&git_dir) {
        return None;
    }
    let common = match std::fs::read_to_string(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(text.trim_end()).canonicalize().ok()?,
        Err(_) => git_dir.clone(),
    };
    let full = format!("refs/heads/{branch}");
    let stand = if !exists(&common, &full) {
        BranchStand::Gone
    } else if let Some(path) = checked_out(&common, &git_dir, &full) {
        BranchStand::Elsewhere(path)
    } else {
        BranchStand::Free
    };
    Some(Detached { commit: commit.to_string(), branch: stand })
}

fn git_dir_of(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = std::fs::read_to_string(&dot_git).ok()?;
    Some(worktree.join(text.strip_prefix("gitdir: ")?.trim_end()))
}

fn is_at_work(git_dir: &Path) -> bool {
    AT_WORK.iter().any(|name| git_dir.join(name).exists())
}

fn exists(common: &Path, full: &str) -> bool {
    let packed = || {
        let text = std::fs::read_to_string(common.join("packed-refs")).unwrap_or_default();
        text.lines().any(|line| line.split_once(' ').is_some_and(|(_, name)| name == full))
    };
    common.join(full).is_file() || packed()
}

/// Where another worktree than the one at `own` has a branch checked out.
fn checked_out(common: &Path, own: &Path, full: &str) -> Option<PathBuf> {
    let has = |git_dir: &Path| {
        let head = std::fs::read_to_string(git_dir.join("HEAD")).unwrap_or_default();
        head.strip_prefix("ref:").is_some_and(|name| name.trim() == full)
    };
    let (own, others) = (own.canonicalize().ok(), records(common));
    let other =
        others.into_iter().find(|record| has(&record.dir) && record.dir.canonicalize().ok() != own);
    if let Some(path) = other.and_then(|record| record.path) {
        return Some(path);
    }
    let is_main = common.file_name().is_some_and(|name| name == ".git") && has(common);
    common.parent().filter(|_| is_main && own.as_deref() != Some(common)).map(Path::to_owned)
}

/// Puts a detached HEAD back on its branch if that loses nothing: the branch is checked out nowhere
/// else, and has no commit that HEAD lacks. Only while nothing runs in the worktree. Says whether
/// it did.
pub fn reattach(worktree: &Path, branch: &str) -> Result<bool, SnapshotFault> {
    let on_branch = |head: Vec<u8>| {
        head.starts_with(b"ref:") && !head.trim_ascii_end().ends_with(b"refs/heads/.invalid")
    };
    let head = git_dir_of(worktree).and_then(|dir| std::fs::read(dir.join("HEAD")).ok());
    if head.is_none_or(on_branch) {
        return Ok(false);
    }
    let place = Place::find(worktree)?;
    let full = format!("refs/heads/{branch}");
    let (Some(commit), None) = (place.head.commit, &place.head.branch) else { return Ok(false) };
    let Some(tip) = branch_at(&place.common, &full) else { return Ok(false) };
    if is_at_work(&place.git_dir) || out_elsewhere(&place, &full)?.is_some() {
        return Ok(false);
    }
    let (new, old) = (commit.to_string(), tip.to_string());
    if tip != commit {
        if run_in(&place.common, &["merge-base", "--is-ancestor", &old, &new]).is_err() {
            return Ok(false);
        }
        let why = "glis: commits of a detached HEAD";
        run_in(&place.common, &["update-ref", "-m", why, &full, &new, &old])?;
    }
    run_in(&place.git_dir, &["symbolic-ref", "-m", "glis: back on its branch", "HEAD", &full])?;
    crate::scratch::sync_dir(&place.git_dir)?;
    Ok(true)
}
