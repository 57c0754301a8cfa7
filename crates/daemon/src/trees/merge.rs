//! A session's work as a commit on its own branch, and that merged into another one.

use super::Trees;
use super::lock::set_stale_aside;
use super::message::{ASIDE, message, of_iteration};
use super::save::relink;
use super::unmerged::NotMerged;
use crate::environments::Env;
use crate::repo_hooks::RepoHooks;
use crate::worktrees::{repository, top};
use glis_core::Session;
use glis_core::merge::Unmerged;
use glis_core::session::Phase;
use glis_snapshot::{
    CommitRequest, Committed, Hooks, MergeRequest, Merged, SnapshotFault, Unreadable,
};

impl Trees {
    /// Saves a session's worktree, commits it on the session's branch, and merges that. Each step can
    /// be repeated, so what a kill leaves is finished by the next call. Hooks of the repository are run
    /// in this environment, if there is one.
    pub(crate) fn merge(
        &self,
        session: &Session,
        into: &str,
        env: Option<Env>,
    ) -> Result<(Committed, Merged), NotMerged> {
        self.with_hooks(session, env, |hooks| {
            let work = self.commit_as(session, &message(session), hooks)?;
            let merged = Self::merge_commit(session, &work.commit, into, hooks)?;
            Ok((work, merged))
        })
    }

    /// Does something with the hooks of a session's repository, as they run in its worktree in this
    /// environment; with none where there is no environment for them.
    pub(crate) fn with_hooks<T>(
        &self,
        session: &Session,
        env: Option<Env>,
        work: impl FnOnce(Option<&dyn Hooks>) -> Result<T, NotMerged>,
    ) -> Result<T, NotMerged> {
        let Some(env) = env else { return work(None) };
        let worktree = top(session)?.filter(|path| path.is_dir());
        work(Some(&RepoHooks {
            env,
            worktree: worktree.ok_or(NotMerged::Refused(Unmerged::NoWorktree))?,
            dir: self.common.home.session(&session.id.0),
            secs_max: self.common.settings.now().worktree.setup_secs_max,
            umask: self.common.umask,
        }))
    }

    /// Merges a commit of a session's work.
    pub(crate) fn merge_commit(
        session: &Session,
        work: &str,
        into: &str,
        hooks: Option<&dyn Hooks>,
    ) -> Result<Merged, NotMerged> {
        crate::failpoint::reach("merge", &session.name);
        let (repo, name) = (repository(session), &session.name);
        Ok(glis_snapshot::merge(&MergeRequest {
            repo: &repo,
            work,
            into,
            aside: &format!("{ASIDE}{name}"),
            message: &format!("Merge `{name}` into {into}"),
            hooks,
        })?)
    }

    /// Takes what was written into a session's worktree since its work was committed out again. A snapshot has it.
    pub(crate) fn put_back(&self, session: &Session) -> Result<(), SnapshotFault> {
        self.jobs.bounds.turns.wait(&session.id, || {
            let Some(worktree) = top(session)?.filter(|path| path.is_dir()) else { return Ok(()) };
            if glis_snapshot::is_changed(&worktree)? {
                self.save(session, &worktree, "what `accept` left", Unreadable::List)?;
                glis_snapshot::discard_changes(&worktree)?;
            }
            Ok(())
        })
    }

    /// What an iteration of a loop has done is a commit on the session's branch, and says what it was about.
    pub(crate) fn commit_iteration(
        &self,
        session: &Session,
        iteration: u32,
        about: &str,
    ) -> Result<Committed, NotMerged> {
        self.commit_as(session, &of_iteration(session, iteration, about), None)
    }

    /// Everything that a session has done is in one commit on its branch.
    pub(crate) fn commit_as(
        &self,
        session: &Session,
        message: &str,
        hooks: Option<&dyn Hooks>,
    ) -> Result<Committed, NotMerged> {
        let branch =
            session.place.branch.as_deref().ok_or(NotMerged::Refused(Unmerged::NoWorktree))?;
        self.jobs.bounds.turns.wait(&session.id, || {
            let worktree = top(session)?.filter(|path| path.is_dir());
            let worktree = worktree.ok_or(NotMerged::Refused(Unmerged::NoWorktree))?;
            relink(session, &worktree);
            // An agent that lives may be about to use the lock.
            if matches!(session.phase, Phase::Rest(_)) {
                set_stale_aside(&self.jobs, session, &worktree);
            }
            self.save(session, &worktree, "before a commit", Unreadable::List)?;
            let request = CommitRequest { worktree: worktree.as_path(), branch, message, hooks };
            Ok(glis_snapshot::commit_work(&request)?)
        })
    }
}
