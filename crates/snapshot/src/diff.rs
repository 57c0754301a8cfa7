//! What differs between two states of a worktree, as a list and as a patch.

use crate::fault::SnapshotFault;
use crate::git::{checked, offline, run_in};
use crate::glance::Glance;
use crate::list::{self, empty_tree, files_of};
use crate::loaded::Loaded;
use crate::refs;
use crate::scratch::common_of;
use crate::state::{NotCaptured, Why};
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::process::Stdio;

#[derive(Debug, Clone, Copy)]
pub enum Side<'a> {
    Commit(&'a str),
    /// The files of a snapshot, by its name.
    Snapshot(&'a str),
    /// The files of the commit that a snapshot was taken on; none if there was no commit.
    Beneath(&'a str),
    /// The files of a worktree as they are.
    Now(&'a Glance),
    /// The files of the commit that a worktree stands on; none if there is no commit.
    BeneathNow(&'a Glance),
}

impl Side<'_> {
    /// Where the objects of this side are, if they are not in the repository itself.
    fn elsewhere(&self) -> Option<&Path> {
        match self {
            Self::Commit(_) | Self::Snapshot(_) | Self::Beneath(_) => None,
            Self::Now(glance) | Self::BeneathNow(glance) => Some(glance.git_dir()),
        }
    }
}

/// How much one file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub path: Vec<u8>,
    /// Lines that only the second side has; `None` for a binary file and one too large to be kept.
    pub added: Option<u64>,
    /// Lines that only the first side has; `None` for a binary file.
    pub removed: Option<u64>,
}

/// What came with a message is no work of the agent's ([`crate::SENT`]).
const NOT_SENT: &str = ":(exclude).glis/files";

/// Which files differ, and by how much.
pub fn diff_files(
    repo_root: &Path,
    from: Side<'_>,
    to: Side<'_>,
) -> Result<Vec<FileDiff>, SnapshotFault> {
    let common = common_of(repo_root)?;
    let git_dir = to.elsewhere().or(from.elsewhere()).unwrap_or(&common);
    let (unkept, known) = (too_large(&common, to)?, too_large(&common, from)?);
    let (from, to) = (tree(&common, from)?, tree(&common, to)?);
    let options = ["diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff"];
    let what = ["--no-textconv", &from, &to, "--", ".", NOT_SENT];
    let said = run_in(git_dir, &[&options[..], &what].concat())?;
    let records = said.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let read = records.filter_map(|record| {
        let mut words = record.splitn(3, |byte| *byte == b'\t');
        // A binary file has a dash instead of a number.
        let mut number = || Some(std::str::from_utf8(words.next()?).ok()?.parse().ok());
        let (added, removed) = (number()?, number()?);
        Some(FileDiff { path: words.next()?.to_vec(), added, removed })
    });
    let mut files: Vec<FileDiff> = read.collect();
    for NotCaptured { path, .. } in unkept.into_iter().filter(|file| !known.contains(file)) {
        files.retain(|file| file.path != path);
        files.push(FileDiff { path, added: None, removed: None });
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// What a side does not hold for its size. It is there all the same, and merged like everything else.
fn too_large(common: &Path, side: Side<'_>) -> Result<Vec<NotCaptured>, SnapshotFault> {
    let (git_dir, commit) = match side {
        Side::Commit(_) | Side::Beneath(_) | Side::BeneathNow(_) => return Ok(Vec::new()),
        Side::Snapshot(name) => (common, refs::exact(common, name)?.commit),
        Side::Now(glance) => (glance.git_dir(), glance.commit),
    };
    let all = list::not_captured_in(git_dir, &commit)?;
    Ok(all.into_iter().filter(|file| matches!(file.why, Why::TooLarge { .. })).collect())
}

/// Writes the difference as a patch that `git apply` takes.
pub fn patch(
    repo_root: &Path,
    from: Side<'_>,
    to: Side<'_>,
    out: &mut dyn Write,
) -> Result<(), SnapshotFault> {
    let common = common_of(repo_root)?;
    let git_dir = to.elsewhere().or(from.elsewhere()).unwrap_or(&common);
    let (from, to) = (tree(&common, from)?, tree(&common, to)?);
    let mut child = offline(git_dir)
        .env("GIT_DIR", git_dir)
        .args(["diff-tree", "-r", "-p", "--binary", "--full-index", "-M", "--no-ext-diff"])
        .args(["--no-textconv", &from, &to, "--", ".", NOT_SENT])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(crate::GitFault::NotRun)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut complaint = Vec::new();
    let copied = std::thread::scope(|scope| {
        // A git that complains a lot waits for a reader before the patch goes on.
        let reading = || stderr.map(|mut pipe| pipe.read_to_end(&mut complaint));
        let listening = match crate::threads::within(scope, reading) {
            Ok(listening) => listening,
            Err(fault) => {
                drop(child.kill());
                return Err(io::Error::other(fault));
            }
        };
        let copied = stdout.map_or(Ok(0), |mut pipe| io::copy(&mut pipe, out));
        if copied.is_err() {
            // The reader is gone.
            drop(child.kill());
        }
        drop(listening.join());
        copied
    });
    let status = child.wait().map_err(crate::GitFault::NotRun)?;
    copied.map_err(crate::GitFault::NotRun)?;
    let output = std::process::Output { status, stdout: Vec::new(), stderr: complaint };
    checked(output, "diff-tree").map(drop).map_err(SnapshotFault::from)
}

fn tree(common: &Path, side: Side<'_>) -> Result<String, SnapshotFault> {
    match side {
        Side::Commit(commit) => Ok(format!("{commit}^{{tree}}")),
        Side::Snapshot(name) => files_of(common, &refs::exact(common, name)?.commit.to_string()),
        Side::Now(glance) => files_of(glance.git_dir(), &glance.commit.to_string()),
        Side::BeneathNow(glance) => match glance.head {
            Some(head) => Ok(format!("{head}^{{tree}}")),
            None => empty_tree(common),
        },
        Side::Beneath(name) => {
            let commit = refs::exact(common, name)?.commit;
            match Loaded::read(common, commit, name)?.state.head.commit {
                Some(head) => Ok(format!("{head}^{{tree}}")),
                None => empty_tree(common),
            }
        }
    }
}
