//! Making a worktree anew from a snapshot, with the repositories inside it, each from the snapshot
//! that was taken of it.

use crate::admin::NESTED_REASON;
use crate::belongings::{OWN, RUN};
use crate::fault::{About as _, SnapshotFault};
use crate::fill::fill;
use crate::git::{GitFault, Turn, checked, offline, settled};
use crate::gitdir::TABLE;
use crate::hash::Oid;
use crate::loaded::Loaded;
use crate::moved::settings;
use crate::nested::{REFS, TAGS, WORKTREE};
use crate::place::Place;
use crate::put_back::{
    HeadState, Stand, Target, Way, attach, put_back, put_logs, recreate_branches,
};
use crate::rights::{self, Umask};
use crate::scratch::sync_dir;
use crate::state::Nested;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Makes a worktree that stands on no branch, with all its files.
pub(crate) fn fill_worktree(
    common: &Path,
    loaded: &Loaded,
    target: &Target<'_>,
    notes: &mut Vec<String>,
) -> Result<Place, SnapshotFault> {
    let to = target.to;
    // Before the first commit there is nothing to stand on but the snapshot; HEAD is put right below.
    let start = loaded.state.head.commit.unwrap_or(loaded.commit).to_string();
    let mut command = offline(common);
    command
        .env("GIT_DIR", common)
        .args(["worktree", "add", "--quiet", "--no-checkout", "--detach", "--force", "--lock"])
        .args(["--reason", target.lock_owner, "--"])
        .arg(to)
        .arg(&start);
    let turn = Turn::take(common);
    let output = settled(target.way.umask.over(&command).stdin(target.way.hold()?))?;
    checked(output, "worktree")?;
    drop(turn);
    let place = Place::find(to)?;
    let stats = fill(common, &loaded.commit.to_string(), &loaded.state, &place.root)?;
    restore_all(common, loaded, &place, target.way, notes)?;
    put_back(&place, loaded, &stats, target.way)?;
    let table = loaded.git_text(&String::from_utf8_lossy(TABLE)).unwrap_or_default();
    let own = table.lines().filter_map(|line| line.split_once(' '));
    let own: Vec<String> = own.map(|(oid, name)| format!("update {name} {oid}")).collect();
    target.way.update_refs(&place.git_dir, &own)?;
    rights::set(&place.root.join(".git"), loaded.state.git_file_rights())?;
    // Last of all: nothing else can be put into a folder that is write-protected.
    rights::set(&place.root, loaded.state.folder_rights(b""))?;
    Ok(place)
}

/// Puts HEAD where it belongs, and makes the branches that are missing.
pub(crate) fn stand_up(
    place: &Place,
    loaded: &Loaded,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<HeadState, SnapshotFault> {
    if way.stand == Stand::AsItWas {
        recreate_branches(&place.common, loaded, way, notes)?;
    }
    let head = attach(place, &loaded.state.head, way, notes)?;
    put_logs(place, loaded, way)?;
    sync_dir(&place.git_dir)?;
    Ok(head)
}

/// Makes a worktree at a free place and puts everything into it.
fn put_worktree(
    common: &Path,
    loaded: &Loaded,
    target: &Target<'_>,
    notes: &mut Vec<String>,
) -> Result<HeadState, SnapshotFault> {
    let place = fill_worktree(common, loaded, target, notes)?;
    stand_up(&place, loaded, target.way, notes)
}

/// Brings all repositories inside a worktree back. One that cannot be is noted.
fn restore_all(
    common: &Path,
    loaded: &Loaded,
    place: &Place,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<(), SnapshotFault> {
    for nested in &loaded.state.nested {
        let shown = String::from_utf8_lossy(&nested.path).into_owned();
        let to = place.root.join(OsStr::from_bytes(&nested.path));
        let inner = Loaded::read(common, nested.commit, &shown)?;
        let done = if nested.git_dir == WORKTREE {
            let way = Way { umask: inner.state.umask(), ..way };
            let target = Target { to: &to, lock_owner: NESTED_REASON, way };
            put_worktree(common, &inner, &target, notes).map(drop)
        } else {
            restore_one(common, nested, &inner, place, way, notes)
        };
        match done {
            Ok(()) => {
                rights::set(&to, loaded.state.folder_rights(&nested.path))?;
            }
            Err(fault @ SnapshotFault::DiskFull(_)) => return Err(fault),
            Err(fault) => notes.push(format!("the repository {shown} did not come back: {fault}")),
        }
    }
    Ok(())
}

fn restore_one(
    common: &Path,
    nested: &Nested,
    inner: &Loaded,
    outer: &Place,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<(), SnapshotFault> {
    let root = outer.root.join(OsStr::from_bytes(&nested.path));
    let absorbed = !nested.git_dir.is_empty();
    let git_dir = if absorbed {
        outer.git_dir.join(OsStr::from_bytes(&nested.git_dir))
    } else {
        root.join(".git")
    };
    let of_git =
        if absorbed { inner.state.rights.folder } else { inner.state.folder_rights(b".git") };
    // Its branches are its own, also in a copy.
    let way = Way { stand: Stand::AsItWas, umask: Umask::of_folder(of_git), ..way };
    way.umask.make_folders(&root)?;
    if git_dir.exists() {
        let why = "a repository is there already".to_owned();
        return Err(SnapshotFault::InTheWay { path: git_dir, why });
    }
    init(&root, &git_dir, outer, way)?;
    hand_over(common, &inner.commit, &git_dir, way)?;
    let state = &inner.state;
    let stats = fill(common, &inner.commit.to_string(), state, &root)?;
    let place = Place {
        root: root.clone(),
        git_dir: git_dir.clone(),
        common: git_dir.clone(),
        format: outer.format,
        head: state.head.clone(),
    };
    restore_all(common, inner, &place, way, notes)?;
    put_back(&place, inner, &stats, way)?;
    for (name, _) in inner.git_files.iter().filter(|(name, _)| name.starts_with(b"hooks/")) {
        rights::set(&git_dir.join(OsStr::from_bytes(name)), way.umask.program())?;
    }
    for (name, bytes) in &inner.git_files {
        if let Some(name) = name.strip_prefix(OWN) {
            way.umask.write(&git_dir.join(OsStr::from_bytes(name)), bytes)?;
        } else if let Some(name) = name.strip_prefix(RUN) {
            let path = git_dir.join(OsStr::from_bytes(name));
            way.umask.write(&path, bytes)?;
            rights::set(&path, way.umask.program())?;
        }
    }
    if absorbed {
        name_each_other(&root, &git_dir, outer, way)?;
        rights::set(&root.join(".git"), state.git_file_rights())?;
    }
    restore_refs(&git_dir, inner, way)?;
    if let (None, Some(commit)) = (&state.head.branch, state.head.commit) {
        way.run(&git_dir, &["update-ref", "--no-deref", "HEAD", &commit.to_string()])?;
    }
    attach(&place, &state.head, way, notes)?;
    put_logs(&place, inner, way)
}

/// Says in git's folder of a submodule where its files are, and the other way round. If both are in
/// the worktree they are named as seen from each other: it is about to be renamed.
fn name_each_other(
    root: &Path,
    git_dir: &Path,
    outer: &Place,
    way: Way<'_>,
) -> Result<(), SnapshotFault> {
    let between = |from: &Path, to: &Path| -> Option<PathBuf> {
        let (from, to) = (from.strip_prefix(&outer.root).ok()?, to.strip_prefix(&outer.root).ok()?);
        Some(from.components().map(|_| Path::new("..")).chain([to]).collect())
    };
    if let Some(back) = between(root, git_dir) {
        let file = root.join(".git");
        let line = [b"gitdir: ", back.as_os_str().as_bytes(), b"\n"].concat();
        fs::write(&file, line).about(&file)?;
    }
    let there = between(git_dir, root).unwrap_or_else(|| root.to_owned());
    let mut command = settings(git_dir);
    let output = command.arg("core.worktree").arg(there).stdin(way.hold()?).output();
    checked(output.map_err(GitFault::NotRun)?, "config")?;
    Ok(())
}

fn init(root: &Path, git_dir: &Path, outer: &Place, way: Way<'_>) -> Result<(), SnapshotFault> {
    let format = match outer.format {
        crate::hash::Format::Sha1 => "--object-format=sha1",
        crate::hash::Format::Sha256 => "--object-format=sha256",
    };
    let mut command = offline(root);
    command.args(["init", "--quiet", "--template=", "--initial-branch=none", format]);
    if git_dir.parent() != Some(root) {
        way.umask.make_folders(git_dir.parent().unwrap_or(root))?;
        command.arg("--separate-git-dir").arg(git_dir);
    }
    command.arg(root);
    let output = way.umask.over(&command).stdin(way.hold()?).output();
    checked(output.map_err(GitFault::NotRun)?, "init")?;
    Ok(())
}

/// Gives the repository all objects that its snapshot stands on.
fn hand_over(
    common: &Path,
    commit: &Oid,
    git_dir: &Path,
    way: Way<'_>,
) -> Result<(), SnapshotFault> {
    let mut packing = offline(common);
    packing.env("GIT_DIR", common);
    packing.args(["pack-objects", "--revs", "--quiet", "--delta-base-offset", "--stdout"]);
    packing.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut packing = packing.spawn().map_err(GitFault::NotRun)?;
    if let Some(mut pipe) = packing.stdin.take() {
        writeln!(pipe, "{commit}").about(common)?;
    }
    let mut unpacking = offline(git_dir);
    unpacking.env("GIT_DIR", git_dir).args(["index-pack", "--stdin"]);
    let mut unpacking = way.umask.over(&unpacking);
    unpacking.stdin(packing.stdout.take().map_or_else(Stdio::null, Stdio::from));
    // What it says there is of no use to us, and that it holds the lock is.
    unpacking.stdout(way.hold()?);
    let output = unpacking.output().map_err(GitFault::NotRun)?;
    drop(packing.wait());
    checked(output, "index-pack")?;
    Ok(())
}

fn restore_refs(git_dir: &Path, inner: &Loaded, way: Way<'_>) -> Result<(), SnapshotFault> {
    for (_, raw) in inner.git_files.iter().filter(|(name, _)| name.starts_with(TAGS)) {
        let mut command = offline(git_dir);
        command.env("GIT_DIR", git_dir).args(["hash-object", "-t", "tag", "-w", "--stdin"]);
        let mut command = way.umask.over(&command);
        command.stdin(Stdio::piped()).stdout(way.hold()?).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitFault::NotRun)?;
        if let Some(mut pipe) = child.stdin.take() {
            pipe.write_all(raw).about(git_dir)?;
        }
        checked(child.wait_with_output().map_err(GitFault::NotRun)?, "hash-object")?;
    }
    let list = inner.git_text(&String::from_utf8_lossy(REFS)).unwrap_or_default();
    let mut lines = Vec::new();
    for line in list.lines() {
        let mut words = line.split(' ');
        let (Some(oid), Some(name)) = (words.next(), words.next()) else { continue };
        match words.next().filter(|target| !target.is_empty()) {
            Some(target) => way.run(git_dir, &["symbolic-ref", name, target])?,
            None if !name.starts_with("refs/bisect/") => {
                lines.push(format!("update {name} {oid}"));
            }
            None => {}
        }
    }
    way.update_refs(git_dir, &lines)
}
