//! A message starts the session that it waits for.

use crate::decide::start;
use crate::draft::Draft;
use crate::event::Event;
use crate::session::StartCause;
use crate::talk::Delivery;

/// A message is reason enough to start what sleeps. What is paused stays paused.
pub(super) fn if_wanted(draft: &mut Draft<'_>) {
    // Only a message that has just come wakes a session: one that is left over from a failed
    // start must not start it again and again.
    let arrived = draft
        .own_events()
        .any(|event| matches!(event, Event::MessageQueued { .. } | Event::MessageRequeued { .. }));
    let wanted = arrived || draft.wake;
    // Behind a message in doubt it waits, but not for ever: the look before the start may find out
    // what became of that one, and a session that runs can be asked.
    let waits = draft.session.talk.queue.iter().any(|m| m.delivery == Delivery::Queued);
    if draft.session.wakes() && wanted && waits {
        let waits_already = draft.session.starts.deferred.is_some();
        if let Some(why) = draft.must_wait() {
            if !waits_already {
                draft.defer(StartCause::Message, why);
            }
            return;
        }
        let reply = draft.decision.reply.clone();
        let op = draft.new_op();
        draft.reply(reply);
        start::begin(draft, op, StartCause::Message);
    }
}
