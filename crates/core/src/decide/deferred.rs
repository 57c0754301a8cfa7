//! What had to wait before it could start begins as soon as it may, in the order in which it came.

use super::{looping, start};
use crate::draft::Draft;
use crate::event::Event;
use crate::ids::SessionId;
use crate::session::{Deferral, Deferred, Phase, Session};

/// Starts whatever has waited and may start now.
pub(super) fn start(draft: &mut Draft<'_>) {
    let reply = draft.decision.reply.clone();
    while let Some(next) = next(draft) {
        if draft.turn_to(&next).is_err() {
            break;
        }
        begin(draft);
        draft.follow();
    }
    tell_reason(draft);
    draft.reply(reply);
}

/// Begins what has waited: the next iteration of a loop, or what was asked for.
fn begin(draft: &mut Draft<'_>) {
    if !looping::is_due(draft) {
        start::begin_deferred(draft);
    } else if looping::begin_next(draft).is_err() {
        draft.event(Event::StartForgone);
    }
}

/// Whatever still waits does so for another reason once the gate is shut, or opened while every place
/// is taken.
fn tell_reason(draft: &mut Draft<'_>) {
    let why = if draft.gate.shut().is_some() { Deferral::Gate } else { Deferral::Limit };
    let other = |session: &&Session| {
        session.starts.deferred.is_some_and(|deferred| deferred.why != why)
            && matches!(session.phase, Phase::Rest(_))
    };
    let ids: Vec<_> = draft.stirring().filter(other).map(|session| session.id.clone()).collect();
    for id in ids {
        if draft.turn_to(&id).is_ok()
            && let Some(Deferred { cause, turn, .. }) = draft.session.starts.deferred
        {
            draft.event(Event::StartDeferred { cause, why, turn });
        }
    }
}

/// The one that has waited longest, if it may start.
fn next(draft: &Draft<'_>) -> Option<SessionId> {
    let turn = |session: &&Session| session.starts.deferred.as_ref().map(|deferred| deferred.turn);
    let waits = |session: &&Session| {
        session.starts.deferred.is_some() && matches!(session.phase, Phase::Rest(_))
    };
    let first = draft.stirring().filter(waits).min_by_key(turn)?;
    draft.why_wait(&first.id).is_none().then(|| first.id.clone())
}
