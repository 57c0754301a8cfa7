//! A file that is to be executed: as the plan that it was executed as last, or as another one.

use super::file::{faults, not_logged_in, origin_of, written};
use super::follow::seen;
use super::place::latest_from;
use crate::environments::{Caller, Env};
use crate::plan_file;
use crate::plan_view;
use crate::run_records::Unfit;
use crate::serve::carry::storage;
use crate::serve::state::ServerState;
use crate::serve::steps::Steps;
use glis_core::plan::{Origin, Pace, Plan, PlanSpec, TaskSpec};
use glis_core::refusal::{LineFault, PlanFileWhy};
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
    /// Nothing of it goes on by itself.
    is_at_rest: bool,
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
            is_at_rest: plan_view::is_at_rest(house, plan),
            tip: plan.tip.clone().unwrap_or_else(|| plan.spec.base.clone()),
            done: plan.done_of(tasks),
        });
        let own = house.plans().filter(|plan| plan.spec.repo_root == root);
        Self { former, slugs: own.map(|plan| plan.spec.slug.clone()).collect() }
    }
}

/// Whether a file goes on with the plan that it was executed as last. One that has more to do when everything of that
/// is done and taken in is another one.
async fn goes_on(
    state: &ServerState,
    former: &Former,
    tasks: &[TaskSpec],
    place: &Path,
) -> Result<bool, Box<Response>> {
    if !former.is_over || former.spec.tasks == tasks {
        return Ok(true);
    }
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
    let prepared = prepared(state, wanted, env.as_ref().map(|caller| &caller.env)).await;
    match prepared {
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
    env: Option<&Env>,
) -> Result<(PlanId, PlanCommand), Box<Response>> {
    let Execute { place, file, pace } = wanted;
    let (root, origin) = origin_of(state, &place, file).await?;
    let plan = written(state, &origin).await?;
    refuse(&origin, faults(state, (&plan, &origin), env))?;
    state.plans.check_place(&root).await.map_err(|why| Box::new(no_records(why)))?;
    let tasks: Vec<TaskSpec> = plan.tasks.iter().cloned().map(TaskSpec::from).collect();
    let known = {
        let (root, origin, tasks) = (root.clone(), origin.clone(), tasks.clone());
        state.mailbox.house(move |house| Known::of(house, &root, &origin, &tasks)).await
    };
    let Known { former, slugs } = known.ok_or_else(|| Box::new(storage()))?;
    // Who only joins what goes on is not kept out.
    if former.as_ref().is_none_or(|former| former.is_at_rest) {
        refuse(&origin, not_logged_in(state, (&plan, &origin), env).await)?;
    }
    let title = plan.title;
    // What is about something else is another plan.
    let former = former.filter(|former| former.spec.title == title);
    let (id, spec, usual, done) = match former {
        Some(former) if goes_on(state, &former, &tasks, Path::new(&place)).await? => {
            let spec = PlanSpec { tasks, ..(*former.spec).clone() };
            (former.id, spec, former.pace, Vec::new())
        }
        former => {
            let slug = slug(title.as_deref(), &origin.file);
            let (slug, branch, base) = fresh(state, Path::new(&place), (slug, &slugs)).await?;
            let origin = Some(origin);
            let spec = PlanSpec { title, slug, repo_root: root, branch, base, origin, tasks };
            let id = PlanId(uuid::Uuid::now_v7().to_string());
            (id, spec, Pace::default(), former.map(|former| former.done).unwrap_or_default())
        }
    };
    let pace = pace.unwrap_or(usual);
    Ok((id.clone(), PlanCommand::Execute { id, spec: Box::new(spec), pace, done }))
}

/// Refuses a plan that has faults.
fn refuse(origin: &Origin, faults: Vec<LineFault>) -> Result<(), Box<Response>> {
    if faults.is_empty() {
        return Ok(());
    }
    let refusal = plan_file::refused(origin, PlanFileWhy::Faulty(faults));
    Err(Box::new(Response::Refused(refusal)))
}

/// A name, a branch and a base for a plan that begins.
async fn fresh(
    state: &ServerState,
    place: &Path,
    (slug, slugs): (String, &[String]),
) -> Result<(String, String, String), Box<Response>> {
    let mut free = (1..=u32::MAX).map(|n| name::numbered(&slug, n));
    let slug = free.find(|slug| !slugs.contains(slug)).unwrap_or(slug);
    let branch = format!("{BRANCH}{slug}");
    let above = BRANCH.trim_end_matches('/');
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
fn slug(title: Option<&str>, file: &str) -> String {
    let file = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let made = title.and_then(name::made_from).or_else(|| file.and_then(name::made_from));
    made.unwrap_or_else(|| "plan".to_owned())
}
