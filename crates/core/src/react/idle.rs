//! An idle session is given its time, and a session that is not idle any more is not.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::session::Session;
use crate::timer::{TimerKey, When};

/// Sets the timer when a spell of idleness begins, and drops it when the spell is over.
pub(super) fn watch(draft: &mut Draft<'_>) {
    let former = draft.before().and_then(Session::idle_spell);
    let spell = draft.session.idle_spell();
    if spell == former && !draft.just_met {
        return;
    }
    if let Some(over) = former.filter(|_| spell != former) {
        draft.effect(Effect::DropTimer { key: TimerKey::Idle(over) });
    }
    let when = When::idle(&draft.session.spec);
    if let Some((spell, when)) = spell.zip(when) {
        draft.timer(TimerKey::Idle(spell), when);
    }
}
