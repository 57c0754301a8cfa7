//! Repositories inside the worktree: submodules, strays, worktrees within worktrees. Each gets a
//! snapshot of its own with all its history, kept alive by the outer one.

use crate::belongings;
use crate::fault::{About as _, SnapshotFault};
use crate::git::{GitFault, checked, run_in};
use crate::hash::Oid;
use crate::moved::real;
use crate::objects::Objects;
use crate::picture::{Extra, Job, Picture, Previous, SavedSoFar, Store};
use crate::place::Place;
use crate::refs::Found;
use crate::scratch::Scratch;
use crate::state::{Nested, NotCaptured, Why};
use crate::survey::{Survey, survey};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Stdio;

/// Repositories within repositories go this deep and no deeper.
const DEPTH_MAX: u32 = 8;
/// Stands for the place of a nested worktree of the outer repository itself.
pub(crate) const WORKTREE: &[u8] = b"=worktree";
/// The file that lists the refs of a nested repository.
pub(crate) const REFS: &[u8] = b"glis-refs";
/// Where its annotated tags are, which no tree can hold.
pub(crate) const TAGS: &[u8] = b"glis-tags/";

/// Reads a worktree, and saves the repositories inside it on the way.
pub(crate) fn picture(
    job: &Job<'_>,
    survey: Survey,
    previous: Option<&Previous>,
    objects: &mut Objects,
) -> Result<Picture, SnapshotFault> {
    job.picture(survey, previous, objects, |so_far| save_all(job, so_far))
}

/// Saves all repositories that the survey met. What cannot be saved is named.
fn save_all(job: &Job<'_>, so_far: SavedSoFar<'_>) -> Result<Vec<Nested>, SnapshotFault> {
    let SavedSoFar { survey, before, not_captured } = so_far;
    let mut all = Vec::new();
    for path in &survey.nested {
        let was = before.and_then(|state| state.nested.iter().find(|nested| nested.path == *path));
        match save_one(job, path, was, not_captured) {
            Ok(nested) => all.extend(nested),
            Err(fault @ SnapshotFault::DiskFull(_)) => return Err(fault),
            Err(fault) => {
                let why = Why::Repository { what: fault.to_string() };
                not_captured.push(NotCaptured { path: path.clone(), why });
            }
        }
    }
    Ok(all)
}

fn save_one(
    job: &Job<'_>,
    path: &[u8],
    was: Option<&Nested>,
    not_captured: &mut Vec<NotCaptured>,
) -> Result<Option<Nested>, SnapshotFault> {
    if job.depth >= DEPTH_MAX {
        return Err(SnapshotFault::Broken("repositories are nested too deep".to_owned()));
    }
    let root = job.place.root.join(OsStr::from_bytes(path));
    let place = Place::find(&root)?;
    if place.format != job.place.format {
        return Err(SnapshotFault::Broken("it names its objects in another way".to_owned()));
    }
    let git_dir = where_it_is(job, &place);
    let (common, more) = (job.store.common.clone(), job.store.more.clone());
    let mut store = Store { common, more, keeps: job.store.keeps };
    let mut extra = Extra::default();
    if git_dir != WORKTREE {
        store.more.push(place.common.join("objects"));
        extra = belongings(&place)?;
        let inside = |folder: &Path| real(&place.common).starts_with(real(folder));
        let goes_too = inside(&job.place.root) || inside(&job.place.git_dir);
        if place.common != place.git_dir && goes_too {
            let what = "it comes back as a repository of its own, not as a worktree of another";
            let why = Why::Repository { what: what.to_owned() };
            not_captured.push(NotCaptured { path: [path, b"/.git"].concat(), why });
        }
    }
    let (limits, depth) = (job.limits, job.depth + 1);
    let inner = Job { place: &place, store: &store, limits, extra, depth };
    let mut outer_objects = Objects::open(&job.store.common)?;
    let previous =
        was.map(|was| previous_of(was.commit, &mut outer_objects)).transpose()?.flatten();
    let survey = survey(&place)?;
    let mut objects = Objects::open(&place.common)?;
    let picture = picture(&inner, survey, previous.as_ref(), &mut objects)?;
    for item in &picture.not_captured {
        let path = [path, b"/", &item.path].concat();
        not_captured.push(NotCaptured { path, why: item.why.clone() });
    }
    let Some(keeps) = job.store.keeps else { return Ok(None) };
    if let Some(previous) = previous.as_ref().filter(|previous| previous.digest == picture.digest) {
        return Ok(Some(Nested { commit: previous.found.commit, git_dir, path: path.to_vec() }));
    }
    let (commit, scratch) = inner.write(picture, &[("nested", &String::from_utf8_lossy(path))])?;
    if git_dir != WORKTREE {
        bring_over(&scratch, &commit, previous.as_ref())?;
    }
    scratch.publish(keeps)?;
    // Only the outer repository's objects are in sight here: nothing may be missing from them.
    let outer = Scratch::create(&job.store.common, place.format, &[])?;
    let args = ["rev-list", "--objects", "--quiet", &commit.to_string()];
    checked(outer.git().args(args).output().map_err(GitFault::NotRun)?, "rev-list")?;
    Ok(Some(Nested { commit, git_dir, path: path.to_vec() }))
}

/// Where the repository keeps its files, as seen from the outer worktree's.
fn where_it_is(job: &Job<'_>, place: &Place) -> Vec<u8> {
    let (git_dir, common) = (real(&place.git_dir), real(&place.common));
    if common == real(&job.store.common) {
        return WORKTREE.to_vec();
    }
    match git_dir.strip_prefix(real(&job.place.git_dir)) {
        Ok(below) if git_dir == common => below.as_os_str().as_bytes().to_vec(),
        // Inside its own folder, or in a repository elsewhere: it comes back on its own.
        _ => Vec::new(),
    }
}

fn previous_of(commit: Oid, objects: &mut Objects) -> Result<Option<Previous>, SnapshotFault> {
    let Some(raw) = objects.read(&commit.to_string())? else { return Ok(None) };
    let text = String::from_utf8_lossy(&raw);
    let message = text.split_once("\n\n").map(|(_, message)| message.to_owned());
    let found =
        Found { name: String::new(), commit, secs: 0, message: message.unwrap_or_default() };
    Previous::read(found, objects).map(Some)
}

/// What would be lost with a nested repository: its refs, its settings, its hooks.
fn belongings(place: &Place) -> Result<Extra, SnapshotFault> {
    let mut extra = Extra::default();
    let format =
        "--format=%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(symref)%00";
    let said = run_in(&place.common, &["for-each-ref", format])?;
    let mut list = String::new();
    for fields in said.split(|byte| *byte == 0).collect::<Vec<_>>().chunks_exact(5) {
        let text = |at: usize| String::from_utf8_lossy(fields[at]).trim_start().to_owned();
        let (name, oid, kind, peeled, symref) = (text(0), text(1), text(2), text(3), text(4));
        let _ = writeln!(list, "{oid} {name} {symref}");
        let commit = if kind == "tag" { &peeled } else { &oid };
        if kind == "tag" {
            let raw = run_in(&place.common, &["cat-file", "tag", &oid])?;
            extra.files.push(([TAGS, oid.as_bytes()].concat(), raw));
        }
        // A tag on a blob or a tree cannot be a parent; there is hardly one in the world.
        let is_commit = kind == "commit"
            || run_in(&place.common, &["cat-file", "-t", commit]).is_ok_and(|t| t == b"commit\n");
        extra.parents.extend(Oid::from_hex(commit.as_bytes()).filter(|_| is_commit));
    }
    extra.files.push((REFS.to_vec(), list.into_bytes()));
    let mut names: Vec<Vec<u8>> =
        [&b"config"[..], b"info/exclude", b"info/attributes", b"description"]
            .map(<[u8]>::to_vec)
            .to_vec();
    for entry in fs::read_dir(place.common.join("hooks")).into_iter().flatten().flatten() {
        if !entry.file_name().as_bytes().ends_with(b".sample") {
            names.push([b"hooks/", entry.file_name().as_bytes()].concat());
        }
    }
    for name in names {
        let path = place.common.join(OsStr::from_bytes(&name));
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
            extra.files.push((name, fs::read(&path).about(&path)?));
        }
    }
    belongings::add(place, &mut extra)?;
    extra.files.sort();
    Ok(extra)
}

/// Copies everything that the nested snapshot stands on into the throw-away repository, in place of
/// the pack that only has what is new.
fn bring_over(
    scratch: &Scratch,
    commit: &Oid,
    previous: Option<&Previous>,
) -> Result<(), SnapshotFault> {
    let pack = scratch.path().join("objects/pack");
    let partial: Vec<_> = fs::read_dir(&pack).about(&pack)?.flatten().map(|e| e.path()).collect();
    let mut command = scratch.git();
    command.args(["pack-objects", "--revs", "--quiet", "--delta-base-offset"]);
    command.arg(pack.join("pack"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(GitFault::NotRun)?;
    let mut wanted = format!("{commit}\n");
    if let Some(previous) = previous {
        let _ = writeln!(wanted, "^{}", previous.found.commit);
    }
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(wanted.as_bytes()).about(&pack)?;
    }
    checked(child.wait_with_output().map_err(GitFault::NotRun)?, "pack-objects")?;
    for path in partial {
        fs::remove_file(&path).about(&path)?;
    }
    Ok(())
}
