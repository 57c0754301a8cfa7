//! The file of a plan: read for those who ask, and changed as they say.

use super::place::{latest_from, roots};
use crate::child::shell;
use crate::environments::{Caller, Env, own_environment};
use crate::plan_file;
use crate::plan_view;
use crate::pools::Kind;
use crate::serve::answer::Answer;
use crate::serve::state::ServerState;
use glis_core::plan::{Origin, TaskSpec};
use glis_core::refusal::{LineFault, PlanFileWhy};
use glis_core::session::Session;
use glis_core::{House, Input, PlanCommand, Refusal};
use glis_plan::{Plan, Task};
use glis_wire::client::{NewSession, Response};
use glis_wire::plan::{PlanChange, PlanFile, TaskWords, WrittenTask};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The file that is meant, and the root of its repository.
pub(super) async fn origin_of(
    state: &ServerState,
    place: &str,
    file: Option<String>,
) -> Answer<(String, Origin)> {
    let (root, checkout) = roots(state, place).await?;
    // Who works on a task means the plan that it is of.
    if file.is_none()
        && let Some(origin) = state.mailbox.house(plan_worked_on(&checkout)).await.flatten()
    {
        return Ok((root, origin));
    }
    let file = file.unwrap_or_else(|| glis_plan::FILE.to_owned());
    let file = match Path::new(&file).strip_prefix(&checkout) {
        Ok(inside) => inside.to_string_lossy().into_owned(),
        Err(_) => file,
    };
    Ok((root, Origin { checkout, file }))
}

/// The file of the plan that a session works for in this worktree.
fn plan_worked_on(worktree: &str) -> impl FnOnce(&House) -> Option<Origin> + Send + use<> {
    let worktree = worktree.to_owned();
    move |house| {
        let is_there = |session: &&Session| session.place.worktree.as_deref() == Some(&worktree);
        let task = house.sessions().find(is_there)?.spec.task.as_deref()?;
        house.plan(&task.plan)?.origin()
    }
}

pub(super) async fn written(state: &ServerState, origin: &Origin) -> Answer<Plan> {
    Ok(state.plans.read_file(origin).await?)
}

/// The environment that the agents of a plan would get: that of who asks, else of who has executed it from this file
/// before, else the daemon's own.
pub(super) async fn env_for(state: &ServerState, origin: &Origin, caller: Option<&Caller>) -> Env {
    if let Some(caller) = caller {
        return caller.env.clone();
    }
    let of = origin.clone();
    let latest = state.mailbox.house(move |house| Some(latest_from(house, &of)?.id.clone()));
    let known = match latest.await.flatten() {
        Some(id) => state.plans.caller(&id).await,
        None => None,
    };
    known.map_or_else(own_environment, |caller| caller.env)
}

/// Why a plan cannot be worked on here, though it is one: agents, personas and programs that are not there.
pub(super) fn faults(
    state: &ServerState,
    (plan, origin): (&Plan, &Origin),
    env: &Env,
) -> Vec<LineFault> {
    if plan.work().is_empty() {
        let why = if plan.tasks.is_empty() {
            "there are no tasks; `glis plan add ID --prompt TEXT` adds one"
        } else {
            "all tasks are only proposed; `glis plan approve ID` has one worked on"
        };
        return vec![LineFault::new(1, why)];
    }
    let of_task = |task: &Task| {
        let wanted = session_for(task, origin)?;
        let is_limited = task.budget.cost_micros.or(plan.budget.cost_micros).is_some();
        let uncounted = || {
            let why = "its agent does not tell what it costs, so `max_cost` could not be kept";
            (is_limited && !state.creator.tells_cost(&wanted, Some(env))).then(|| why.to_owned())
        };
        let why = state.creator.in_the_way(&wanted, Some(env)).or_else(uncounted)?;
        Some(cannot(task, &why))
    };
    approved(plan).filter_map(of_task).collect()
}

/// The tasks that somebody wants to be worked on.
fn approved(plan: &Plan) -> impl Iterator<Item = &Task> {
    plan.tasks.iter().filter(|task| !task.proposed)
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

/// The tasks of a plan whose `accept` begins with a program that is not there: the shell that would run it is asked.
pub(super) async fn without_program(
    state: &ServerState,
    (plan, origin): (&Plan, &Origin),
    env: &Env,
) -> Vec<LineFault> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_+.-".contains(c);
    // A path may come into being by what the tasks do, and an assignment or a bracket is for the shell to read.
    let program = |task: &Task| {
        let word = task.accept.as_deref()?.split_whitespace().next()?;
        word.chars().all(is_plain).then(|| word.to_owned())
    };
    let words: BTreeSet<String> = approved(plan).filter_map(program).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let (checkout, env) = (origin.checkout.clone(), env.clone());
    let ask = move || {
        let mut shell =
            shell("for word do command -v \"$word\" >/dev/null || echo \"$word\"; done");
        shell.arg("sh").args(words).current_dir(checkout).env_clear().envs(env).output()
    };
    // What cannot be asked shows when the first task is judged.
    let Ok(Ok(said)) = state.trees.jobs.ask(Kind::Ask, ask).await else { return Vec::new() };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let missing: BTreeSet<&str> = said.lines().collect();
    let of_task = |task: &Task| {
        let word = program(task).filter(|word| missing.contains(word.as_str()))?;
        Some(LineFault::new(
            task.line,
            format!("`{}`: `{word}` of its `accept` is not there", task.id),
        ))
    };
    approved(plan).filter_map(of_task).collect()
}

/// The tasks of a plan whose agents nobody is logged in to, each agent asked once.
pub(super) async fn not_logged_in(
    state: &ServerState,
    (plan, origin): (&Plan, &Origin),
    env: Env,
) -> Vec<LineFault> {
    let mut asked = BTreeSet::new();
    let mut first: Vec<(Task, NewSession)> = Vec::new();
    for task in approved(plan) {
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
    state.trees.jobs.ask(Kind::Ask, ask).await.unwrap_or_default()
}

/// Tells what a file has, and how far it is.
pub(super) async fn read(
    state: &ServerState,
    (place, file): (&str, Option<String>),
    env: Option<Caller>,
) -> Answer {
    let (_, origin) = origin_of(state, place, file).await?;
    tell(state, origin, env).await
}

async fn tell(state: &ServerState, origin: Origin, env: Option<Caller>) -> Answer {
    let plan = written(state, &origin).await?;
    let env = env_for(state, &origin, env.as_ref()).await;
    let faults = faults(state, (&plan, &origin), &env);
    let path = plan_file::path_of(&origin).to_string_lossy().into_owned();
    let look = move |house: &House| {
        // What is about something else is another plan, and nothing of it is done.
        let executed = latest_from(house, &origin).filter(|known| known.spec.title == plan.title);
        let task = |task: Task| {
            let (line, proposed) = (task.line, task.proposed);
            let task = TaskSpec::from(task);
            let changed = executed.is_some_and(|plan| plan.is_changed(&task));
            WrittenTask { task, line, changed, proposed }
        };
        let Plan { title, budget, tasks } = plan;
        let tasks = tasks.into_iter().map(task).collect();
        let executed = executed.map(|plan| Box::new(plan_view::plan(house, plan)));
        let Origin { checkout: place, file } = origin;
        PlanFile { path, place, file, title, budget, tasks, faults, executed }
    };
    Ok(Response::PlanFile(Box::new(state.house(look).await?)))
}

/// Tells every fault of a file.
pub(super) async fn check(
    state: &ServerState,
    (place, file): (&str, Option<String>),
    env: Option<Caller>,
) -> Answer {
    let (_, origin) = origin_of(state, place, file).await?;
    let path = plan_file::path_of(&origin).to_string_lossy().into_owned();
    let faults = match state.plans.read_file(&origin).await {
        Ok(plan) => {
            let env = env_for(state, &origin, env.as_ref()).await;
            let mut faults = faults(state, (&plan, &origin), &env);
            faults.extend(without_program(state, (&plan, &origin), &env).await);
            faults.sort_by_key(|fault| fault.line);
            faults
        }
        Err(Refusal::PlanFile(fault)) => match fault.why {
            PlanFileWhy::Faulty(faults) => faults,
            PlanFileWhy::Missing
            | PlanFileWhy::Unreadable(_)
            | PlanFileWhy::Unwritten(_)
            | PlanFileWhy::BadChange(_)
            | PlanFileWhy::Named(_)
            | PlanFileWhy::NoTask(_) => return Err(Refusal::PlanFile(fault).into()),
        },
        Err(refusal) => return Err(refusal.into()),
    };
    Ok(Response::PlanChecked { path, faults })
}

/// Changes a file. A plan that is executed from it has taken that in when this returns.
pub(super) async fn change(
    state: &ServerState,
    (place, wanted): (&str, PlanChange),
    env: Option<Caller>,
) -> Answer {
    let (_, origin) = origin_of(state, place, None).await?;
    state.plans.change_file(&origin, wanted.clone()).await?;
    let of = origin.clone();
    let executed = state.mailbox.house(move |house| Some(latest_from(house, &of)?.id.clone()));
    if let Some(id) = executed.await.flatten() {
        if let PlanChange::Propose(TaskWords { id: task, title, .. }) = wanted {
            let propose = PlanCommand::Propose { id, task, title };
            state.mailbox.ask(Input::Plan(propose), None).await;
        } else {
            state.plans.take_over(&id).await;
        }
    }
    tell(state, origin, env).await
}
