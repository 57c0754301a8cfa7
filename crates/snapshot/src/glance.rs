//! A worktree as it is at this moment, for commands that only look: written into a throw-away repository,
//! under no name, and gone with it.

use crate::fault::SnapshotFault;
use crate::hash::Oid;
use crate::nested;
use crate::objects::Objects;
use crate::picture::{Extra, Job, Store};
use crate::place::Place;
use crate::read::Limits;
use crate::scratch::Scratch;
use crate::state::NotCaptured;
use crate::survey::survey;
use std::path::Path;

/// What a worktree holds, without a snapshot of it. Nothing of it is left when this is dropped.
#[derive(Debug)]
pub struct Glance {
    scratch: Scratch,
    pub(crate) commit: Oid,
    /// Where HEAD stands; `None` before the first commit.
    pub(crate) head: Option<Oid>,
    digest: String,
}

impl Glance {
    /// Two with the same digest hold the same files, staged alike, on the same commit.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// A repository that has the objects of the glance and all others.
    pub(crate) fn git_dir(&self) -> &Path {
        self.scratch.path()
    }
}

/// Looks at a worktree. No ref, no object and no file of the repository is added or changed; what
/// is inside repositories within the worktree is left out, as it is from every comparison.
pub fn glance(worktree: &Path, limits: Limits) -> Result<Glance, SnapshotFault> {
    let place = Place::find(worktree)?;
    match glance_at(&place, &limits) {
        // An agent's `gc` or `rebase` can take away under us what we had just read about.
        Err(SnapshotFault::Broken(_) | SnapshotFault::Git(_)) => {
            glance_at(&Place::find(worktree)?, &limits)
        }
        done => done,
    }
}

/// What of a worktree, and of the repositories inside it, no snapshot would hold. As little is left of
/// this as of a glance.
pub fn left_out(worktree: &Path, limits: &Limits) -> Result<Vec<NotCaptured>, SnapshotFault> {
    let place = Place::find(worktree)?;
    let store = Store { common: place.common.clone(), more: Vec::new(), keeps: None };
    let job = Job { place: &place, store: &store, limits, extra: Extra::default(), depth: 0 };
    let mut objects = Objects::open(&place.common)?;
    Ok(nested::picture(&job, survey(&place)?, None, &mut objects)?.not_captured)
}

fn glance_at(place: &Place, limits: &Limits) -> Result<Glance, SnapshotFault> {
    let store = Store { common: place.common.clone(), more: Vec::new(), keeps: None };
    let job = Job { place, store: &store, limits, extra: Extra::default(), depth: 0 };
    let mut objects = Objects::open(&place.common)?;
    let picture = job.picture(survey(place)?, None, &mut objects, |_| Ok(Vec::new()))?;
    drop(objects);
    let digest = picture.digest.clone();
    let (commit, scratch) = job.write(picture, &[])?;
    Ok(Glance { scratch, commit, head: place.head.commit, digest })
}
