//! A file that is to be executed: as the plan that it was executed as last, or as another one.

use super::follow::seen;
use super::place::{latest_from, roots};
use crate::environments::Caller;
use crate::run_records::Unfit;
use crate::serve::carry::storage;
use crate::serve::state::ServerState;
use crate::serve::steps::Steps;
use glis_core::plan::{Origin, Pace, Plan, PlanSpec, TaskSpec};
use glis_core::{House, PlanCommand, PlanId, name};
use glis_wire::client::Response;
use glis_wire::plan::Execute;
use std::path::Path;
use std::sync::Arc;

/// How the names of the plans' branches begin.
const BRANCH: &str = "glis/plan/";

/// What is known of a file that is to be executed.
struct Known {
    /// The plan that it was executed as last.
    former: Option<Former>,
    /// The names that other plans of the repository have.
    slugs: Vec<String>,
}

struct Former {
    id: PlanId,
    spec: Arc<PlanSpec>,
    pace: Pace,
    is_over: bool,
    /// What its branch is at, at least.
    tip: String,
    /// What of the file as it is now is done.
    done: Vec<String>,
}

impl Known {
    fn of(house: &House, root: &str, origin: &Origin, tasks: &[TaskSpec]) -> Self {
        let former = latest_from(house, origin).map(|plan| Former {
            id: plan.id.clone(),
            spec: plan.spec.clone(),
            pace: pace_of(plan),
            is_over: plan.is_over(),
            tip: plan.tip.clone().unwrap_or_else(|| plan.spec.base.clone()),
            done: plan.done_of(tasks),
        });
        let own = house.plans().filter(|plan| plan.spec.repo_root == root);
        Self { former, slugs: own.map(|plan| plan.spec.slug.clone()).collect() }
    }
}

/// Whether a file goes on with the plan that it was executed as last. One that is about something else is another
/// plan, and so is one that has more to do when everything of the last one is done and taken in.
async fn goes_on(
    state: &ServerState,
    former: &Former,
    wanted: &Execute,
) -> Result<bool, Box<Response>> {
    if former.spec.title != wanted.title {
        return Ok(false);
    }
    if !former.is_over || former.spec.tasks == wanted.tasks {
        return Ok(true);
    }
    let place = Path::new(&wanted.place);
    let taken_in = state.plans.is_taken_in(place, &former.spec.branch, &former.tip).await;
    taken_in.map(|taken_in| !taken_in).map_err(|why| Box::new(no_base(&why)))
}

pub(super) async fn execute(
    state: &ServerState,
    steps: &Steps<'_>,
    wanted: Execute,
    env: Option<Caller>,
) -> Response {
    let _one = state.plans.beginning.lock().await;
    match prepared(state, wanted).await {
        Ok((id, command)) => {
            state.plans.remember(&id, env);
            match state.mailbox.ask_plan(command, Some(steps.from().clone())).await {
                Some(Ok(_)) => seen(state, id).await,
                Some(Err(refusal)) => Response::Refused(refusal),
                None => storage(),
            }
        }
        Err(response) => *response,
    }
}

/// What is asked of the core for a file that is to be executed, and of which plan.
async fn prepared(
    state: &ServerState,
    wanted: Execute,
) -> Result<(PlanId, PlanCommand), Box<Response>> {
    let (root, checkout) = roots(state, &wanted.place).await?;
    state.plans.check_place(&root).await.map_err(|why| Box::new(no_records(why)))?;
    let origin = Origin { checkout, file: wanted.file.clone() };
    let known = {
        let (root, origin, tasks) = (root.clone(), origin.clone(), wanted.tasks.clone());
        state.mailbox.house(move |house| Known::of(house, &root, &origin, &tasks)).await
    };
    let Known { former, slugs } = known.ok_or_else(|| Box::new(storage()))?;
    let joined = match &former {
        Some(former) => goes_on(state, former, &wanted).await?,
        None => false,
    };
    let title_stays = former.as_ref().is_some_and(|former| former.spec.title == wanted.title);
    let (id, spec, usual, done) = match former {
        Some(former) if joined => {
            let Execute { title, tasks, .. } = wanted.clone();
            (
                former.id,
                PlanSpec { title, tasks, ..(*former.spec).clone() },
                former.pace,
                Vec::new(),
            )
        }
        former => {
            let (slug, branch, base) = fresh(state, &wanted, &slugs).await?;
            let done = former.filter(|_| title_stays).map(|former| former.done);
            let Execute { title, tasks, .. } = wanted.clone();
            let origin = Some(origin);
            let spec = PlanSpec { title, slug, repo_root: root, branch, base, origin, tasks };
            let id = PlanId(uuid::Uuid::now_v7().to_string());
            (id, spec, Pace::default(), done.unwrap_or_default())
        }
    };
    let pace = wanted.pace.unwrap_or(usual);
    Ok((id.clone(), PlanCommand::Execute { id, spec: Box::new(spec), pace, done }))
}

/// A name, a branch and a base for a plan that begins.
async fn fresh(
    state: &ServerState,
    wanted: &Execute,
    slugs: &[String],
) -> Result<(String, String, String), Box<Response>> {
    let slug = slug(wanted);
    let mut free = (1..=u32::MAX).map(|n| name::numbered(&slug, n));
    let slug = free.find(|slug| !slugs.contains(slug)).unwrap_or(slug);
    let branch = format!("{BRANCH}{slug}");
    let (place, above) = (Path::new(&wanted.place), BRANCH.trim_end_matches('/'));
    if let Ok((_, true)) = state.plans.stands_on(place, above).await {
        return Err(Box::new(in_the_way(above)));
    }
    match state.plans.stands_on(place, &branch).await {
        Ok((base, false)) => Ok((slug, branch, base)),
        // What cannot be looked up is not taken for nothing: its tasks may be done.
        Ok((_, true)) => Err(Box::new(taken(&branch))),
        Err(why) => Err(Box::new(no_base(&why))),
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
