//! What front ends ask of plans: executed, watched, interrupted; their tasks resumed and begun anew.

mod begin;
mod file;
mod follow;
mod named;
mod place;

use self::begin::execute;
use self::follow::seen;
use self::named::{has, is_known, plan_of};
use self::place::{bad, latest_from, root, roots};
use super::carry::{Asked, storage};
use super::state::ServerState;
use super::steps::Steps;
use crate::environments::Caller;
use crate::peer::Peer;
use crate::plan_view;
use glis_core::decision::Reply;
use glis_core::pause::PauseMode;
use glis_core::plan::{self, Origin, Ruling, Run, TaskRef};
use glis_core::session::Phase;
use glis_core::{Command, House, PlanCommand, PlanId, Refusal};
use glis_wire::client::Response;
use glis_wire::plan::{PlanRequest, RunView};
use std::io;
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// Answers what only looks.
pub(super) async fn look(
    state: &ServerState,
    peer: &mut Peer,
    request: PlanRequest,
    env: Option<Caller>,
) -> io::Result<Response> {
    match request {
        PlanRequest::Show { place, file } => Ok(show(state, &place, &file).await),
        PlanRequest::Read { place, file: of } => {
            Ok(either(file::read(state, (&place, of), env).await))
        }
        PlanRequest::Check { place, file: of } => {
            Ok(either(file::check(state, (&place, of), env).await))
        }
        PlanRequest::Follow { plan } => follow::follow(state, peer, PlanId(plan)).await,
        PlanRequest::Runs { place, task } => Ok(runs(state, &place, task).await),
        PlanRequest::Execute(_)
        | PlanRequest::Change { .. }
        | PlanRequest::Pause { .. }
        | PlanRequest::Resume { .. }
        | PlanRequest::Restart { .. }
        | PlanRequest::Rule { .. }
        | PlanRequest::Clean { .. } => Ok(bad("this changes something")),
    }
}

/// Carries out what changes something.
pub(super) async fn change(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    request: PlanRequest,
    env: Option<Caller>,
) -> io::Result<Response> {
    match request {
        PlanRequest::Execute(wanted) => Ok(execute(state, steps, wanted, env).await),
        PlanRequest::Change { place, change } => {
            Ok(either(file::change(state, (&place, change), env).await))
        }
        PlanRequest::Pause { plan, mode } => pause(state, steps, PlanId(plan), mode).await,
        PlanRequest::Resume { place, task, prompt } => {
            resume(state, steps, (&place, task, prompt), env).await
        }
        PlanRequest::Restart { place, task } => restart(state, steps, (&place, task), env).await,
        PlanRequest::Rule { place, task, ruling } => {
            Ok(rule(state, steps, &place, (task, ruling)).await)
        }
        PlanRequest::Clean { place, plan } => Ok(clean(state, &place, plan).await),
        PlanRequest::Show { .. }
        | PlanRequest::Read { .. }
        | PlanRequest::Check { .. }
        | PlanRequest::Follow { .. }
        | PlanRequest::Runs { .. } => Ok(bad("this changes nothing")),
    }
}

/// What is said, whether it is what was asked for or why not.
fn either(said: Result<Response, Box<Response>>) -> Response {
    said.unwrap_or_else(|response| *response)
}

async fn show(state: &ServerState, place: &str, file: &str) -> Response {
    let (_, checkout) = match roots(state, place).await {
        Ok(roots) => roots,
        Err(response) => return *response,
    };
    let origin = Origin { checkout, file: file.to_owned() };
    let look = move |house: &House| latest_from(house, &origin).map(|plan| plan.id.clone());
    match state.mailbox.house(look).await {
        Some(Some(id)) => seen(state, id).await,
        Some(None) => Response::NoPlan,
        None => storage(),
    }
}

/// Pauses what runs of a plan, and waits until it is.
async fn pause(
    state: &ServerState,
    steps: &mut Steps<'_>,
    id: PlanId,
    mode: PauseMode,
) -> io::Result<Response> {
    let mut news = state.mailbox.news.subscribe();
    let command = PlanCommand::Pause { id: id.clone(), mode };
    match state.mailbox.ask_plan(command, Some(steps.from().clone())).await {
        Some(Ok(_)) => {}
        Some(Err(refusal)) => return Ok(Response::Refused(refusal)),
        None => return Ok(storage()),
    }
    loop {
        let wanted = id.clone();
        let look = move |house: &House| {
            let plan = house.plan(&wanted)?;
            Some(plan.active.iter().filter_map(|id| plan.run(id)).any(|run| {
                let session = plan_view::session_of(house, run);
                is_stopping(run, session.map(|session| &session.phase))
            }))
        };
        match state.mailbox.house(look).await {
            Some(Some(true)) => {}
            Some(Some(false)) => break,
            Some(None) => return Ok(Response::NoPlan),
            None => return Ok(storage()),
        }
        tokio::select! {
            published = news.recv() => match published {
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Err(io::ErrorKind::BrokenPipe.into()),
            },
            () = steps.gone() => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
    state.plans.records.settled().await;
    Ok(seen(state, id).await)
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

async fn runs(state: &ServerState, place: &str, task: Option<String>) -> Response {
    if let Some(task) = &task
        && let Err(response) = is_known(state, task).await
    {
        return *response;
    }
    let root = match root(state, place).await {
        Ok(root) => root,
        Err(response) => return *response,
    };
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
    match (state.mailbox.house(look).await, task) {
        (None, _) => storage(),
        (Some((runs, false)), Some(given)) if runs.is_empty() => {
            Response::Refused(Refusal::NoSuchTask { given })
        }
        (Some((runs, _)), _) => Response::Runs(runs),
    }
}

/// The latest run of a task, once what was asked for it is true and written down.
async fn latest(state: &ServerState, plan: PlanId, task: String) -> Response {
    state.plans.records.settled().await;
    let look = move |house: &House| {
        let plan = house.plan(&plan)?;
        let run = plan.latest_run(&task)?;
        Some(plan_view::run(plan, run, plan_view::session_of(house, run)))
    };
    match state.mailbox.house(look).await {
        Some(run) => Response::Runs(run.into_iter().collect()),
        None => storage(),
    }
}

async fn resume(
    state: &ServerState,
    steps: &mut Steps<'_>,
    (place, task, prompt): (&str, String, Option<String>),
    env: Option<Caller>,
) -> io::Result<Response> {
    let (plan, task, session) = match plan_of(state, place, &task).await {
        Ok(found) => found,
        Err(response) => return Ok(*response),
    };
    let (id, from) = (plan.clone(), Some(steps.from().clone()));
    let command = PlanCommand::Resume { id, task: task.clone(), prompt: prompt.clone() };
    let Some(session) = session else {
        return Ok(match state.mailbox.ask_plan(command, from).await {
            Some(Ok(_)) => latest(state, plan, task).await,
            Some(Err(refusal)) => Response::Refused(refusal),
            None => storage(),
        });
    };
    // It is waited for as for the resume of any session.
    let like = Command::Resume { session: session.clone(), prompt };
    let asked = Asked::new(state, session, &like, env).await;
    let reply = state.mailbox.ask_plan(command, from).await;
    let response = asked.settle(state, steps, reply).await?;
    let done = matches!(response, Response::Done { .. } | Response::Queued { .. });
    Ok(if done { latest(state, plan, task).await } else { response })
}

async fn restart(
    state: &ServerState,
    steps: &Steps<'_>,
    (place, task): (&str, String),
    env: Option<Caller>,
) -> io::Result<Response> {
    let (plan, task, _) = match plan_of(state, place, &task).await {
        Ok(found) => found,
        Err(response) => return Ok(*response),
    };
    Ok(begin_anew(state, steps, (plan, task), env).await)
}

async fn begin_anew(
    state: &ServerState,
    steps: &Steps<'_>,
    (plan, task): (PlanId, String),
    env: Option<Caller>,
) -> Response {
    state.plans.remember(&plan, env);
    // A file that is being written is no reason against it: it begins as it was last executed.
    let spec = state.plans.as_written(&plan).await.map(Box::new);
    let command = PlanCommand::Restart { id: plan.clone(), task: task.clone(), spec };
    match state.mailbox.ask_plan(command, Some(steps.from().clone())).await {
        Some(Ok(Reply::Done | Reply::Already | Reply::Deferred)) => latest(state, plan, task).await,
        Some(Ok(Reply::Pending(_) | Reply::Queued { .. } | Reply::Gate { .. })) => {
            latest(state, plan, task).await
        }
        Some(Err(refusal)) => Response::Refused(refusal),
        None => storage(),
    }
}

/// Begins the task of a session anew: who restarts that means the task. The session of the new run.
pub(super) async fn restart_session(
    state: &ServerState,
    steps: &Steps<'_>,
    of: TaskRef,
    env: Option<Caller>,
) -> io::Result<Response> {
    let mut news = state.mailbox.news.subscribe();
    let (plan, task) = (of.plan, of.task);
    let begun = begin_anew(state, steps, (plan.clone(), task.clone()), env).await;
    let Response::Runs(_) = begun else { return Ok(begun) };
    loop {
        let (id, of) = (plan.clone(), task.clone());
        let look = move |house: &House| {
            let run = house.plan(&id)?.latest_run(&of)?;
            Some((run.session.clone(), run.is_over()))
        };
        match state.mailbox.house(look).await {
            Some(Some((Some(session), _))) => {
                let found = state.session(&session).await;
                let Some(session) = found else { return Ok(storage()) };
                let session = Box::new(state.one(&session).await);
                return Ok(Response::Done { session, already: false });
            }
            Some(Some((None, false))) => {}
            Some(Some((None, true)) | None) => {
                let message = format!("the new run of task `{task}` could not begin");
                let hint = format!("`glis runs {task}` tells why");
                return Ok(Response::Unusable { message, hint });
            }
            None => return Ok(storage()),
        }
        if let Err(RecvError::Closed) = news.recv().await {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }
}

/// Does what a person says about a task.
async fn rule(
    state: &ServerState,
    steps: &Steps<'_>,
    place: &str,
    (task, ruling): (String, Ruling),
) -> Response {
    let (plan, task) = match plan_of(state, place, &task).await {
        Ok((plan, task, _)) => (plan, task),
        Err(response) => return *response,
    };
    let command = PlanCommand::Rule { id: plan.clone(), task: task.clone(), ruling };
    match state.mailbox.ask_plan(command, Some(steps.from().clone())).await {
        Some(Ok(_)) => latest(state, plan, task).await,
        Some(Err(refusal)) => Response::Refused(refusal),
        None => storage(),
    }
}

/// Removes the sessions of tasks that are merged.
async fn clean(state: &ServerState, place: &str, plan: Option<String>) -> Response {
    let root = match root(state, place).await {
        Ok(root) => root,
        Err(response) => return *response,
    };
    let mut removed = Vec::new();
    for id in state.plans.clean(Some((root, plan))).await.0 {
        if let Some(session) = state.session(&id).await {
            removed.push(state.one(&session).await);
        }
    }
    Response::Sessions(removed)
}
