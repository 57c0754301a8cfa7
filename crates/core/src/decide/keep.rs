//! A pause that keeps the process: it is stopped where it is, and goes on from there.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::OpId;
use crate::reason::{FailedStep, Why};
use crate::refusal::{Refusal, ResumeFault};
use crate::session::{Phase, Start, StartCause, StartStep};
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
    draft.effect(Effect::Freeze { op, generation: draft.session.agent.generation });
}

/// Lets a process go on that was stopped in place. It is the same one: its generation stays.
pub(super) fn thaw(draft: &mut Draft<'_>, op: OpId, cause: StartCause) {
    draft.event(Event::ThawBegan { op, cause });
    thaw_again(draft, op);
}

/// The same once more, after a crash: what runs goes on running.
pub(super) fn thaw_again(draft: &mut Draft<'_>, op: OpId) {
    draft.effect(Effect::Thaw { op, generation: draft.session.agent.generation });
}

/// Whether it stands still. If something of it cannot be stopped, this would be no pause: it goes on.
pub(super) fn stands_still(draft: &mut Draft<'_>, op: OpId, result: Result<(), Why>) -> bool {
    let stands = result.is_ok();
    match result {
        Ok(()) => draft.event(Event::ProcessFrozen { op }),
        Err(why) => {
            draft.event(Event::PauseFailed { op, step: FailedStep::Freeze, why });
            thaw_again(draft, op);
        }
    }
    stands
}

/// What could not be let go on stays paused, and stopped where it is.
pub(super) fn thawed(draft: &mut Draft<'_>, op: OpId, result: Result<(), Why>) {
    if let Phase::Starting(Start { op: own, cause, step: StartStep::Thaw, .. }) =
        draft.session.phase
        && own == op
    {
        draft.event(match result {
            Ok(()) => Event::StartEnded { op, cause },
            Err(why) => Event::StartFailed { op, fault: ResumeFault::System(why.to_string()) },
        });
    }
}
