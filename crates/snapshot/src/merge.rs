//! Merging a commit into a branch that is checked out nowhere. Git merges trees without a worktree,
//! so no file of the user's is touched, and a kill leaves at most objects that nothing names.

use crate::admin::records;
use crate::fault::SnapshotFault;
use crate::git::{GitFault, LIST, checked, git, listed, run, settled};
use crate::hooks::{HookFault, Hooks, Source};
use crate::scratch::common_of;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy)]
pub struct MergeRequest<'a> {
    /// A folder in the repository.
    pub repo: &'a Path,
    pub work: &'a str,
    /// The branch that it goes into.
    pub into: &'a str,
    /// The branch of ours that gets the result where `into` is checked out.
    pub aside: &'a str,
    pub message: &'a str,
    /// What runs the hooks of the repository that have a say in that message, if they are to. Those that
    /// look at files have nothing to look at: there is no checkout.
    pub hooks: Option<&'a dyn Hooks>,
}

/// A branch has everything of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The branch: the one that was wanted, or ours.
    pub branch: String,
    pub commit: String,
    /// Whether it was so before.
    pub already: bool,
    /// Where the branch that was wanted is checked out, if it was left alone for that.
    pub checked_out: Option<PathBuf>,
}

/// Why nothing was merged. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum MergeFault {
    #[error("there is no branch `{0}`")]
    NoBranch(String),
    /// Both have changed the same.
    #[error("`{into}` has changed the same: {}", .files.join(", "))]
    Conflict { into: String, files: Vec<String> },
    /// The branch that would get the result is checked out.
    #[error("the branch `{branch}` is checked out in {}", .at.display())]
    CheckedOut { branch: String, at: PathBuf },
    #[error(transparent)]
    Hook(#[from] HookFault),
    /// Something else kept it.
    #[error(transparent)]
    Snapshot(#[from] SnapshotFault),
}

impl From<GitFault> for MergeFault {
    fn from(fault: GitFault) -> Self {
        Self::Snapshot(fault.into())
    }
}

/// Merges a commit into a branch, or into ours if that one is checked out anywhere. A branch only
/// ever goes forward: what it had, it has afterwards.
pub fn merge(request: &MergeRequest<'_>) -> Result<Merged, MergeFault> {
    let MergeRequest { repo, work, into, aside, .. } = *request;
    let tip = tip(repo, into)?.ok_or_else(|| MergeFault::NoBranch(into.to_owned()))?;
    if is_ancestor(repo, work, &tip)? {
        let (branch, commit) = (into.to_owned(), tip);
        return Ok(Merged { branch, commit, already: true, checked_out: None });
    }
    let Some(at) = checked_out(repo, into)? else {
        let commit = combine(request, into, &tip, work)?;
        advance(repo, into, &commit, Some(&tip))?;
        let branch = into.to_owned();
        return Ok(Merged { branch, commit, already: false, checked_out: None });
    };
    let former = self::tip(repo, aside)?;
    // What an earlier merge has put there stays in it: it may be all that knows of a commit.
    let from = match &former {
        Some(former) => combine(request, into, former, &tip)?,
        None => tip,
    };
    let commit = combine(request, into, &from, work)?;
    let already = former.as_ref() == Some(&commit);
    if !already {
        if let Some(at) = checked_out(repo, aside)? {
            return Err(MergeFault::CheckedOut { branch: aside.to_owned(), at });
        }
        advance(repo, aside, &commit, former.as_deref())?;
    }
    Ok(Merged { branch: aside.to_owned(), commit, already, checked_out: Some(at) })
}

/// The commit that a branch is at, if there is one of that name.
pub fn tip(repo: &Path, branch: &str) -> Result<Option<String>, SnapshotFault> {
    let full = format!("refs/heads/{branch}");
    let listed = run(repo, &["for-each-ref", "--format=%(refname) %(objectname)", &full])?;
    let mut lines = listed.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.find(|(name, _)| *name == full).map(|(_, commit)| commit.to_owned()))
}

/// Makes a branch at a commit, unless there is one of that name. Says where it is.
pub fn begin_branch(repo: &Path, branch: &str, at: &str) -> Result<String, SnapshotFault> {
    if let Some(tip) = tip(repo, branch)? {
        return Ok(tip);
    }
    advance(repo, branch, at, None)?;
    Ok(at.to_owned())
}

/// Deletes a branch that another one has everything of. Whether it did: one on which a worktree stands stays.
pub fn drop_merged(repo: &Path, branch: &str, into: &str) -> Result<bool, SnapshotFault> {
    let (Some(tip), Some(other)) = (tip(repo, branch)?, tip(repo, into)?) else {
        return Ok(false);
    };
    if branch == into || !is_ancestor(repo, &tip, &other)? || checked_out(repo, branch)?.is_some() {
        return Ok(false);
    }
    run(repo, &["update-ref", "-d", &format!("refs/heads/{branch}"), &tip])?;
    Ok(true)
}

/// Moves a branch, if it still is where it was.
fn advance(repo: &Path, branch: &str, to: &str, former: Option<&str>) -> Result<(), SnapshotFault> {
    if former == Some(to) {
        return Ok(());
    }
    // Nothing at all: there must be no such branch yet.
    let former = former.unwrap_or_default();
    let full = format!("refs/heads/{branch}");
    run(repo, &["update-ref", "-m", "merge: work of a session", &full, to, former])?;
    Ok(())
}

/// One commit that has everything of both: one of the two where it has the other already.
fn combine(
    request: &MergeRequest<'_>,
    into: &str,
    ours: &str,
    theirs: &str,
) -> Result<String, MergeFault> {
    let repo = request.repo;
    if is_ancestor(repo, theirs, ours)? {
        return Ok(ours.to_owned());
    }
    if is_ancestor(repo, ours, theirs)? {
        return Ok(theirs.to_owned());
    }
    let mut call = git(repo);
    // Attributes are those of the branch; the files of a worktree have nothing to do with it.
    call.arg(format!("--attr-source={ours}"));
    without_drivers(&mut call, repo)?;
    let options = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"];
    call.args(options).args([ours, theirs]);
    let output = settled(&mut call)?;
    let conflict = output.status.code() == Some(1);
    let said = if conflict { output.stdout } else { checked(output, "merge-tree")? };
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut words = said.split('\0').map(str::trim_end).filter(|word| !word.is_empty());
    let tree = words.next().unwrap_or_default().to_owned();
    if conflict {
        let mut files: Vec<String> = words.map(str::to_owned).collect();
        files.dedup();
        return Err(MergeFault::Conflict { into: into.to_owned(), files });
    }
    let message = match request.hooks {
        Some(hooks) => hooks.message(request.message, Source::Merge)?,
        None => request.message.to_owned(),
    };
    let args = ["commit-tree", &tree, "-p", ours, "-p", theirs, "-m", &message];
    Ok(run(repo, &args)?)
}

/// Whether a commit is in the past of another one, or is that.
pub fn is_ancestor(repo: &Path, one: &str, other: &str) -> Result<bool, GitFault> {
    let mut call = git(repo);
    call.args(["merge-base", "--is-ancestor", one, other]);
    let output = settled(&mut call)?;
    if output.status.code() == Some(1) {
        return Ok(false);
    }
    checked(output, "merge-base").map(|_| true)
}

/// Lets a call of git, which has no verb yet, run no program that the repository's own settings name
/// for merging a file. Such a file counts as one in conflict: a program that is set to nothing would
/// leave it as it is, and that would be told as merged.
fn without_drivers(call: &mut std::process::Command, repo: &Path) -> Result<(), GitFault> {
    let mut asked = git(repo);
    asked.args(["config", "--show-scope", "-z", "--name-only", "--get-regexp"]);
    let output = settled(asked.arg(r"^merge\..*\.driver$"))?;
    // So it says that there are none.
    if output.status.code() == Some(1) {
        return Ok(());
    }
    let said = checked(output, "config")?;
    let words: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    for pair in words.chunks_exact(2) {
        let &[scope, key] = pair else { continue };
        if !matches!(scope, b"system" | b"global" | b"command") {
            let setting = [b"--config-env=", key, b"=GLIS_NO_DRIVER"].concat();
            call.arg(OsString::from_vec(setting)).env("GLIS_NO_DRIVER", "false");
        }
    }
    Ok(())
}

/// Where a branch is checked out: by a worktree that stands on it, or that will come back to it once
/// its rebase or bisect is over.
pub fn checked_out(repo: &Path, branch: &str) -> Result<Option<PathBuf>, SnapshotFault> {
    let full = format!("refs/heads/{branch}");
    let common = common_of(repo)?;
    let standing = listed(run(repo, &LIST)?.as_bytes());
    let main = standing.first().filter(|first| !first.bare).map(|first| first.path.clone());
    let mut all = vec![(common.clone(), main.unwrap_or_else(|| common.clone()))];
    for record in records(&common) {
        let at = record.path.clone().unwrap_or_else(|| record.dir.clone());
        all.push((record.dir, at));
    }
    let mut standing = standing.into_iter();
    let standing = standing.find(|one| one.branch.as_deref() == Some(full.as_bytes()));
    let returns = |(git_dir, at): (PathBuf, PathBuf)| {
        let heads = ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];
        let named = heads.iter().any(|name| {
            let text = std::fs::read_to_string(git_dir.join(name)).unwrap_or_default();
            [full.as_str(), branch].contains(&text.trim_end())
        });
        named.then_some(at)
    };
    Ok(standing.map(|one| one.path).or_else(|| all.into_iter().find_map(returns)))
}
