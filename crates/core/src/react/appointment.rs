//! A paused session that is to be resumed at a time has a timer for it.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::session::Session;
use crate::timer::{TimerKey, When};

/// Sets the timer once the session is paused, and drops it with the pause.
pub(super) fn watch(draft: &mut Draft<'_>) {
    let former = draft.before().and_then(Session::appointment);
    let appointment = draft.session.appointment();
    if appointment == former && !draft.just_met {
        return;
    }
    if let Some(over) = former.filter(|_| appointment != former) {
        draft.effect(Effect::DropTimer { key: TimerKey::ResumeAt(over) });
    }
    if let Some(at) = appointment {
        draft.timer(TimerKey::ResumeAt(at), When::At(at));
    }
}
