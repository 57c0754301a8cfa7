//! The file of a plan: read for those who ask, and changed as they say.

use super::place::{latest_from, roots};
use crate::environments::{Caller, Env};
use crate::plan_file;
use crate::plan_view;
use crate::pools::Kind;
use crate::serve::carry::storage;
use crate::serve::state::ServerState;
use glis_core::plan::{Origin, TaskSpec};
use glis_core::refusal::{LineFault, PlanFileWhy};
use glis_core::{House, Refusal};
use glis_plan::{Plan, Task};
use glis_wire::client::{NewSession, Response};
use glis_wire::plan::{PlanChange, PlanFile, WrittenTask};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The file that is meant, and the root of its repository.
pub(super) async fn origin_of(
    state: &ServerState,
    place: &str,
    file: Option<String>,
) -> Result<(String, Origin), Box<Response>> {
    let (root, checkout) = roots(state, place).await?;
    let file = file.unwrap_or_else(|| glis_plan::FILE.to_owned());
    let file = match Path::new(&file).strip_prefix(&checkout) {
        Ok(inside) => inside.to_string_lossy().into_owned(),
        Err(_) => file,
    };
    Ok((root, Origin { checkout, file }))
}

/// A plan as its file has it.
pub(super) async fn written(state: &ServerState, origin: &Origin) -> Result<Plan, Box<Response>> {
    state.plans.read_file(origin).await.map_err(refused)
}

fn refused(refusal: Refusal) -> Box<Response> {
    Box::new(Response::Refused(refusal))
}

/// Why a plan cannot be worked on here, though it is one: agents, personas and programs that are not there.
pub(super) fn faults(
    state: &ServerState,
    (plan, origin): (&Plan, &Origin),
    env: Option<&Env>,
) -> Vec<LineFault> {
    if plan.tasks.is_empty() {
        let why = "there are no tasks; `glis plan add ID --prompt TEXT` adds one";
        return vec![LineFault::new(1, why)];
    }
    let of_task = |task: &Task| {
        let why = state.creator.in_the_way(&session_for(task, origin)?, env)?;
        Some(cannot(task, &why))
    };
    plan.tasks.iter().filter_map(of_task).collect()
}

fn cannot(task: &Task, why: &str) -> LineFault {
    LineFault::new(task.line, format!("`{}` cannot be worked on: {why}", task.id))
}

/// The session that works on a task, if it is worked on.
fn session_for(task: &Task, origin: &Origin) -> Option<NewSession> {
    task.prompt.as_ref()?;
    Some(NewSession {
        agent: task.agent.clone(),
        persona: task.persona.clone(),
        headless: true,
        repo: origin.checkout.clone(),
        ..NewSession::default()
    })
}

/// The tasks of a plan whose agents nobody is logged in to, each agent asked once.
pub(super) async fn not_logged_in(
    state: &ServerState,
    (plan, origin): (&Plan, &Origin),
    env: Option<&Env>,
) -> Vec<LineFault> {
    let Some(env) = env.cloned() else { return Vec::new() };
    let mut asked = BTreeSet::new();
    let mut first: Vec<(Task, NewSession)> = Vec::new();
    for task in &plan.tasks {
        if let Some(wanted) = session_for(task, origin)
            && asked.insert((task.agent.clone(), task.persona.clone()))
        {
            first.push((task.clone(), wanted));
        }
    }
    let creator = Arc::clone(&state.creator);
    let ask = move || {
        let of = |(task, wanted): &(Task, NewSession)| {
            Some(cannot(task, &creator.not_logged_in(wanted, &env)?))
        };
        first.iter().filter_map(of).collect()
    };
    // What cannot be asked shows in the first turn.
    state.trees.ask(Kind::Ask, ask).await.unwrap_or_default()
}

/// Tells what a file has, and how far it is.
pub(super) async fn read(
    state: &ServerState,
    (place, file): (&str, Option<String>),
    env: Option<Caller>,
) -> Result<Response, Box<Response>> {
    let (_, origin) = origin_of(state, place, file).await?;
    tell(state, origin, env).await
}

async fn tell(
    state: &ServerState,
    origin: Origin,
    env: Option<Caller>,
) -> Result<Response, Box<Response>> {
    let plan = written(state, &origin).await?;
    let faults = faults(state, (&plan, &origin), env.as_ref().map(|caller| &caller.env));
    let path = plan_file::path_of(&origin).to_string_lossy().into_owned();
    let look = move |house: &House| {
        let executed = latest_from(house, &origin);
        let task = |task: Task| {
            let line = task.line;
            let task = TaskSpec::from(task);
            let changed = executed.is_some_and(|plan| plan.is_changed(&task));
            WrittenTask { task, line, changed }
        };
        let Plan { title, tasks } = plan;
        let tasks = tasks.into_iter().map(task).collect();
        let executed = executed.map(|plan| Box::new(plan_view::plan(house, plan)));
        let Origin { checkout: place, file } = origin;
        PlanFile { path, place, file, title, tasks, faults, executed }
    };
    let file = state.mailbox.house(look).await.ok_or_else(|| Box::new(storage()))?;
    Ok(Response::PlanFile(Box::new(file)))
}

/// Tells every fault of a file.
pub(super) async fn check(
    state: &ServerState,
    (place, file): (&str, Option<String>),
    env: Option<Caller>,
) -> Result<Response, Box<Response>> {
    let (_, origin) = origin_of(state, place, file).await?;
    let path = plan_file::path_of(&origin).to_string_lossy().into_owned();
    let faults = match state.plans.read_file(&origin).await {
        Ok(plan) => faults(state, (&plan, &origin), env.as_ref().map(|caller| &caller.env)),
        Err(Refusal::PlanFile(fault)) => match fault.why {
            PlanFileWhy::Faulty(faults) => faults,
            PlanFileWhy::Missing
            | PlanFileWhy::Unreadable(_)
            | PlanFileWhy::Unwritten(_)
            | PlanFileWhy::BadChange(_)
            | PlanFileWhy::Named(_)
            | PlanFileWhy::NoTask(_) => return Err(refused(Refusal::PlanFile(fault))),
        },
        Err(refusal) => return Err(refused(refusal)),
    };
    Ok(Response::PlanChecked { path, faults })
}

/// Changes a file. A plan that is executed from it has taken that in when this returns.
pub(super) async fn change(
    state: &ServerState,
    (place, wanted): (&str, PlanChange),
    env: Option<Caller>,
) -> Result<Response, Box<Response>> {
    let (_, origin) = origin_of(state, place, None).await?;
    state.plans.change_file(&origin, wanted).await.map_err(refused)?;
    let of = origin.clone();
    let executed = state.mailbox.house(move |house| Some(latest_from(house, &of)?.id.clone()));
    if let Some(plan) = executed.await.flatten() {
        state.plans.take_over(&plan).await;
    }
    tell(state, origin, env).await
}
