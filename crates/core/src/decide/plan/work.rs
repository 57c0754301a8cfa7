//! What follows for plans: a run ends when its agent is done, and what is ready begins.

use crate::decide::{halt, pause};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::gate::GateEvent;
use crate::ids::{PlanId, RunId};
use crate::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use crate::plan::{Plan, PlanEvent, PlanPause, Run, RunFault, RunStep, TaskRef};
use crate::session::{Deferral, Phase, Rest, Session, Start, StartCause, StopCause};
use crate::status::Status;
use crate::timer::{TimerKey, WallMs, When};
use std::collections::BTreeSet;
use std::time::Duration;

/// How an interrupted plan pauses its sessions: now, and whatever their agents do.
pub(in crate::decide) fn wish(mode: PauseMode) -> PauseWish {
    PauseWish { mode, on_timeout: OnTimeout::Force, ..PauseWish::plain(PauseReason::UserInterrupt) }
}

/// The run that the session in hand is, if that is not over.
fn run_in_hand(draft: &Draft<'_>) -> Option<(TaskRef, Run)> {
    let of = draft.session.spec.task.as_deref()?;
    let run = draft.plan(&of.plan)?.run_of(of, &draft.session.id)?;
    let is_it = run.session.as_ref() == Some(&draft.session.id) && !run.is_over();
    is_it.then(|| (of.clone(), run.clone()))
}

/// Whether the session in hand is a run that is not over.
pub(in crate::decide) fn works_for_plan(draft: &Draft<'_>) -> bool {
    run_in_hand(draft).is_some()
}

/// Has the command end that judges the work of the session in hand, if its run has come to that: a
/// person wants it stopped. What is being merged already is merged. Whether there is such a run.
pub(in crate::decide) fn stop_judging(draft: &mut Draft<'_>) -> bool {
    let step = run_in_hand(draft).map(|(_, run)| run.step);
    if step == Some(RunStep::Finishing) {
        draft.effect(Effect::CutLineShort);
    }
    matches!(step, Some(RunStep::Finishing | RunStep::Merging(_)))
}

/// Nothing else of the plan of the session in hand begins by itself.
pub(in crate::decide) fn stop_plan(draft: &mut Draft<'_>) {
    let Some((of, _)) = run_in_hand(draft) else { return };
    // One that is no longer in the plan is paused alone.
    let stops = |plan: &Plan| plan.paused != Some(PlanPause::User) && plan.task(&of.task).is_some();
    if draft.plan(&of.plan).is_some_and(stops) {
        draft.plan_event(&of.plan, PlanEvent::Stopped { why: PlanPause::User });
    }
}

/// Pauses the session in hand if it has only just begun, and its plan was interrupted meanwhile.
pub(in crate::decide) fn stop_if_paused(draft: &mut Draft<'_>) {
    let Some((of, run)) = run_in_hand(draft) else { return };
    let is_paused =
        |plan: &Plan| plan.paused == Some(PlanPause::User) || plan.task(&of.task).is_none();
    let paused = draft.plan(&of.plan).is_some_and(is_paused);
    let began = |session: &Session| {
        matches!(session.phase, Phase::Starting(Start { cause: StartCause::New, .. }))
    };
    let begun = draft.before().is_some_and(began) && draft.session.phase == Phase::Live;
    if paused && begun && !run.alone {
        pause::begin_by_itself(draft, wish(PauseMode::Interrupt));
    }
}

/// Stops the plan of the session in hand if a person pauses that: nothing else begins by itself.
pub(in crate::decide) fn stop_with_session(draft: &mut Draft<'_>) {
    let by_person = |event: &Event| {
        matches!(
            event,
            Event::PauseBegan { reason: PauseReason::User | PauseReason::UserInterrupt, .. }
        )
    };
    let paused = draft.own_events().any(by_person) && !draft.gate.holds(&draft.session.id);
    if paused || taken_from_gate(draft) {
        stop_plan(draft);
    }
}

/// Whether a person has paused the session in hand that the gate had paused before: it stays so when
/// the gate is opened, and so does its plan.
fn taken_from_gate(draft: &Draft<'_>) -> bool {
    let id = &draft.session.id;
    let released =
        |event: &GateEvent| matches!(event, GateEvent::Released { session } if session == id);
    let stays = matches!(draft.session.phase, Phase::Pausing(_) | Phase::Rest(Rest::Paused(_)));
    stays && draft.gate.shut().is_some() && draft.house_events().any(released)
}

/// Pauses the session in hand if it is a run whose turn failed. Nothing of it is judged: a person sees to what was
/// in its way, and it goes on.
pub(in crate::decide) fn pause_if_failed(draft: &mut Draft<'_>) {
    let works = || run_in_hand(draft).is_some_and(|(_, run)| run.step == RunStep::Working);
    let session = &draft.session;
    let rests = matches!(session.phase, Phase::Rest(Rest::Suspended | Rest::Completed));
    let idle = session.phase == Phase::Live && session.live_status() == Status::Idle;
    if session.talk.turn_failed.is_some() && (idle || rests) && has_ended(session) && works() {
        pause::begin_by_itself(draft, PauseWish::plain(PauseReason::Error));
    }
}

/// Ends the run of the session in hand, if its agent is done or will never be.
pub(in crate::decide) fn end_if_done(draft: &mut Draft<'_>) {
    let Some((of, run)) = run_in_hand(draft) else { return };
    let id = run.id;
    match run.step {
        RunStep::Working => {}
        // Whatever it waits for, it was thrown away.
        RunStep::Waiting(_) if draft.session.phase == Phase::Rest(Rest::Archived) => {
            draft.plan_event(&of.plan, PlanEvent::RunCanceled { run: id });
            return;
        }
        RunStep::Preparing
        | RunStep::Finishing
        | RunStep::Merging(_)
        | RunStep::Waiting(_)
        | RunStep::Succeeded(_)
        | RunStep::Failed(_)
        | RunStep::Canceled => return,
    }
    match &draft.session.phase {
        Phase::Rest(Rest::Archived) => {
            let failed = draft.own_events().find_map(|event| {
                if let Event::CreationFailed { why, .. } = event { Some(why.clone()) } else { None }
            });
            let event = match failed {
                Some(why) => PlanEvent::RunFailed { run: id, why: RunFault::NotBegun(why) },
                None => PlanEvent::RunCanceled { run: id },
            };
            draft.plan_event(&of.plan, event);
        }
        Phase::Rest(Rest::Failed(why)) => {
            let why = RunFault::NotStarted(why.clone());
            draft.plan_event(&of.plan, PlanEvent::RunFailed { run: id, why });
        }
        Phase::Live | Phase::Rest(Rest::Suspended | Rest::Completed) if is_done(&draft.session) => {
            finish(draft, &of.plan, id, false);
        }
        Phase::Live
        | Phase::Rest(_)
        | Phase::Starting(_)
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Chore { .. } => {}
    }
}

/// Whether its agent has said all that it had to say. A usage limit that it has met on the way is no matter,
/// unless that has left something unanswered.
fn is_done(session: &Session) -> bool {
    let at_rest = match session.status() {
        Status::Idle | Status::Suspended | Status::Completed => true,
        Status::Created
        | Status::Busy
        | Status::Waiting
        | Status::Pausing
        | Status::Paused
        | Status::Resuming
        | Status::Interrupted
        | Status::Failed
        | Status::Archived => false,
    };
    at_rest && session.talk.turn_failed.is_none() && has_ended(session)
}

/// Whether nothing of it is under way or to come, however its last turn ended.
fn has_ended(session: &Session) -> bool {
    session.agent.ran
        && session.talk.queue.is_empty()
        && !session.is_unfinished()
        && session.starts.undelivered.is_none()
        && session.turn().background == 0
}

/// Sets the timer for what the session in hand works on, from when its agent works on it. A daemon that begins anew gives
/// it its time once more.
pub(in crate::decide) fn limit_time(draft: &mut Draft<'_>) {
    let works = |session: &Session, plan: Option<&Plan>, of: &TaskRef| {
        let run = plan.and_then(|plan| plan.run_of(of, &session.id));
        let is_worked_on =
            |run: &&Run| session.phase == Phase::Live && run.step == RunStep::Working;
        run.filter(is_worked_on).map(|run| run.id.clone())
    };
    let Some(of) = draft.session.spec.task.as_deref() else { return };
    let before = draft.before().and_then(|before| works(before, draft.plan_before(&of.plan), of));
    let now = works(&draft.session, draft.plan(&of.plan), of);
    if now.is_some() && (now != before || draft.just_met) {
        set_time(draft);
    }
}

fn set_time(draft: &mut Draft<'_>) {
    let of = draft.session.spec.task.as_deref();
    let task = of.and_then(|of| draft.plan(&of.plan)?.task(&of.task));
    if let Some(time) = task.and_then(|task| task.budget.time()) {
        draft.timer(TimerKey::Budget, When::after(time));
    }
}

/// The agent of the session in hand has had its time. While it waits for a person, it takes none.
pub(in crate::decide) fn time_is_up(draft: &mut Draft<'_>) {
    let works = run_in_hand(draft).is_some_and(|(_, run)| run.step == RunStep::Working);
    if !works || draft.session.phase != Phase::Live {
        return;
    }
    if draft.session.waits_for_person() {
        set_time(draft);
        return;
    }
    // One that hangs is what this is for.
    let wish = PauseWish { reason: PauseReason::Budget, ..wish(PauseMode::Interrupt) };
    pause::begin(draft, wish).ok();
}

fn wall_after(begun: WallMs, time: Duration) -> WallMs {
    begun.saturating_add(WallMs::try_from(time.as_millis()).unwrap_or(WallMs::MAX))
}

/// Sets the timer of a plan that goes on, from when it was executed.
pub(in crate::decide) fn limit_time_again(draft: &mut Draft<'_>, id: &PlanId) {
    let Some(plan) = draft.plan(id).filter(|plan| plan.paused.is_none() && !plan.is_over()) else {
        return;
    };
    let begun = if plan.executed_at == 0 { plan.created_at } else { plan.executed_at };
    if let Some(time) = plan.spec.budget.time() {
        let (key, when) = (TimerKey::Budget, When::At(wall_after(begun, time)));
        draft.plan_effect(id, Effect::SetTimer { key, when });
    }
}

/// Has the work of a run committed and judged, or taken as it is.
pub(in crate::decide) fn finish(draft: &mut Draft<'_>, plan: &PlanId, run: RunId, as_it_is: bool) {
    draft.plan_event(plan, PlanEvent::RunFinishing { run: run.clone(), as_it_is });
    draft.plan_effect(plan, Effect::JudgeRun { run });
}

/// Begins whatever is ready, as far as there is room.
pub(in crate::decide) fn begin_ready(draft: &mut Draft<'_>) {
    if draft.gate.shut().is_some() {
        return;
    }
    for id in draft.plans(|plan| plan.next().is_some()) {
        while let Some((run, task)) = draft.plan(&id).and_then(|plan| next(draft, plan)) {
            let began = PlanEvent::RunBegan {
                run: run.clone(),
                task,
                restart_of: None,
                resumed_from: None,
                retry: false,
                alone: false,
            };
            draft.plan_event(&id, began);
            draft.plan_effect(&id, Effect::BeginRun { run });
        }
    }
}

/// The run that may begin now. One that waits for a usage limit keeps others of the same agent back, which would
/// only meet that limit too, and nobody else. Which agent a persona stands for is known outside only: another persona
/// may be another agent.
fn next(draft: &Draft<'_>, plan: &Plan) -> Option<(RunId, String)> {
    let room = usize::try_from(plan.pace.jobs.max(1)).unwrap_or(usize::MAX);
    let agent = |task: &str| plan.task(task).map(|task| (&task.agent, &task.persona));
    let (mut at_work, mut limited) = (0, BTreeSet::new());
    for run in plan.active.iter().filter_map(|run| plan.run(run)) {
        match share(draft, run) {
            Share::None => {}
            Share::Room => at_work += 1,
            Share::Agent => drop(limited.insert(agent(&run.task))),
        }
    }
    let task = plan.begins().find(|task| !limited.contains(&agent(task)))?;
    (at_work < room).then(|| (plan.next_run(task), task.to_owned()))
}

/// What a run takes from others.
enum Share {
    /// A person has paused it, it has died, or its work waits.
    None,
    /// It counts as one at a time.
    Room,
    /// It comes back by itself, when its agent's limit is over.
    Agent,
}

/// Whether another run of a plan than this one goes on by itself.
pub(in crate::decide) fn others_go_on(draft: &Draft<'_>, plan: &Plan, but: &RunId) -> bool {
    let others = plan.active.iter().filter(|id| *id != but).filter_map(|id| plan.run(id));
    others.into_iter().any(|run| !matches!(share(draft, run), Share::None))
}

fn share(draft: &Draft<'_>, run: &Run) -> Share {
    match run.step {
        RunStep::Preparing | RunStep::Finishing | RunStep::Merging(_) => Share::Room,
        RunStep::Working => {
            let Some(session) = run.session.as_ref().and_then(|id| draft.session_of(id)) else {
                return Share::Room;
            };
            match &session.phase {
                Phase::Rest(Rest::Interrupted | Rest::Archived) => Share::None,
                Phase::Rest(Rest::Paused(_)) if draft.gate.holds(&session.id) => Share::Room,
                Phase::Rest(Rest::Paused(_)) if session.parked().is_some() => {
                    if session.comes_back() { Share::Agent } else { Share::None }
                }
                Phase::Rest(Rest::Paused(pause)) => match pause.reason {
                    PauseReason::User
                    | PauseReason::UserInterrupt
                    | PauseReason::Error
                    | PauseReason::Budget => Share::None,
                    PauseReason::Resource
                    | PauseReason::IdleTimeout
                    | PauseReason::Global
                    | PauseReason::RateLimit
                    | PauseReason::Shutdown
                    | PauseReason::Crash => Share::Room,
                },
                Phase::Rest(
                    Rest::Created | Rest::Suspended | Rest::Completed | Rest::Failed(_),
                )
                | Phase::Live
                | Phase::Starting(_)
                | Phase::Pausing(_)
                | Phase::Stopping { .. }
                | Phase::Chore { .. } => Share::Room,
            }
        }
        RunStep::Waiting(_) | RunStep::Succeeded(_) | RunStep::Failed(_) | RunStep::Canceled => {
            Share::None
        }
    }
}

/// Ends the agent of the session in hand, if its run waits for a person and another start has no place: it comes back with
/// what the person says.
pub(in crate::decide) fn leave_place(draft: &mut Draft<'_>) {
    if is_place_wanted(draft) && is_left_to_person(draft, &draft.session) {
        let reply = draft.decision.reply.clone();
        halt::suspend(draft, StopCause::Asked);
        draft.reply(reply);
    }
}

/// The same for the one that has waited longest, where a start has just come to wait.
pub(in crate::decide) fn give_place(draft: &mut Draft<'_>) {
    // What became idle with this decision has left its place already.
    let was_idle = |session: &&Session| {
        let before = draft.house.session(&session.id);
        before.is_some_and(|before| before.idle_spell().is_some())
    };
    let waits = |session: &&Session| was_idle(session) && is_left_to_person(draft, session);
    if !is_place_wanted(draft) {
        return;
    }
    let longest = draft.stirring().filter(waits).min_by_key(|session| session.times.last_active_at);
    let Some(longest) = longest.map(|session| session.id.clone()) else { return };
    let reply = draft.decision.reply.clone();
    if draft.turn_to(&longest).is_ok() {
        draft.follow();
    }
    draft.reply(reply);
}

/// Whether a start waits for a place, and none is about to be free.
fn is_place_wanted(draft: &Draft<'_>) -> bool {
    let wants = |session: &Session| {
        let deferred = session.starts.deferred;
        deferred.is_some_and(|deferred| deferred.why == Deferral::Limit)
    };
    let ends = |session: &Session| matches!(session.phase, Phase::Stopping { .. });
    draft.stirring().any(wants) && !draft.stirring().any(ends)
}

fn is_left_to_person(draft: &Draft<'_>, session: &Session) -> bool {
    let of = session.spec.task.as_deref();
    let run = of.and_then(|of| draft.plan(&of.plan)?.run_of(of, &session.id));
    run.is_some_and(|run| matches!(run.step, RunStep::Waiting(_) | RunStep::Failed(_)))
        && session.phase == Phase::Live
        && session.live_status() == Status::Idle
        && session.talk.queue.is_empty()
}

/// Goes on with what the former daemon had begun.
pub(in crate::decide) fn go_on(draft: &mut Draft<'_>) {
    for id in draft.plans(|plan| plan.spec.budget.time().is_some()) {
        limit_time_again(draft, &id);
    }
    for id in draft.plans(|plan| !plan.active.is_empty()) {
        let Some(plan) = draft.plan(&id) else { continue };
        let active = plan.active.iter().filter_map(|run| plan.run(run));
        let effects: Vec<Effect> = active
            .filter_map(|run| match run.step {
                RunStep::Preparing => Some(Effect::BeginRun { run: run.id.clone() }),
                RunStep::Finishing => Some(Effect::JudgeRun { run: run.id.clone() }),
                RunStep::Merging(_) => Some(Effect::MergeRun { run: run.id.clone() }),
                RunStep::Working
                | RunStep::Waiting(_)
                | RunStep::Succeeded(_)
                | RunStep::Failed(_)
                | RunStep::Canceled => None,
            })
            .collect();
        for effect in effects {
            draft.plan_effect(&id, effect);
        }
    }
    begin_ready(draft);
}
