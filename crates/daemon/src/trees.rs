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

use crate::common::Common;
use crate::jobs::Jobs;
use crate::mailbox::Query;
use crate::pools::Kind;
use crate::provision::Provision;
use crate::trash;
use glis_core::OpId;
use glis_core::input::{Done, Outcome, Taken};
use glis_core::pause::Moment;
use glis_core::session::{Chore, Phase, Session};
use glis_core::tree::Occasion;
use pace::Pace;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tracing::warn;

/// What saving is called, and where it waits.
const SAVE: (Kind, &str) = (Kind::Tree, "save its worktree");

/// The worktrees of all sessions. Each method that takes an operation sets one of its steps going;
/// what comes of it is told to the controller.
pub(crate) struct Trees {
    common: Arc<Common>,
    pub(crate) jobs: Arc<Jobs>,
    provision: Arc<Provision>,
    pace: Pace,
}

impl Trees {
    pub(crate) fn new(
        common: Arc<Common>,
        jobs: Arc<Jobs>,
        provision: Arc<Provision>,
    ) -> Arc<Self> {
        Arc::new(Self { common, jobs, provision, pace: Pace::default() })
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
        let told = move |result: Result<(), String>| Outcome::SaveChecked {
            op,
            result: result.map_err(Into::into),
        };
        self.jobs.blocking(
            session,
            what,
            move |why| told(Err(why)),
            move |session| Some(told(Self::can_save(session))),
        );
    }

    pub(crate) fn take_snapshot(self: &Arc<Self>, session: &Session, op: OpId, moment: Moment) {
        let told = move |result: Result<Taken, String>| Outcome::SnapshotTaken {
            op,
            moment,
            result: result.map_err(Into::into),
        };
        let trees = Arc::clone(self);
        self.jobs.in_turn(
            session,
            SAVE,
            move |why| told(Err(why)),
            move |session| Some(told(trees.save_for_pause(session, moment))),
        );
    }

    /// Removes the worktree of a session that is being paused.
    pub(crate) fn clear(self: &Arc<Self>, session: &Session, op: OpId) {
        let what = (Kind::Tree, "remove its worktree");
        let told = move |result| Outcome::WorktreeCleared { op, result };
        let (failed, trees) = (move |why: String| told(Err(why.into())), Arc::clone(self));
        self.jobs
            .in_turn(session, what, failed, move |session| Some(told(trees.clear_now(session))));
    }

    /// Does something with what a session holds.
    pub(crate) fn do_chore(self: &Arc<Self>, session: &Session, op: OpId, chore: Chore) {
        let what = match chore {
            Chore::PutAside => "put it aside",
            Chore::Restore(_) => "restore its worktree",
            Chore::Return(_) => "take it out of the trash",
            Chore::Empty => "delete it from the trash",
        };
        let told = move |result: Result<Done, String>| Outcome::ChoreEnded {
            op,
            result: result.map_err(Into::into),
        };
        let trees = Arc::clone(self);
        self.jobs.in_turn(
            session,
            (Kind::Tree, what),
            move |why| told(Err(why)),
            move |session| {
                let home = &trees.common.home;
                Some(told(match chore {
                    Chore::PutAside => {
                        trash::put_aside(home, session, || trees.save_aside(session))
                    }
                    Chore::Restore(snapshot) => trees.restore(session, &snapshot),
                    Chore::Return(_) => {
                        trash::bring_back(home, session, || trees.restore_saved(session))
                    }
                    Chore::Empty => trash::empty(home, session),
                }))
            },
        );
    }

    /// Saves once more what goes into the trash. A plan has many tasks: of the checkout of each only the
    /// snapshot is kept, if that has all of it.
    fn save_aside(&self, session: &Session) {
        self.pace.forget(&session.id);
        self.save_before_removal(session);
        if session.spec.task.is_some() {
            self.clear_saved(session);
        }
    }

    /// Saves a worktree, now or as soon as its turn comes.
    pub(crate) fn save_worktree(
        self: &Arc<Self>,
        session: &Session,
        op: Option<OpId>,
        occasion: Occasion,
        generation: u32,
    ) {
        let told = move |result| Outcome::WorktreeSaved { op, occasion, generation, result };
        let (failed, trees) = (move |why: String| told(Err(why.into())), Arc::clone(self));
        let work = move |session: &Session| trees.save_beside(session, op, occasion).map(told);
        if occasion != Occasion::TurnEnded {
            let kind = if op.is_some() { Kind::Tree } else { Kind::Backlog };
            return self.jobs.in_turn(session, (kind, SAVE.1), failed, work);
        }
        if let Some(wait) = self.pace.due(&session.id, &self.common.settings.now().snapshot) {
            let (trees, session) = (Arc::clone(self), session.clone());
            self.jobs.later(async move {
                tokio::time::sleep(wait).await;
                let place = trees.pace.place().await;
                trees.pace.begun(&session.id);
                // What happened meanwhile has a save of its own.
                let now = trees.jobs.mailbox.query(Query::One(session.id.0.clone())).await;
                let goes_on = |now: &Arc<Session>| {
                    now.phase == Phase::Live && now.agent.generation == generation
                };
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
        if let Err(fault) = glis_snapshot::sweep(&repository) {
            warn!("{}: not swept: {fault}", repository.display());
        }
    }
}
