//! Saving a worktree: for a pause, beside it, and for a look that leaves no trace.

use super::Trees;
use crate::worktrees::{missing, repository, top};
use glis_config::SnapshotConfig;
use glis_core::OpId;
use glis_core::input::Taken;
use glis_core::pause::Moment;
use glis_core::reason::Why;
use glis_core::session::Session;
use glis_core::tree::{Occasion, PathList, SnapshotRef};
use glis_snapshot::{
    GitFault, Glance, Keep, Limits, NotCaptured, SaveRequest, Saved, SnapshotFault, Unreadable,
    losable,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing::{info, warn};

/// Why a snapshot at the end of a turn was taken. Only these are ever thinned out.
const TURN_ENDED: &str = "a turn ended";

impl Trees {
    /// Says why the worktree of a session could not be saved right now, if that is known already.
    pub(super) fn can_save(session: &Session) -> Result<(), String> {
        let repo = repository(session);
        if !repo.is_dir() {
            return Err(missing(&repo));
        }
        let worktree = match top(session) {
            Ok(Some(worktree)) => worktree,
            Ok(None) => return Ok(()),
            Err(fault) => return Err(unsaved(session, &fault)),
        };
        relink(session, &worktree);
        match glis_snapshot::can_save(&worktree, &repo) {
            // What is gone need not be saved; the last snapshot of it stands.
            Err(SnapshotFault::Gone(_)) if !worktree.exists() => Ok(()),
            looked => looked.map_err(|fault| fault.to_string()),
        }
    }

    /// What a snapshot takes; a comparison with it has to be told the same.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            file_bytes_max: self.common.settings.now().snapshot.file_bytes_max(),
            ..Limits::default()
        }
    }

    /// The same for a look: what cannot be read is listed.
    fn listing(&self) -> Limits {
        Limits { unreadable: Unreadable::List, ..self.limits() }
    }

    pub(super) fn save(
        &self,
        session: &Session,
        worktree: &Path,
        why: &str,
        unreadable: Unreadable,
    ) -> Result<Saved, SnapshotFault> {
        crate::failpoint::reach("save", &session.name);
        let limits = Limits { unreadable, ..self.limits() };
        let (session, passing) = (&*session.id.0, Some(TURN_ENDED));
        glis_snapshot::save(&SaveRequest { worktree, session, why, limits, passing })
    }

    pub(super) fn save_for_pause(
        &self,
        session: &Session,
        moment: Moment,
    ) -> Result<Taken, String> {
        let none = |warning: &str| {
            Ok(Taken { warning: Some(warning.to_owned().into()), ..Taken::default() })
        };
        let worktree = match top(session) {
            Ok(Some(worktree)) => worktree,
            Ok(None) => return none("it is not in a git repository: its files were not saved"),
            Err(fault) => return Err(unsaved(session, &fault)),
        };
        let why = match moment {
            Moment::BeforeStop => "pause, before the stop",
            Moment::AfterStop => "pause, after the stop",
        };
        relink(session, &worktree);
        match self.save(session, &worktree, why, Unreadable::Refuse) {
            Ok(saved) => {
                let (snapshot, left_out) = (Some(named(&saved)), left_out(saved.not_captured));
                Ok(Taken { snapshot, left_out, warning: None })
            }
            Err(SnapshotFault::Gone(_)) if !worktree.exists() => {
                none("its worktree is gone; the last snapshot is used")
            }
            Err(fault) => Err(unsaved(session, &fault)),
        }
    }

    /// The worktree as it is, for a look that leaves no trace.
    pub(crate) fn glance(&self, session: &Session) -> Result<Glance, SnapshotFault> {
        self.jobs.bounds.turns.wait(&session.id, || {
            let none = || GitFault::NoRepository(PathBuf::from(&session.spec.repo_root));
            let worktree = top(session)?.ok_or_else(none)?;
            glis_snapshot::glance(&worktree, self.listing())
        })
    }

    /// What of a worktree no snapshot would hold. Nothing, if it cannot be looked at.
    pub(crate) fn would_lose(&self, session: &Session) -> PathList {
        self.jobs.bounds.turns.wait(&session.id, || {
            let Ok(Some(worktree)) = top(session) else { return PathList::default() };
            glis_snapshot::left_out(&worktree, &self.listing()).map(left_out).unwrap_or_default()
        })
    }

    /// A snapshot beside any pause. There may be nothing to save, and then only a caller who waits is told.
    pub(super) fn save_beside(
        &self,
        session: &Session,
        op: Option<OpId>,
        occasion: Occasion,
    ) -> Option<Result<SnapshotRef, Why>> {
        let why = match occasion {
            Occasion::TurnEnded => TURN_ENDED,
            Occasion::ProcessEnded => "the process ended",
            Occasion::Asked => "asked for",
        };
        let worktree = match top(session) {
            Ok(Some(worktree)) => worktree,
            Ok(None) => return op.map(|_| Err(Why::NoRepository)),
            Err(fault) => return Some(Err(unsaved(session, &fault).into())),
        };
        if occasion == Occasion::ProcessEnded {
            relink(session, &worktree);
        }
        match self.save(session, &worktree, why, Unreadable::List) {
            Ok(saved) => {
                if saved.fresh && occasion == Occasion::TurnEnded {
                    self.thin(session);
                }
                Some(Ok(named(&saved)))
            }
            // A worktree that was removed is not a fault of saving it.
            Err(SnapshotFault::Gone(_)) if op.is_none() && !worktree.exists() => None,
            Err(fault) => Some(Err(unsaved(session, &fault).into())),
        }
    }

    /// The last state of a session that is about to be put away, beside the worktree itself.
    pub(super) fn save_before_removal(&self, session: &Session) {
        if let Ok(Some(worktree)) = top(session)
            && worktree.is_dir()
            && let Err(fault) =
                self.save(session, &worktree, "before it was removed", Unreadable::List)
        {
            warn!("not saved before its removal: {fault}");
        }
    }

    fn thin(&self, session: &Session) {
        let keep = keep(&self.common.settings.now().snapshot);
        if let Err(fault) = glis_snapshot::thin(&repository(session), &session.id.0, &keep) {
            warn!("its old snapshots: {fault}");
        }
    }
}

fn keep(config: &SnapshotConfig) -> Keep {
    Keep {
        why: TURN_ENDED,
        // The last one is what a session is brought back from.
        latest: config.keep_latest.max(1),
        younger_than: Duration::from_secs(config.keep_days.saturating_mul(24 * 60 * 60)),
        number_max: config.keep_max,
    }
}

pub(super) fn named(saved: &Saved) -> SnapshotRef {
    let changed = u32::try_from(saved.changed).ok();
    SnapshotRef { name: saved.reference.clone(), commit: saved.commit.clone(), changed }
}

/// Why something was not saved. Of a repository that was moved away git says only that it is none.
fn unsaved(session: &Session, fault: &SnapshotFault) -> String {
    let repo = repository(session);
    if repo.is_dir() { fault.to_string() } else { missing(&repo) }
}

/// What would be lost with the worktree.
fn left_out(all: Vec<NotCaptured>) -> PathList {
    PathList::of(losable(all).iter().map(NotCaptured::shown))
}

/// An agent may have deleted the `.git` file of its worktree. Its files are there all the same, and
/// git still knows the place: they are saved rather than taken for gone.
pub(super) fn relink(session: &Session, worktree: &Path) {
    if session.spec.in_place {
        return;
    }
    match glis_snapshot::worktree::relink(&repository(session), worktree) {
        Ok(true) => info!("its worktree's .git file was put back"),
        Ok(false) => {}
        Err(fault) => warn!("its worktree's .git file: {fault}"),
    }
}
