//! What front ends ask of plans: executed, watched, interrupted; their tasks resumed and begun anew.

mod begin;
mod file;
mod follow;
mod named;
mod place;

use self::begin::execute;
use self::follow::seen;
use self::named::{has, is_known, plan_of};
use self::place::{latest_from, root, roots};
use super::answer::{Answer, gone, storage, unusable};
use super::carry::Asked;
use super::state::ServerState;
use super::steps::Steps;
use crate::environments::Caller;
use crate::mailbox::Published;
use crate::plan_view;
use glis_core::decision::Reply;
use glis_core::pause::PauseMode;
use glis_core::plan::{self, Origin, Ruling, Run, TaskRef};
use glis_core::session::Phase;
use glis_core::{Command, House, Input, PlanCommand, PlanId, Refusal};
use glis_wire::client::Response;
use glis_wire::plan::{PlanRequest, RunView};
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

pub(super) async fn answer(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    request: PlanRequest,
    env: Option<Caller>,
) -> Answer {
    match request {
        PlanRequest::Show { place, file } => show(state, &place, &file).await,
        PlanRequest::Read { place, file: of } => file::read(state, (&place, of), env).await,
        PlanRequest::Check { place, file: of } => file::check(state, (&place, of), env).await,
        PlanRequest::Follow { plan, answers } => {
            follow::follow(state, steps.peer()?, PlanId(plan), answers).await
        }
        PlanRequest::List { place } => list(state, &place).await,
        PlanRequest::Runs { place, task } => runs(state, &place, task).await,
        PlanRequest::Execute(wanted) => execute(state, steps, wanted, env).await,
        PlanRequest::Change { place, change } => file::change(state, (&place, *change), env).await,
        PlanRequest::Pause { plan, mode } => pause(state, steps, PlanId(plan), mode).await,
        PlanRequest::Resume { place, task, prompt } => {
            Box::pin(resume(state, steps, (&place, task, prompt), env)).await
        }
        PlanRequest::Restart { place, task } => {
            let (plan, task, _) = plan_of(state, &place, &task).await?;
            begin_anew(state, steps, (plan, task), env).await
        }
        PlanRequest::Rule { place, task, ruling } => {
            rule(state, steps, &place, (task, ruling)).await
        }
        PlanRequest::Clean { place, plan } => {
            let root = root(state, &place).await?;
            Ok(state.listed(state.plans.clean(Some((root, plan))).await.0).await)
        }
    }
}

/// Asks the core for something about a plan.
async fn ask(state: &ServerState, steps: &Steps<'_>, command: PlanCommand) -> Answer<Reply> {
    let replied = state.mailbox.ask(Input::Plan(command), Some(steps.from().clone())).await;
    Ok(replied.ok_or_else(storage)??)
}

async fn show(state: &ServerState, place: &str, file: &str) -> Answer {
    let (_, checkout) = roots(state, place).await?;
    let origin = Origin { checkout, file: file.to_owned() };
    let look = move |house: &House| latest_from(house, &origin).map(|plan| plan.id.clone());
    match state.house(look).await? {
        Some(id) => seen(state, id).await,
        None => Ok(Response::NoPlan),
    }
}

/// Pauses what runs of a plan, and waits until it is.
async fn pause(state: &ServerState, steps: &mut Steps<'_>, id: PlanId, mode: PauseMode) -> Answer {
    let mut news = state.mailbox.news.subscribe();
    ask(state, steps, PlanCommand::Pause { id: id.clone(), mode }).await?;
    loop {
        let wanted = id.clone();
        let look = move |house: &House| {
            let plan = house.plan(&wanted)?;
            Some(plan.active.iter().filter_map(|id| plan.run(id)).any(|run| {
                let session = plan_view::session_of(house, run);
                is_stopping(run, session.map(|session| &session.phase))
            }))
        };
        match state.house(look).await? {
            Some(true) => {}
            Some(false) => break,
            None => return Ok(Response::NoPlan),
        }
        if !is_news(&mut news, steps).await {
            return gone();
        }
    }
    state.plans.records.settled().await;
    seen(state, id).await
}

/// Waits until something has happened. Not where nobody waits for it any more, or nothing is told.
async fn is_news(news: &mut Receiver<Arc<Published>>, steps: &mut Steps<'_>) -> bool {
    tokio::select! {
        published = news.recv() => !matches!(published, Err(RecvError::Closed)),
        () = steps.gone() => false,
    }
}

/// Whether a run of an interrupted plan is about to stop. What is judged and merged is let be.
fn is_stopping(run: &Run, phase: Option<&Phase>) -> bool {
    use glis_core::plan::RunStep;
    match run.step {
        RunStep::Preparing => true,
        RunStep::Working => match phase {
            Some(Phase::Pausing(_) | Phase::Starting(_) | Phase::Stopping { .. }) => true,
            Some(Phase::Live | Phase::Rest(_) | Phase::Chore { .. }) | None => false,
        },
        RunStep::Finishing
        | RunStep::Merging(_)
        | RunStep::Waiting(_)
        | RunStep::Succeeded(_)
        | RunStep::Failed(_)
        | RunStep::Canceled => false,
    }
}

/// The plans of a repository, oldest first.
async fn list(state: &ServerState, place: &str) -> Answer {
    let root = root(state, place).await?;
    let look = move |house: &House| {
        let mut plans: Vec<_> = house.plans().filter(|plan| plan.spec.repo_root == root).collect();
        plans.sort_by_key(|plan| plan.created_at);
        plans.into_iter().map(|plan| plan_view::row(house, plan)).collect()
    };
    Ok(Response::Plans(state.house(look).await?))
}

async fn runs(state: &ServerState, place: &str, task: Option<String>) -> Answer {
    if let Some(task) = &task {
        is_known(state, task).await?;
    }
    let root = root(state, place).await?;
    let wanted = task.clone();
    let look = move |house: &House| {
        let mut runs: Vec<(i64, RunView)> = Vec::new();
        let named = wanted.as_deref().map(plan::named);
        for plan in house.plans().filter(|plan| plan.spec.repo_root == root) {
            let own = named.and_then(|(slug, _)| slug).is_none_or(|slug| slug == plan.spec.slug);
            let meant = |run: &&Run| own && named.is_none_or(|(_, task)| run.task == task);
            for run in plan.runs.values().filter(meant) {
                let session = plan_view::session_of(house, run);
                runs.push((run.created_at, plan_view::run(plan, run, session)));
            }
        }
        runs.sort_by_key(|(at, run)| (*at, run.run_id.clone()));
        let known = wanted.is_none_or(|task| {
            let mut plans = house.plans().filter(|plan| plan.spec.repo_root == root);
            plans.any(|plan| has(plan, &task))
        });
        (runs.into_iter().map(|(_, run)| run).collect::<Vec<_>>(), known)
    };
    match (state.house(look).await?, task) {
        ((runs, false), Some(given)) if runs.is_empty() => {
            Err(Refusal::NoSuchTask { given }.into())
        }
        ((runs, _), _) => Ok(Response::Runs(runs)),
    }
}

/// The latest run of a task, once what was asked for it is true and written down.
async fn latest(state: &ServerState, plan: PlanId, task: String) -> Answer {
    state.plans.records.settled().await;
    let look = move |house: &House| {
        let plan = house.plan(&plan)?;
        let run = plan.latest_run(&task)?;
        Some(plan_view::run(plan, run, plan_view::session_of(house, run)))
    };
    Ok(Response::Runs(state.house(look).await?.into_iter().collect()))
}

async fn resume(
    state: &ServerState,
    steps: &mut Steps<'_>,
    (place, task, prompt): (&str, String, Option<String>),
    env: Option<Caller>,
) -> Answer {
    let (plan, task, session) = plan_of(state, place, &task).await?;
    let (id, from) = (plan.clone(), Some(steps.from().clone()));
    let command = PlanCommand::Resume { id, task: task.clone(), prompt: prompt.clone() };
    let Some(session) = session else {
        ask(state, steps, command).await?;
        return latest(state, plan, task).await;
    };
    // It is waited for as for the resume of any session.
    let like = Command::Resume { session: session.clone(), prompt };
    let asked = Asked::new(state, session, &like, env).await;
    let reply = state.mailbox.ask(Input::Plan(command), from).await;
    let response = asked.settle(state, steps, reply).await?;
    let done = matches!(response, Response::Done { .. } | Response::Queued { .. });
    if done { latest(state, plan, task).await } else { Ok(response) }
}

async fn begin_anew(
    state: &ServerState,
    steps: &Steps<'_>,
    (plan, task): (PlanId, String),
    env: Option<Caller>,
) -> Answer {
    state.plans.remember(&plan, env);
    // A file that is being written is no reason against it: it begins as it was last executed.
    let spec = state.plans.as_written(&plan).await.map(Box::new);
    let command = PlanCommand::Restart { id: plan.clone(), task: task.clone(), spec };
    ask(state, steps, command).await?;
    latest(state, plan, task).await
}

/// Begins the task of a session anew: who restarts that means the task. The session of the new run.
pub(super) async fn restart_session(
    state: &ServerState,
    steps: &Steps<'_>,
    of: TaskRef,
    env: Option<Caller>,
) -> Answer {
    let mut news = state.mailbox.news.subscribe();
    let (plan, task) = (of.plan, of.task);
    let begun = begin_anew(state, steps, (plan.clone(), task.clone()), env).await?;
    let Response::Runs(_) = begun else { return Ok(begun) };
    loop {
        let (id, of) = (plan.clone(), task.clone());
        let look = move |house: &House| {
            let run = house.plan(&id)?.latest_run(&of)?;
            Some((run.session.clone(), run.is_over()))
        };
        match state.house(look).await? {
            Some((Some(session), _)) => {
                return Ok(state.done(&state.known(&session).await?, false).await);
            }
            Some((None, false)) => {}
            Some((None, true)) | None => {
                let message = format!("the new run of task `{task}` could not begin");
                return Ok(unusable(message, format!("`glis runs {task}` tells why")));
            }
        }
        if let Err(RecvError::Closed) = news.recv().await {
            return gone();
        }
    }
}

/// Does what a person says about a task.
async fn rule(
    state: &ServerState,
    steps: &mut Steps<'_>,
    place: &str,
    (task, ruling): (String, Ruling),
) -> Answer {
    let (plan, task, _) = plan_of(state, place, &task).await?;
    let mut news = state.mailbox.news.subscribe();
    ask(state, steps, PlanCommand::Rule { id: plan.clone(), task: task.clone(), ruling }).await?;
    // What is taken as it is, is merged, or is found not to be.
    let mut finishing = ruling == Ruling::Accept;
    while finishing {
        let (id, of) = (plan.clone(), task.clone());
        let look = move |house: &House| {
            house
                .plan(&id)
                .and_then(|plan| plan.latest_run(&of))
                .is_some_and(plan_view::is_finishing)
        };
        finishing = state.house(look).await?;
        if finishing && !is_news(&mut news, steps).await {
            return gone();
        }
    }
    latest(state, plan, task).await
}
