//! Ending a process that runs or is being started, for whatever comes then.

use crate::draft::Draft;
use crate::effect::{Effect, Urgency};
use crate::event::Event;
use crate::ids::OpId;
use crate::pause::PauseMode;
use crate::session::{AfterStop, Phase, StartStep, StopCause};
use crate::timer::{Span, TimerKey, When};

/// Ends it as gently as its turn allows.
pub(super) fn begin(draft: &mut Draft<'_>, then: AfterStop) {
    begin_as(draft, then, gentle(draft));
}

/// Ends an agent, and nothing follows.
pub(super) fn suspend(draft: &mut Draft<'_>, cause: StopCause) {
    let (op, urgency) = (draft.new_op(), gentle(draft));
    draft.event(Event::StopBegan { op, then: AfterStop::Rest, cause });
    draft.effect(Effect::StopProcess { generation: draft.session.agent.generation, urgency });
}

/// An agent that has nothing to do is told to terminate; else its turn is interrupted first.
fn gentle(draft: &Draft<'_>) -> Urgency {
    if draft.session.turn().under_way() { Urgency::Interrupt } else { Urgency::Quiet }
}

pub(super) fn begin_as(draft: &mut Draft<'_>, then: AfterStop, urgency: Urgency) {
    let op = draft.new_op();
    draft.event(Event::StopBegan { op, then, cause: StopCause::Asked });
    draft.effect(Effect::StopProcess { generation: draft.session.agent.generation, urgency });
}

/// Ends a start past its look, for what follows. What is under way cannot be called back: once it is
/// there, it is ended.
pub(super) fn call_off(
    draft: &mut Draft<'_>,
    (start, step): (OpId, StartStep),
    op: OpId,
    then: AfterStop,
) {
    let urgency = if then.is_rest() { Urgency::Quiet } else { Urgency::Kill };
    draft.event(Event::StopBegan { op, then, cause: StopCause::Asked });
    match step {
        StartStep::Worktree => {
            draft.effect(Effect::CutSetUpShort);
            limit_making(draft, start);
        }
        StartStep::Check | StartStep::Process => {}
        StartStep::Ready | StartStep::Thaw => {
            let generation = draft.session.agent.generation;
            draft.effect(Effect::StopProcess { generation, urgency });
        }
    }
}

/// How gently a pause ends the process.
pub(super) fn urgency_of_pause(draft: &Draft<'_>) -> Urgency {
    let Phase::Pausing(pause) = &draft.session.phase else { return Urgency::Quiet };
    match pause.mode {
        PauseMode::Force => Urgency::Kill,
        PauseMode::Boundary | PauseMode::Interrupt if pause.record.forced => Urgency::Interrupt,
        PauseMode::Boundary | PauseMode::Interrupt => Urgency::Quiet,
    }
}

/// A worktree that is being made for an operation may take so long and no longer: git may hang.
pub(super) fn limit_making(draft: &mut Draft<'_>, op: OpId) {
    draft.timer(TimerKey::Step(op), When::After(Span::ForcedStep));
}

/// Ends the look of a start that was called off. It has changed nothing, and what it finds comes too
/// late to mean anything; but a git that hangs in it would stay, and keep the worktree to itself.
pub(super) fn look_no_further(draft: &mut Draft<'_>, start: OpId) {
    draft.effect(Effect::CutShort { op: start });
}
