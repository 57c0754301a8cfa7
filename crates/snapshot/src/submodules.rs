//! Submodules of a worktree: filled from the user's main checkout, and looked at before a commit that cannot hold their
//! files.
//!
//! What a submodule is and where it is fetched from stands in files that a commit brings along. So nothing of that is
//! read: a submodule is a path that both the main checkout and the worktree have as one, and it comes from the repository
//! that lies in the main checkout. No other protocol is allowed, no hook is run, and nothing is fetched later.

use crate::admin::delete_tree;
use crate::fault::SnapshotFault;
use crate::filters;
use crate::git::{GitFault, checked, git, offline, roots, run, settled, with_umask};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A path that stands for a commit of another repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    pub(crate) path: PathBuf,
    pub(crate) commit: String,
}

/// What the index of a worktree has of them.
pub(crate) fn links(worktree: &Path) -> Result<Vec<Link>, GitFault> {
    listed(&mut git(worktree))
}

/// The same of whatever index this call is about.
pub(crate) fn listed(call: &mut Command) -> Result<Vec<Link>, GitFault> {
    let said = checked(settled(call.args(["ls-files", "--stage", "-z"]))?, "ls-files")?;
    let link = |line: &[u8]| {
        let facts = line.strip_prefix(b"160000 ")?;
        let tab = facts.iter().position(|byte| *byte == b'\t')?;
        let commit = facts.split(|byte| *byte == b' ').next()?;
        let path = PathBuf::from(OsStr::from_bytes(facts.get(tab + 1..)?));
        Some(Link { path, commit: String::from_utf8_lossy(commit).into_owned() })
    };
    Ok(said.split(|byte| *byte == 0).filter_map(link).collect())
}

/// Fills the submodules of a fresh worktree that the main checkout has, and those inside them. One that cannot be filled
/// stays empty. What an earlier call has left half done is done again.
pub fn fill(main: &Path, worktree: &Path, umask: u32) -> Result<(), SnapshotFault> {
    let known: BTreeSet<PathBuf> = links(main)?.into_iter().map(|link| link.path).collect();
    for link in links(worktree)?.into_iter().filter(|link| known.contains(&link.path)) {
        let (from, to) = (main.join(&link.path), worktree.join(&link.path));
        if !is_repository(&from) || !make_room(&to)? {
            continue;
        }
        match fill_one(&from, &to, &link.commit, umask) {
            Ok(()) => fill(&from, &to, umask)?,
            Err(GitFault::NotRun(fault)) => return Err(GitFault::NotRun(fault).into()),
            Err(GitFault::Refused { .. } | GitFault::NoRepository(_)) => {
                delete_tree(&to)?;
                drop(fs::create_dir(&to));
            }
        }
    }
    Ok(())
}

pub(crate) fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Whether a submodule may be filled. The index is the last that a checkout writes, so that one without it is half of one.
fn make_room(folder: &Path) -> Result<bool, SnapshotFault> {
    if folder.join(".git").is_dir() && !folder.join(".git/index").exists() {
        delete_tree(folder)?;
        drop(fs::create_dir(folder));
    }
    Ok(fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()))
}

fn fill_one(from: &Path, to: &Path, commit: &str, umask: u32) -> Result<(), GitFault> {
    run(from, &["cat-file", "-e", &format!("{commit}^{{commit}}")])?;
    let source = run(from, &["rev-parse", "--absolute-git-dir"])?;
    let local = |dir: &Path, args: &[&str]| {
        let mut call = offline(dir);
        call.env("GIT_ALLOW_PROTOCOL", "file").args(args);
        let output = with_umask(&call, umask).output().map_err(GitFault::NotRun)?;
        checked(output, args.first().copied().unwrap_or_default())
    };
    // Its objects are copied, or linked where that is possible: nothing that is done to either reaches the other.
    local(to, &["clone", "--quiet", "--local", "--no-checkout", "--", &source, "."])?;
    let remotes = "+refs/remotes/origin/*:refs/remotes/origin/*";
    let fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--", &source];
    local(to, &[&fetch[..], &[remotes]].concat())?;
    if let Ok(url) = run(from, &["config", "--get", "remote.origin.url"]) {
        run(to, &["remote", "set-url", "origin", &url])?;
    }
    let mut call = offline(to);
    filters::only_of_the_user(&mut call, to)?;
    call.args(["checkout", "--quiet", "--force", "--no-recurse-submodules", "--detach", commit]);
    checked(with_umask(&call, umask).output().map_err(GitFault::NotRun)?, "checkout").map(drop)
}

/// The first of these submodules that has something which no commit of the outer repository can hold: files, or a commit
/// that nobody else has.
pub(crate) fn first_lost(worktree: &Path, links: &[Link]) -> Result<Option<PathBuf>, GitFault> {
    let mut main = None;
    for link in links {
        let folder = worktree.join(&link.path);
        if is_changed(&folder)? {
            return Ok(Some(link.path.clone()));
        }
        if !is_repository(&folder) {
            continue;
        }
        let main = match &main {
            Some(main) => main,
            None => main.insert(roots(worktree)?.main),
        };
        if !is_elsewhere(&folder, &main.join(&link.path), &link.commit) {
            return Ok(Some(link.path.clone()));
        }
    }
    Ok(None)
}

/// Whether a submodule, or one inside it, has something that is in no commit of its own.
pub(crate) fn is_changed(folder: &Path) -> Result<bool, GitFault> {
    if !is_repository(folder) {
        // Git looks at nothing that lies in the place of one.
        return Ok(fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()));
    }
    let mut asked = git(folder);
    filters::only_of_the_user(&mut asked, folder)?;
    asked.args(["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"]);
    if !checked(settled(&mut asked)?, "status")?.is_empty() {
        return Ok(true);
    }
    for link in links(folder)? {
        if is_changed(&folder.join(link.path))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether others than this submodule have a commit of it: the main checkout's, or a remote.
fn is_elsewhere(folder: &Path, main: &Path, commit: &str) -> bool {
    let asked = ["for-each-ref", "--count=1", "--contains", commit, "refs/remotes"];
    is_repository(main) && run(main, &["cat-file", "-e", commit]).is_ok()
        || run(folder, &asked).is_ok_and(|found| !found.is_empty())
}
