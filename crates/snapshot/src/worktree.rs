//! Worktrees of our own: made, found again, moved, removed. Never one that we did not make.

use crate::admin::{Record, delete_tree, records};
use crate::aside::LOCK_REASON;
use crate::fault::SnapshotFault;
use crate::filters;
use crate::git::{
    GitFault, LIST, Listed, Turn, checked, git, listed, refuse_line_break, roots, run,
    run_with_umask, unless_not_run, with_umask,
};
use crate::moved::{Insides, real};
use crate::scratch::{common_of, write_durably};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How many names are tried when a branch exists already.
const NAMES_TRIED_MAX: u32 = 99;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    pub branch: String,
}

#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// A folder in the repository; `base` is understood from here.
    pub repo: &'a Path,
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

/// Makes the worktree, or finds the one that was made for the same owner before. Until all files are
/// there it is locked for another reason, so that what a crash leaves is known to be half of one.
pub fn make(plan: &Plan<'_>) -> Result<Worktree, GitFault> {
    let root = roots(plan.repo)?.main;
    refuse_line_break(&root)?;
    refuse_line_break(&real(plan.path))?;
    if let Some(found) = find(&root, plan.owner)? {
        return Ok(found);
    }
    let start = match plan.base {
        Some(base) => Some(commit(plan.repo, base)?),
        None => match commit(plan.repo, "HEAD") {
            Err(fault @ GitFault::NotRun(_)) => return Err(fault),
            found => found.ok(),
        },
    };
    remove_half(&root, plan, start.as_deref())?;
    let branch = free_branch(&root, plan.branch)?;
    let made = fill(&root, plan, &branch, start.as_deref());
    if made.is_err() {
        // Why it failed says more than why the rest of it stays.
        drop(remove_half(&root, plan, start.as_deref()));
    }
    made.map_err(|fault| in_the_way(&root, &branch).unwrap_or(fault))?;
    Ok(Worktree { path: plan.path.to_owned(), branch })
}

/// A branch `a` leaves no room for a branch `a/b`; git says so in words about its own files.
fn in_the_way(root: &Path, wanted: &str) -> Option<GitFault> {
    let above = wanted.match_indices('/').filter_map(|(at, _)| wanted.get(..at));
    let taken = |name: &&str| {
        let full = format!("refs/heads/{name}");
        run(root, &["show-ref", "--verify", "--quiet", &full]).is_ok()
    };
    let name = above.into_iter().find(taken)?;
    let message = format!(
        "the branch `{name}` is in the way of `{wanted}`: set another `branch_prefix` under \
         [worktree] in the configuration, or rename it with `git branch -m {name} NEW`"
    );
    Some(GitFault::Refused { verb: "branch".to_owned(), message })
}

fn being_made(owner: &str) -> String {
    format!("{owner}, being made")
}

fn fill(root: &Path, plan: &Plan<'_>, branch: &str, start: Option<&str>) -> Result<(), GitFault> {
    let path = plan.path.to_string_lossy();
    let reason = being_made(plan.owner);
    let mut args = vec!["worktree", "add", "--quiet", "--lock", "--reason", &reason];
    match start {
        Some(start) => args.extend(["--no-checkout", "-b", branch, "--", &path, start]),
        // Nothing was ever committed here: the worktree begins as empty as the repository.
        None => args.extend(["--orphan", "-b", branch, "--", &path]),
    }
    let common = common_of(root).map_err(|fault| refused("worktree", &fault))?;
    let turn = Turn::take(&common);
    run_with_umask(root, &args, plan.umask)?;
    drop(turn);
    if start.is_some() {
        reset(plan.path, plan.umask)?;
    }
    let record = Record::named_by(&common, plan.path).ok_or_else(|| GitFault::Refused {
        verb: "worktree".to_owned(),
        message: format!("{path} went away while it was made"),
    })?;
    record.relock(plan.owner).map_err(|fault| refused("worktree", &fault))
}

/// What `worktree add` itself does; a power cut loses nothing that is not in the commit.
fn reset(path: &Path, umask: u32) -> Result<(), GitFault> {
    let mut call = git(path);
    filters::only_of_the_user(&mut call, path)?;
    call.args(["reset", "--hard", "--quiet", "--no-recurse-submodules"]);
    let output = with_umask(&call, umask).output().map_err(GitFault::NotRun)?;
    checked(output, "reset").map(drop)
}

/// Checks a commit out that has no branch, for who only looks at it. What an earlier try has left there goes; who is
/// done removes it.
pub fn check_out(root: &Path, path: &Path, commit: &str, umask: u32) -> Result<(), GitFault> {
    remove(root, path, "")?;
    let common = common_of(root).map_err(|fault| refused("worktree", &fault))?;
    let turn = Turn::take(&common);
    let shown = path.to_string_lossy();
    let add = ["worktree", "add", "--quiet", "--detach", "--no-checkout", "--force", "--"];
    run_with_umask(root, &[&add[..], &[&shown, commit]].concat(), umask)?;
    drop(turn);
    reset(path, umask)
}

/// Removes what an earlier try has left at the planned place, if it is known by its lock.
fn remove_half(root: &Path, plan: &Plan<'_>, start: Option<&str>) -> Result<(), GitFault> {
    let fault = |fault: SnapshotFault| refused("worktree", &fault);
    let common = common_of(root).map_err(fault)?;
    let reason = being_made(plan.owner);
    for half in records(&common).into_iter().filter(|record| record.is_locked_for(&reason)) {
        if half.is_at(plan.path) {
            delete_tree(plan.path).map_err(fault)?;
        } else if half.path.is_some() {
            continue;
        } else {
            // Git was killed before it wrote down where: the folder is empty, if it is there.
            drop(std::fs::remove_dir(plan.path));
        }
        let head = std::fs::read_to_string(half.dir.join("HEAD")).unwrap_or_default();
        half.forget().map_err(fault)?;
        // A branch that is where it began has no work on it.
        let branch = head.strip_prefix("ref: ").map(str::trim_end);
        let begun = branch.zip(start).filter(|(branch, start)| {
            branch.starts_with("refs/heads/")
                && commit(root, branch).is_ok_and(|commit| commit == *start)
        });
        if let Some((branch, start)) = begun {
            run(root, &["update-ref", "-d", branch, start])?;
        }
    }
    Ok(())
}

/// Puts the file back by which a worktree knows its repository, where it was deleted and git's own
/// records still name the place. True if it was missing and is there again.
pub fn relink(repo: &Path, path: &Path) -> Result<bool, SnapshotFault> {
    let link = path.join(".git");
    if !path.is_dir() || link.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let known = records(&common_of(repo)?).into_iter().find(|record| record.is_at(path));
    let Some(record) = known else { return Ok(false) };
    let line = [b"gitdir: ", record.dir.as_os_str().as_bytes(), b"\n"].concat();
    write_durably(&link, &line)?;
    Ok(true)
}

/// The worktree that is locked for this owner.
pub fn find(root: &Path, owner: &str) -> Result<Option<Worktree>, GitFault> {
    let mut all = listed(run(root, &LIST)?.as_bytes()).into_iter();
    let ours = all.find(|worktree| worktree.locked.as_deref() == Some(owner.as_bytes()));
    Ok(ours.map(|Listed { path, branch, .. }| {
        let branch = String::from_utf8_lossy(branch.as_deref().unwrap_or_default()).into_owned();
        let branch = branch.strip_prefix("refs/heads/").unwrap_or_default().to_owned();
        Worktree { path, branch }
    }))
}

/// Moves a worktree of ours to another place, as it is, with everything in it. Also one that git has
/// lost sight of: it is the folder that counts, and git is told.
pub fn shift(root: &Path, from: &Path, to: &Path) -> Result<(), GitFault> {
    let common = common_of(root).ok();
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let inside = |at: &Path| common.as_deref().map(|common| Insides::of(common, at, from));
    match (is_there(from), is_there(to)) {
        (true, false) => {}
        // A crash came after the move, before git had written it down.
        (false, true) => return settle(common.as_deref(), to, &inside(to).unwrap_or_default()),
        (true, true) => return Err(no_move(format!("{} is there already", to.display()))),
        (false, false) => return Err(no_move(format!("{} is not there", from.display()))),
    }
    let insides = inside(from).unwrap_or_default();
    let (here, there) = (from.to_string_lossy(), to.to_string_lossy());
    // Twice: the worktree is locked, by us.
    match run(root, &["worktree", "move", "--force", "--force", "--", &here, &there]) {
        Ok(_) => {}
        Err(GitFault::Refused { .. }) if !is_there(from) => {}
        Err(fault @ GitFault::Refused { .. }) => {
            if holds(from, common.as_deref()) {
                return Err(fault);
            }
            std::fs::rename(from, to).map_err(|error| no_move(error.to_string()))?;
        }
        Err(fault) => return Err(fault),
    }
    settle(common.as_deref(), to, &insides)
}

fn no_move(message: String) -> GitFault {
    GitFault::Refused { verb: "worktree move".to_owned(), message }
}

fn refused(verb: &str, fault: &SnapshotFault) -> GitFault {
    GitFault::Refused { verb: verb.to_owned(), message: fault.to_string() }
}

/// Whether the repository itself is in a folder.
fn holds(folder: &Path, common: Option<&Path>) -> bool {
    let (folder, common) = (folder.canonicalize().ok(), common.map(Path::canonicalize));
    let common = common.and_then(Result::ok);
    folder.zip(common).is_some_and(|(folder, common)| common.starts_with(folder))
}

/// Makes git's records agree with where the worktree and what is inside it are.
fn settle(common: Option<&Path>, at: &Path, insides: &Insides) -> Result<(), GitFault> {
    let Some(common) = common else { return Ok(()) };
    let done = || -> Result<(), SnapshotFault> {
        if let Some(record) = Record::named_by(common, at)
            && !record.is_at(at)
            // A copy is not what the record speaks of.
            && record.path.as_deref().is_none_or(|path| !path.join(".git").exists())
        {
            record.point_to(at)?;
        }
        insides.look_back(at)?;
        insides.point_to(at)
    };
    done().map_err(|fault| refused("worktree repair", &fault))
}

/// Removes a worktree of ours for good, with everything in it. Its branch stays. Only for what is in
/// our own trash: where git refuses, the folder goes all the same, and git's record of it if that is
/// locked for `owner` or was set aside by us.
pub fn remove(root: &Path, path: &Path, owner: &str) -> Result<(), GitFault> {
    let shown = path.to_string_lossy();
    match run(root, &["worktree", "remove", "--force", "--force", "--", &shown]) {
        Ok(_) => return Ok(()),
        Err(GitFault::Refused { .. }) => {}
        Err(fault) => return Err(fault),
    }
    let common = common_of(root).ok();
    if holds(path, common.as_deref()) {
        return Err(no_move(format!("{shown} holds the repository")));
    }
    let named = common.as_deref().and_then(|common| Record::named_by(common, path));
    let told = |fault: SnapshotFault| refused("worktree remove", &fault);
    delete_tree(path).map_err(told)?;
    let all = common.as_deref().map(records).unwrap_or_default();
    let ours = all.into_iter().filter(|record| {
        let is_it = record.is_at(path)
            || named.as_ref().is_some_and(|named| named.dir == record.dir)
                && record.path.as_deref().is_none_or(|path| !path.exists());
        is_it && [owner, LOCK_REASON].iter().any(|reason| record.is_locked_for(reason))
    });
    ours.into_iter().try_for_each(|record| record.forget().map_err(told))
}

/// The commit that a revision names, seen from `dir`.
pub fn commit(dir: &Path, revision: &str) -> Result<String, GitFault> {
    let peeled = format!("{revision}^{{commit}}");
    let none = || GitFault::Refused {
        verb: "rev-parse".to_owned(),
        message: format!("there is no revision {revision:?}"),
    };
    run(dir, &["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled])
        .map_err(|fault| unless_not_run(fault, none))
}

fn free_branch(root: &Path, wanted: &str) -> Result<String, GitFault> {
    let bad = || GitFault::Refused {
        verb: "check-ref-format".to_owned(),
        message: format!("{wanted:?} cannot be a branch's name"),
    };
    run(root, &["check-ref-format", "--branch", wanted])
        .map_err(|fault| unless_not_run(fault, bad))?;
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
