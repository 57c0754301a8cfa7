//! Plans: how a run begins, how its work is judged and merged, and what is written down of it.

mod accept;
mod edits;
mod place;

pub(crate) use self::place::Whereabouts;

use crate::common::Common;
use crate::create::{Creator, NotCreated};
use crate::environments::{Caller, Env};
use crate::jobs::Jobs;
use crate::panics::caught;
use crate::plan_view;
use crate::pools::Kind;
use crate::run_records::{self, RunRecords};
use crate::shell_line::{ShellLine, Ticket};
use crate::trees::{Trees, subject};
use accept::Acceptance;
use glis_config::AcceptIn;
use glis_core::merge::Unmerged;
use glis_core::plan::{Plan, PlanSpec, RunState, RunStep, TaskRef, TaskSpec};
use glis_core::{
    Command, Event, House, Input, PlanEvent, PlanId, PlanOutcome, Recorded, Refusal, RunId,
    Session, Subject, name,
};
use glis_record::conversation;
use glis_snapshot::{Hooks, SnapshotFault};
use glis_wire::client::NewSession;
use glis_wire::plan::RunView;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::warn;

/// So many names are tried for the session of a run: each is lost to a session that has it.
const NAMINGS: u32 = 100;

/// Carries out what plans decide on.
pub(crate) struct Plans {
    common: Arc<Common>,
    jobs: Arc<Jobs>,
    trees: Arc<Trees>,
    creator: Arc<Creator>,
    pub(crate) records: Arc<RunRecords>,
    /// Whose commands the plans are executed by, as far as this daemon knows.
    callers: Mutex<HashMap<PlanId, Caller>>,
    /// What moves a plan's branch does so one after the other: each begins from what the last one led to.
    merging: tokio::sync::Mutex<()>,
    /// Whoever executes a file does so one after the other: two at once mean one plan.
    pub(crate) beginning: tokio::sync::Mutex<()>,
}

/// What a run needs to know of its plan.
struct Work {
    plan: PlanId,
    repo: PathBuf,
    branch: String,
    slug: String,
    /// Where the branch begins, or has to be at least.
    tip: String,
    task: Option<TaskSpec>,
    run: RunId,
    /// Nothing judges it.
    as_it_is: bool,
    /// The hooks of the repository have a say in its commits.
    hooks: bool,
    /// The commit that was accepted.
    accepted: Option<String>,
    /// The run's record so far.
    record: RunView,
    session: Option<Session>,
}

impl Work {
    fn of(house: &House, plan: &Plan, id: &RunId) -> Option<Self> {
        let run = plan.run(id)?;
        let session = plan_view::session_of(house, run);
        let PlanSpec { repo_root, branch, base, slug, .. } = &*plan.spec;
        let accepted =
            if let RunStep::Merging(commit) = &run.step { Some(commit.clone()) } else { None };
        Some(Self {
            plan: plan.id.clone(),
            repo: PathBuf::from(repo_root),
            branch: branch.clone(),
            slug: slug.clone(),
            tip: plan.tip.clone().unwrap_or_else(|| base.clone()),
            task: plan.task(&run.task).cloned(),
            run: id.clone(),
            as_it_is: run.as_it_is,
            hooks: plan.pace.hooks,
            accepted,
            record: plan_view::run(plan, run, session),
            session: session.cloned(),
        })
    }

    fn wanted(&self, task: &TaskSpec) -> NewSession {
        NewSession {
            agent: task.agent.clone(),
            prompt: task.prompt.as_ref().map(|prompt| match &task.accept {
                Some(accept) => format!("{prompt}\n\n{}", told_of(accept)),
                None => prompt.clone(),
            }),
            repo: self.repo.to_string_lossy().into_owned(),
            base: Some(self.branch.clone()),
            headless: true,
            persona: task.persona.clone(),
            ..NewSession::default()
        }
    }
}

impl Plans {
    pub(crate) fn new(
        common: Arc<Common>,
        jobs: Arc<Jobs>,
        trees: Arc<Trees>,
        creator: Arc<Creator>,
        records: Arc<RunRecords>,
    ) -> Arc<Self> {
        let callers = Mutex::default();
        let (merging, beginning) = Default::default();
        Arc::new(Self { common, jobs, trees, creator, records, callers, merging, beginning })
    }

    /// Remembers whose command executes a plan: its agents get that environment.
    pub(crate) fn remember(&self, plan: &PlanId, caller: Option<Caller>) {
        if let Some(caller) = caller {
            self.callers().insert(plan.clone(), caller);
        }
    }

    fn callers(&self) -> MutexGuard<'_, HashMap<PlanId, Caller>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The environment for a run: of the command that executes the plan, else of one of its agents.
    pub(crate) async fn caller(&self, plan: &PlanId) -> Option<Caller> {
        if let Some(said) = self.callers().get(plan).cloned() {
            return Some(said);
        }
        let (wanted, environments) = (plan.clone(), Arc::clone(&self.common.environments));
        let look = move |house: &House| {
            let plan = house.plan(&wanted)?;
            let sessions = plan.runs.values().filter_map(|run| run.session.as_ref());
            sessions.into_iter().find_map(|id| environments.known_of(id))
        };
        let found = self.jobs.mailbox.house(look).await??;
        self.remember(plan, Some(found.clone()));
        Some(found)
    }

    /// Notes every run that these events have changed.
    pub(crate) fn take_note(&self, events: &[Recorded], house: &House) {
        let mut changed: BTreeSet<(PlanId, RunId)> = BTreeSet::new();
        for recorded in events {
            match (&recorded.subject, &recorded.event) {
                (Subject::Plan(plan), Event::Plan(event)) => {
                    changed.extend(runs_of(event).map(|run| (plan.clone(), run.clone())));
                }
                (Subject::Session(id), _) => {
                    let task = house.session(id).and_then(|s| s.spec.task.as_deref());
                    let run = task.and_then(|of| house.plan(&of.plan)?.run_of(of, id));
                    changed
                        .extend(task.zip(run).map(|(of, run)| (of.plan.clone(), run.id.clone())));
                }
                (Subject::House | Subject::Plan(_), _) => {}
            }
        }
        let at = events.iter().map(|recorded| recorded.at).min().unwrap_or_default();
        for (plan, run) in changed {
            let Some(plan) = house.plan(&plan) else { continue };
            // Most of what happens in a session is nothing to its record.
            if let Some(run) = plan.run(&run).filter(|run| run.updated_at >= at) {
                self.records.put(plan_view::run(plan, run, plan_view::session_of(house, run)));
            }
        }
    }

    /// Writes down what a former daemon may not have had the time for.
    pub(crate) fn catch_up(&self, house: &House) {
        for plan in house.plans() {
            for run in plan.runs.values() {
                self.records.put(plan_view::run(plan, run, plan_view::session_of(house, run)));
            }
        }
    }

    /// Begins a run: its base, its record, its session.
    pub(crate) fn begin(self: &Arc<Self>, house: &House, plan: &Plan, run: &RunId) {
        let Some(work) = Work::of(house, plan, run) else { return };
        let plans = Arc::clone(self);
        self.jobs.later(async move {
            let (plan, run) = (work.plan.clone(), work.run.clone());
            let begun = caught(plans.begin_now(work)).await;
            if let Err(why) = begun.unwrap_or_else(Err) {
                warn!("run {run}: not begun: {why}");
                let outcome = PlanOutcome::NotBegun { run, why };
                plans.jobs.mailbox.tell(Input::PlanOutcome { plan, outcome }).await;
            }
        });
    }

    async fn begin_now(&self, mut work: Work) -> Result<(), String> {
        let Some(task) = work.task.take() else {
            return Err("the task is no longer in the plan".to_owned());
        };
        if work.session.is_some() {
            return Ok(());
        }
        {
            let _one = self.merging.lock().await;
            self.begin_branch(&work).await?;
        }
        let (wanted, caller) = (work.wanted(&task), self.caller(&work.plan).await);
        let of = TaskRef { plan: work.plan.clone(), task: task.id.clone(), run: work.run.clone() };
        for n in 1..=NAMINGS {
            let named = NewSession { name: Some(name::numbered(&work.run.0, n)), ..wanted.clone() };
            let env = caller.as_ref().map(|caller| &caller.env);
            let command = self.creator.command_for(&named, env, Some(of.clone())).await;
            let (id, command) = match command {
                Ok((id, command, _)) => (id, command),
                Err(why) => return not_created(why),
            };
            self.record(&work, &command).await?;
            if let Some(caller) = &caller {
                self.common.environments.remember(&id, caller.clone());
            }
            match self.jobs.mailbox.ask(Input::Command(command), None).await {
                Some(Err(Refusal::NameTaken { .. })) => {}
                // It has one already, or is not wanted any more.
                Some(Ok(_) | Err(Refusal::NoSuchTask { .. })) | None => return Ok(()),
                Some(Err(refusal)) => return not_created(NotCreated::Refused(refusal)),
            }
        }
        Err(format!("{NAMINGS} sessions have the names that were tried for it"))
    }

    async fn begin_branch(&self, work: &Work) -> Result<(), String> {
        let (repo, branch, tip) = (work.repo.clone(), work.branch.clone(), work.tip.clone());
        let begun = move || glis_snapshot::begin_branch(&repo, &branch, &tip);
        let begun = self.jobs.ask(Kind::Tree, begun).await?;
        begun.map(drop).map_err(|fault| fault.to_string())
    }

    /// Writes the record of a run down, before anything of it is started.
    async fn record(&self, work: &Work, command: &Command) -> Result<(), String> {
        let mut record = work.record.clone();
        if let Command::New { id, name, spec, agent_ref } = command {
            record.provider = Some(spec.agent.clone());
            record.provider_session_ref.clone_from(agent_ref);
            record.session = Some(id.0.clone());
            record.session_name = Some(name.clone());
        }
        record.state = RunState::Running;
        let records = Arc::clone(&self.records);
        let written = self.jobs.ask(Kind::Tree, move || records.write(&record)).await?;
        written.map_err(|why| format!("its record cannot be written: {why}"))
    }

    /// Has the work of a run committed and judged.
    pub(crate) fn judge(self: &Arc<Self>, house: &House, plan: &Plan, run: &RunId) {
        let Some(work) = Work::of(house, plan, run) else { return };
        let ticket = work.session.as_ref().map(|session| self.jobs.lines.want(&session.id));
        let (plans, about) = (Arc::clone(self), (work.plan.clone(), work.run.clone()));
        self.report(about, async move { plans.judge_now(&work, ticket).await });
    }

    /// Has the commit of a run merged that was accepted.
    pub(crate) fn merge(self: &Arc<Self>, house: &House, plan: &Plan, run: &RunId) {
        let Some(work) = Work::of(house, plan, run) else { return };
        let (plans, about) = (Arc::clone(self), (work.plan.clone(), work.run.clone()));
        self.report(about, async move { Some(plans.merge_now(&work).await) });
    }

    /// Tells what comes of a run's work: nothing where it was begun once more meanwhile, as a daemon may that has
    /// just started.
    fn report(
        self: &Arc<Self>,
        (plan, run): (PlanId, RunId),
        comes: impl Future<Output = Option<PlanOutcome>> + Send + 'static,
    ) {
        let plans = Arc::clone(self);
        self.jobs.later(async move {
            let failed = |why| PlanOutcome::Unmerged { run, why: Unmerged::Failed { why } };
            if let Some(outcome) = caught(comes).await.unwrap_or_else(|why| Some(failed(why))) {
                plans.jobs.mailbox.tell(Input::PlanOutcome { plan, outcome }).await;
            }
        });
    }

    /// Its work is a commit first, and that is what is judged: what the judge writes belongs to nobody.
    async fn judge_now(&self, work: &Work, ticket: Option<Ticket>) -> Option<PlanOutcome> {
        let run = work.run.clone();
        let unmerged = |why| Some(PlanOutcome::Unmerged { run: run.clone(), why });
        let failed = |why: String| Unmerged::Failed { why };
        let (Some(session), Some(ticket)) = (work.session.clone(), ticket) else {
            return unmerged(Unmerged::NoWorktree);
        };
        let (trees, message) = (Arc::clone(&self.trees), message(work, &session));
        let (env, subject) = (self.env_of_hooks(work, &session), session.clone());
        let commit = move || {
            trees.with_hooks(&subject, env, |hooks| trees.commit_as(&subject, &message, hooks))
        };
        let commit = self.jobs.ask(Kind::Tree, commit).await;
        let commit = match commit {
            Ok(Ok(committed)) => committed.commit,
            Ok(Err(why)) => return unmerged(why.into()),
            Err(why) => return unmerged(failed(why)),
        };
        crate::failpoint::reach("judge", &session.name);
        self.tell_cost(&work.plan, &run, &session).await;
        if work.as_it_is {
            return Some(PlanOutcome::Accepted { run, commit });
        }
        match self.accept(work, (&session, &commit), ticket).await {
            Ok(Acceptance::Accepted) => Some(PlanOutcome::Accepted { run, commit }),
            Ok(Acceptance::Refused(why)) => {
                let retries = self.common.settings.now().plan.retries;
                Some(PlanOutcome::NotAccepted { run, why, retries })
            }
            Ok(Acceptance::CutShort) => unmerged(Unmerged::Stopped),
            Ok(Acceptance::Replaced) => None,
            Err(why) => unmerged(failed(why)),
        }
    }

    async fn merge_now(&self, work: &Work) -> PlanOutcome {
        let run = work.run.clone();
        match self.merged(work).await {
            Ok(commit) => PlanOutcome::Merged { run, commit },
            Err(why) => PlanOutcome::Unmerged { run, why },
        }
    }

    async fn merged(&self, work: &Work) -> Result<String, Unmerged> {
        let failed = |why: String| Unmerged::Failed { why };
        let (Some(session), Some(commit)) = (work.session.clone(), work.accepted.clone()) else {
            return Err(Unmerged::NoWorktree);
        };
        let _one = self.merging.lock().await;
        self.begin_branch(work).await.map_err(failed)?;
        let (trees, branch) = (Arc::clone(&self.trees), work.branch.clone());
        let env = self.env_of_hooks(work, &session);
        let merge = move || {
            let merge =
                |hooks: Option<&dyn Hooks>| Trees::merge_commit(&session, &commit, &branch, hooks);
            trees.with_hooks(&session, env, merge)
        };
        let merged = self.jobs.ask(Kind::Tree, merge).await.map_err(failed)??;
        match merged.checked_out {
            None => Ok(merged.commit),
            Some(at) => Err(Unmerged::CheckedOut {
                branch: work.branch.clone(),
                at: at.to_string_lossy().into_owned(),
            }),
        }
    }

    /// The environment for the hooks of the repository, where they are to be run.
    fn env_of_hooks(&self, work: &Work, session: &Session) -> Option<Env> {
        work.hooks.then(|| self.common.environments.of_next_start(session).0)
    }

    /// Tells what the session of a run has cost so far, where its agent tells that.
    async fn tell_cost(&self, plan: &PlanId, run: &RunId, session: &Session) {
        let path = conversation::file_of(&self.common.home.session(&session.id.0));
        let look = move || conversation::cost_micros(&path);
        if let Ok(Some(micros)) = self.jobs.ask(Kind::Look, look).await {
            let (plan, outcome) = (plan.clone(), PlanOutcome::Cost { run: run.clone(), micros });
            self.jobs.mailbox.tell(Input::PlanOutcome { plan, outcome }).await;
        }
    }

    async fn accept(
        &self,
        work: &Work,
        (session, commit): (&Session, &str),
        ticket: Ticket,
    ) -> Result<Acceptance, String> {
        let Some((task, command)) =
            work.task.as_ref().and_then(|task| Some((task, task.accept.clone()?)))
        else {
            return Ok(Acceptance::Accepted);
        };
        let config = self.common.settings.now();
        let Some(worktree) = session.place.worktree.clone() else {
            return Err("its worktree is not there".to_owned());
        };
        let (repo, slug) = (work.repo.clone(), work.slug.clone());
        let folder = move || run_records::folder(&repo, &slug);
        let log =
            self.jobs.ask(Kind::Look, folder).await??.join(format!("{}.accept.log", work.run));
        let call = ShellLine {
            command,
            env: self.common.environments.of_next_start(session).0,
            worktree: PathBuf::from(worktree),
            secs_max: task.accept_secs.unwrap_or(config.plan.accept_secs),
            dir: self.common.home.session(&session.id.0),
            mark: accept::MARK,
            told_bytes_max: accept::TOLD_BYTES,
            log,
            umask: self.common.umask,
        };
        let (trees, session, commit) =
            (Arc::clone(&self.trees), session.clone(), commit.to_owned());
        let judge = move || match config.plan.accept_in {
            AcceptIn::Worktree => {
                let said = accept::run(&call, &ticket);
                trees.put_back(&session).map_err(|why| format!("what `accept` wrote: {why}"))?;
                said
            }
            AcceptIn::Clean => {
                let told = |why: SnapshotFault| format!("a checkout to judge it in: {why}");
                // What a former daemon has left may still be written to.
                call.end_former();
                let clean =
                    trees.check_out(&session, &call.dir, (&commit, ticket.number)).map_err(told)?;
                let said = accept::run(&ShellLine { worktree: clean.clone(), ..call }, &ticket);
                Trees::drop_checkout(&session, &clean);
                said
            }
        };
        self.jobs.ask(Kind::Make, judge).await?
    }
}

fn runs_of(event: &PlanEvent) -> impl Iterator<Item = &RunId> {
    let former =
        if let PlanEvent::RunBegan { restart_of, .. } = event { restart_of.as_ref() } else { None };
    plan_view::run_of(event).into_iter().chain(former)
}

/// What an agent is told of the command that its work is judged by.
fn told_of(accept: &str) -> String {
    format!("[glis] When you are done, this has to succeed: `{accept}`")
}

/// The message of the commit with a task's work: what it is about, what its agent was told, and who did it.
fn message(work: &Work, session: &Session) -> String {
    let task = work.task.as_ref();
    let prompt = task.and_then(|task| task.prompt.as_deref()).unwrap_or_default().trim();
    let title = task.and_then(|task| task.title.as_deref()).unwrap_or(prompt);
    let (name, id, agent) = (&session.name, &session.id, &session.spec.agent);
    let who = format!("Task: {}\nAgent: {agent}\nSession: {name} ({id})", work.record.task_id);
    let parts = [subject(title, name), prompt.to_owned(), who];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Why a run has no session. A daemon that ends leaves it to the next one.
fn not_created(why: NotCreated) -> Result<(), String> {
    match why {
        NotCreated::Refused(refusal) => Err(format!("{refusal:?}")),
        NotCreated::Unusable { message, hint } => Err(format!("{message}; {hint}")),
        NotCreated::NoName => Err("no name is left for its session".to_owned()),
        NotCreated::Ending => Ok(()),
    }
}
