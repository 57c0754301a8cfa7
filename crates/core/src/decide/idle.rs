//! Idle suspension: a session that has been idle for as long as it may be is stopped, if nothing keeps
//! it awake. The next message wakes it.
//!
//! Its time is judged three times, each time with everything that is known then: when the timer fires,
//! in the world outside, and when that has answered. Where there is any doubt, it lives on and has its
//! time again.

use super::halt;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::SessionId;
use crate::input::Use;
use crate::reason::Verb;
use crate::refusal::Refusal;
use crate::session::{Phase, Rest, Session, StopCause, WallMs};
use crate::spec::IdleLimit;
use crate::timer::{TimerKey, When};

/// Its time is over, unless it has been anything but idle meanwhile.
pub(super) fn time_is_up(draft: &mut Draft<'_>, spell: u64) {
    if draft.session.idle_spell() != Some(spell) {
        return;
    }
    if is_free(draft) {
        draft.effect(Effect::CheckIdle { spell, cause: StopCause::Idle });
    } else {
        wait_again(draft, spell);
    }
}

/// Where nothing outside keeps it awake, what has come meanwhile does: then the spell is over. Where
/// memory runs short, the next one is looked at.
pub(super) fn checked(draft: &mut Draft<'_>, spell: u64, cause: StopCause, usage: Use) {
    let stands = draft.session.idle_spell() == Some(spell);
    let frees = cause == StopCause::Memory;
    if usage == Use::Free && stands && is_free(draft) && !(frees && makes_room(draft)) {
        halt::suspend(draft, cause);
    } else if frees {
        look_at_next(draft);
    } else if stands {
        wait_again(draft, spell);
    }
}

/// Memory runs short: of the sessions that may be suspended, the one that has been idle for longest is
/// looked at. One at a time: what the first gives back may be enough.
pub(super) fn make_room(mut draft: Draft<'_>) -> Decision {
    look_at_longest(&mut draft, |_| true);
    draft.decision
}

/// Looks at the session that has been idle for longest after the one in hand.
fn look_at_next(draft: &mut Draft<'_>) {
    let own = age(&draft.session);
    look_at_longest(draft, |session| age(session) > own);
}

/// Looks at the session that has been idle for longest among these.
fn look_at_longest(draft: &mut Draft<'_>, among: impl Fn(&Session) -> bool) {
    if makes_room(draft) {
        return;
    }
    let may_go = |s: &&Session| s.idle_spell().is_some() && s.upkeep.saving.is_none();
    let free = draft.stirring().filter(may_go).filter(|session| among(session));
    let next = free.min_by_key(|session| age(session)).map(|session| session.id.clone());
    // It was among those that are there.
    if let Some(next) = next
        && draft.turn_to(&next).is_ok()
        && let Some(spell) = draft.session.idle_spell()
    {
        draft.effect(Effect::CheckIdle { spell, cause: StopCause::Memory });
    }
}

/// Whether a session is being suspended for its memory.
fn makes_room(draft: &Draft<'_>) -> bool {
    let going = |phase: &Phase| matches!(phase, Phase::Stopping { cause: StopCause::Memory, .. });
    draft.stirring().any(|session| going(&session.phase))
}

/// By what the one that has been idle for longest comes first, and no two are alike.
fn age(session: &Session) -> (WallMs, SessionId) {
    (session.times.last_active_at, session.id.clone())
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
    draft.session.upkeep.saving.is_none()
}

fn wait_again(draft: &mut Draft<'_>, spell: u64) {
    if let Some(when) = When::idle(&draft.session.spec) {
        draft.timer(TimerKey::Idle(spell), when);
    }
}

/// Sets the timer when a spell of idleness begins, and drops it when the spell is over.
pub(super) fn watch(draft: &mut Draft<'_>) {
    draft.keep_timer(
        |session| session.idle_spell().map(TimerKey::Idle),
        |session| When::idle(&session.spec),
    );
}
