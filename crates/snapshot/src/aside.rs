//! Clearing the way for a restore: whatever is there is saved and moved, never deleted.

use crate::admin::{Record, records};
use crate::fault::{About as _, SnapshotFault};
use crate::git::{git, run_in};
use crate::moved::{Insides, real};
use crate::place::{Head, Place};
use crate::read::Limits;
use crate::save::{SaveRequest, save, save_place};
use crate::scratch::{HOME, now_ns};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    /// The snapshot that was taken of it before, if it was a worktree.
    pub reference: Option<String>,
}

/// Why the lock of a worktree that was set aside is there.
pub(crate) const LOCK_REASON: &str = "set aside by glis";

/// Makes sure that nothing is at `to`, and that git knows of no worktree there.
pub(crate) fn clear_the_way(
    common: &Path,
    to: &Path,
    session: &str,
    notes: &mut Vec<String>,
) -> Result<Option<SetAside>, SnapshotFault> {
    let set_aside = match fs::symlink_metadata(to) {
        Err(_) => None,
        Ok(meta) if meta.is_dir() && is_empty(to) => None,
        Ok(_) => Some(set_aside(common, to, session, notes)?),
    };
    forget(common, to, session, notes)?;
    Ok(set_aside)
}

/// Where what is at a place goes when it is set aside.
pub(crate) fn path_aside(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(format!(".aside-{}", now_ns() / 1_000_000));
    to.with_file_name(name)
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// The worktree at `to`, if there is one. The main one of the repository is never moved.
pub(crate) fn refuse_main(common: &Path, to: &Path) -> Result<Option<Place>, SnapshotFault> {
    let place = match Place::find(to) {
        Ok(place) => place,
        Err(SnapshotFault::Gone(_)) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    if place.git_dir == place.common && same(&place.common, common) {
        let why = "it is the main worktree of the repository".to_owned();
        return Err(SnapshotFault::InTheWay { path: to.to_owned(), why });
    }
    Ok(Some(place))
}

fn set_aside(
    common: &Path,
    to: &Path,
    session: &str,
    notes: &mut Vec<String>,
) -> Result<SetAside, SnapshotFault> {
    let place = refuse_main(common, to)?;
    let reference = place.as_ref().map(|_| {
        let why = "before another snapshot was restored here";
        save(&SaveRequest { worktree: to, session, why, limits: Limits::default(), passing: None })
    });
    let reference = reference.transpose()?.map(|saved| saved.reference);
    let path = path_aside(to);
    let insides = Insides::of(common, to, to);
    fs::rename(to, &path).about(to)?;
    notes.push(format!("what was at {} is at {} now", to.display(), path.display()));
    if let Some(place) = place.filter(|place| place.git_dir != place.common) {
        settle(&place, &path)?;
        insides.look_back(&path)?;
        insides.point_to(&path)?;
    }
    Ok(SetAside { path, reference })
}

/// Tells git where the worktree went, and takes it off its branch: that one is wanted again.
fn settle(place: &Place, path: &Path) -> Result<(), SnapshotFault> {
    let call = |args: &[&str], path: Option<&Path>| {
        let mut command = git(&place.common);
        command.env("GIT_DIR", &place.common).args(args).args(path);
        let output = command.output().map_err(crate::GitFault::NotRun)?;
        crate::git::checked(output, "worktree")
    };
    call(&["worktree", "repair"], Some(path))?;
    // It may not have been locked at all.
    drop(call(&["worktree", "unlock"], Some(path)));
    call(&["worktree", "lock", "--reason", LOCK_REASON], Some(path))?;
    if let Head { branch: Some(_), commit: Some(commit) } = &place.head {
        let commit = commit.to_string();
        run_in(&place.git_dir, &["update-ref", "--no-deref", "HEAD", &commit])?;
    }
    Ok(())
}

/// Moves git's own files of a worktree that is no more out of git's sight. They may know of staged
/// work that no snapshot has, so one is taken of them.
fn forget(
    common: &Path,
    to: &Path,
    session: &str,
    notes: &mut Vec<String>,
) -> Result<(), SnapshotFault> {
    let below = |record: &Record| {
        record.path.as_deref().is_some_and(|path| real(path).starts_with(real(to)))
    };
    for record in records(common).into_iter().filter(|record| record.is_at(to) || below(record)) {
        let admin = record.dir;
        let home = common.join(HOME).join("aside");
        fs::create_dir_all(&home).about(&home)?;
        if let Some(reference) = save_index(common, &admin, session) {
            notes.push(format!("the index of the lost worktree is in {reference}"));
        }
        let mut name = admin.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{}", now_ns() / 1_000_000));
        fs::rename(&admin, home.join(name)).about(&admin)?;
    }
    Ok(())
}

/// Saves what is staged in a worktree whose files are gone. It is a courtesy: the index may be too
/// damaged for it, and is kept as a file in any case.
fn save_index(common: &Path, admin: &Path, session: &str) -> Option<String> {
    let said = run_in(admin, &["rev-parse", "--show-object-format"]).ok()?;
    let format = crate::hash::Format::by_name(String::from_utf8_lossy(&said).trim())?;
    let head = run_in(admin, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok();
    let commit = head.and_then(|head| crate::hash::Oid::from_hex(head.trim_ascii_end()));
    let scratch = crate::scratch::Scratch::create(common, format, &[]).ok()?;
    let root = scratch.path().join("nothing");
    fs::create_dir(&root).ok()?;
    let place = Place {
        root,
        git_dir: admin.to_owned(),
        common: common.to_owned(),
        format,
        head: Head { branch: None, commit },
    };
    let why = "staged in a worktree that was lost";
    let request = SaveRequest {
        worktree: &place.root,
        session,
        why,
        limits: Limits::default(),
        passing: None,
    };
    save_place(&place, session, &request).ok().map(|saved| saved.reference)
}

fn same(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok() == other.canonicalize().ok()
}
