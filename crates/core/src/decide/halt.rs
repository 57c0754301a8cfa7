//! Ending a process that runs, for whatever comes then.

use crate::draft::Draft;
use crate::effect::{Effect, Urgency};
use crate::event::Event;
use crate::session::AfterStop;

/// Ends it as gently as its turn allows.
pub(super) fn begin(draft: &mut Draft<'_>, then: AfterStop) {
    let gentle = if draft.session.turn.under_way() { Urgency::Interrupt } else { Urgency::Quiet };
    begin_as(draft, then, gentle);
}

pub(super) fn begin_as(draft: &mut Draft<'_>, then: AfterStop, urgency: Urgency) {
    let op = draft.new_op();
    draft.event(Event::StopBegan { op, then });
    draft.effect(Effect::StopProcess { generation: draft.session.generation, urgency });
}
