//! What came of stopping a process in place, as a step of a pause.

use super::pause;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::OpId;
use crate::pause::{Moment, PauseStep};
use crate::reason::{FailedStep, Why};

/// Nothing of it moves any more, so what it wrote last can be saved.
pub(super) fn frozen(draft: &mut Draft<'_>, op: OpId) {
    if pause::at_step(draft, op, PauseStep::Freezing) {
        draft.event(Event::ProcessFrozen { op });
        pause::take_snapshot(draft, op, Moment::AfterStop);
    }
}

/// Something of it cannot be stopped, so that this would be no pause. It goes on.
pub(super) fn not_frozen(draft: &mut Draft<'_>, op: OpId, why: Why) {
    if pause::at_step(draft, op, PauseStep::Freezing) {
        draft.event(Event::PauseFailed { op, step: FailedStep::Freeze, why });
        draft.effect(Effect::Thaw { op, generation: draft.session.generation });
    }
}
