//! Saving a worktree: for a pause, beside it, and for a look that leaves no trace.

use super::Trees;
use crate::worktrees::{missing, repository, top};
use glis_config::SnapshotConfig;
use glis_core::OpId;
use glis_core::input::Outcome;
use glis_core::pause::Moment;
use glis_core::reason::Why;
use glis_core::session::Session;
use glis_core::tree::{Occasion, PathList, SnapshotRef};
use glis_snapshot::{
    GitFault, Glance, Keep, Limits, SaveRequest, Saved, SnapshotFault, Unreadable, losable,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
            file_bytes_max: self.settings.now().snapshot.file_bytes_max(),
            ..Limits::default()
        }
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

    /// The snapshot of a pause.
    pub(super) fn save_for_pause(&self, session: &Session, op: OpId, moment: Moment) -> Outcome {
        let none = |warning: &str| Outcome::SnapshotTaken {
            op,
            moment,
            snapshot: None,
            left_out: PathList::default(),
            warning: Some(warning.to_owned().into()),
        };
        let worktree = match top(session) {
            Ok(Some(worktree)) => worktree,
            Ok(None) => return none("it is not in a git repository: its files were not saved"),
            Err(fault) => {
                return Outcome::SnapshotFailed {
                    op,
                    moment,
                    why: unsaved(session, &fault).into(),
                };
            }
        };
        let why = match moment {
            Moment::BeforeStop => "pause, before the stop",
            Moment::AfterStop => "pause, after the stop",
        };
        relink(session, &worktree);
        match self.save(session, &worktree, why, Unreadable::Refuse) {
            Ok(saved) => {
                let (snapshot, left_out) = (Some(named(&saved)), left_out(saved));
                Outcome::SnapshotTaken { op, moment, snapshot, left_out, warning: None }
            }
            Err(SnapshotFault::Gone(_)) if !worktree.exists() => {
                none("its worktree is gone; the last snapshot is used")
            }
            Err(fault) => {
                Outcome::SnapshotFailed { op, moment, why: unsaved(session, &fault).into() }
            }
        }
    }

    /// The worktree as it is, for a look that leaves no trace.
    pub(crate) fn glance(&self, session: &Session) -> Result<Glance, SnapshotFault> {
        self.jobs.turns().wait(&session.id, || {
            let none = || GitFault::NoRepository(PathBuf::from(&session.spec.repo_root));
            let worktree = top(session)?.ok_or_else(none)?;
            glis_snapshot::glance(
                &worktree,
                Limits { unreadable: Unreadable::List, ..self.limits() },
            )
        })
    }

    /// What of a worktree no snapshot would hold. Nothing, if it cannot be looked at.
    pub(crate) fn would_lose(&self, session: &Session) -> PathList {
        self.jobs.turns().wait(&session.id, || {
            let Ok(Some(worktree)) = top(session) else { return PathList::default() };
            let saved = self.save(session, &worktree, "before a pause", Unreadable::List);
            saved.map(left_out).unwrap_or_default()
        })
    }

    /// A snapshot beside any pause.
    pub(super) fn save_beside(
        &self,
        session: &Session,
        op: Option<OpId>,
        occasion: Occasion,
        generation: u32,
    ) -> Option<Outcome> {
        let why = match occasion {
            Occasion::TurnEnded => TURN_ENDED,
            Occasion::ProcessEnded => "the process ended",
            Occasion::Asked => "asked for",
        };
        let worktree = match top(session) {
            Ok(Some(worktree)) => worktree,
            Ok(None) => {
                let why = Why::NoRepository;
                return op.map(|op| Outcome::WorktreeNotSaved { op: Some(op), occasion, why });
            }
            Err(fault) => {
                let why = unsaved(session, &fault).into();
                return Some(Outcome::WorktreeNotSaved { op, occasion, why });
            }
        };
        if occasion == Occasion::ProcessEnded {
            relink(session, &worktree);
        }
        Some(match self.save(session, &worktree, why, Unreadable::List) {
            Ok(saved) => {
                if saved.fresh && occasion == Occasion::TurnEnded {
                    self.thin(session);
                }
                Outcome::WorktreeSaved { op, occasion, generation, snapshot: named(&saved) }
            }
            // A worktree that was removed is not a fault of saving it.
            Err(SnapshotFault::Gone(_)) if op.is_none() && !worktree.exists() => return None,
            Err(fault) => {
                let why = unsaved(session, &fault).into();
                Outcome::WorktreeNotSaved { op, occasion, why }
            }
        })
    }

    /// The last state of a session that is about to be put away, beside the worktree itself.
    pub(super) fn save_before_removal(&self, session: &Session) {
        if let Ok(Some(worktree)) = top(session)
            && worktree.is_dir()
            && let Err(fault) =
                self.save(session, &worktree, "before it was removed", Unreadable::List)
        {
            crate::diary(&format!("session {}: not saved before its removal: {fault}", session.id));
        }
    }

    fn thin(&self, session: &Session) {
        let keep = keep(&self.settings.now().snapshot);
        if let Err(fault) = glis_snapshot::thin(&repository(session), &session.id.0, &keep) {
            crate::diary(&format!("session {}: its old snapshots: {fault}", session.id));
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
fn left_out(saved: Saved) -> PathList {
    PathList::of(losable(saved.not_captured).iter().map(glis_snapshot::NotCaptured::shown))
}

/// An agent may have deleted the `.git` file of its worktree. Its files are there all the same, and
/// git still knows the place: they are saved rather than taken for gone.
pub(super) fn relink(session: &Session, worktree: &Path) {
    if session.spec.in_place {
        return;
    }
    let id = &session.id;
    match glis_snapshot::worktree::relink(&repository(session), worktree) {
        Ok(true) => crate::diary(&format!("session {id}: its worktree's .git file was put back")),
        Ok(false) => {}
        Err(fault) => crate::diary(&format!("session {id}: its worktree's .git file: {fault}")),
    }
}
