//! Executing a plan: begun, paused, its tasks resumed and begun anew.

use super::{end, message, start, usage_limit};
use crate::claims;
use crate::decision::{Decision, Reply};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::house::House;
use crate::ids::PlanId;
use crate::merge::Unmerged;
use crate::pause::PauseMode;
use crate::plan::{
    Pace, Plan, PlanCommand, PlanEvent, PlanOutcome, PlanPause, PlanSpec, Run, RunFault, RunStep,
};
use crate::react::{self, follow, settle_house};
use crate::refusal::Refusal;
use crate::session::{Phase, Rest, Session, StartCause, StopCause};

pub(super) fn command(house: &House, command: PlanCommand) -> Result<Decision, Refusal> {
    let mut draft = Draft::over(house);
    match command {
        PlanCommand::Execute { id, spec, pace } => execute(&mut draft, &id, *spec, pace)?,
        PlanCommand::Pause { id, mode } => pause(&mut draft, &id, mode)?,
        PlanCommand::Resume { id, task, prompt } => resume(&mut draft, &id, &task, prompt)?,
        PlanCommand::Restart { id, task, spec } => restart(&mut draft, &id, &task, spec)?,
    }
    Ok(settle_house(draft))
}

fn no_task(given: &str) -> Refusal {
    Refusal::NoSuchTask { given: given.to_owned() }
}

fn plan_of<'d>(draft: &'d Draft<'_>, id: &PlanId) -> Result<&'d Plan, Refusal> {
    draft.plan(id).ok_or_else(|| no_task(&id.0))
}

/// The latest run of a task.
fn run_of(draft: &Draft<'_>, id: &PlanId, task: &str) -> Result<Run, Refusal> {
    plan_of(draft, id)?.latest_run(task).cloned().ok_or_else(|| no_task(task))
}

fn execute(draft: &mut Draft<'_>, id: &PlanId, spec: PlanSpec, pace: Pace) -> Result<(), Refusal> {
    if let Some(only) =
        pace.only.as_deref().filter(|only| spec.tasks.iter().all(|t| t.id != **only))
    {
        return Err(no_task(only));
    }
    let Some(plan) = draft.plan(id) else {
        draft.plan_event(id, PlanEvent::Begun { spec: Box::new(spec), pace });
        return Ok(());
    };
    let goes_on = plan.paused.is_none() && plan.pace == pace;
    let revised = revise(draft, id, Some(Box::new(spec)))?;
    if !goes_on {
        draft.plan_event(id, PlanEvent::Continued { pace });
    }
    if !revised && goes_on {
        draft.reply(Reply::Already);
    }
    Ok(())
}

/// Takes in what the plan's file has now. True if that is something else than before.
fn revise(
    draft: &mut Draft<'_>,
    id: &PlanId,
    spec: Option<Box<PlanSpec>>,
) -> Result<bool, Refusal> {
    let known = &*plan_of(draft, id)?.spec;
    // Its branch has begun, wherever the repository stands now.
    let spec = spec.map(|spec| {
        let PlanSpec { slug, branch, base, .. } = known;
        let (slug, branch, base) = (slug.clone(), branch.clone(), base.clone());
        Box::new(PlanSpec { slug, branch, base, ..*spec })
    });
    let Some(spec) = spec.filter(|spec| **spec != *known) else { return Ok(false) };
    draft.plan_event(id, PlanEvent::Revised { spec });
    Ok(true)
}

/// First nothing begins any more, then what runs is paused.
fn pause(draft: &mut Draft<'_>, id: &PlanId, mode: PauseMode) -> Result<(), Refusal> {
    let plan = plan_of(draft, id)?;
    let active: Vec<_> = plan.active.iter().filter_map(|run| plan.run(run)).cloned().collect();
    if plan.paused != Some(PlanPause::User) || active.iter().any(|run| run.alone) {
        draft.plan_event(id, PlanEvent::Stopped { why: PlanPause::User });
    }
    for session in active.into_iter().filter_map(|run| run.session) {
        if draft.turn_to(&session).is_err() {
            continue;
        }
        if let Some(mode) = how_to_pause(&draft.session, mode) {
            usage_limit::take_over(draft);
            // One that cannot be paused runs on, and the window says so.
            super::pause::begin(draft, react::plan::wish(mode)).ok();
            follow(draft);
        }
    }
    draft.reply(Reply::Done);
    Ok(())
}

/// How the session of a run is paused with its plan, if it has to be.
fn how_to_pause(session: &Session, mode: PauseMode) -> Option<PauseMode> {
    match &session.phase {
        Phase::Live | Phase::Pausing(_) => Some(mode),
        // One that is only just made is paused when it runs (`react/plan.rs`); one that comes back has
        // nothing to lose, and would run on.
        Phase::Starting(start) if start.cause == StartCause::New => {
            (mode == PauseMode::Force).then_some(mode)
        }
        Phase::Starting(_) => Some(PauseMode::Force),
        // It would come back by itself.
        Phase::Rest(Rest::Paused(_)) => {
            (session.deferred.is_some() || session.parked().is_some()).then_some(mode)
        }
        Phase::Rest(_) | Phase::Stopping { .. } | Phase::Chore { .. } => None,
    }
}

/// Resumes a task's session, has it mend what keeps its work from being merged, or tries that again.
fn resume(
    draft: &mut Draft<'_>,
    id: &PlanId,
    task: &str,
    prompt: Option<String>,
) -> Result<(), Refusal> {
    let run = run_of(draft, id, task)?;
    let state = draft.run_state(&run);
    let idle = || Refusal::TaskIdle { task: task.to_owned(), run: run.id.clone(), state };
    let unsaid = run.session.as_ref().and_then(|session| draft.session_of(session));
    let unsaid = unsaid.is_some_and(|session| session.undelivered.is_some());
    let prompt = match (&run.step, prompt) {
        // What it was to do it has not got: without that there is nothing to go on with.
        (RunStep::Working, None) if unsaid => return Err(idle()),
        (RunStep::Working, prompt) => prompt,
        (RunStep::Waiting(_), Some(prompt)) => Some(prompt),
        (RunStep::Waiting(why), None) => {
            let Some(words) = mending(plan_of(draft, id)?, why) else {
                react::plan::finish(draft, id, run.id.clone());
                return Ok(());
            };
            Some(words)
        }
        (RunStep::Failed(RunFault::NotAccepted(why)), prompt) => {
            Some(prompt.unwrap_or_else(|| {
                format!("[glis] Your work was not accepted: {why}. Mend what is wrong, and commit.")
            }))
        }
        (
            RunStep::Preparing
            | RunStep::Finishing
            | RunStep::Succeeded(_)
            | RunStep::Failed(_)
            | RunStep::Canceled,
            _,
        ) => return Err(idle()),
    };
    let session = run.session.clone().ok_or_else(idle)?;
    if run.is_over() {
        if draft.gate.shut().is_some() {
            return Err(Refusal::Shut { session: task.to_owned() });
        }
        let next = plan_of(draft, id)?.next_run(task);
        let (task, resumed_from) = (task.to_owned(), Some(run.id.clone()));
        let (restart_of, alone) = (None, true);
        let began = PlanEvent::RunBegan { run: next, task, restart_of, resumed_from, alone };
        draft.plan_event(id, began);
    }
    draft.turn_to(&session)?;
    match (&draft.session.phase, prompt) {
        (Phase::Live, Some(prompt)) => message::send(draft, prompt)?,
        (Phase::Live | Phase::Starting(_), None) => return Err(idle()),
        (_, prompt) => {
            if let Some(place) = &draft.session.worktree {
                claims::check_place(draft.stirring(), place, &draft.session.id)?;
            }
            start::resume(draft, prompt)?;
        }
    }
    let reply = draft.decision.reply.clone();
    follow(draft);
    draft.reply(reply);
    Ok(())
}

/// What an agent is told that has to mend something before its work can be merged.
fn mending(plan: &Plan, why: &Unmerged) -> Option<String> {
    let branch = &plan.spec.branch;
    match why {
        Unmerged::Conflict { files } => Some(format!(
            "[glis] Your work and the branch {branch} have changed the same files: {}. Merge {branch} into your \
             branch, resolve the conflicts so that both purposes are kept, and commit.",
            files.line()
        )),
        Unmerged::Unfinished { what } => {
            Some(format!("[glis] A {what} is not finished in your worktree. Finish it and commit."))
        }
        Unmerged::OffBranch { .. }
        | Unmerged::Nested { .. }
        | Unmerged::NoBranch
        | Unmerged::NoBase
        | Unmerged::CheckedOut { .. }
        | Unmerged::NoWorktree
        | Unmerged::Hook { .. }
        | Unmerged::Stopped
        | Unmerged::Failed { .. } => None,
    }
}

/// Begins another run of a task. What the former one has done stays where it is.
fn restart(
    draft: &mut Draft<'_>,
    id: &PlanId,
    task: &str,
    spec: Option<Box<PlanSpec>>,
) -> Result<(), Refusal> {
    let former = run_of(draft, id, task)?;
    let at_work = match former.step {
        RunStep::Preparing | RunStep::Finishing => true,
        RunStep::Working => {
            let session = former.session.as_ref().and_then(|session| draft.session_of(session));
            session.is_some_and(|session| !matches!(session.phase, Phase::Rest(_)))
        }
        RunStep::Waiting(_) | RunStep::Succeeded(_) | RunStep::Failed(_) | RunStep::Canceled => {
            false
        }
    };
    if at_work {
        return Err(Refusal::TaskAtWork { task: task.to_owned(), run: former.id });
    }
    if draft.gate.shut().is_some() {
        return Err(Refusal::Shut { session: task.to_owned() });
    }
    revise(draft, id, spec)?;
    let run = plan_of(draft, id)?.next_run(task);
    let began = PlanEvent::RunBegan {
        run: run.clone(),
        task: task.to_owned(),
        restart_of: Some(former.id),
        resumed_from: None,
        alone: true,
    };
    draft.plan_event(id, began);
    draft.plan_effect(id, Effect::BeginRun { run });
    Ok(())
}

/// Takes in what came of an effect.
pub(super) fn outcome(house: &House, id: &PlanId, outcome: PlanOutcome) -> Decision {
    let mut draft = Draft::over(house);
    let Some(run) = draft.plan(id).and_then(|plan| plan.run(outcome.run())).cloned() else {
        return Decision::default();
    };
    let due = match &outcome {
        PlanOutcome::NotBegun { .. } => run.step == RunStep::Preparing,
        PlanOutcome::Merged { .. }
        | PlanOutcome::Unmerged { .. }
        | PlanOutcome::NotAccepted { .. } => run.step == RunStep::Finishing,
    };
    // What a former daemon had begun, and this one has begun again, comes twice.
    if !due || run.is_over() {
        return Decision::default();
    }
    match outcome {
        PlanOutcome::NotBegun { run, why } => {
            let why = RunFault::NotBegun(why.into());
            draft.plan_event(id, PlanEvent::RunFailed { run, why });
        }
        PlanOutcome::Merged { run: merged, commit } => {
            draft.plan_event(id, PlanEvent::RunSucceeded { run: merged, commit });
            review(&mut draft, id, &run.task);
            end_session(&mut draft, &run);
        }
        PlanOutcome::Unmerged { run: kept, why } => {
            let session = run.session.as_ref().and_then(|session| draft.session_of(session));
            let gone = session.is_some_and(|it| it.phase == Phase::Rest(Rest::Archived));
            draft.plan_event(
                id,
                if gone {
                    PlanEvent::RunCanceled { run: kept }
                } else {
                    PlanEvent::RunWaits { run: kept, why }
                },
            );
        }
        PlanOutcome::NotAccepted { run: failed, why } => {
            let why = RunFault::NotAccepted(why);
            draft.plan_event(id, PlanEvent::RunFailed { run: failed, why });
            end_session(&mut draft, &run);
        }
    }
    settle_house(draft)
}

/// Stops a plan that a person wants to look at, or of which no more was asked for.
fn review(draft: &mut Draft<'_>, id: &PlanId, task: &str) {
    let Some(plan) = draft.plan(id).filter(|plan| plan.paused.is_none()) else { return };
    let only = plan.pace.only.as_deref() == Some(task);
    let why = match (only, plan.pace.review && !plan.schedule.is_over()) {
        (true, _) => PlanPause::Only,
        (false, true) => PlanPause::Review,
        (false, false) => return,
    };
    draft.plan_event(id, PlanEvent::Stopped { why });
}

/// Its agent has nothing more to do.
fn end_session(draft: &mut Draft<'_>, run: &Run) {
    let Some(session) = &run.session else { return };
    if draft.turn_to(session).is_ok() && draft.session.phase == Phase::Live {
        end::stop(draft, StopCause::Asked);
        follow(draft);
    }
}
