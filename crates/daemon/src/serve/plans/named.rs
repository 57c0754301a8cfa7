//! Which task is meant, and of which plan.

use super::place::root;
use crate::plan_view;
use crate::serve::answer::Answer;
use crate::serve::state::ServerState;
use glis_core::plan::{Plan, named};
use glis_core::refusal::Elsewhere;
use glis_core::{House, PlanId, Refusal, SessionId};

pub(super) fn has(plan: &Plan, given: &str) -> bool {
    let (slug, task) = named(given);
    let named = slug.is_none_or(|slug| plan.spec.slug == slug || plan.id.0 == slug);
    named && (plan.task(task).is_some() || plan.latest.contains_key(task))
}

/// Refuses what no plan has. It is a session's name, as a rule, and a git that hangs must not keep a
/// session from its resume.
pub(super) async fn is_known(state: &ServerState, task: &str) -> Answer<()> {
    let given = task.to_owned();
    let look = move |house: &House| {
        let known = house.plans().any(|plan| has(plan, &given));
        if known { Ok(()) } else { Err(Refusal::NoSuchTask { given }) }
    };
    Ok(state.house(look).await??)
}

/// The plans of a repository that have a task. One whose file was executed as another plan since then is meant only
/// by its own name.
fn plans_with<'h>(house: &'h House, root: &str, given: &str) -> Vec<&'h Plan> {
    let is_latest = |plan: &&Plan| {
        let since = |other: &Plan| {
            other.spec.origin.is_some()
                && other.spec.origin == plan.spec.origin
                && other.created_at > plan.created_at
        };
        !house.plans().any(since)
    };
    let all = house.plans().filter(|plan| plan.spec.repo_root == root && has(plan, given));
    let all: Vec<&Plan> = all.collect();
    let latest: Vec<&Plan> = all.iter().copied().filter(is_latest).collect();
    if latest.is_empty() || named(given).0.is_some() { all } else { latest }
}

/// The plan that has this task, and the task itself: of the repository that the caller is in, and of no other.
pub(super) async fn plan_of(
    state: &ServerState,
    place: &str,
    given: &str,
) -> Answer<(PlanId, String, Option<SessionId>)> {
    is_known(state, given).await?;
    let root = root(state, place).await?;
    let (wanted, here) = (given.to_owned(), root.clone());
    let look = move |house: &House| {
        let task = named(&wanted).1;
        let elsewhere = |plan: &Plan| {
            let run = plan.latest_run(task)?;
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
        match plans_with(house, &here, &wanted).as_slice() {
            [plan] => {
                let session = plan.latest_run(task).and_then(|run| run.session.clone());
                Ok((plan.id.clone(), task.to_owned(), session))
            }
            [] => {
                let found = house.plans().filter(|plan| has(plan, &wanted)).find_map(elsewhere);
                Err(found.unwrap_or(Refusal::NoSuchTask { given: wanted.clone() }))
            }
            [..] => Err(Refusal::Ambiguous { given: wanted.clone() }),
        }
    };
    Ok(state.house(look).await??)
}
