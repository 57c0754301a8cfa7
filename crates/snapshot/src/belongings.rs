//! What lies in the folder of a nested repository's own files: what git can make again is left, what
//! is small is taken along, and whatever else there is gets named.

use crate::fault::{About as _, SnapshotFault};
use crate::git::run_in;
use crate::gitdir::{FILES, FOLDERS, LOG_LINES_MAX};
use crate::hash::Oid;
use crate::objects::{Kind, Objects};
use crate::picture::Extra;
use crate::place::Place;
use crate::state::{NotCaptured, Why};
use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Where files are in the snapshot that git knows nothing of, and those of them that can be run.
pub(crate) const OWN: &[u8] = b"glis-own/";
pub(crate) const RUN: &[u8] = b"glis-run/";
/// Lists the objects that nothing refers to.
const LOOSE: &[u8] = b"glis-loose";

/// What is made anew, or is taken along by those who know what it means.
const MADE_FILES: [&str; 5] = ["config", "description", "index", "packed-refs", "gc.log"];
const MADE_FOLDERS: [&str; 8] =
    ["objects", "refs", "logs", "hooks", "info", "modules", "branches", "reftable"];
const MADE_INFO: [&str; 3] = ["exclude", "attributes", "sparse-checkout"];

/// A file that is larger is no note that a person left there.
const OWN_BYTES_MAX: u64 = 1 << 20;
/// Leftovers of `git add`. More of them are not worth a line each.
const LOOSE_MAX: usize = 1000;

/// Lists of packed objects that are longer together are of a million objects, and to find out what
/// nothing refers to git looks at each of them.
const LISTS_BYTES_MAX: u64 = 32 << 20;

/// Adds all that the repository's own folder holds and that is not saved elsewhere.
pub(crate) fn add(place: &Place, extra: &mut Extra) -> Result<(), SnapshotFault> {
    let mut named = BTreeSet::new();
    logs(&place.common.join("logs/refs"), b"logs/refs", extra, &mut named);
    let named: Vec<String> = named.iter().map(Oid::to_string).collect();
    if !named.is_empty() {
        let found = Objects::open(&place.common)?.look_up(&named)?;
        let commits = found.into_iter().flatten().filter(|object| object.kind == Kind::Commit);
        extra.parents.extend(commits.map(|object| object.oid));
    }
    if place.common != place.git_dir {
        // It is a worktree of a repository that lies elsewhere, and the rest is that one's.
        return Ok(());
    }
    for entry in fs::read_dir(&place.common).about(&place.common)?.flatten() {
        let name = entry.file_name();
        let name = name.as_bytes();
        let is = |all: &[&str]| all.iter().any(|one| one.as_bytes() == name);
        let passing = name.ends_with(b".lock") || name.starts_with(b"sharedindex.");
        let known = is(&MADE_FILES) || is(&FILES) || is(&MADE_FOLDERS) || is(&FOLDERS);
        if !known && !passing && !name.starts_with(b"BISECT_") {
            take(&entry, name, extra)?;
        }
    }
    for entry in fs::read_dir(place.common.join("info")).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !MADE_INFO.iter().any(|made| name == *made) {
            take(&entry, &[b"info/", name.as_bytes()].concat(), extra)?;
        }
    }
    loose(place, extra);
    Ok(())
}

/// Takes a small file along; names what is none.
fn take(entry: &DirEntry, name: &[u8], extra: &mut Extra) -> Result<(), SnapshotFault> {
    let path = entry.path();
    let Ok(meta) = fs::symlink_metadata(&path) else { return Ok(()) };
    if meta.is_file() && meta.len() <= OWN_BYTES_MAX {
        let kind = if meta.mode() & 0o100 == 0 { OWN } else { RUN };
        extra.files.push(([kind, name].concat(), fs::read(&path).about(&path)?));
    } else if !meta.is_dir() || holds_something(&path) {
        name_it(name, "it is among git's own files", extra);
    }
    Ok(())
}

fn name_it(name: &[u8], what: &str, extra: &mut Extra) {
    let path = [b".git/", name].concat();
    extra.not_captured.push(NotCaptured { path, why: Why::Repository { what: what.to_owned() } });
}

/// Whether there is anything but folders in a folder. One that cannot be read may hold anything.
fn holds_something(folder: &Path) -> bool {
    let Ok(inside) = fs::read_dir(folder) else { return true };
    inside.flatten().any(|entry| {
        entry.file_type().map_or(true, |kind| !kind.is_dir()) || holds_something(&entry.path())
    })
}

/// The logs of all refs, and what they name: that of the stash is all there is of all stashes but the
/// latest.
fn logs(folder: &Path, name: &[u8], extra: &mut Extra, named: &mut BTreeSet<Oid>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), [name, b"/", entry.file_name().as_bytes()].concat());
        if path.is_dir() {
            logs(&path, &name, extra, named);
            continue;
        }
        let Ok(log) = fs::read(&path) else { continue };
        let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').collect();
        let all = name == b"logs/refs/stash";
        let first = if all { 0 } else { lines.len().saturating_sub(LOG_LINES_MAX) };
        let words = lines[first..].iter().flat_map(|line| line.split(|b| *b == b' ').take(2));
        named.extend(words.filter_map(Oid::from_hex));
        extra.files.push((name, log));
    }
}

/// Objects that nothing refers to. Files that were staged once are taken along; of commits and trees
/// it is not known what they would need.
fn loose(place: &Place, extra: &mut Extra) {
    let all = b"objects";
    let objects = place.common.join("objects");
    let inside = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    if !inside(&objects).any(|folder| folder.file_name().len() == 2) {
        return;
    }
    let lists = inside(&objects.join("pack")).filter_map(|entry| {
        let is_list = entry.file_name().as_bytes().ends_with(b".idx");
        entry.metadata().ok().filter(|_| is_list).map(|meta| meta.len())
    });
    if lists.sum::<u64>() > LISTS_BYTES_MAX {
        name_it(all, "too many to find out what nothing refers to", extra);
        return;
    }
    let said = match run_in(&place.common, &["prune", "--dry-run"]) {
        Ok(said) => String::from_utf8_lossy(&said).into_owned(),
        Err(fault) => {
            name_it(all, &format!("what nothing refers to is not known: {fault}"), extra);
            return;
        }
    };
    let lines = said.lines().filter_map(|line| line.split_once(' '));
    let found: Vec<(Oid, &str)> =
        lines.filter_map(|(oid, kind)| Some((Oid::from_hex(oid.as_bytes())?, kind))).collect();
    let blobs = found.iter().filter(|(_, kind)| *kind == "blob").take(LOOSE_MAX);
    extra.others = blobs.map(|(oid, _)| *oid).collect();
    let missing = found.len() - extra.others.len();
    if missing > 0 {
        name_it(all, &format!("{missing} objects that nothing refers to"), extra);
    }
    if !extra.others.is_empty() {
        let list: Vec<String> = extra.others.iter().map(Oid::to_string).collect();
        extra.files.push((LOOSE.to_vec(), list.join("\n").into_bytes()));
    }
}
