//! Executing a plan: begun, paused, its tasks resumed and begun anew.

pub(super) mod budget;
mod pausing;
pub(super) mod work;

use self::pausing::pause_each;
use super::{end, message, start};
use crate::decision::{Decision, Reply};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::ids::{PlanId, RunId};
use crate::merge::Unmerged;
use crate::pause::PauseMode;
use crate::plan::{
    Before, Pace, Plan, PlanCommand, PlanEvent, PlanOutcome, PlanPause, PlanSpec, Ruling, Run,
    RunFault, RunStep, TaskSpec,
};
use crate::refusal::Refusal;
use crate::session::{Phase, Rest, Session, StopCause};

pub(super) fn command(mut draft: Draft<'_>, command: PlanCommand) -> Result<Decision, Refusal> {
    match command {
        PlanCommand::Execute { id, spec, pace, before } => {
            execute(&mut draft, &id, *spec, (pace, before))?;
        }
        PlanCommand::Revise { id, spec } => {
            if !revise(&mut draft, &id, Some(spec), None)? {
                draft.reply(Reply::Already);
            }
        }
        PlanCommand::Propose { id, task, title } => {
            plan_of(&draft, &id)?;
            draft.plan_event(&id, PlanEvent::TaskProposed { task, title });
        }
        PlanCommand::Pause { id, mode } => pause(&mut draft, &id, mode)?,
        PlanCommand::Resume { id, task, prompt } => resume(&mut draft, &id, &task, prompt)?,
        PlanCommand::Restart { id, task, spec } => restart(&mut draft, &id, &task, spec)?,
        PlanCommand::Rule { id, task, ruling } => rule(&mut draft, &id, &task, ruling)?,
    }
    Ok(draft.settle_house())
}

fn no_task(given: &str) -> Refusal {
    Refusal::NoSuchTask { given: given.to_owned() }
}

fn plan_of<'d>(draft: &'d Draft<'_>, id: &PlanId) -> Result<&'d Plan, Refusal> {
    draft.plan(id).ok_or_else(|| no_task(&id.0))
}

fn run_of(draft: &Draft<'_>, id: &PlanId, task: &str) -> Result<Run, Refusal> {
    plan_of(draft, id)?.latest_run(task).cloned().ok_or_else(|| no_task(task))
}

fn execute(
    draft: &mut Draft<'_>,
    id: &PlanId,
    spec: PlanSpec,
    (pace, before): (Pace, Before),
) -> Result<(), Refusal> {
    if let Some(only) =
        pace.only.as_deref().filter(|only| spec.tasks.iter().all(|t| t.id != **only))
    {
        return Err(no_task(only));
    }
    let Some(plan) = draft.plan(id) else {
        let Before { done, skipped } = before;
        draft.plan_event(id, PlanEvent::Begun { spec: Box::new(spec), pace, done });
        for task in skipped {
            skip(draft, id, &task);
        }
        budget::limit_time(draft, id);
        return Ok(());
    };
    let (is_over, goes_on) = (plan.is_over(), plan.paused.is_none() && plan.pace == pace);
    let revised = revise(draft, id, Some(Box::new(spec)), None)?;
    // What has more to do again is executed anew.
    let goes_on = goes_on && !(is_over && revised);
    if !goes_on {
        draft.plan_event(id, PlanEvent::Continued { pace });
        budget::limit_time(draft, id);
        budget::stop_if_spent(draft, id);
    }
    let again = look_again(draft, id);
    if !revised && goes_on && !again {
        draft.reply(Reply::Already);
    }
    Ok(())
}

/// Has what was in the way of a merge looked at once more, where only the world outside can tell whether it still is.
fn look_again(draft: &mut Draft<'_>, id: &PlanId) -> bool {
    let waits = |run: &&Run| {
        matches!(
            run.step,
            RunStep::Waiting(
                Unmerged::CheckedOut { .. }
                    | Unmerged::OffBranch { .. }
                    | Unmerged::Nested { .. }
                    | Unmerged::Submodule { .. }
                    | Unmerged::NoBranch
                    | Unmerged::NoBase
                    | Unmerged::Hook { .. }
                    | Unmerged::Failed { .. }
            )
        )
    };
    let Some(plan) = draft.plan(id) else { return false };
    let waiting = plan.active.iter().filter_map(|run| plan.run(run)).filter(waits);
    let waiting: Vec<_> = waiting.map(|run| (run.id.clone(), run.as_it_is)).collect();
    for (run, as_it_is) in &waiting {
        work::finish(draft, id, run.clone(), *as_it_is);
    }
    !waiting.is_empty()
}

/// Takes in what the plan's file has now. True if that is something else than before. A task that is worked on
/// stays what its agent was told, unless it is the one that begins anew; one that is no longer there is paused.
fn revise(
    draft: &mut Draft<'_>,
    id: &PlanId,
    spec: Option<Box<PlanSpec>>,
    anew: Option<&str>,
) -> Result<bool, Refusal> {
    let plan = plan_of(draft, id)?;
    let Some(spec) = spec else { return Ok(false) };
    // Its branch has begun, wherever the repository stands now.
    let PlanSpec { slug, branch, base, origin, .. } = (*plan.spec).clone();
    let mut spec = Box::new(PlanSpec { slug, branch, base, origin, ..*spec });
    for task in spec.tasks.iter_mut().filter(|task| anew != Some(&task.id)) {
        let is_worked_on = plan.latest_run(&task.id).is_some_and(|run| !run.is_over());
        if let Some(told) = plan.task(&task.id).filter(|_| is_worked_on) {
            let (parent, needs) = (task.parent.take(), std::mem::take(&mut task.needs));
            *task = TaskSpec { parent, needs, ..told.clone() };
        }
    }
    if *spec == *plan.spec {
        return Ok(false);
    }
    let is_gone = |run: &&Run| spec.tasks.iter().all(|task| task.id != run.task);
    let gone = plan.active.iter().filter_map(|run| plan.run(run)).filter(is_gone);
    let gone: Vec<_> = gone.filter_map(|run| run.session.clone()).collect();
    draft.plan_event(id, PlanEvent::Revised { spec });
    work::limit_time_again(draft, id);
    budget::stop_if_spent(draft, id);
    pause_each(draft, gone, PauseMode::Interrupt);
    draft.reply(Reply::Done);
    Ok(true)
}

/// First nothing begins any more, then what runs is paused.
fn pause(draft: &mut Draft<'_>, id: &PlanId, mode: PauseMode) -> Result<(), Refusal> {
    let plan = plan_of(draft, id)?;
    let active: Vec<_> = plan.active.iter().filter_map(|run| plan.run(run)).cloned().collect();
    if plan.paused != Some(PlanPause::User) || active.iter().any(|run| run.alone) {
        draft.plan_event(id, PlanEvent::Stopped { why: PlanPause::User });
    }
    pause_each(draft, active.into_iter().filter_map(|run| run.session), mode);
    draft.reply(Reply::Done);
    Ok(())
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
    let unsaid = unsaid.is_some_and(|session| session.starts.undelivered.is_some());
    let prompt = match (&run.step, prompt) {
        // What it was to do it has not got: without that there is nothing to go on with.
        (RunStep::Working, None) if unsaid => return Err(idle()),
        (RunStep::Working, prompt) => prompt,
        (RunStep::Waiting(_) | RunStep::Failed(RunFault::Rejected), Some(prompt)) => Some(prompt),
        (RunStep::Waiting(why), None) => {
            let Some(words) = mending(plan_of(draft, id)?, why) else {
                work::finish(draft, id, run.id.clone(), false);
                return Ok(());
            };
            Some(words)
        }
        (RunStep::Failed(RunFault::NotAccepted(why)), prompt) => {
            Some(prompt.unwrap_or_else(|| not_accepted(why)))
        }
        (
            RunStep::Preparing
            | RunStep::Finishing
            | RunStep::Merging(_)
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
        keep_to(draft, id, &run.id);
        begin_behind(draft, id, &run, Behind::Asked);
    } else if run.step == RunStep::Working {
        keep_to(draft, id, &run.id);
    }
    draft.turn_to(&session)?;
    if prompt.is_none() && matches!(draft.session.phase, Phase::Live | Phase::Starting(_)) {
        return Err(idle());
    }
    go_on(draft, prompt)?;
    let reply = draft.decision.reply.clone();
    draft.follow();
    draft.reply(reply);
    Ok(())
}

/// Where nothing of a plan goes on, what is asked of one task begins no other.
fn keep_to(draft: &mut Draft<'_>, id: &PlanId, run: &RunId) {
    let is_alone = |plan: &Plan| {
        let goes_on = work::others_go_on(draft, plan, run);
        plan.paused.is_none() && !plan.is_over() && !goes_on
    };
    if draft.plan(id).is_some_and(is_alone) {
        draft.plan_event(id, PlanEvent::Stopped { why: PlanPause::Only });
    }
}

/// Has the session in hand go on, with these words.
fn go_on(draft: &mut Draft<'_>, words: Option<String>) -> Result<(), Refusal> {
    if let (Phase::Live, Some(words)) = (&draft.session.phase, &words) {
        return message::send(draft, words.clone());
    }
    draft.check_place()?;
    start::resume(draft, words)
}

/// Why a run begins in the conversation of another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Asked,
    /// Its agent is told by itself what was not accepted.
    Retry,
}

/// Begins a run in the conversation of one that is over. The run.
fn begin_behind(draft: &mut Draft<'_>, id: &PlanId, former: &Run, behind: Behind) -> RunId {
    let next = draft.plan(id).map(|plan| plan.next_run(&former.task));
    let run = next.unwrap_or_else(|| former.id.clone());
    let retry = behind == Behind::Retry;
    let began = PlanEvent::RunBegan {
        run: run.clone(),
        task: former.task.clone(),
        restart_of: None,
        resumed_from: Some(former.id.clone()),
        retry,
        // Also where only this task was asked for.
        alone: !retry || former.alone || draft.plan(id).is_some_and(|plan| plan.paused.is_some()),
    };
    draft.plan_event(id, began);
    run
}

/// What an agent is told whose work was not accepted.
fn not_accepted(why: &str) -> String {
    format!("[glis] Your work was not accepted: {why}\n\n[glis] Mend what is wrong, and commit.")
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
        | Unmerged::Submodule { .. }
        | Unmerged::NoBranch
        | Unmerged::NoBase
        | Unmerged::CheckedOut { .. }
        | Unmerged::NoWorktree
        | Unmerged::Hook { .. }
        | Unmerged::Review
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
    let former = match run_of(draft, id, task) {
        Ok(former) => Some(former),
        Err(_) if plan_of(draft, id)?.before.contains(task) => None,
        Err(refusal) => return Err(refusal),
    };
    if let Some(former) = &former {
        refuse_at_work(draft, former)?;
    }
    if draft.gate.shut().is_some() {
        return Err(Refusal::Shut { session: task.to_owned() });
    }
    revise(draft, id, spec, Some(task))?;
    let run = plan_of(draft, id)?.next_run(task);
    keep_to(draft, id, former.as_ref().map_or(&run, |former| &former.id));
    let began = PlanEvent::RunBegan {
        run: run.clone(),
        task: task.to_owned(),
        restart_of: former.map(|former| former.id),
        resumed_from: None,
        retry: false,
        alone: true,
    };
    draft.plan_event(id, began);
    draft.plan_effect(id, Effect::BeginRun { run });
    Ok(())
}

/// Refuses what would disturb a run that its agent or its judge is at work on.
fn refuse_at_work(draft: &Draft<'_>, run: &Run) -> Result<(), Refusal> {
    let at_work = match run.step {
        RunStep::Preparing | RunStep::Finishing | RunStep::Merging(_) => true,
        RunStep::Working => {
            let session = run.session.as_ref().and_then(|session| draft.session_of(session));
            session.is_some_and(|session| !matches!(session.phase, Phase::Rest(_)))
        }
        RunStep::Waiting(_) | RunStep::Succeeded(_) | RunStep::Failed(_) | RunStep::Canceled => {
            false
        }
    };
    if at_work {
        return Err(Refusal::TaskAtWork { task: run.task.clone(), run: run.id.clone() });
    }
    Ok(())
}

/// Does what a person says about a task.
fn rule(draft: &mut Draft<'_>, id: &PlanId, task: &str, ruling: Ruling) -> Result<(), Refusal> {
    let plan = plan_of(draft, id)?;
    let Some(run) = plan.latest_run(task).cloned() else {
        let known = plan.task(task).is_some_and(|task| task.prompt.is_some());
        return match (known, ruling) {
            (true, Ruling::Skip) => {
                skip(draft, id, task);
                Ok(())
            }
            (true, _) => Err(Refusal::TaskNotBegun { task: task.to_owned() }),
            (false, _) => Err(no_task(task)),
        };
    };
    let skipped = plan.skipped.contains(task);
    refuse_at_work(draft, &run)?;
    let state = draft.run_state(&run);
    let idle = || Refusal::TaskIdle { task: task.to_owned(), run: run.id.clone(), state };
    match (ruling, &run.step) {
        (Ruling::Skip, RunStep::Succeeded(_)) => return Err(idle()),
        (Ruling::Skip, _) if skipped => draft.reply(Reply::Already),
        (Ruling::Skip, _) => {
            if !run.is_over() {
                draft.plan_event(id, PlanEvent::RunCanceled { run: run.id.clone() });
            }
            skip(draft, id, task);
            end_session(draft, &run);
        }
        (Ruling::Reject, RunStep::Waiting(_) | RunStep::Working) => {
            let why = RunFault::Rejected;
            draft.plan_event(id, PlanEvent::RunFailed { run: run.id.clone(), why });
            end_session(draft, &run);
        }
        (
            Ruling::Accept | Ruling::Judge,
            RunStep::Waiting(_)
            | RunStep::Working
            | RunStep::Failed(RunFault::NotAccepted(_) | RunFault::Rejected),
        ) => {
            let run =
                if run.is_over() { begin_behind(draft, id, &run, Behind::Asked) } else { run.id };
            work::finish(draft, id, run, ruling == Ruling::Accept);
        }
        (Ruling::Accept | Ruling::Judge | Ruling::Reject, _) => return Err(idle()),
    }
    Ok(())
}

fn skip(draft: &mut Draft<'_>, id: &PlanId, task: &str) {
    draft.plan_event(id, PlanEvent::TaskSkipped { task: task.to_owned() });
}

/// Takes in what came of an effect.
pub(super) fn outcome(mut draft: Draft<'_>, id: &PlanId, outcome: PlanOutcome) -> Decision {
    let Some(run) = draft.plan(id).and_then(|plan| plan.run(outcome.run())).cloned() else {
        return Decision::default();
    };
    let due = match &outcome {
        PlanOutcome::Cost { micros, .. } => *micros > run.cost_micros,
        PlanOutcome::NotBegun { .. } => run.step == RunStep::Preparing,
        PlanOutcome::Accepted { .. } | PlanOutcome::NotAccepted { .. } => {
            run.step == RunStep::Finishing
        }
        PlanOutcome::Merged { .. } => matches!(run.step, RunStep::Merging(_)),
        PlanOutcome::Unmerged { .. } => {
            matches!(run.step, RunStep::Finishing | RunStep::Merging(_))
        }
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
        PlanOutcome::Cost { run, micros } => budget::count(&mut draft, id, run, micros),
        PlanOutcome::Accepted { run: accepted, commit } => {
            // Also what is no longer in the plan is not merged unasked.
            let is_asked = |plan: &Plan| plan.pace.review || plan.task(&run.task).is_none();
            let review = draft.plan(id).is_some_and(is_asked) && !run.as_it_is;
            draft.plan_event(id, PlanEvent::RunAccepted { run: accepted.clone(), commit });
            if review {
                let why = Unmerged::Review;
                draft.plan_event(id, PlanEvent::RunWaits { run: accepted, why });
            } else {
                draft.plan_effect(id, Effect::MergeRun { run: accepted });
            }
        }
        PlanOutcome::Merged { run: merged, commit } => {
            draft.plan_event(id, PlanEvent::RunSucceeded { run: merged, commit });
            stop_behind(&mut draft, id, &run.task);
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
        PlanOutcome::NotAccepted { why, retries, .. } => {
            refuse(&mut draft, id, &run, (why, retries));
        }
    }
    draft.settle_house()
}

/// The work of a run was not accepted: its agent is told so, as long as that may be.
fn refuse(draft: &mut Draft<'_>, id: &PlanId, run: &Run, (why, retries): (String, u32)) {
    let (words, is_left) = (not_accepted(&why), run.retries < retries);
    let spent = draft.plan(id).and_then(|plan| plan.spent_on(run)).filter(|_| is_left);
    let why = spent.map_or(why.clone(), |max| format!("{why}\n{}", budget::is_reached(max)));
    let (failed, why) = (run.id.clone(), RunFault::NotAccepted(why));
    draft.plan_event(id, PlanEvent::RunFailed { run: failed, why });
    if is_left && spent.is_none() && may_go_on(draft, id, run) {
        try_again(draft, id, run, words);
    } else {
        end_session(draft, run);
    }
}

/// Whether the agent of a run may be told by itself what was not accepted: nobody has stopped it, its plan or
/// everything meanwhile.
fn may_go_on(draft: &Draft<'_>, id: &PlanId, run: &Run) -> bool {
    let stopped = |plan: &Plan| matches!(plan.paused, Some(PlanPause::User | PlanPause::Budget));
    let is_paused = draft.plan(id).is_none_or(stopped) && !run.alone;
    let session = run.session.as_ref().and_then(|session| draft.session_of(session));
    let rests = |session: &Session| {
        matches!(session.phase, Phase::Live | Phase::Rest(Rest::Suspended | Rest::Completed))
    };
    draft.gate.shut().is_none() && !is_paused && session.is_some_and(rests)
}

/// Tells the agent of a run what was not accepted, in its conversation, as another run.
fn try_again(draft: &mut Draft<'_>, id: &PlanId, former: &Run, words: String) {
    begin_behind(draft, id, former, Behind::Retry);
    let Some(session) = &former.session else { return };
    if draft.turn_to(session).is_ok() {
        // What cannot be told is judged once more as it is, and fails for good in the end.
        go_on(draft, Some(words)).ok();
        draft.follow();
        draft.reply(Reply::Done);
    }
}

/// Stops a plan of which no more was asked for than this task.
fn stop_behind(draft: &mut Draft<'_>, id: &PlanId, task: &str) {
    let is_all = |plan: &Plan| plan.paused.is_none() && plan.pace.only.as_deref() == Some(task);
    if draft.plan(id).is_some_and(is_all) {
        draft.plan_event(id, PlanEvent::Stopped { why: PlanPause::Only });
    }
}

/// Its agent has nothing more to do.
fn end_session(draft: &mut Draft<'_>, run: &Run) {
    let Some(session) = &run.session else { return };
    if draft.turn_to(session).is_ok() && draft.session.phase == Phase::Live {
        end::stop(draft, StopCause::Asked);
        draft.follow();
    }
}
