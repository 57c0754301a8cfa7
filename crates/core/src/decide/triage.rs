//! Labels, pins and snoozes: what a person wants to see first, or not now.

use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
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
    let former = draft.before().and_then(|session| session.triage.wakes_at());
    let at = draft.session.triage.wakes_at();
    if at == former && !draft.just_met {
        return;
    }
    if let Some(over) = former.filter(|_| at != former) {
        draft.effect(Effect::DropTimer { key: TimerKey::Snooze(over) });
    }
    if let Some(at) = at {
        draft.timer(TimerKey::Snooze(at), When::At(at));
    }
}
