//! Labels, pins and snoozes: what a person wants to see first, or not now.

use crate::decision::Reply;
use crate::draft::Draft;
use crate::event::Event;
use crate::reason::Verb;
use crate::refusal::Refusal;
use crate::status::Status;
use crate::timer::{TimerKey, WallMs, When};
use crate::triage::Put;

/// Puts it where a person wants it.
pub(super) fn put(draft: &mut Draft<'_>, put: Put) -> Result<(), Refusal> {
    if draft.session.status() == Status::Archived {
        return Err(draft.wrong_status(Verb::Triage));
    }
    let triage = draft.session.triage.after(put);
    if triage == *draft.session.triage {
        draft.reply(Reply::Already);
    } else {
        draft.event(Event::Triaged(Box::new(triage)));
    }
    Ok(())
}

/// It was to sleep until now.
pub(super) fn wake(draft: &mut Draft<'_>, at: WallMs) {
    if draft.session.triage.wakes_at() == Some(at) {
        let awake = draft.session.triage.after(Put::Snoozed(None));
        draft.event(Event::Triaged(Box::new(awake)));
    }
}

/// Sets the timer of a snooze, and drops it with the snooze.
pub(super) fn watch(draft: &mut Draft<'_>) {
    draft.keep_timer(
        |session| session.triage.wakes_at().map(TimerKey::Snooze),
        |session| session.triage.wakes_at().map(When::At),
    );
}
