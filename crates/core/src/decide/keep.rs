//! A pause that keeps the process: it is stopped where it is, and goes on from there.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::OpId;
use crate::reason::Why;
use crate::refusal::{Refusal, ResumeFault};
use crate::session::{Phase, StartCause, StartStep};
use crate::tree::Clearing;

/// Refuses to take a worktree from under a process that is kept.
pub(super) fn check_clearing(draft: &Draft<'_>, clearing: Clearing) -> Result<(), Refusal> {
    if clearing.is_asked() && draft.session.spec.keep_process && draft.session.runs() {
        return Err(Refusal::ProcessKept { session: draft.session.name.clone() });
    }
    Ok(())
}

/// Has the process stopped in place, once everything of it is saved.
pub(super) fn freeze(draft: &mut Draft<'_>, op: OpId) {
    draft.event(Event::FreezeBegan { op });
    freeze_again(draft, op);
}

/// The same once more, after a crash: what is stopped stays stopped.
pub(super) fn freeze_again(draft: &mut Draft<'_>, op: OpId) {
    draft.effect(Effect::Freeze { op, generation: draft.session.generation });
}

/// Lets a process go on that was stopped in place. It is the same one: its generation stays.
pub(super) fn thaw(draft: &mut Draft<'_>, op: OpId, cause: StartCause) {
    draft.event(Event::ThawBegan { op, cause });
    thaw_again(draft, op);
}

/// The same once more, after a crash: what runs goes on running.
pub(super) fn thaw_again(draft: &mut Draft<'_>, op: OpId) {
    draft.effect(Effect::Thaw { op, generation: draft.session.generation });
}

pub(super) fn thawed(draft: &mut Draft<'_>, op: OpId) {
    if let Some(cause) = thaws(draft, op) {
        draft.event(Event::StartEnded { op, cause });
    }
}

/// It stays paused, and stopped where it is.
pub(super) fn not_thawed(draft: &mut Draft<'_>, op: OpId, why: &Why) {
    if thaws(draft, op).is_some() {
        draft.event(Event::StartFailed { op, fault: ResumeFault::System(why.to_string()) });
    }
}

fn thaws(draft: &Draft<'_>, op: OpId) -> Option<StartCause> {
    match &draft.session.phase {
        Phase::Starting(start) if start.op == op && start.step == StartStep::Thaw => {
            Some(start.cause)
        }
        Phase::Starting(_)
        | Phase::Live
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Rest(_)
        | Phase::Chore { .. } => None,
    }
}
