//! Saving a worktree: look, read, write one commit, read it back, publish it.

use crate::fault::SnapshotFault;
use crate::hash::Oid;
use crate::nested;
use crate::objects::Objects;
use crate::packs;
use crate::picture::{Extra, Job, Previous, Store};
use crate::place::Place;
use crate::read::Limits;
use crate::refs::{self, SNAP};
use crate::scratch::{Keeps, Scratch, now_ns};
use crate::state::NotCaptured;
use crate::survey::survey;
use std::path::Path;

#[derive(Debug, Clone)]
pub struct SaveRequest<'a> {
    pub worktree: &'a Path,
    /// Whose snapshot it is; part of its ref's name.
    pub session: &'a str,
    pub why: &'a str,
    pub limits: Limits,
    /// Snapshots with this line are thinned out: none of them stands in for one with another line.
    pub passing: Option<&'a str>,
}

/// A snapshot that is on the disk and was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    pub reference: String,
    pub commit: String,
    /// How many paths differ from HEAD.
    pub changed: usize,
    /// What is in the worktree and not in the snapshot.
    pub not_captured: Vec<NotCaptured>,
    /// Whether it was made by this call. If nothing had changed, it is the one before.
    pub fresh: bool,
}

/// Saves the whole uncommitted state of a worktree. The worktree, its index and its locks are not
/// touched, and nothing that the repository configures is run.
pub fn save(request: &SaveRequest<'_>) -> Result<Saved, SnapshotFault> {
    let session = refs::part(request.session)?;
    let place = Place::find(request.worktree)?;
    match save_place(&place, session, request) {
        // An agent's `gc` or `rebase` can take away under us what we had just read about.
        Err(SnapshotFault::Broken(_) | SnapshotFault::Git(_)) => {
            let place = Place::find(request.worktree)?;
            save_place(&place, session, request)
        }
        done => done,
    }
}

/// Saves a worktree that was found already.
pub(crate) fn save_place(
    place: &Place,
    session: &str,
    request: &SaveRequest<'_>,
) -> Result<Saved, SnapshotFault> {
    let SaveRequest { why, limits, passing, .. } = request;
    let keeps = Keeps::default();
    let store = Store { common: place.common.clone(), more: Vec::new(), keeps: Some(&keeps) };
    let before = || -> Result<_, SnapshotFault> {
        // One that has lost its objects must not keep the next from being taken.
        let found = refs::below(&place.common, &format!("{SNAP}/{session}"), Some(1));
        let found = found.ok().and_then(|mut found| found.pop());
        let mut objects = Objects::open(&place.common)?;
        let previous = found.and_then(|found| Previous::read(found, &mut objects).ok());
        Ok((previous, objects))
    };
    let (survey, before) = std::thread::scope(|scope| {
        let before = crate::threads::within(scope, before)?;
        let survey = survey(place);
        let ended = |_| Err(SnapshotFault::Broken("a thread ended".into()));
        Ok::<_, SnapshotFault>((survey, before.join().unwrap_or_else(ended)))
    })?;
    let (previous, mut objects) = before?;
    let job = Job { place, store: &store, limits, extra: Extra::default(), depth: 0 };
    let picture = nested::picture(&job, survey?, previous.as_ref(), &mut objects)?;
    drop(objects);
    let stands = |previous: &&Previous| {
        let line = previous.found.value("why");
        previous.digest == picture.digest && (line == Some(*why) || line != *passing)
    };
    if let Some(previous) = previous.as_ref().filter(stands) {
        return Ok(Saved {
            reference: previous.found.name.clone(),
            commit: previous.found.commit.to_string(),
            changed: picture.changed,
            not_captured: picture.not_captured,
            fresh: false,
        });
    }
    let now = u64::try_from(now_ns() / 1_000_000).unwrap_or_default();
    let last = previous.as_ref().map_or(0, |previous| previous.found.millis());
    let id = format!("{:013}-{:08x}", now.max(last + 1), chance());
    let reference = format!("{SNAP}/{session}/{id}");
    let words = [("session", session), ("why", *why)];
    let (changed, not_captured) = (picture.changed, picture.not_captured.clone());
    let (commit, scratch) = job.write(picture, &words)?;
    scratch.publish(&keeps)?;
    check(&scratch, &commit)?;
    refs::publish(&place.common, &reference, &commit)?;
    // While the throw-away repository is still locked: a sweep must not find one without the other.
    keeps.release();
    packs::index_together(&place.common, &scratch);
    Ok(Saved { reference, commit: commit.to_string(), changed, not_captured, fresh: true })
}

/// A few random bits, so that two savers never choose the same name.
fn chance() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    random & 0xffff_ffff
}

/// Reads the whole snapshot's skeleton back from where it is now, and every name in it.
fn check(scratch: &Scratch, commit: &Oid) -> Result<(), SnapshotFault> {
    let parents = format!("{commit}^@");
    let name = commit.to_string();
    let args = ["rev-list", "--objects", "--quiet", &name, "--not", &parents];
    let output = scratch.git().args(args).output().map_err(crate::GitFault::NotRun)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let fault = crate::fault::said_by_git("rev-list", &said);
    let full = matches!(fault, SnapshotFault::DiskFull(_));
    Err(if full { fault } else { SnapshotFault::Broken(fault.to_string()) })
}
