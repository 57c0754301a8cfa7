//! Worktrees of our own: made, found again, put aside. Never one that we did not make.

use crate::git::{GitFault, main_root, run, run_with_umask};
use std::path::{Path, PathBuf};

/// How many names are tried when a branch exists already.
const NAMES_TRIED_MAX: u32 = 99;

/// A worktree of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Where it is.
    pub path: PathBuf,
    /// The branch it was made with.
    pub branch: String,
}

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// A folder in the repository; `base` is understood from here.
    pub repo: &'a Path,
    /// Where the worktree goes.
    pub path: &'a Path,
    /// The branch's name, if it is free.
    pub branch: &'a str,
    /// The revision to begin from; the current one if `None`.
    pub base: Option<&'a str>,
    /// Who it is for. Kept in git's own lock, which is how it is found again.
    pub owner: &'a str,
    /// The rights that its files do not get.
    pub umask: u32,
}

/// Makes the worktree, or finds the one that was made for the same owner before.
pub fn make(plan: &Plan<'_>) -> Result<Worktree, GitFault> {
    let root = main_root(plan.repo)?;
    if let Some(found) = find(&root, plan.owner)? {
        return Ok(found);
    }
    let branch = free_branch(&root, plan.branch)?;
    let path = plan.path.to_string_lossy();
    let mut args = vec!["worktree", "add", "--quiet", "--lock", "--reason", plan.owner];
    let start = match plan.base {
        Some(base) => Some(commit(plan.repo, base)?),
        None => commit(plan.repo, "HEAD").ok(),
    };
    match &start {
        Some(start) => args.extend(["-b", &branch, "--", &path, start]),
        // Nothing was ever committed here: the worktree begins as empty as the repository.
        None => args.extend(["--orphan", "-b", &branch, "--", &path]),
    }
    run_with_umask(&root, &args, plan.umask)?;
    Ok(Worktree { path: plan.path.to_owned(), branch })
}

/// The worktree that is locked for this owner.
pub fn find(root: &Path, owner: &str) -> Result<Option<Worktree>, GitFault> {
    let list = run(root, &["worktree", "list", "--porcelain", "-z"])?;
    let wanted = format!("locked {owner}");
    let record = list.split("\0\0").find(|record| record.split('\0').any(|line| line == wanted));
    Ok(record.and_then(|record| {
        let value = |key: &str| record.split('\0').find_map(|line| line.strip_prefix(key));
        Some(Worktree {
            path: PathBuf::from(value("worktree ")?),
            branch: value("branch refs/heads/").unwrap_or_default().to_owned(),
        })
    }))
}

/// Moves a worktree of ours away, as it is, with everything in it.
pub fn put_aside(root: &Path, from: &Path, to: &Path) -> Result<(), GitFault> {
    let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
    // Twice: the worktree is locked, by us.
    run(root, &["worktree", "move", "--force", "--force", "--", &from, &to]).map(drop)
}

/// Removes a worktree of ours for good, with everything in it. Its branch stays.
pub fn remove(root: &Path, path: &Path) -> Result<(), GitFault> {
    let path = path.to_string_lossy();
    run(root, &["worktree", "remove", "--force", "--force", "--", &path]).map(drop)
}

/// The commit that a revision names, seen from `dir`.
pub fn commit(dir: &Path, revision: &str) -> Result<String, GitFault> {
    let peeled = format!("{revision}^{{commit}}");
    run(dir, &["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]).map_err(|_| {
        GitFault::Refused {
            verb: "rev-parse".to_owned(),
            message: format!("there is no revision {revision:?}"),
        }
    })
}

fn free_branch(root: &Path, wanted: &str) -> Result<String, GitFault> {
    run(root, &["check-ref-format", "--branch", wanted]).map_err(|_| GitFault::Refused {
        verb: "check-ref-format".to_owned(),
        message: format!("{wanted:?} cannot be a branch's name"),
    })?;
    let taken = |name: &str| {
        let full = format!("refs/heads/{name}");
        run(root, &["show-ref", "--verify", "--quiet", &full]).is_ok()
    };
    let others = (2..=NAMES_TRIED_MAX).map(|n| format!("{wanted}-{n}"));
    std::iter::once(wanted.to_owned()).chain(others).find(|name| !taken(name)).ok_or_else(|| {
        GitFault::Refused {
            verb: "branch".to_owned(),
            message: format!("{wanted:?} and {NAMES_TRIED_MAX} names like it are taken"),
        }
    })
}
