//! What front ends ask of plans: executed, watched, interrupted; their tasks resumed and begun anew.

mod follow;

use self::follow::seen;
use super::carry::{Asked, storage};
use super::state::ServerState;
use super::steps::Steps;
use crate::environments::Caller;
use crate::peer::Peer;
use crate::plan_view;
use crate::run_records::Unfit;
use glis_core::decision::Reply;
use glis_core::pause::PauseMode;
use glis_core::plan::{Pace, Plan, PlanSpec, Ruling, Run};
use glis_core::refusal::Elsewhere;
use glis_core::session::Phase;
use glis_core::{Command, House, PlanCommand, PlanId, Refusal, SessionId, name};
use glis_wire::client::{Response, Trouble};
use glis_wire::plan::{Execute, PlanRequest, RunView};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// How the names of the plans' branches begin.
const BRANCH: &str = "glis/plan/";

fn bad(message: impl Into<String>) -> Response {
    Response::Trouble { kind: Trouble::BadInput, message: message.into() }
}

/// Answers what only looks.
pub(super) async fn look(
    state: &ServerState,
    peer: &mut Peer,
    request: PlanRequest,
) -> io::Result<Response> {
    match request {
        PlanRequest::Show { place, file } => Ok(show(state, &place, &file).await),
        PlanRequest::Follow { plan } => follow::follow(state, peer, PlanId(plan)).await,
        PlanRequest::Runs { place, task } => Ok(runs(state, &place, task).await),
        PlanRequest::Execute(_)
        | PlanRequest::Pause { .. }
        | PlanRequest::Resume { .. }
        | PlanRequest::Restart { .. }
        | PlanRequest::Rule { .. } => Ok(bad("this changes something")),
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
        PlanRequest::Execute(wanted) => Ok(execute(state, steps, *wanted, env).await),
        PlanRequest::Pause { plan, mode } => pause(state, steps, PlanId(plan), mode).await,
        PlanRequest::Resume { place, task, prompt } => {
            resume(state, steps, (&place, task, prompt), env).await
        }
        PlanRequest::Restart { place, task, plan } => {
            restart(state, steps, (&place, task, plan), env).await
        }
        PlanRequest::Rule { place, task, ruling } => {
            Ok(rule(state, steps, &place, (task, ruling)).await)
        }
        PlanRequest::Show { .. } | PlanRequest::Follow { .. } | PlanRequest::Runs { .. } => {
            Ok(bad("this changes nothing"))
        }
    }
}

/// The root of the repository that a caller is in.
async fn root(state: &ServerState, place: &str) -> Result<String, Box<Response>> {
    let root = state.plans.root_of(Path::new(place)).await.map_err(|why| Box::new(bad(why)))?;
    let root = root.into_os_string().into_string();
    root.map_err(|_| Box::new(bad("the path of the repository is not valid UTF-8")))
}

/// The id of a plan: whatever worktree of a repository it is executed in, it is the same plan.
fn id_of(root: &str, file: &str) -> PlanId {
    PlanId(format!("{root}:{file}"))
}

async fn show(state: &ServerState, place: &str, file: &str) -> Response {
    match root(state, place).await {
        Ok(root) => seen(state, id_of(&root, file)).await,
        Err(response) => *response,
    }
}

async fn execute(
    state: &ServerState,
    steps: &Steps<'_>,
    wanted: Execute,
    env: Option<Caller>,
) -> Response {
    let root = match root(state, &wanted.place).await {
        Ok(root) => root,
        Err(response) => return *response,
    };
    if let Err(why) = state.plans.check_place(&root).await {
        return no_records(why);
    }
    let id = id_of(&root, &wanted.file);
    let place = wanted.place.clone();
    let slug = slug(&wanted);
    let known = {
        let (id, root) = (id.clone(), root.clone());
        let taken = move |house: &House| {
            let others: Vec<String> = house
                .plans()
                .filter(|plan| plan.spec.repo_root == root && plan.id != id)
                .map(|plan| plan.spec.slug.clone())
                .collect();
            (house.plan(&id).map(|plan| (plan.spec.clone(), pace_of(plan))), others)
        };
        state.mailbox.house(taken).await
    };
    let Some((known, others)) = known else { return storage() };
    let (slug, branch, base, usual) = if let Some((spec, pace)) = known {
        (spec.slug.clone(), spec.branch.clone(), spec.base.clone(), pace)
    } else {
        let mut free = (1..=u32::MAX).map(|n| name::numbered(&slug, n));
        let slug = free.find(|slug| !others.contains(slug)).unwrap_or(slug);
        let branch = format!("{BRANCH}{slug}");
        let above = BRANCH.trim_end_matches('/');
        if let Ok((_, true)) = state.plans.stands_on(Path::new(&place), above).await {
            return in_the_way(above);
        }
        let base = match state.plans.stands_on(Path::new(&place), &branch).await {
            Ok((base, false)) => base,
            // What cannot be looked up is not taken for nothing: its tasks may be done.
            Ok((_, true)) => return taken(&branch),
            Err(why) => return no_base(&why),
        };
        (slug, branch, base, Pace::default())
    };
    let Execute { title, tasks, pace, .. } = wanted;
    let spec = Box::new(PlanSpec { title, slug, repo_root: root, branch, base, tasks });
    state.plans.remember(&id, env);
    let pace = pace.unwrap_or(usual);
    let command = PlanCommand::Execute { id: id.clone(), spec, pace };
    match state.mailbox.ask_plan(command, Some(steps.from().clone())).await {
        Some(Ok(_)) => seen(state, id).await,
        Some(Err(refusal)) => Response::Refused(refusal),
        None => storage(),
    }
}

/// How a plan goes on where nothing is said about it: one that is executed is joined as it is.
fn pace_of(plan: &Plan) -> Pace {
    if plan.paused.is_none() { plan.pace.clone() } else { Pace::default() }
}

fn taken(branch: &str) -> Response {
    Response::Unusable {
        message: format!("the branch {branch} is there, and no plan of this home has made it"),
        hint: format!(
            "its tasks may be done already: `git log {branch}`; `git branch -m {branch} OTHER` makes \
             room for this plan"
        ),
    }
}

/// A branch that is called like the folder of all plans' branches keeps each of them from being made.
fn in_the_way(branch: &str) -> Response {
    Response::Unusable {
        message: format!(
            "there is a branch {branch}, so no plan can have a branch below that name"
        ),
        hint: format!("`git branch -m {branch} {branch}-session` makes room"),
    }
}

fn no_base(why: &str) -> Response {
    Response::Unusable {
        message: format!("the plan has no commit to begin from: {why}"),
        hint: "commit something first".to_owned(),
    }
}

fn no_records(why: Unfit) -> Response {
    let (message, hint) = match why {
        Unfit::Place(why) => {
            (why, "put a folder in its place; the plan itself may be any file: `glis execute FILE`")
        }
        Unfit::Unignored(why) => (
            format!("the records of runs would be in your commits: {why}"),
            "make that file writable, or have git ignore /.glis/runs/ otherwise",
        ),
    };
    Response::Unusable { message, hint: hint.to_owned() }
}

/// A plan's name in the names of branches: from its title, else from its file.
fn slug(wanted: &Execute) -> String {
    let file = Path::new(&wanted.file).file_stem().and_then(|stem| stem.to_str());
    let made = wanted.title.as_deref().and_then(name::made_from);
    made.or_else(|| file.and_then(name::made_from)).unwrap_or_else(|| "plan".to_owned())
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
        for plan in house.plans().filter(|plan| plan.spec.repo_root == root) {
            let meant = |run: &&Run| wanted.as_ref().is_none_or(|task| run.task == *task);
            for run in plan.runs.values().filter(meant) {
                let session = plan_view::session_of(house, run);
                runs.push((run.created_at, plan_view::run(plan, run, session)));
            }
        }
        runs.sort_by_key(|(at, run)| (*at, run.run_id.clone()));
        let known = wanted.is_none_or(|task| {
            let mut plans = house.plans().filter(|plan| plan.spec.repo_root == root);
            plans.any(|plan| plan.task(&task).is_some())
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

fn has(plan: &Plan, task: &str) -> bool {
    plan.task(task).is_some() || plan.latest.contains_key(task)
}

/// Refuses what no plan has. It is a session's name, as a rule, and a git that hangs must not keep a
/// session from its resume.
async fn is_known(state: &ServerState, task: &str) -> Result<(), Box<Response>> {
    let given = task.to_owned();
    let look = move |house: &House| {
        let known = house.plans().any(|plan| has(plan, &given));
        if known { Ok(()) } else { Err(Refusal::NoSuchTask { given }) }
    };
    match state.mailbox.house(look).await {
        Some(known) => known.map_err(|refusal| Box::new(Response::Refused(refusal))),
        None => Err(Box::new(storage())),
    }
}

/// The plan that has this task: of the repository that the caller is in, and of no other.
async fn plan_of(
    state: &ServerState,
    place: &str,
    task: &str,
) -> Result<(PlanId, Option<SessionId>), Box<Response>> {
    is_known(state, task).await?;
    let root = root(state, place).await?;
    let (wanted, here) = (task.to_owned(), root.clone());
    let look = move |house: &House| {
        let has = |plan: &&Plan| has(plan, &wanted);
        let (own, others): (Vec<&Plan>, Vec<&Plan>) =
            house.plans().filter(has).partition(|plan| plan.spec.repo_root == here);
        let elsewhere = |plan: &&Plan| {
            let run = plan.latest_run(&wanted)?;
            let view = plan_view::run(plan, run, plan_view::session_of(house, run));
            Some(Refusal::WrongRoot(Box::new(Elsewhere {
                task: wanted.clone(),
                run: run.id.clone(),
                provider: view.provider,
                agent_ref: view.provider_session_ref,
                repo_root: plan.spec.repo_root.clone(),
                here: here.clone(),
            })))
        };
        match own.as_slice() {
            [plan] => {
                let session = plan.latest_run(&wanted).and_then(|run| run.session.clone());
                Ok((plan.id.clone(), session))
            }
            [] => Err(others
                .iter()
                .find_map(elsewhere)
                .unwrap_or(Refusal::NoSuchTask { given: wanted.clone() })),
            [..] => Err(Refusal::Ambiguous { given: wanted.clone() }),
        }
    };
    match state.mailbox.house(look).await {
        Some(found) => found.map_err(|refusal| Box::new(Response::Refused(refusal))),
        None => Err(Box::new(storage())),
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
    let (plan, session) = match plan_of(state, place, &task).await {
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
    (place, task, written): (&str, String, Option<Box<Execute>>),
    env: Option<Caller>,
) -> io::Result<Response> {
    let (plan, _) = match plan_of(state, place, &task).await {
        Ok(found) => found,
        Err(response) => return Ok(*response),
    };
    let root = match root(state, place).await {
        Ok(root) => root,
        Err(response) => return Ok(*response),
    };
    state.plans.remember(&plan, env);
    // Another file of the same repository is another plan.
    let written = written.filter(|written| id_of(&root, &written.file) == plan);
    let spec = written.map(|written| {
        let Execute { title, tasks, .. } = *written;
        let (slug, branch, base) = Default::default();
        Box::new(PlanSpec { title, slug, repo_root: root, branch, base, tasks })
    });
    let command = PlanCommand::Restart { id: plan.clone(), task: task.clone(), spec };
    Ok(match state.mailbox.ask_plan(command, Some(steps.from().clone())).await {
        Some(Ok(Reply::Done | Reply::Already | Reply::Deferred)) => latest(state, plan, task).await,
        Some(Ok(Reply::Pending(_) | Reply::Queued { .. } | Reply::Gate { .. })) => {
            latest(state, plan, task).await
        }
        Some(Err(refusal)) => Response::Refused(refusal),
        None => storage(),
    })
}

/// Does what a person says about a task.
async fn rule(
    state: &ServerState,
    steps: &Steps<'_>,
    place: &str,
    (task, ruling): (String, Ruling),
) -> Response {
    let plan = match plan_of(state, place, &task).await {
        Ok((plan, _)) => plan,
        Err(response) => return *response,
    };
    let command = PlanCommand::Rule { id: plan.clone(), task: task.clone(), ruling };
    match state.mailbox.ask_plan(command, Some(steps.from().clone())).await {
        Some(Ok(_)) => latest(state, plan, task).await,
        Some(Err(refusal)) => Response::Refused(refusal),
        None => storage(),
    }
}
