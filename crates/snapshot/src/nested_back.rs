//! Bringing repositories inside the worktree back, each from the snapshot that was taken of it.

use crate::fault::{About as _, SnapshotFault};
use crate::fill::fill;
use crate::git::{GitFault, checked, offline, run_in};
use crate::hash::Oid;
use crate::nested::{REFS, TAGS, WORKTREE};
use crate::place::Place;
use crate::refs;
use crate::restore::{Loaded, Stand, Target, attach, put_back, put_logs, put_worktree};
use crate::state::Nested;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

/// Brings all repositories inside a worktree back. One that cannot be is noted.
pub(crate) fn restore_all(
    common: &Path,
    loaded: &Loaded,
    place: &Place,
    stand: Stand,
    notes: &mut Vec<String>,
) -> Result<(), SnapshotFault> {
    for nested in &loaded.state.nested {
        let shown = String::from_utf8_lossy(&nested.path).into_owned();
        let to = place.root.join(OsStr::from_bytes(&nested.path));
        let inner = Loaded::read(common, nested.commit, &shown)?;
        let done = if nested.git_dir == WORKTREE {
            let target = Target { to: &to, lock_owner: "nested in a worktree of glis", stand };
            put_worktree(common, &inner, &target, notes).map(drop)
        } else {
            restore_one(common, nested, &inner, place, notes)
        };
        match done {
            Ok(()) => {
                let rights = fs::Permissions::from_mode(loaded.state.folder_rights(&nested.path));
                fs::set_permissions(&to, rights).about(&to)?;
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
    notes: &mut Vec<String>,
) -> Result<(), SnapshotFault> {
    let root = outer.root.join(OsStr::from_bytes(&nested.path));
    let absorbed = !nested.git_dir.is_empty();
    let git_dir = if absorbed {
        outer.git_dir.join(OsStr::from_bytes(&nested.git_dir))
    } else {
        root.join(".git")
    };
    fs::create_dir_all(&root).about(&root)?;
    if git_dir.exists() {
        let why = "a repository is there already".to_owned();
        return Err(SnapshotFault::InTheWay { path: git_dir, why });
    }
    init(&root, &git_dir, outer)?;
    hand_over(common, &inner.commit, &git_dir)?;
    let state = &inner.state;
    let stats = fill(common, &inner.commit.to_string(), state, &root)?;
    let place = Place {
        root: root.clone(),
        git_dir: git_dir.clone(),
        common: git_dir.clone(),
        format: outer.format,
        head: state.head.clone(),
    };
    // Its branches are its own, also in a copy.
    restore_all(common, inner, &place, Stand::AsItWas, notes)?;
    put_back(&place, inner, &stats)?;
    for (name, _) in inner.git_files.iter().filter(|(name, _)| name.starts_with(b"hooks/")) {
        let path = git_dir.join(OsStr::from_bytes(name));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).about(&path)?;
    }
    if absorbed {
        let output = offline(&git_dir)
            .args(["config", "--file"])
            .arg(git_dir.join("config"))
            .arg("core.worktree")
            .arg(&root)
            .output()
            .map_err(GitFault::NotRun)?;
        checked(output, "config")?;
    }
    restore_refs(&git_dir, inner)?;
    if let (None, Some(commit)) = (&state.head.branch, state.head.commit) {
        run_in(&git_dir, &["update-ref", "--no-deref", "HEAD", &commit.to_string()])?;
    }
    attach(&place, &state.head, Stand::AsItWas, notes)?;
    put_logs(&place, inner)
}

fn init(root: &Path, git_dir: &Path, outer: &Place) -> Result<(), SnapshotFault> {
    let format = match outer.format {
        crate::hash::Format::Sha1 => "--object-format=sha1",
        crate::hash::Format::Sha256 => "--object-format=sha256",
    };
    let mut command = offline(root);
    command.args(["init", "--quiet", "--template=", "--initial-branch=none", format]);
    if git_dir.parent() != Some(root) {
        fs::create_dir_all(git_dir.parent().unwrap_or(root)).about(git_dir)?;
        command.arg("--separate-git-dir").arg(git_dir);
    }
    command.arg(root);
    checked(command.output().map_err(GitFault::NotRun)?, "init")?;
    Ok(())
}

/// Gives the repository all objects that its snapshot stands on.
fn hand_over(common: &Path, commit: &Oid, git_dir: &Path) -> Result<(), SnapshotFault> {
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
    unpacking.stdin(packing.stdout.take().map_or_else(Stdio::null, Stdio::from));
    let output = unpacking.output().map_err(GitFault::NotRun)?;
    drop(packing.wait());
    checked(output, "index-pack")?;
    Ok(())
}

fn restore_refs(git_dir: &Path, inner: &Loaded) -> Result<(), SnapshotFault> {
    for (_, raw) in inner.git_files.iter().filter(|(name, _)| name.starts_with(TAGS)) {
        let mut command = offline(git_dir);
        command.env("GIT_DIR", git_dir).args(["hash-object", "-t", "tag", "-w", "--stdin"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
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
            Some(target) => drop(run_in(git_dir, &["symbolic-ref", name, target])?),
            None if !name.starts_with("refs/bisect/") => {
                lines.push(format!("update {name} {oid}"));
            }
            None => {}
        }
    }
    refs::update(git_dir, &lines)
}
