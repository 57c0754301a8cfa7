//! Plans and runs as the outside sees them.

use crate::view::time;
use glis_core::pause::PauseReason;
use glis_core::plan::{Plan, Run, RunState, RunStep, TaskSpec};
use glis_core::rule::Rule;
use glis_core::session::{Phase, Rest, Session};
use glis_core::talk::AskKind;
use glis_core::{House, PlanEvent, RunId, Status};
use glis_wire::plan::{PlanRow, PlanView, RECORD_SCHEMA, RunView, TaskState, TaskView};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn run(plan: &Plan, run: &Run, session: Option<&Session>) -> RunView {
    let pause = session.and_then(Session::pause_record);
    let task = plan.task(&run.task);
    let named = task.and_then(|task| task.agent.clone());
    let (mut unmerged, mut fault, mut commit) = (None, None, None);
    match &run.step {
        RunStep::Waiting(why) => unmerged = Some(why.clone()),
        RunStep::Failed(why) => fault = Some(why.clone()),
        RunStep::Succeeded(by) => commit = Some(by.clone()),
        RunStep::Preparing
        | RunStep::Working
        | RunStep::Finishing
        | RunStep::Merging(_)
        | RunStep::Canceled => {}
    }
    let state = run.state(session);
    let asked = session.filter(|session| session.status() == Status::Waiting);
    let ask = asked.and_then(|session| session.asked().first());
    RunView {
        schema_version: RECORD_SCHEMA,
        run_id: run.id.0.clone(),
        task_id: run.task.clone(),
        state,
        provider: session.map(|session| session.spec.agent.clone()).or(named),
        provider_session_ref: session.and_then(|session| session.agent.agent_ref.clone()),
        resumable: state == RunState::Paused && session.is_some_and(Session::resumable),
        repo_root: plan.spec.repo_root.clone(),
        created_at: time(run.created_at),
        updated_at: time(run.updated_at),
        // One that died, or ended with the daemon, is paused since its record was last changed by that.
        paused_at: session
            .and_then(|session| session.course.paused_at)
            .or((state == RunState::Paused).then_some(run.updated_at))
            .map(time),
        resume_at: session.and_then(Session::appointment).map(time),
        pause_reason: pause.map(|pause| pause.reason).or_else(|| stopped_by(state, session)),
        resumed_from_run_id: run.resumed_from.as_ref().map(|id| id.0.clone()),
        restart_of_run_id: run.restart_of.as_ref().map(|id| id.0.clone()),
        superseded_by_run_id: run.superseded_by.as_ref().map(|id| id.0.clone()),
        plan: plan.id.0.clone(),
        plan_slug: plan.spec.slug.clone(),
        session: run.session.as_ref().map(|id| id.0.clone()),
        session_name: session.map(|session| session.name.clone()),
        worktree: session.and_then(|session| session.place.worktree.clone()),
        branch: session.and_then(|session| session.place.branch.clone()),
        forced: pause.is_some_and(|pause| pause.forced),
        finishing: is_finishing(run),
        moves: moves(run, session),
        asks: ask.map(|ask| ask.text.clone()),
        decides: ask.is_some_and(|ask| ask.choices.is_none() && ask.decided_by().is_some()),
        doubt: session.and_then(doubt),
        undelivered: session.and_then(|session| session.starts.undelivered.clone()),
        turn_failed: session.and_then(|session| session.talk.turn_failed.clone()),
        unmerged,
        fault,
        commit,
        accept_log: task
            .filter(|task| task.accept.is_some())
            .map(|_| format!("{}/{}.accept.log", plan.spec.slug, run.id)),
        cost_micros: run.cost_micros,
        skipped: plan.skipped.contains(&run.task),
    }
}

/// Whether the work of a run is judged and merged.
pub(crate) fn is_finishing(run: &Run) -> bool {
    matches!(run.step, RunStep::Finishing | RunStep::Merging(_))
}

/// What has paused a run whose session nobody has paused.
fn stopped_by(state: RunState, session: Option<&Session>) -> Option<PauseReason> {
    let session = session.filter(|_| state == RunState::Paused)?;
    Some(if session.status() == Status::Interrupted {
        PauseReason::Crash
    } else if session.course.rule == Rule::ShutDown {
        PauseReason::Shutdown
    } else {
        PauseReason::User
    })
}

/// What its agent may have got or not.
fn doubt(session: &Session) -> Option<String> {
    let mut asks = session.asks().into_iter();
    asks.find(|ask| ask.kind == AskKind::Doubt).map(|ask| ask.text)
}

/// Whether a run goes on by itself, sooner or later.
fn moves(run: &Run, session: Option<&Session>) -> bool {
    if run.is_over() {
        return false;
    }
    match run.step {
        RunStep::Preparing | RunStep::Finishing | RunStep::Merging(_) => true,
        RunStep::Waiting(_) | RunStep::Succeeded(_) | RunStep::Failed(_) | RunStep::Canceled => {
            false
        }
        RunStep::Working => session.is_none_or(|session| {
            let unsaid = session.starts.undelivered.is_some() && session.talk.queue.is_empty();
            match &session.phase {
                Phase::Live => !(unsaid && session.status() == Status::Idle),
                Phase::Starting(_) | Phase::Pausing(_) | Phase::Stopping { .. } => true,
                Phase::Chore { .. } => false,
                Phase::Rest(rest) => match rest {
                    Rest::Created | Rest::Completed => true,
                    Rest::Suspended => !session.talk.cut_off && !unsaid && !session.ended_unheard(),
                    Rest::Paused(_) => session.comes_back(),
                    Rest::Interrupted | Rest::Failed(_) | Rest::Archived => false,
                },
            }
        }),
    }
}

pub(crate) fn session_of<'h>(house: &'h House, run: &Run) -> Option<&'h Session> {
    run.session.as_ref().and_then(|id| house.session(id))
}

pub(crate) fn run_of(event: &PlanEvent) -> Option<&RunId> {
    match event {
        PlanEvent::RunBegan { run, .. }
        | PlanEvent::RunFinishing { run, .. }
        | PlanEvent::RunCost { run, .. }
        | PlanEvent::RunAccepted { run, .. }
        | PlanEvent::RunSucceeded { run, .. }
        | PlanEvent::RunFailed { run, .. }
        | PlanEvent::RunWaits { run, .. }
        | PlanEvent::RunCanceled { run } => Some(run),
        PlanEvent::Begun { .. }
        | PlanEvent::Revised { .. }
        | PlanEvent::Continued { .. }
        | PlanEvent::Stopped { .. }
        | PlanEvent::TaskSkipped { .. }
        | PlanEvent::TaskProposed { .. } => None,
    }
}

/// Whether nothing of a plan goes on by itself.
pub(crate) fn is_at_rest(house: &House, plan: &Plan) -> bool {
    let active = plan.active.iter().filter_map(|id| plan.run(id));
    let moves = active.into_iter().any(|run| moves(run, session_of(house, run)));
    let held = house.gate().shut().is_some() && plan.next().is_some();
    !moves && !held
}

/// Whether a run waits for an answer of a person.
pub(crate) fn asks(run: &Run, session: Option<&Session>) -> bool {
    run.step == RunStep::Working
        && session.is_some_and(|session| session.status() == Status::Waiting)
}

/// A plan in a list.
pub(crate) fn row(house: &House, plan: &Plan) -> PlanRow {
    let (place, file) = plan.origin().map(|origin| (origin.checkout, origin.file)).unzip();
    let works: Vec<_> = plan.spec.tasks.iter().filter(|task| task.prompt.is_some()).collect();
    PlanRow {
        id: plan.id.0.clone(),
        slug: plan.spec.slug.clone(),
        title: plan.spec.title.clone(),
        place,
        file,
        branch: plan.spec.branch.clone(),
        created_at: time(plan.created_at),
        settled: works.iter().filter(|task| plan.is_done(&task.id)).count(),
        tasks: works.len(),
        done: plan.is_over(),
        at_rest: is_at_rest(house, plan),
    }
}

/// A plan, with all its tasks.
pub(crate) fn plan(house: &House, plan: &Plan) -> PlanView {
    let ready: BTreeSet<&str> = plan.schedule.ready().collect();
    let mut tasks: Vec<TaskView> = Vec::new();
    let groups: BTreeSet<&str> =
        plan.spec.tasks.iter().filter_map(|task| task.parent.as_deref()).collect();
    for task in &plan.spec.tasks {
        let latest = plan.latest_run(&task.id);
        let run = latest.map(|latest| run(plan, latest, session_of(house, latest)));
        let state = match &run {
            _ if plan.skipped.contains(&task.id) => TaskState::Run(RunState::Canceled),
            None if plan.before.contains(&task.id) => TaskState::Run(RunState::Succeeded),
            Some(run) => TaskState::Run(run.state),
            None if ready.contains(task.id.as_str()) => TaskState::Ready,
            None => TaskState::Todo,
        };
        let changed = plan.is_changed(task);
        let TaskSpec { id, title, parent, needs, .. } = task.clone();
        let works = task.prompt.is_some();
        tasks.push(TaskView { id, title, parent, needs, state, works, changed, run });
    }
    let states = group_states(plan, &tasks, &groups);
    for task in &mut tasks {
        // One that is worked on itself tells how that goes.
        let own = task.works && task.state != TaskState::Todo;
        if let Some(state) = states.get(&task.id).filter(|_| !own) {
            task.state = *state;
        }
    }
    // A task that was done may be done once more.
    let again =
        |run: &RunView| run.state != RunState::Succeeded && !plan.skipped.contains(&run.task_id);
    let is_again = tasks.iter().any(|task| task.run.as_ref().is_some_and(again));
    PlanView {
        id: plan.id.0.clone(),
        slug: plan.spec.slug.clone(),
        title: plan.spec.title.clone(),
        repo_root: plan.spec.repo_root.clone(),
        branch: plan.spec.branch.clone(),
        base: plan.spec.base.clone(),
        pace: plan.pace.clone(),
        created_at: time(plan.created_at),
        paused: plan.paused,
        at_rest: is_at_rest(house, plan),
        done: plan.schedule.is_over() && !is_again,
        gate_shut: house.gate().shut().is_some(),
        cost_micros: plan.cost_micros,
        notes: Vec::new(),
        tasks,
    }
}

/// What each group is: done when all of it is, and under way as soon as anything of it is.
fn group_states(
    plan: &Plan,
    tasks: &[TaskView],
    groups: &BTreeSet<&str>,
) -> BTreeMap<String, TaskState> {
    let places: BTreeMap<&str, &TaskView> =
        tasks.iter().map(|task| (task.id.as_str(), task)).collect();
    let mut counts: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    for task in tasks.iter().filter(|task| task.works || !groups.contains(task.id.as_str())) {
        let succeeded = task.state == TaskState::Run(RunState::Succeeded);
        let done = succeeded || plan.skipped.contains(&task.id);
        let begun = matches!(task.state, TaskState::Run(_));
        let mut above = task.parent.as_deref();
        while let Some(group) = above {
            let (all, ready, touched) = counts.entry(group.to_owned()).or_default();
            *all += 1;
            *ready += usize::from(done);
            *touched += usize::from(begun);
            above = places.get(group).and_then(|group| group.parent.as_deref());
        }
    }
    let works = |id: &str| places.get(id).is_some_and(|task| task.works);
    let state = |id: &str, (all, done, begun): (usize, usize, usize)| {
        if all == done && !works(id) {
            TaskState::Run(RunState::Succeeded)
        } else if begun > 0 {
            TaskState::Run(RunState::Running)
        } else {
            TaskState::Todo
        }
    };
    let told = |(id, counts): (String, _)| {
        let state = state(&id, counts);
        (id, state)
    };
    counts.into_iter().map(told).collect()
}
