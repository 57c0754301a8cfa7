//! Putting back what git itself keeps about a worktree: index, HEAD, logs and branches.

use crate::fault::{About as _, SnapshotFault};
use crate::git::{LIST, checked, listed, offline, run_in};
use crate::hash::Oid;
use crate::index::Stat;
use crate::loaded::Loaded;
use crate::place::{Head, Place};
use crate::refs;
use crate::rights::Umask;
use crate::scratch::write_durably;
use crate::state::Kind;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// What the HEAD of a restored worktree is to stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// On its branch, if that is still what it was.
    AsItWas,
    /// On the commit itself. For a copy: it takes no branch, and makes none.
    Detached,
}

/// What HEAD stands on after a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadState {
    /// On the branch it was on.
    OnBranch(String),
    /// On a branch that has no commit yet.
    Unborn(String),
    /// On the commit itself, as it was when saved or as it was asked for.
    Detached,
    /// On the commit itself, because the branch that it was on is not what it was.
    CutOff { branch: String },
}

/// Where a worktree goes, and what it is to be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) to: &'a Path,
    pub(crate) lock_owner: &'a str,
    pub(crate) way: Way<'a>,
}

/// How everything inside a worktree comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) stand: Stand,
    /// For what git and we make among git's own files.
    pub(crate) umask: Umask,
    /// The lock of the restore. Each child that makes files holds on to it: it may live a moment
    /// longer than we do, and a sweep must not clean up before it is done.
    pub(crate) alive: &'a File,
}

impl Way<'_> {
    /// Runs git on a repository that is being filled.
    pub(crate) fn run(&self, git_dir: &Path, args: &[&str]) -> Result<(), SnapshotFault> {
        let mut command = offline(git_dir);
        command.env("GIT_DIR", git_dir).args(args);
        let output = self.umask.over(&command).stdin(self.hold()?).output();
        let output = output.map_err(crate::GitFault::NotRun)?;
        checked(output, args.first().unwrap_or(&""))?;
        Ok(())
    }

    /// Changes refs of a repository that is being filled.
    pub(crate) fn update_refs(
        &self,
        git_dir: &Path,
        lines: &[String],
    ) -> Result<(), SnapshotFault> {
        refs::apply(self.umask.over(&refs::updating(git_dir)), lines, self.hold()?)
    }

    pub(crate) fn hold(&self) -> Result<Stdio, SnapshotFault> {
        self.alive.try_clone().map(Stdio::from).about(Path::new(crate::scratch::HOME))
    }
}

/// Puts the index and git's other files of the worktree where they were.
pub(crate) fn put_back(
    place: &Place,
    loaded: &Loaded,
    stats: &HashMap<Vec<u8>, Stat>,
    way: Way<'_>,
) -> Result<(), SnapshotFault> {
    if !loaded.index.raw.is_empty() {
        // What the index knew to be unchanged is unchanged still. What it did not know, or knew to
        // be changed, keeps its old numbers, so that git looks for itself.
        let changed = loaded.state.kept.iter().filter(|kept| kept.kind != Kind::Converted);
        let changed: HashSet<&[u8]> = changed.map(|kept| kept.path.as_slice()).collect();
        let raw = loaded.index.refreshed(|_, entry| {
            let clean = entry.stage == 0 && !changed.contains(entry.path.as_slice());
            stats.get(&entry.path).filter(|_| clean).copied()
        });
        let index = place.git_dir.join("index");
        write_durably(&index, &raw)?;
        way.umask.open_up(&index)?;
    }
    for (name, bytes) in &loaded.git_files {
        // HEAD needs thought, and logs are written when no ref moves any more.
        let later = name == b"HEAD" || name.starts_with(b"logs/") || name.starts_with(b"glis-");
        if !later {
            way.umask.write(&place.git_dir.join(OsStr::from_bytes(name)), bytes)?;
        }
    }
    Ok(())
}

/// Puts the logs of refs back, in place of what the restore itself has written there.
pub(crate) fn put_logs(place: &Place, loaded: &Loaded, way: Way<'_>) -> Result<(), SnapshotFault> {
    let logs = loaded.git_files.iter().filter(|(name, _)| name.starts_with(b"logs/"));
    logs.into_iter().try_for_each(|(name, bytes)| {
        way.umask.write(&place.git_dir.join(OsStr::from_bytes(name)), bytes)
    })
}

/// Makes the branches again that an operation in progress will want, if they are gone.
pub(crate) fn recreate_branches(
    common: &Path,
    loaded: &Loaded,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<(), SnapshotFault> {
    for (branch, oid) in &loaded.state.branches {
        if branch_at(common, branch).is_none() {
            let zero = "0".repeat(oid.as_bytes().len() * 2);
            way.update_refs(common, &[format!("update {branch} {oid} {zero}")])?;
            notes.push(format!("made {branch} again: the work in progress needs it"));
        }
    }
    Ok(())
}

/// Stands HEAD on its branch if that is wanted and still, or again, what it was.
pub(crate) fn attach(
    place: &Place,
    head: &Head,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<HeadState, SnapshotFault> {
    let Some(branch) = &head.branch else { return Ok(HeadState::Detached) };
    let now = branch_at(&place.common, branch);
    let cut_off = |why: &str, notes: &mut Vec<String>| {
        notes.push(format!("HEAD is detached: {branch} {why}"));
        Ok(HeadState::CutOff { branch: branch.clone() })
    };
    let point = |name: &str| way.run(&place.git_dir, &["symbolic-ref", "HEAD", name]);
    // Without a commit to stand on, HEAD needs a name; this one is free.
    let unborn = || {
        let free = (1..).map(|n| format!("{branch}-restored-{n}"));
        let free = free.into_iter().find(|name| branch_at(&place.common, name).is_none());
        let name = free.unwrap_or_else(|| branch.clone());
        point(&name)?;
        Ok::<_, SnapshotFault>(name)
    };
    match (head.commit, now) {
        (Some(_), _) if way.stand == Stand::Detached => Ok(HeadState::Detached),
        (None, _) if way.stand == Stand::Detached => unborn().map(HeadState::Unborn),
        (None, None) => {
            point(branch)?;
            Ok(HeadState::Unborn(branch.clone()))
        }
        (None, Some(_)) => {
            let name = unborn()?;
            notes.push(format!("HEAD is on {name}: {branch} has commits now"));
            Ok(HeadState::Unborn(name))
        }
        (Some(_), _) if out_elsewhere(place, branch)?.is_some() => {
            cut_off("is checked out in another worktree", notes)
        }
        (Some(commit), None) => {
            let zero = "0".repeat(commit.as_bytes().len() * 2);
            let line = format!("update {branch} {commit} {zero}");
            way.update_refs(&place.common, &[line])?;
            notes.push(format!("made {branch} again: it was gone"));
            point(branch)?;
            Ok(HeadState::OnBranch(branch.clone()))
        }
        (Some(commit), Some(now)) if commit == now => {
            point(branch)?;
            Ok(HeadState::OnBranch(branch.clone()))
        }
        (Some(_), Some(_)) => cut_off("has moved", notes),
    }
}

pub(crate) fn branch_at(common: &Path, branch: &str) -> Option<Oid> {
    let said = run_in(common, &["rev-parse", "--verify", "--quiet", branch]).ok()?;
    Oid::from_hex(said.trim_ascii_end())
}

/// Where else a branch is checked out.
pub(crate) fn out_elsewhere(place: &Place, branch: &str) -> Result<Option<PathBuf>, SnapshotFault> {
    let all = listed(&run_in(&place.common, &LIST)?).into_iter();
    let mut others = all.filter(|worktree| worktree.path != place.root);
    let there = others.find(|worktree| worktree.branch.as_deref() == Some(branch.as_bytes()));
    Ok(there.map(|worktree| worktree.path))
}
