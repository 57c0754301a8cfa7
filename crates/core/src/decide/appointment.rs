//! A pause that ends by itself at a time.

use super::start;
use crate::decision::Reply;
use crate::draft::{Admission, Draft};
use crate::event::Event;
use crate::reason::Verb;
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
pub(super) fn is_due(draft: &mut Draft<'_>, at: WallMs) {
    if let Err(refusal) = may_begin(draft) {
        put_off(draft, at, &refusal);
        return;
    }
    if draft.session.starts.deferred.is_some() {
        // A person has resumed it meanwhile.
        draft.event(Event::ResumeAppointed { at: None });
        return;
    }
    // There is no caller to refuse it to: without a place it waits for one.
    draft.admission = Admission::Waits;
    draft.event(Event::ResumeFellDue);
    // It is paused, and nothing is in the way: there is no reason to refuse.
    let prompt = draft.session.continuation();
    start::resume(draft, prompt).ok();
    if draft.session.ahead.resume_at.is_some() {
        draft.event(Event::ResumeAppointed { at: None });
    }
}

fn may_begin(draft: &Draft<'_>) -> Result<(), Refusal> {
    if !draft.session.resumable() {
        return Err(draft.wrong_status(Verb::Resume));
    }
    if draft.gate.shut().is_some() {
        return Err(draft.is_shut());
    }
    draft.check_place()
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

/// Sets the timer once the session is paused, and drops it with the pause.
pub(super) fn watch(draft: &mut Draft<'_>) {
    draft.keep_timer(
        |session| session.appointment().map(TimerKey::ResumeAt),
        |session| session.appointment().map(When::At),
    );
}
