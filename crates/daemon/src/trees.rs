//! Worktrees and their snapshots: saved at every stop and turn, compared before every start,
//! brought back where they are gone.

mod lock;
mod make;
mod merge;
mod message;
mod pace;
mod restore;
mod save;
mod unmerged;

pub(crate) use lock::stale as stale_lock;
pub(crate) use message::{ASIDE, subject};
pub(crate) use unmerged::NotMerged;

use crate::jobs::Jobs;
use crate::mailbox::Query;
use crate::pools::Kind;
use crate::provision::Provision;
use crate::settings::Settings;
use crate::trash;
use glis_core::OpId;
use glis_core::input::Outcome;
use glis_core::pause::Moment;
use glis_core::session::{Phase, Session};
use glis_core::tree::Occasion;
use glis_wire::home::Home;
use pace::Pace;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// What saving is called, and where it waits.
const SAVE: (Kind, &str) = (Kind::Tree, "save its worktree");

/// The worktrees of all sessions. Each method that takes an operation sets one of its steps going;
/// what comes of it is told to the controller.
pub(crate) struct Trees {
    home: Home,
    settings: Arc<Settings>,
    jobs: Arc<Jobs>,
    provision: Arc<Provision>,
    pace: Pace,
    /// The mode of the user's own files.
    umask: u32,
}

impl Trees {
    pub(crate) fn new(
        home: Home,
        settings: Arc<Settings>,
        jobs: Arc<Jobs>,
        provision: Arc<Provision>,
        umask: u32,
    ) -> Arc<Self> {
        Arc::new(Self { home, settings, jobs, provision, pace: Pace::default(), umask })
    }

    /// Looks at worktrees or snapshots, for a caller that waits. A look that hangs is ended, and told.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        kind: Kind,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        self.jobs.ask(kind, look).await
    }

    /// Makes a worktree. A set-up command may take minutes: that has places of its own.
    pub(crate) fn make(self: &Arc<Self>, session: &Session, op: OpId) {
        let failed = move |why: String| Outcome::WorktreeFailed { op, why: why.into() };
        let trees = Arc::clone(self);
        self.jobs.in_turn(session, (Kind::Make, "make its worktree"), failed, move |session| {
            Some(trees.make_now(session, op))
        });
    }

    /// Looks whether a worktree could be saved. Not in turn: what is at work on the files is not
    /// disturbed by a look.
    pub(crate) fn check_save(&self, session: &Session, op: OpId) {
        let what = (Kind::Start, "look whether it can be saved");
        let failed = move |why: String| Outcome::CannotSave { op, why: why.into() };
        self.jobs.blocking(session, what, failed, move |session| {
            Some(match Self::can_save(session) {
                Ok(()) => Outcome::CanSave { op },
                Err(why) => Outcome::CannotSave { op, why: why.into() },
            })
        });
    }

    /// Takes the snapshot of a pause.
    pub(crate) fn take_snapshot(self: &Arc<Self>, session: &Session, op: OpId, moment: Moment) {
        let failed = move |why: String| Outcome::SnapshotFailed { op, moment, why: why.into() };
        let trees = Arc::clone(self);
        self.jobs.in_turn(session, SAVE, failed, move |session| {
            Some(trees.save_for_pause(session, op, moment))
        });
    }

    /// Removes the worktree of a session that is being paused.
    pub(crate) fn clear(self: &Arc<Self>, session: &Session, op: OpId) {
        let what = (Kind::Tree, "remove its worktree");
        let failed = move |why: String| Outcome::WorktreeStays { op, why: why.into() };
        let trees = Arc::clone(self);
        self.jobs.in_turn(session, what, failed, move |session| Some(trees.clear_now(session, op)));
    }

    /// Brings a session's own worktree back to what a snapshot holds.
    pub(crate) fn restore(self: &Arc<Self>, session: &Session, op: OpId, snapshot: String) {
        let what = (Kind::Tree, "restore its worktree");
        let failed = move |why: String| Outcome::NotRestored { op, why: why.into() };
        let trees = Arc::clone(self);
        self.jobs.in_turn(session, what, failed, move |session| {
            Some(trees.restore_now(session, op, &snapshot))
        });
    }

    /// Moves what a session holds into the trash, saved once more.
    pub(crate) fn put_aside(self: &Arc<Self>, session: &Session, op: OpId) {
        let what = (Kind::Tree, "put it aside");
        let failed = move |why: String| Outcome::NotPutAside { op, why: why.into() };
        let trees = Arc::clone(self);
        self.jobs.in_turn(session, what, failed, move |session| {
            Some(trash::put_aside(&trees.home, session, op, || {
                trees.pace.forget(&session.id);
                trees.save_before_removal(session);
            }))
        });
    }

    /// Takes a session out of the trash.
    pub(crate) fn bring_back(&self, session: &Session, op: OpId) {
        let what = (Kind::Tree, "take it out of the trash");
        let failed = move |why: String| Outcome::NotBroughtBack { op, why: why.into() };
        let home = self.home.clone();
        self.jobs.in_turn(session, what, failed, move |session| {
            Some(trash::bring_back(&home, session, op))
        });
    }

    /// Deletes a session from the trash.
    pub(crate) fn empty(&self, session: &Session, op: OpId) {
        let what = (Kind::Tree, "delete it from the trash");
        let failed = move |why: String| Outcome::NotEmptied { op, why: why.into() };
        let home = self.home.clone();
        self.jobs
            .in_turn(session, what, failed, move |session| Some(trash::empty(&home, session, op)));
    }

    /// Saves a worktree, now or as soon as its turn comes.
    pub(crate) fn save_worktree(
        self: &Arc<Self>,
        session: &Session,
        op: Option<OpId>,
        occasion: Occasion,
        generation: u32,
    ) {
        let failed = move |why: String| Outcome::WorktreeNotSaved { op, occasion, why: why.into() };
        let trees = Arc::clone(self);
        let work = move |session: &Session| trees.save_beside(session, op, occasion, generation);
        if occasion != Occasion::TurnEnded {
            return self.jobs.in_turn(session, SAVE, failed, work);
        }
        if let Some(wait) = self.pace.due(&session.id, &self.settings.now().snapshot) {
            let (trees, session) = (Arc::clone(self), session.clone());
            self.jobs.later(async move {
                tokio::time::sleep(wait).await;
                let place = trees.pace.place().await;
                trees.pace.begun(&session.id);
                // What happened meanwhile has a save of its own.
                let now = trees.jobs.mailbox.query(Query::One(session.id.0.clone())).await;
                let goes_on =
                    |now: &Arc<Session>| now.phase == Phase::Live && now.generation == generation;
                if !now.first().is_some_and(goes_on) {
                    return;
                }
                trees.jobs.in_turn(&session, SAVE, failed, move |session| {
                    let outcome = work(session);
                    drop(place);
                    outcome
                });
            });
        }
    }
}

/// Removes what a save that was killed left behind, in every repository that has sessions.
pub(crate) fn sweep(repositories: BTreeSet<PathBuf>) {
    for repository in repositories {
        match glis_snapshot::sweep(&repository) {
            Ok(_) => {}
            Err(fault) => crate::diary(&format!("{}: not swept: {fault}", repository.display())),
        }
    }
}
