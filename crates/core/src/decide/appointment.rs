//! A pause that ends by itself at a time.

use crate::decision::Reply;
use crate::draft::Draft;
use crate::event::Event;
use crate::refusal::Refusal;
use crate::timer::{TimerKey, WallMs, When};

/// Takes down when the pause that has just been asked for ends.
pub(super) fn make(draft: &mut Draft<'_>, at: WallMs) {
    draft.event(Event::ResumeAppointed { at: Some(at) });
    if draft.decision.reply == Reply::Already {
        // It was paused before, and its time is new.
        draft.reply(Reply::Done);
    }
}

/// The time has come. What waits for a place does so without it, and what begins has dropped it.
pub(super) fn met(draft: &mut Draft<'_>) {
    if draft.session.resume_at.is_some() {
        draft.event(Event::ResumeAppointed { at: None });
    }
}

/// The time has come, and the session could not be resumed. What is in the way of that now may go; what
/// will always be in the way is no reason to try for ever.
pub(super) fn put_off(draft: &mut Draft<'_>, at: WallMs, refusal: &Refusal) {
    if matches!(refusal, Refusal::NotResumable { .. } | Refusal::WrongStatus { .. }) {
        draft.event(Event::ResumeAppointed { at: None });
    } else {
        draft.timer(TimerKey::ResumeAt(at), When::appointment_again());
    }
}
