//! Idle suspension: a session that has been idle for as long as it may be is stopped, if nothing keeps
//! it awake. The next message wakes it.
//!
//! Its time is judged three times, each time with everything that is known then: when the timer fires,
//! in the world outside, and when that has answered. Where there is any doubt, it lives on and has its
//! time again.

use super::halt;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::reason::Verb;
use crate::refusal::Refusal;
use crate::session::{Phase, Rest, StopCause};
use crate::spec::IdleLimit;
use crate::timer::{TimerKey, When};

/// Its time is over, unless it has been anything but idle meanwhile.
pub(super) fn time_is_up(draft: &mut Draft<'_>, spell: u64) {
    if draft.session.idle_spell() != Some(spell) {
        return;
    }
    if is_free(draft) {
        draft.effect(Effect::CheckIdle { spell });
    } else {
        wait_again(draft, spell);
    }
}

/// Nothing outside keeps it awake. What has come meanwhile does: then the spell is over.
pub(super) fn not_in_use(draft: &mut Draft<'_>, spell: u64) {
    if draft.session.idle_spell() != Some(spell) {
        return;
    }
    if is_free(draft) {
        halt::suspend(draft, StopCause::Idle);
    } else {
        wait_again(draft, spell);
    }
}

/// Something keeps it awake, or that is unknown.
pub(super) fn in_use(draft: &mut Draft<'_>, spell: u64) {
    if draft.session.idle_spell() == Some(spell) {
        wait_again(draft, spell);
    }
}

/// Takes down how long it may be idle, from now on.
pub(super) fn limit(draft: &mut Draft<'_>, limit: IdleLimit) -> Result<(), Refusal> {
    if !limit.is_in_range() {
        return Err(Refusal::IdleLimitOutOfRange);
    }
    if draft.session.phase == Phase::Rest(Rest::Archived) {
        return Err(draft.wrong_status(Verb::LimitIdle));
    }
    draft.event(Event::IdleLimitSet { limit });
    Ok(())
}

/// Whether nothing of ours is under way that would be cut off.
fn is_free(draft: &Draft<'_>) -> bool {
    draft.session.saving.is_none()
}

fn wait_again(draft: &mut Draft<'_>, spell: u64) {
    if let Some(when) = When::idle(draft.session.spec.idle_limit()) {
        draft.timer(TimerKey::Idle(spell), when);
    }
}
