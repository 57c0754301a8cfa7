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
    /// be repeated, so what a kill leaves is finished by the next call. No hook of the repository is
    /// run.
    pub(crate) fn merge(
        &self,
        session: &Session,
        into: &str,
    ) -> Result<(Committed, Merged), NotMerged> {
        self.merge_by(session, into, None)
    }

    /// The same with the hooks of the repository, in this environment.
    pub(crate) fn merge_with_hooks(
        &self,
        session: &Session,
        into: &str,
        env: Env,
    ) -> Result<(Committed, Merged), NotMerged> {
        let worktree = top(session)?.filter(|path| path.is_dir());
        let worktree = worktree.ok_or(NotMerged::Refused(Unmerged::NoWorktree))?;
        let hooks = RepoHooks {
            env,
            worktree,
            dir: self.home.session(&session.id.0),
            secs_max: self.settings.now().worktree.setup_secs_max,
            umask: self.umask,
        };
        self.merge_by(session, into, Some(&hooks))
    }

    fn merge_by(
        &self,
        session: &Session,
        into: &str,
        hooks: Option<&dyn Hooks>,
    ) -> Result<(Committed, Merged), NotMerged> {
        let work = self.commit_as(session, &message(session), hooks)?;
        let merged = Self::merge_commit(session, &work.commit, into, hooks)?;
        Ok((work, merged))
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
        self.jobs.turns().wait(&session.id, || {
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
        let branch = session.branch.as_deref().ok_or(NotMerged::Refused(Unmerged::NoWorktree))?;
        self.jobs.turns().wait(&session.id, || {
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
