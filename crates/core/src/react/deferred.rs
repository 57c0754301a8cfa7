//! What had to wait before it could start begins as soon as it may, in the order in which it came.

use crate::decide::start;
use crate::draft::Draft;
use crate::ids::SessionId;
use crate::react::follow;
use crate::session::{Phase, Session};

/// Starts whatever has waited and may start now.
pub(crate) fn start(draft: &mut Draft<'_>) {
    let reply = draft.decision.reply.clone();
    while let Some(next) = next(draft) {
        if draft.turn_to(&next).is_err() {
            break;
        }
        start::begin_deferred(draft);
        follow(draft);
    }
    draft.reply(reply);
}

/// The one that has waited longest, if it may start.
fn next(draft: &Draft<'_>) -> Option<SessionId> {
    if draft.must_wait().is_some() {
        return None;
    }
    let turn = |session: &&Session| session.deferred.as_ref().map(|deferred| deferred.turn);
    let waits =
        |session: &&Session| session.deferred.is_some() && matches!(session.phase, Phase::Rest(_));
    let waiting = draft.sessions().filter(waits);
    waiting.min_by_key(turn).map(|session| session.id.clone())
}
