//! Compaction: the conversation of a session that is not used is made short, once it has rested for a
//! while or because a person asks for it.

use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::OpId;
use crate::reason::{Verb, Why};
use crate::refusal::Refusal;
use crate::session::{Phase, Rest};
use crate::timer::{TimerKey, When};
use std::time::Duration;

/// A person asks for it: whatever is at rest and has a conversation.
pub(super) fn asked(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Rest(
            Rest::Paused(_)
            | Rest::Suspended
            | Rest::Interrupted
            | Rest::Completed
            | Rest::Failed(_),
        ) => {}
        Phase::Starting(_) | Phase::Pausing(_) | Phase::Stopping { .. } | Phase::Chore { .. } => {
            return Err(draft.busy());
        }
        Phase::Rest(Rest::Created | Rest::Archived) | Phase::Live => {
            return Err(draft.wrong_status(Verb::Compact));
        }
    }
    if let Some(op) = draft.session.upkeep.compaction.asked {
        draft.reply(Reply::Pending(op));
        return Ok(());
    }
    let op = draft.new_op();
    draft.event(Event::CompactionBegan { op });
    draft.effect(Effect::Compact { op: Some(op) });
    Ok(())
}

/// After a start of the daemon: what a caller has asked for is done, and what rests is looked at later.
pub(super) fn again(draft: &mut Draft<'_>) {
    if let Some(op) = draft.session.upkeep.compaction.asked {
        draft.effect(Effect::Compact { op: Some(op) });
    }
    arm(draft);
}

/// Has it looked at once it was not used for a while, if it rests and there is hope.
fn arm(draft: &mut Draft<'_>) {
    if draft.session.is_worth_compacting() {
        draft.timer(TimerKey::Compact, When::unused());
    }
}

/// It has rested for a while. Whether it is long enough, and when a person looked at it last, only its
/// files tell.
pub(super) fn is_due(draft: &mut Draft<'_>) {
    if draft.session.is_worth_compacting() && draft.session.upkeep.compaction.asked.is_none() {
        draft.effect(Effect::Compact { op: None });
    }
}

/// A person has looked at it meanwhile: it is looked at again when that is long ago.
pub(super) fn too_early(draft: &mut Draft<'_>, wait: Duration) {
    if draft.session.is_worth_compacting() {
        draft.timer(TimerKey::Compact, When::after(wait));
    }
}

pub(super) fn succeeded(draft: &mut Draft<'_>, op: Option<OpId>, entries: u64, original: String) {
    let op = awaited(draft, op);
    draft.event(Event::ConversationCompacted { op, entries, original });
}

pub(super) fn failed(draft: &mut Draft<'_>, op: Option<OpId>, why: Why) {
    let op = awaited(draft, op);
    draft.event(Event::CompactionFailed { op, why });
}

/// What came of it is told to the caller that still waits for it.
fn awaited(draft: &Draft<'_>, op: Option<OpId>) -> Option<OpId> {
    op.filter(|op| draft.session.upkeep.compaction.asked == Some(*op))
}

/// Begins to wait if this decision has brought the session to rest.
pub(super) fn if_it_rests(draft: &mut Draft<'_>) {
    let rests = |event: &Event| {
        matches!(event, Event::Paused { .. } | Event::Suspended { .. } | Event::Returned { .. })
    };
    if draft.own_events().any(rests) {
        arm(draft);
    }
}
