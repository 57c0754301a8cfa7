//! A session whose turn was ended by a usage limit is parked: paused, and resumed when that is over.

use crate::decide::pause;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::pause::{PauseReason, PauseWish};
use crate::session::Phase;

/// Pauses it as soon as nothing else is under way: what works beside its turn needs no model.
pub(super) fn park(draft: &mut Draft<'_>) {
    let limited = draft.session.run.as_ref().is_some_and(|run| run.limited);
    if !limited || draft.session.phase != Phase::Live || draft.session.safe_rule().is_none() {
        return;
    }
    let reply = draft.decision.reply.clone();
    // It runs, and nothing is under way on it: there is no reason to refuse.
    pause::begin(draft, PauseWish::plain(PauseReason::RateLimit)).ok();
    draft.reply(reply);
}

/// Has it found out when a session goes on that was just parked, or was found so, and when one is tried
/// again that could not be resumed by itself.
pub(super) fn plan(draft: &mut Draft<'_>) {
    let rests = |event: &Event| matches!(event, Event::Paused { .. } | Event::StartFailed { .. });
    let rests = draft.own_events().any(rests) || draft.just_met;
    let returns = draft.session.parked().is_some() || draft.session.is_to_be_tried_again();
    if returns && draft.session.ahead.resume_at.is_none() && rests {
        draft.effect(Effect::PlanReturn);
    }
}
