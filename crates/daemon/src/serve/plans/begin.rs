//! A file that is to be executed: as the plan that it was executed as last, or as another one.

use super::ask;
use super::file::{env_for, faults, not_logged_in, origin_of, without_program, written};
use super::follow::seen;
use super::place::latest_from;
use crate::environments::Caller;
use crate::plan_file;
use crate::plan_view;
use crate::plans::Whereabouts;
use crate::run_records::Unfit;
use crate::serve::answer::{Answer, unusable};
use crate::serve::state::ServerState;
use crate::serve::steps::Steps;
use glis_core::plan::{Before, Origin, Pace, Plan, PlanSpec, TaskSpec};
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
    /// What of the file as it is now is settled.
    settled: Before,
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
            settled: plan.settled_of(tasks),
        });
        let own = house.plans().filter(|plan| plan.spec.repo_root == root);
        Self { former, slugs: own.map(|plan| plan.spec.slug.clone()).collect() }
    }
}

/// Whether a file goes on with the plan that it was executed as last, and what is to be said of that. One that has more
/// to do when everything of that is done and out of its branch is another one.
async fn goes_on(
    state: &ServerState,
    former: &Former,
    tasks: &[TaskSpec],
    place: &Path,
) -> Answer<(bool, Option<String>)> {
    if !former.is_over {
        return Ok((true, None));
    }
    let PlanSpec { branch, .. } = &*former.spec;
    let work = state.plans.whereabouts(place, branch, &former.tip).await;
    let work = work.map_err(|why| no_base(&why))?;
    let (same, done) = (former.spec.tasks == tasks, former.settled.done.join(", "));
    let note = (work == Whereabouts::Unknown && !done.is_empty()).then(|| {
        format!(
            "{branch} is gone, and its commits are not in what is checked out here; these count as done all the same: \
             {done} (`glis restart TASK` does one again, another title all of them)"
        )
    });
    Ok((same || work == Whereabouts::InItsBranch, note))
}

pub(super) async fn execute(
    state: &ServerState,
    steps: &Steps<'_>,
    wanted: Execute,
    env: Option<Caller>,
) -> Answer {
    let _one = state.plans.beginning.lock().await;
    let place = wanted.place.clone();
    let Prepared { id, command, note } = prepared(state, wanted, env.as_ref()).await?;
    state.plans.remember(&id, env);
    ask(state, steps, command).await?;
    let mut seen = seen(state, id).await?;
    if let Response::Plan(plan) = &mut seen {
        plan.notes.extend(note);
        plan.notes.extend(state.plans.unsigned(place).await);
    }
    Ok(seen)
}

/// What is asked of the core for a file that is to be executed.
struct Prepared {
    id: PlanId,
    command: PlanCommand,
    /// What whoever executes it should know.
    note: Option<String>,
}

async fn prepared(
    state: &ServerState,
    wanted: Execute,
    caller: Option<&Caller>,
) -> Answer<Prepared> {
    let Execute { place, file, pace } = wanted;
    let (root, origin) = origin_of(state, &place, file).await?;
    let plan = written(state, &origin).await?;
    let env = env_for(state, &origin, caller).await;
    refuse(&origin, faults(state, (&plan, &origin), &env))?;
    state.plans.check_place(&root).await.map_err(no_records)?;
    let tasks = plan.work();
    let Known { former, slugs } = {
        let (root, origin, tasks) = (root.clone(), origin.clone(), tasks.clone());
        state.house(move |house| Known::of(house, &root, &origin, &tasks)).await?
    };
    // Who only joins what goes on is not kept out.
    if former.as_ref().is_none_or(|former| former.is_at_rest) {
        refuse(&origin, without_program(state, (&plan, &origin), &env).await)?;
        refuse(&origin, not_logged_in(state, (&plan, &origin), env).await)?;
    }
    let (title, budget) = (plan.title, plan.budget);
    // What is about something else is another plan.
    let former = former.filter(|former| former.spec.title == title);
    let (goes_on, note) = match &former {
        Some(former) => goes_on(state, former, &tasks, Path::new(&place)).await?,
        None => (false, None),
    };
    let (id, spec, usual, before) = match former {
        Some(former) if goes_on => {
            let spec = PlanSpec { budget, tasks, ..(*former.spec).clone() };
            (former.id, spec, former.pace, Before::default())
        }
        former => {
            let slug = slug(title.as_deref(), &origin.file);
            let (slug, branch, base) = fresh(state, Path::new(&place), (slug, &slugs)).await?;
            let origin = Some(origin);
            let repo_root = root;
            let spec = PlanSpec { title, slug, repo_root, branch, base, origin, budget, tasks };
            let id = PlanId(uuid::Uuid::now_v7().to_string());
            (id, spec, Pace::default(), former.map(|former| former.settled).unwrap_or_default())
        }
    };
    let pace = pace.unwrap_or(usual);
    let command = PlanCommand::Execute { id: id.clone(), spec: Box::new(spec), pace, before };
    Ok(Prepared { id, command, note })
}

fn refuse(origin: &Origin, faults: Vec<LineFault>) -> Answer<()> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(plan_file::refused(origin, PlanFileWhy::Faulty(faults)).into())
}

/// A name, a branch and a base for a plan that begins.
async fn fresh(
    state: &ServerState,
    place: &Path,
    (slug, slugs): (String, &[String]),
) -> Answer<(String, String, String)> {
    let mut free = (1..=u32::MAX).map(|n| name::numbered(&slug, n));
    let slug = free.find(|slug| !slugs.contains(slug)).unwrap_or(slug);
    let branch = format!("{BRANCH}{slug}");
    let above = BRANCH.trim_end_matches('/');
    if let Ok((_, true)) = state.plans.stands_on(place, above).await {
        return Err(in_the_way(above).into());
    }
    match state.plans.stands_on(place, &branch).await {
        Ok((base, false)) => Ok((slug, branch, base)),
        // What cannot be looked up is not taken for nothing: its tasks may be done.
        Ok((_, true)) => Err(taken(&branch).into()),
        Err(why) => Err(no_base(&why).into()),
    }
}

/// How a plan goes on where nothing is said about it: one that is executed is joined as it is.
fn pace_of(plan: &Plan) -> Pace {
    if plan.paused.is_none() { plan.pace.clone() } else { Pace::default() }
}

fn taken(branch: &str) -> Response {
    unusable(
        format!("the branch {branch} is there, and no plan of this home has made it"),
        format!(
            "its tasks may be done already: `git log {branch}`; `git branch -m {branch} OTHER` makes \
             room for this plan"
        ),
    )
}

/// A branch that is called like the folder of all plans' branches keeps each of them from being made.
fn in_the_way(branch: &str) -> Response {
    unusable(
        format!("there is a branch {branch}, so no plan can have a branch below that name"),
        format!("`git branch -m {branch} {branch}-session` makes room"),
    )
}

fn no_base(why: &str) -> Response {
    unusable(format!("the plan has no commit to begin from: {why}"), "commit something first")
}

fn no_records(why: Unfit) -> Response {
    match why {
        Unfit::Place(why) => unusable(
            why,
            "put a folder in its place; the plan itself may be any file: `glis execute FILE`",
        ),
        Unfit::Unignored(why) => unusable(
            format!("the records of runs would be in your commits: {why}"),
            "make that file writable, or have git ignore /.glis/runs/ otherwise",
        ),
    }
}

/// A plan's name in the names of branches: from its title, else from its file.
fn slug(title: Option<&str>, file: &str) -> String {
    let file = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let made = title.and_then(name::made_from).or_else(|| file.and_then(name::made_from));
    made.unwrap_or_else(|| "plan".to_owned())
}
