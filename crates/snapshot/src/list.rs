//! The snapshots of a session: listed, compared with each other, thinned, moved to the trash.

use crate::fault::SnapshotFault;
use crate::git::{checked, offline, run_in};
use crate::hash::Oid;
use crate::objects::Objects;
use crate::refs::{self, Found, SNAP, TRASH};
use crate::scratch::common_of;
use crate::state::{NotCaptured, list_from_bytes};
use std::collections::BTreeSet;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub reference: String,
    pub commit: String,
    /// When it was taken, in milliseconds since 1970.
    pub taken_ms: u64,
    pub why: String,
    /// How many paths differed from HEAD.
    pub changed: usize,
    /// How many things it does not hold; `not_captured` names them.
    pub not_captured: usize,
    /// Which files differ from the snapshot before it; `None` for the first.
    pub since_before: Option<Vec<Vec<u8>>>,
}

/// The snapshots of a session, the oldest first.
pub fn list(repo_root: &Path, session: &str) -> Result<Vec<Listed>, SnapshotFault> {
    list_last(repo_root, session, Shelf::Snapshots, None)
}

/// The snapshots of a session on a shelf, the oldest first; with `last`, no more than so many.
pub fn list_last(
    repo_root: &Path,
    session: &str,
    shelf: Shelf,
    last: Option<usize>,
) -> Result<Vec<Listed>, SnapshotFault> {
    let common = common_of(repo_root)?;
    let prefix = format!("{}/{}", shelf.prefix(), refs::part(session)?);
    // One more, which the first of them is compared with.
    let all = refs::below(&common, &prefix, last.map(|last| last + 1))?;
    let mut since = vec![None];
    since.extend(paths_between(&common, &all)?.into_iter().map(Some));
    let listed = all.into_iter().zip(since).map(|(found, since_before)| {
        let number = |key: &str| found.value(key).and_then(|n| n.parse().ok()).unwrap_or_default();
        Listed {
            taken_ms: found.millis(),
            why: found.value("why").unwrap_or_default().to_owned(),
            changed: number("changed"),
            not_captured: number("not-captured"),
            since_before,
            commit: found.commit.to_string(),
            reference: found.name,
        }
    });
    let mut listed: Vec<Listed> = listed.collect();
    let surplus = last.map_or(0, |last| listed.len().saturating_sub(last));
    listed.drain(..surplus);
    Ok(listed)
}

/// The names of a session's snapshots on a shelf, the oldest first, each with its commit. Nothing
/// is compared, not even read: this is for a caller that looks for one of them.
pub fn names(
    repo_root: &Path,
    session: &str,
    shelf: Shelf,
) -> Result<Vec<(String, String)>, SnapshotFault> {
    let common = common_of(repo_root)?;
    let prefix = format!("{}/{}", shelf.prefix(), refs::part(session)?);
    refs::names(&common, &prefix)
}

/// Which files differ between each snapshot and the next, all by one process: a session of some
/// days has hundreds of them.
fn paths_between(common: &Path, all: &[Found]) -> Result<Vec<Vec<Vec<u8>>>, SnapshotFault> {
    if all.len() < 2 {
        return Ok(Vec::new());
    }
    let trees = trees_of(common, all)?;
    let mut command = offline(common);
    command.env("GIT_DIR", common);
    // Raw, because such a record cannot be taken for the line that begins the next pair.
    command.args(["diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(crate::GitFault::NotRun)?;
    let pipe = child.stdin.take();
    let output = std::thread::scope(|scope| {
        let trees = &trees;
        // Git answers while it is asked, so another thread has to read meanwhile.
        let asking = crate::threads::within(scope, move || {
            let mut pipe = BufWriter::new(pipe?);
            trees.windows(2).try_for_each(|pair| writeln!(pipe, "{} {}", pair[0], pair[1])).ok()?;
            pipe.flush().ok()
        });
        let output = child.wait_with_output().map_err(crate::GitFault::NotRun);
        asking.and(output)
    })?;
    let said = checked(output, "diff-tree")?;
    understand(&said, trees.len() - 1)
        .ok_or_else(|| SnapshotFault::Broken("git diff-tree speaks another language".to_owned()))
}

/// Reads `TREE TREE`, a newline, then for each file a record of numbers and one with its path.
fn understand(mut said: &[u8], pairs: usize) -> Option<Vec<Vec<Vec<u8>>>> {
    let mut all = Vec::with_capacity(pairs);
    let take = |said: &mut &[u8], end: u8| {
        let at = said.iter().position(|byte| *byte == end)?;
        let (part, rest) = (&said[..at], &said[at + 1..]);
        *said = rest;
        Some(part.to_vec())
    };
    for _ in 0..pairs {
        take(&mut said, b'\n')?;
        let mut paths = Vec::new();
        while said.first() == Some(&b':') {
            take(&mut said, 0)?;
            paths.push(take(&mut said, 0)?);
        }
        all.push(paths);
    }
    said.is_empty().then_some(all)
}

/// The trees with the files of many snapshots.
fn trees_of(common: &Path, all: &[Found]) -> Result<Vec<String>, SnapshotFault> {
    let names: Vec<String> = all.iter().map(|found| format!("{}:worktree", found.commit)).collect();
    let found = Objects::open(common)?.look_up(&names)?;
    let empty = if found.iter().any(Option::is_none) { empty_tree(common)? } else { String::new() };
    Ok(found
        .into_iter()
        .map(|tree| tree.map_or(empty.clone(), |tree| tree.oid.to_string()))
        .collect())
}

/// The tree with a snapshot's files; the empty tree if it has none.
pub(crate) fn files_of(common: &Path, commit: &str) -> Result<String, SnapshotFault> {
    let found = Objects::open(common)?.look_up(&[format!("{commit}:worktree")])?.pop().flatten();
    if let Some(tree) = found {
        return Ok(tree.oid.to_string());
    }
    empty_tree(common)
}

/// Git knows the empty tree without having it.
pub(crate) fn empty_tree(common: &Path) -> Result<String, SnapshotFault> {
    let said = run_in(common, &["hash-object", "-t", "tree", "/dev/null"])?;
    Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
}

pub fn commit_of(repo_root: &Path, reference: &str) -> Result<String, SnapshotFault> {
    Ok(refs::exact(&common_of(repo_root)?, reference)?.commit.to_string())
}

/// What a snapshot does not hold.
pub fn not_captured(repo_root: &Path, reference: &str) -> Result<Vec<NotCaptured>, SnapshotFault> {
    let common = common_of(repo_root)?;
    not_captured_in(&common, &refs::exact(&common, reference)?.commit)
}

/// What the commit of a snapshot does not hold.
pub(crate) fn not_captured_in(
    git_dir: &Path,
    commit: &Oid,
) -> Result<Vec<NotCaptured>, SnapshotFault> {
    let bytes = Objects::open(git_dir)?.read(&format!("{commit}:not-captured"))?;
    Ok(list_from_bytes(&bytes.unwrap_or_default()))
}

/// Makes sure that a snapshot is complete: every object that a restore needs is there.
pub fn verify(repo_root: &Path, reference: &str) -> Result<(), SnapshotFault> {
    let common = common_of(repo_root)?;
    let found = refs::exact(&common, reference)?;
    let commit = found.commit.to_string();
    let output = offline(&common)
        .env("GIT_DIR", &common)
        .args(["rev-list", "--objects", "--no-walk", "--quiet", &commit])
        .output()
        .map_err(crate::GitFault::NotRun)?;
    if output.status.success() {
        return Ok(());
    }
    let what = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(SnapshotFault::Incomplete { reference: reference.to_owned(), what })
}

/// As [`verify`], and reads every object that only this snapshot has, to its end: a damaged disk
/// leaves objects in place.
pub fn read_back(repo_root: &Path, reference: &str) -> Result<(), SnapshotFault> {
    verify(repo_root, reference)?;
    let common = common_of(repo_root)?;
    let incomplete = |what: &[u8]| SnapshotFault::Incomplete {
        reference: reference.to_owned(),
        what: String::from_utf8_lossy(what).trim().to_owned(),
    };
    let parents = format!("^{reference}^@");
    let args = ["rev-list", "--objects", "--no-object-names", reference, &parents];
    let names = run_in(&common, &args)?;
    let mut reading = offline(&common);
    reading.env("GIT_DIR", &common).args(["cat-file", "--batch", "--buffer"]);
    reading.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut reading = reading.spawn().map_err(crate::GitFault::NotRun)?;
    if let Some(mut pipe) = reading.stdin.take() {
        // A reader that has met a broken object reads no further; its words say more.
        drop(pipe.write_all(&names));
    }
    let output = reading.wait_with_output().map_err(crate::GitFault::NotRun)?;
    let sound = output.status.success() && output.stderr.is_empty();
    if sound { Ok(()) } else { Err(incomplete(&output.stderr)) }
}

/// The sessions that have snapshots on a shelf.
pub fn sessions(repo_root: &Path, shelf: Shelf) -> Result<BTreeSet<String>, SnapshotFault> {
    let common = common_of(repo_root)?;
    let prefix = format!("{}/", shelf.prefix());
    let said = run_in(&common, &["for-each-ref", "--format=%(refname)", &prefix])?;
    let text = String::from_utf8_lossy(&said);
    let ids = text.lines().filter_map(|name| name.strip_prefix(&prefix)?.split('/').next());
    Ok(ids.map(ToOwned::to_owned).collect())
}

/// Which snapshots a thinning leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Only those that were taken for this reason are counted, and only they ever go.
    pub why: &'static str,
    /// This many of the latest stay, however old they are.
    pub latest: usize,
    /// Of the others, those younger than this stay,
    pub younger_than: Duration,
    /// as long as there are no more than this many in all.
    pub number_max: usize,
}

/// Removes old snapshots of a session that were taken for one reason, and returns their names.
pub fn thin(repo_root: &Path, session: &str, keep: &Keep) -> Result<Vec<String>, SnapshotFault> {
    let common = common_of(repo_root)?;
    let mut all = refs::below(&common, &format!("{SNAP}/{}", refs::part(session)?), None)?;
    all.retain(|found| found.value("why") == Some(keep.why));
    all.reverse();
    let now = u64::try_from(crate::scratch::now_ns() / 1_000_000).unwrap_or_default();
    let limit = u64::try_from(keep.younger_than.as_millis()).unwrap_or(u64::MAX);
    let stays = |at: usize, found: &Found| {
        let young = now.saturating_sub(found.millis()) <= limit;
        at < keep.latest || young && at < keep.number_max
    };
    let old: Vec<Found> = all
        .into_iter()
        .enumerate()
        .filter(|(at, found)| !stays(*at, found))
        .map(|(_, f)| f)
        .collect();
    remove(&common, &old)?;
    Ok(old.into_iter().map(|found| found.name).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// With those of living sessions.
    Snapshots,
    Trash,
}

impl Shelf {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Snapshots => SNAP,
            Self::Trash => TRASH,
        }
    }
}

/// Moves all snapshots of a session to the trash and says how many there were.
pub fn to_trash(repo_root: &Path, session: &str) -> Result<usize, SnapshotFault> {
    shift(repo_root, session, Shelf::Snapshots, Shelf::Trash)
}

/// Takes all snapshots of a session back out of the trash.
pub fn from_trash(repo_root: &Path, session: &str) -> Result<usize, SnapshotFault> {
    shift(repo_root, session, Shelf::Trash, Shelf::Snapshots)
}

fn shift(repo_root: &Path, session: &str, from: Shelf, to: Shelf) -> Result<usize, SnapshotFault> {
    let common = common_of(repo_root)?;
    let session = refs::part(session)?;
    let all = refs::below(&common, &format!("{}/{session}", from.prefix()), None)?;
    // One transaction: a snapshot is never without a name.
    let lines: Vec<String> = all
        .iter()
        .flat_map(|found| {
            let new = format!("{}/{session}/{}", to.prefix(), found.id());
            [
                format!("update {new} {}", found.commit),
                format!("delete {} {}", found.name, found.commit),
            ]
        })
        .collect();
    refs::update(&common, &lines)?;
    Ok(all.len())
}

/// Removes all snapshots of a session from a shelf, for good.
pub fn delete(repo_root: &Path, session: &str, shelf: Shelf) -> Result<usize, SnapshotFault> {
    let common = common_of(repo_root)?;
    let all = refs::below(&common, &format!("{}/{}", shelf.prefix(), refs::part(session)?), None)?;
    remove(&common, &all)?;
    Ok(all.len())
}

/// Removes one snapshot, for good.
pub fn delete_one(repo_root: &Path, reference: &str) -> Result<(), SnapshotFault> {
    let common = common_of(repo_root)?;
    if !reference.starts_with("refs/glis/") {
        return Err(SnapshotFault::BadName(reference.to_owned()));
    }
    remove(&common, &[refs::exact(&common, reference)?])
}

fn remove(common: &Path, all: &[Found]) -> Result<(), SnapshotFault> {
    let lines: Vec<String> =
        all.iter().map(|found| format!("delete {} {}", found.name, found.commit)).collect();
    refs::update(common, &lines)
}
