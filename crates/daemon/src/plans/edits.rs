//! What goes on around plans: what is changed in their files reaches them, by whomever, and what is merged is cleared
//! away where the user wants that.

use super::Plans;
use crate::mailbox::Published;
use crate::plan_file;
use crate::plan_view;
use crate::pools::Kind;
use glis_config::Mark;
use glis_core::input::IfRunning;
use glis_core::plan::{Origin, Plan, PlanSpec, RunStep, TaskSpec};
use glis_core::refusal::PlanFileWhy;
use glis_core::{Command, House, Input, PlanCommand, PlanId, Refusal, SessionId, Status, Subject};
use glis_os::watch::Watch;
use glis_wire::plan::PlanChange;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tracing::warn;

/// A plan that is not done, and its file as it was last taken over.
struct Followed {
    path: PathBuf,
    mark: Option<Mark>,
    /// A task that is worked on says something else by now: that counts when it is over.
    held_back: bool,
}

impl Plans {
    /// A plan without a fault, as its file has it.
    pub(crate) async fn read_file(&self, origin: &Origin) -> Result<glis_plan::Plan, Refusal> {
        let of = origin.clone();
        let read = self.jobs.ask(Kind::Look, move || plan_file::read(&of)).await;
        read.unwrap_or_else(|why| Err(plan_file::refused(origin, PlanFileWhy::Unreadable(why))))
    }

    pub(crate) async fn change_file(
        &self,
        origin: &Origin,
        wanted: PlanChange,
    ) -> Result<(), Refusal> {
        let of = origin.clone();
        let changed = self.jobs.ask(Kind::Look, move || plan_file::change(&of, &wanted)).await;
        changed.unwrap_or_else(|why| Err(plan_file::refused(origin, PlanFileWhy::Unwritten(why))))
    }

    /// What the file of a plan has by now, if it is still about the same.
    pub(crate) async fn as_written(&self, id: &PlanId) -> Option<PlanSpec> {
        let id = id.clone();
        let look = move |house: &House| {
            let plan = house.plan(&id)?;
            Some((plan.origin()?, Arc::clone(&plan.spec)))
        };
        let (origin, spec) = self.jobs.mailbox.house(look).await??;
        let written = self.read_file(&origin).await.ok()?;
        // One without tasks is being written.
        let (budget, tasks) = (written.budget, written.work());
        let is_it = written.title == spec.title && !tasks.is_empty();
        is_it.then(|| PlanSpec { budget, tasks, ..(*spec).clone() })
    }

    /// Has a plan that goes on take in what its file has by now. One at rest does so when it is executed again.
    /// Whether something of that has to wait.
    pub(crate) async fn take_over(&self, id: &PlanId) -> bool {
        let _one = self.beginning.lock().await;
        let Some(spec) = self.as_written(id).await else { return false };
        let (of, tasks) = (id.clone(), spec.tasks.clone());
        let look = move |house: &House| {
            let plan = house.plan(&of).filter(|plan| !plan_view::is_at_rest(house, plan))?;
            let is_held_back = |task: &TaskSpec| {
                plan.is_changed(task) && plan.latest_run(&task.id).is_some_and(|run| !run.is_over())
            };
            Some(tasks.iter().any(is_held_back))
        };
        let Some(Some(held_back)) = self.jobs.mailbox.house(look).await else { return false };
        let revise = PlanCommand::Revise { id: id.clone(), spec: Box::new(spec) };
        if let Some(Err(refusal)) = self.jobs.mailbox.ask(Input::Plan(revise), None).await {
            warn!("plan {}: its file is not taken over: {refusal:?}", id.0);
        }
        held_back
    }

    /// Removes the sessions of tasks that are merged: of one repository, or of one plan in it, else of all. Those, and
    /// whether others are not at rest yet.
    pub(crate) async fn clean(
        &self,
        of: Option<(String, Option<String>)>,
    ) -> (Vec<SessionId>, bool) {
        let look = move |house: &House| {
            let is_meant = |plan: &&Plan| {
                of.as_ref().is_none_or(|(root, slug)| {
                    plan.spec.repo_root == *root
                        && slug.as_ref().is_none_or(|slug| plan.spec.slug == *slug)
                })
            };
            let runs = house.plans().filter(is_meant).flat_map(|plan| plan.runs.values());
            let merged = runs.filter(|run| matches!(run.step, RunStep::Succeeded(_)));
            let sessions = merged.filter_map(|run| plan_view::session_of(house, run));
            let living = sessions.filter(|session| session.status() != Status::Archived);
            living.map(|session| session.id.clone()).collect::<Vec<_>>()
        };
        let (mut removed, mut left) = (Vec::new(), false);
        for id in self.jobs.mailbox.house(look).await.unwrap_or_default() {
            let command = Command::Remove { session: id.clone(), running: IfRunning::Stop };
            match self.jobs.mailbox.ask(Input::Command(command), None).await {
                Some(Ok(_)) => removed.push(id),
                Some(Err(_)) | None => left = true,
            }
        }
        (removed, left)
    }

    /// Follows the files of all plans that are not done, for as long as the daemon lives.
    pub(crate) async fn follow_files(self: Arc<Self>) {
        let mut news = self.jobs.mailbox.news.subscribe();
        let mut followed: BTreeMap<PlanId, Followed> = BTreeMap::new();
        loop {
            let Some(open) = self.jobs.mailbox.house(open).await else { return };
            let cleans = self.common.settings.now().plan.clean;
            let left = cleans && self.clean(None).await.1;
            followed.retain(|id, _| open.contains_key(id));
            for (id, origin) in open {
                let path = plan_file::path_of(&origin);
                if followed.get(&id).is_none_or(|one| one.path != path) {
                    followed.insert(id, Followed { path, mark: None, held_back: false });
                }
            }
            // Begun anew each time: a folder may be another one by now. What happens before is seen by the marks.
            let watch = watch_over(followed.values().filter_map(|one| one.path.parent()));
            for (id, one) in &mut followed {
                let path = one.path.clone();
                let Ok(mark) = self.jobs.ask(Kind::Look, move || Mark::of(&path)).await else {
                    continue;
                };
                if one.held_back || one.mark != Some(mark) {
                    one.mark = Some(mark);
                    one.held_back = self.take_over(id).await;
                }
            }
            loop {
                tokio::select! {
                    published = news.recv() => match published {
                        Ok(published) if left || is_of_plan(&published) => break,
                        Ok(_) => {}
                        Err(RecvError::Lagged(_)) => break,
                        Err(RecvError::Closed) => return,
                    },
                    () = changed(watch.as_ref()) => break,
                }
            }
        }
    }
}

fn is_of_plan(published: &Published) -> bool {
    matches!(published.recorded.subject, Subject::Plan(_))
}

/// The plans that are not done, and their files.
fn open(house: &House) -> BTreeMap<PlanId, Origin> {
    let open = house.plans().filter(|plan| !plan.is_over());
    open.filter_map(|plan| Some((plan.id.clone(), plan.origin()?))).collect()
}

/// Watches these folders. One that cannot be watched is looked at when something happens to its plan.
fn watch_over<'p>(folders: impl Iterator<Item = &'p Path>) -> Option<Watch> {
    let folders: BTreeSet<&Path> = folders.collect();
    let watch = Watch::new().ok().filter(|_| !folders.is_empty())?;
    for folder in folders {
        watch.entries_of(folder).ok();
    }
    Some(watch)
}

async fn changed(watch: Option<&Watch>) {
    match watch {
        Some(watch) if watch.next().await.is_ok() => {}
        Some(_) | None => std::future::pending().await,
    }
}
