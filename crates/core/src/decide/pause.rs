//! Pausing: fence, look, interrupt, safe state, capture, snapshot, stop, snapshot, confirm.

use super::{halt, keep, save};
use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::{Effect, Urgency};
use crate::event::Event;
use crate::ids::OpId;
use crate::input::Taken;
use crate::leftover::Leftovers;
use crate::pause::{Moment, OnTimeout, PauseMode, PauseReason, PauseStep, PauseWish};
use crate::reason::{FailedStep, SafeRule, Verb, Why};
use crate::refusal::{InPlaceWish, Refusal};
use crate::rule::NotSafe;
use crate::session::{AfterStop, Pause, Phase, Rest, StartStep};
use crate::timer::{Span, TimerKey, When};
use crate::tree::Clearing;

/// Begins a pause of what runs or rests, as this operation.
pub(crate) fn begin_now(draft: &mut Draft<'_>, op: OpId, wish: PauseWish) {
    let PauseWish { mode, reason, on_timeout, clearing } = wish;
    draft.reply(Reply::Pending(op));
    draft.event(Event::PauseBegan { op, mode, reason, on_timeout, clearing });
    if matches!(&draft.session.phase, Phase::Pausing(pause) if pause.from.is_none()) {
        hasten(draft, op, PauseMode::Boundary);
    } else {
        go_on_from_rest(draft, op);
    }
}

pub(crate) fn begin(draft: &mut Draft<'_>, wish: PauseWish) -> Result<(), Refusal> {
    let PauseWish { mode, reason, on_timeout, clearing } = wish;
    let asked = clearing.is_asked();
    if asked && draft.session.spec.in_place {
        let session = draft.session.name.clone();
        return Err(Refusal::InPlace { session, wish: InPlaceWish::RemoveWorktree });
    }
    keep::check_clearing(draft, clearing)?;
    match &draft.session.phase {
        Phase::Rest(Rest::Paused(record)) if !asked || record.cleared => {
            if draft.session.starts.deferred.is_some() {
                // It was to be resumed as soon as there is a place, and is not any more.
                draft.event(Event::StartForgone);
            } else {
                draft.reply(Reply::Already);
            }
            Ok(())
        }
        Phase::Pausing(pause) if asked && pause.clearing != clearing => Err(draft.busy()),
        Phase::Pausing(pause) => {
            let (op, before) = (pause.op, (pause.mode, pause.on_timeout));
            draft.reply(Reply::Pending(op));
            // Asking again may only make it more urgent: a second press forces.
            let after = (before.0.max(mode), stronger(before.1, on_timeout));
            if after != before {
                draft.event(Event::PauseHastened { op, mode: after.0, on_timeout: after.1 });
                hasten(draft, op, before.0);
            }
            Ok(())
        }
        // It is let go on in this moment; a pause that kept it cannot end it now.
        Phase::Starting(_) if draft.session.thaws() => Err(draft.busy()),
        Phase::Starting(begun) if mode == PauseMode::Force => {
            let start = (begun.op, begun.step);
            call_off_start(draft, start, reason, clearing);
            Ok(())
        }
        Phase::Stopping { op, then: AfterStop::Pause { .. }, .. } => {
            let op = *op;
            draft.reply(Reply::Pending(op));
            Ok(())
        }
        Phase::Starting(_) | Phase::Stopping { .. } | Phase::Chore { .. } => Err(draft.busy()),
        Phase::Rest(Rest::Completed | Rest::Failed(_) | Rest::Archived) => {
            Err(draft.wrong_status(Verb::Pause))
        }
        Phase::Rest(Rest::Paused(_) | Rest::Suspended | Rest::Interrupted | Rest::Created)
        | Phase::Live => {
            let op = draft.new_op();
            begin_now(draft, op, wish);
            Ok(())
        }
    }
}

/// A forced pause wins over a start that is under way: whatever that one waits for may never come.
fn call_off_start(
    draft: &mut Draft<'_>,
    (start, step): (OpId, StartStep),
    reason: PauseReason,
    clearing: Clearing,
) {
    let op = draft.new_op();
    draft.event(Event::StartCancelled { op: start });
    if step == StartStep::Check {
        halt::look_no_further(draft, start);
        begin_after_start(draft, op, reason, clearing);
    } else {
        halt::call_off(draft, (start, step), op, AfterStop::Pause { reason, clearing });
    }
}

/// Pauses a session whose start was called off for it: nothing of that start runs any more.
pub(super) fn begin_after_start(
    draft: &mut Draft<'_>,
    op: OpId,
    reason: PauseReason,
    clearing: Clearing,
) {
    let (mode, on_timeout) = (PauseMode::Force, OnTimeout::Force);
    draft.event(Event::Suspended { op: None });
    draft.event(Event::PauseBegan { op, mode, reason, on_timeout, clearing });
    if draft.session.starts.leftovers.trouble().is_some() {
        go_on_from_rest(draft, op);
    } else {
        reach(draft, op, SafeRule::StartCalledOff, Reached::Safely);
    }
}

/// Nothing runs, unless the last process left something that could not be ended then.
pub(super) fn go_on_from_rest(draft: &mut Draft<'_>, op: OpId) {
    if draft.session.starts.leftovers.trouble().is_some() {
        take_step(draft, op, Effect::Sweep { op });
    } else {
        reach(draft, op, SafeRule::NothingRuns, Reached::Safely);
    }
}

/// What an earlier process left was looked for again.
pub(super) fn swept(draft: &mut Draft<'_>, op: OpId, left: Leftovers) {
    let waits = matches!(&draft.session.phase, Phase::Pausing(pause)
        if pause.op == op && pause.step == PauseStep::Boundary && pause.from.is_some());
    if !waits {
        return;
    }
    let trouble = left.trouble();
    draft.event(Event::LeftoversSwept { op, left: Box::new(left) });
    match trouble {
        Some(why) => draft.event(Event::PauseFailed { op, step: FailedStep::EndAll, why }),
        None => reach(draft, op, SafeRule::NothingRuns, Reached::Safely),
    }
}

fn stronger(a: OnTimeout, b: OnTimeout) -> OnTimeout {
    if a == OnTimeout::Force { a } else { b }
}

/// Does what the mode allows beyond waiting, unless the agent is safe anyway.
fn hasten(draft: &mut Draft<'_>, op: OpId, former: PauseMode) {
    let Phase::Pausing(pause) = &draft.session.phase else { return };
    let (mode, step) = (pause.mode, pause.step);
    if pause.from.is_some() && step == PauseStep::Boundary {
        return;
    }
    if !matches!(step, PauseStep::Boundary | PauseStep::Interrupting) {
        // Past the safe state there is nothing to hurry but the ending itself.
        if step == PauseStep::Ending && mode == PauseMode::Force {
            let generation = draft.session.agent.generation;
            draft.effect(Effect::StopProcess { generation, urgency: Urgency::Kill });
        } else if mode == PauseMode::Force {
            limit_step(draft, op);
        }
        return;
    }
    match mode {
        PauseMode::Boundary => {}
        PauseMode::Interrupt => {
            // An agent that was interrupted before is being looked at already.
            if step == PauseStep::Boundary && former == PauseMode::Boundary {
                look(draft, op);
            }
        }
        PauseMode::Force => {
            let rule = draft.session.safe_rule();
            let how = if rule.is_none() { Reached::ByForce } else { Reached::Safely };
            let rule = rule.unwrap_or(match former {
                PauseMode::Boundary | PauseMode::Force => SafeRule::Forced,
                PauseMode::Interrupt => SafeRule::ForcedWhileWaiting,
            });
            reach(draft, op, rule, how);
        }
    }
}

/// An interrupt may end the agent's turn or the agent itself, so it is given only once it is known
/// that the worktree can be saved afterwards. Also after a crash: until then nothing was done.
pub(super) fn look(draft: &mut Draft<'_>, op: OpId) {
    if draft.session.safe_rule().is_none() {
        take_step(draft, op, Effect::CheckSave { op });
    }
}

/// Whether the pause waits to learn if the worktree can be saved.
fn is_looked_at(draft: &Draft<'_>, op: OpId) -> bool {
    matches!(&draft.session.phase, Phase::Pausing(pause) if pause.op == op
        && pause.step == PauseStep::Boundary
        && pause.mode == PauseMode::Interrupt)
}

/// A pause that cannot save is refused, and the agent has not noticed anything of it.
pub(super) fn save_checked(draft: &mut Draft<'_>, op: OpId, result: Result<(), Why>) {
    if !is_looked_at(draft, op) {
        return;
    }
    if let Err(why) = result {
        draft.event(Event::PauseFailed { op, step: FailedStep::Stash, why });
    } else if draft.session.safe_rule().is_none() {
        draft.event(Event::InterruptBegan { op });
        draft.effect(Effect::Interrupt { generation: draft.session.agent.generation });
        await_safe_state(draft, op);
    }
}

pub(super) fn cancel(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Pausing(pause) => {
            let op = pause.op;
            if !matches!(pause.step, PauseStep::Boundary | PauseStep::Interrupting) {
                return Err(Refusal::TooLate { session: draft.session.name.clone() });
            }
            draft.event(Event::PauseCancelled { op });
            Ok(())
        }
        Phase::Stopping { then: AfterStop::Pause { .. }, .. } => {
            Err(Refusal::TooLate { session: draft.session.name.clone() })
        }
        Phase::Starting(_)
        | Phase::Live
        | Phase::Stopping { .. }
        | Phase::Rest(_)
        | Phase::Chore { .. } => Err(draft.wrong_status(Verb::CancelPause)),
    }
}

/// How a pause came to the point where the process may be stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    Safely,
    ByForce,
}

pub(crate) fn reach(draft: &mut Draft<'_>, op: OpId, rule: SafeRule, how: Reached) {
    let forced = how == Reached::ByForce;
    draft.event(Event::SafeStateReached { op, rule, forced });
    take_step(draft, op, Effect::CaptureTerminal { op });
}

/// Has a step done, which may take so long and no longer.
pub(super) fn take_step(draft: &mut Draft<'_>, op: OpId, effect: Effect) {
    draft.effect(effect);
    limit_step(draft, op);
}

pub(super) fn take_snapshot(draft: &mut Draft<'_>, op: OpId, moment: Moment) {
    take_step(draft, op, Effect::TakeSnapshot { op, moment });
}

/// From now on the present step has the time that the pause gives each of its steps.
fn limit_step(draft: &mut Draft<'_>, op: OpId) {
    let span = if is_forced(draft) { Span::ForcedStep } else { Span::Step };
    draft.timer(TimerKey::Step(op), When::After(span));
}

/// A step that is still under way is ended; what came of it is told as of any other.
pub(super) fn step_is_overdue(draft: &mut Draft<'_>, op: OpId) {
    let Phase::Pausing(pause) = &draft.session.phase else { return };
    if pause.op == op && works(pause) {
        draft.effect(Effect::CutShort { op });
    }
}

/// Whether something is being done outside for the present step of a pause, beside ending the agent.
pub(super) fn works(pause: &Pause) -> bool {
    match pause.step {
        // It is looked at whether the worktree can be saved, or for what a process has left.
        PauseStep::Boundary => pause.mode == PauseMode::Interrupt || pause.from.is_some(),
        PauseStep::Capturing | PauseStep::Saving | PauseStep::Sealing | PauseStep::Clearing => true,
        // A holder says in time what came of it.
        PauseStep::Interrupting | PauseStep::Ending | PauseStep::Freezing => false,
    }
}

pub(super) fn await_safe_state(draft: &mut Draft<'_>, op: OpId) {
    draft.timer(TimerKey::SafeState(op), When::After(Span::SafeState));
}

pub(super) fn time_is_up(draft: &mut Draft<'_>, op: OpId) {
    let Phase::Pausing(pause) = &draft.session.phase else { return };
    if pause.op != op || pause.step != PauseStep::Interrupting {
        return;
    }
    match pause.on_timeout {
        OnTimeout::Refuse => {
            let doing = NotSafe::TimedOut(draft.session.doing()).to_string();
            draft.event(Event::PauseRefused { op, doing });
        }
        OnTimeout::Force => force(draft, op),
    }
}

fn force(draft: &mut Draft<'_>, op: OpId) {
    reach(draft, op, SafeRule::ForcedAfterWaiting, Reached::ByForce);
}

/// The agent was not told to stop its turn, so waiting for it would be in vain.
pub(super) fn not_interrupted(draft: &mut Draft<'_>, generation: u32, why: Why) {
    let Phase::Pausing(pause) = &draft.session.phase else { return };
    if pause.step != PauseStep::Interrupting || draft.session.agent.generation != generation {
        return;
    }
    let op = pause.op;
    match pause.on_timeout {
        OnTimeout::Refuse => {
            draft.event(Event::PauseFailed { op, step: FailedStep::Interrupt, why });
        }
        OnTimeout::Force => force(draft, op),
    }
}

/// The process ended while a pause was waiting for it to become safe: nothing is safer.
pub(super) fn process_is_gone(draft: &mut Draft<'_>, former: PauseStep) {
    let Phase::Pausing(pause) = &draft.session.phase else { return };
    let op = pause.op;
    match pause.step {
        // It was stopped in place, and what it wrote is being saved already.
        PauseStep::Sealing if former == PauseStep::Sealing => {}
        PauseStep::Boundary | PauseStep::Interrupting => {
            reach(draft, op, SafeRule::ProcessEnded, Reached::Safely);
        }
        PauseStep::Sealing => take_snapshot(draft, op, Moment::AfterStop),
        // The outcome that is under way finds no process and goes on from there.
        PauseStep::Capturing
        | PauseStep::Saving
        | PauseStep::Ending
        | PauseStep::Freezing
        | PauseStep::Clearing => {}
    }
}

pub(super) fn captured(draft: &mut Draft<'_>, op: OpId, screen_at: u64) {
    if at_step(draft, op, PauseStep::Capturing) {
        draft.event(Event::TerminalCaptured { op, screen_at });
        take_snapshot(draft, op, Moment::BeforeStop);
    }
}

/// A forced pause goes on without the screen. Any other one is called off, and the agent goes on.
pub(super) fn capture_overdue(draft: &mut Draft<'_>, op: OpId, why: Why) {
    if !at_step(draft, op, PauseStep::Capturing) {
        return;
    }
    if is_forced(draft) {
        draft.event(Event::CaptureMissed { op, why });
        take_snapshot(draft, op, Moment::BeforeStop);
    } else {
        failed(draft, op, FailedStep::Capture, why);
    }
}

/// A forced pause ends the process whether or not its files could be saved before: they stay where
/// they are. Any other one is called off, and the agent goes on.
pub(super) fn save_overdue(draft: &mut Draft<'_>, op: OpId, moment: Moment, why: Why) {
    if !is_due(draft, op, moment) {
        return;
    }
    match moment {
        Moment::BeforeStop if is_forced(draft) => {
            let warning = Some(Why::NoSnapshotBefore(why.to_string()));
            saved(draft, op, moment, Ok(Taken { warning, ..Taken::default() }));
        }
        Moment::BeforeStop => saved(draft, op, moment, Err(why)),
        Moment::AfterStop => {
            saved(draft, op, moment, Err(why));
            // The pause is not held up by it any longer; the work is still worth keeping.
            save::after_end(draft, None);
        }
    }
}

fn is_forced(draft: &Draft<'_>) -> bool {
    matches!(&draft.session.phase, Phase::Pausing(pause) if pause.mode == PauseMode::Force)
}

/// A report that comes twice, or late, is about another moment than the present step's.
fn is_due(draft: &Draft<'_>, op: OpId, moment: Moment) -> bool {
    at_step(
        draft,
        op,
        match moment {
            Moment::BeforeStop => PauseStep::Saving,
            Moment::AfterStop => PauseStep::Sealing,
        },
    )
}

/// Takes in what came of saving the worktree. Before the stop, no snapshot means no pause. After it, the
/// first one still stands.
pub(super) fn saved(draft: &mut Draft<'_>, op: OpId, moment: Moment, result: Result<Taken, Why>) {
    if !is_due(draft, op, moment) {
        return;
    }
    let Taken { snapshot, left_out, warning } = match (result, moment) {
        (Ok(taken), _) => taken,
        (Err(why), Moment::BeforeStop) => return failed(draft, op, FailedStep::Stash, why),
        (Err(why), Moment::AfterStop) => {
            let warning = Some(Why::NoSnapshotAfter(why.to_string()));
            Taken { warning, ..Taken::default() }
        }
    };
    if moment == Moment::BeforeStop {
        let clearing = clearing(draft);
        if clearing == Clearing::IfAllIsSaved && left_out.total > 0 {
            draft.event(Event::PauseBarred { op, left_out });
            return;
        }
        draft.event(Event::SnapshotTaken { op, snapshot, warning });
        if draft.session.runs() && draft.session.spec.keep_process {
            keep::freeze(draft, op);
        } else if draft.session.runs() {
            draft.event(Event::EndBegan { op });
            draft.effect(Effect::StopProcess {
                generation: draft.session.agent.generation,
                urgency: halt::urgency_of_pause(draft),
            });
        } else if matches!(&draft.session.phase, Phase::Pausing(pause) if pause.from.is_none()) {
            // It died meanwhile, perhaps after the snapshot: what it wrote last is not in it.
            draft.event(Event::EndBegan { op });
            take_snapshot(draft, op, Moment::AfterStop);
        } else {
            clear(draft, op);
        }
    } else {
        draft.event(Event::SnapshotTaken { op, snapshot, warning });
        clear(draft, op);
    }
}

pub(super) fn failed(draft: &mut Draft<'_>, op: OpId, step: FailedStep, why: Why) {
    let before_the_end =
        at_step(draft, op, PauseStep::Capturing) || at_step(draft, op, PauseStep::Saving);
    if before_the_end {
        draft.event(Event::PauseFailed { op, step, why });
    }
}

fn clearing(draft: &Draft<'_>) -> Clearing {
    if let Phase::Pausing(pause) = &draft.session.phase { pause.clearing } else { Clearing::Keep }
}

/// Removes the worktree where that was asked for and a snapshot has it; then the pause is over.
fn clear(draft: &mut Draft<'_>, op: OpId) {
    let stays = draft.session.spec.in_place || draft.session.runs();
    if clearing(draft) == Clearing::Keep || stays {
        confirm(draft, op);
    } else if draft.session.saved.baseline.is_some() {
        draft.event(Event::ClearingBegan { op });
        take_step(draft, op, Effect::ClearWorktree { op });
    } else {
        draft.event(Event::WorktreeStays { op, why: Why::NoSnapshot });
        confirm(draft, op);
    }
}

pub(super) fn cleared(draft: &mut Draft<'_>, op: OpId, result: Result<Option<Why>, Why>) {
    if at_step(draft, op, PauseStep::Clearing) {
        draft.event(match result {
            Ok(leftover) => Event::WorktreeCleared { op, leftover },
            Err(why) => Event::WorktreeStays { op, why },
        });
        confirm(draft, op);
    }
}

fn confirm(draft: &mut Draft<'_>, op: OpId) {
    draft.event(Event::Paused { op });
}

fn at_step(draft: &Draft<'_>, op: OpId, step: PauseStep) -> bool {
    matches!(&draft.session.phase, Phase::Pausing(pause) if pause.op == op && pause.step == step)
}

/// Once nothing of it moves any more, what it wrote last can be saved.
pub(super) fn frozen(draft: &mut Draft<'_>, op: OpId, result: Result<(), Why>) {
    if at_step(draft, op, PauseStep::Freezing) && keep::stands_still(draft, op, result) {
        take_snapshot(draft, op, Moment::AfterStop);
    }
}

/// Goes on as soon as the agent's own signs, or its screen, say that it may be stopped.
pub(super) fn go_on_if_safe(draft: &mut Draft<'_>) {
    let Phase::Pausing(pause) = &draft.session.phase else { return };
    let op = pause.op;
    let cut = pause.step == PauseStep::Interrupting && draft.session.talk.cut_off;
    if matches!(pause.step, PauseStep::Boundary | PauseStep::Interrupting)
        && draft.session.runs()
        && let Some(rule) = draft.session.safe_rule()
    {
        let rule = if cut { SafeRule::TurnInterrupted } else { rule };
        reach(draft, op, rule, Reached::Safely);
    }
}

/// Begins a pause by itself of what runs or rests, where nothing is under way that would refuse it: whoever asked for
/// something else is told of that.
pub(super) fn begin_by_itself(draft: &mut Draft<'_>, wish: PauseWish) {
    let (reply, op) = (draft.decision.reply.clone(), draft.new_op());
    begin_now(draft, op, wish);
    draft.reply(reply);
}
