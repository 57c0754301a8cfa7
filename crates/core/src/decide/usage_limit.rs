//! Parked at a usage limit: when the session goes on by itself, and that it does.

use super::{appointment, pause, start};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::pause::{PauseReason, PauseWish};
use crate::session::{Pause, Phase, Session};
use crate::timer::WallMs;

/// Sessions that one limit has stopped go on so far apart: each has started and asked its model before
/// the next one does, and a limit that still lasts is met by few of them.
const APART_MS: WallMs = 5000;

/// Whether it may go on by itself, and when, is asked anew at its time: the user may have changed that.
pub(super) fn is_due(draft: &mut Draft<'_>) {
    draft.effect(Effect::PlanReturn);
}

/// The user's bounds have an answer: when it may go on, if it may.
pub(super) fn planned(draft: &mut Draft<'_>, at: Option<WallMs>, now: WallMs) {
    let appointed = draft.session.ahead.resume_at;
    let parked = draft.session.parked().is_some();
    if !parked && (appointed.is_some() || !draft.session.is_to_be_tried_again()) {
        return;
    }
    let Some(at) = at.filter(|_| !draft.session.course.by_itself.is_given_up()) else {
        if appointed.is_some() || parked && !draft.session.course.stays {
            draft.event(Event::ResumeAppointed { at: None });
        }
        return;
    };
    // What has just failed to start waits; what is due has waited.
    let wait = if appointed.is_none() { draft.session.course.by_itself.wait() } else { 0 };
    let from = at.max(now.saturating_add(wait));
    if let Some(slot) = appointed.filter(|slot| *slot <= now && from <= now) {
        // A timer fires some milliseconds late. Between moments as they were appointed there are exactly
        // five seconds; between those at which the timers fired there may be less.
        let moment = if now - slot < APART_MS { slot } else { now };
        if !has_begun_lately(draft, moment) {
            go_on(draft, slot, moment);
            return;
        }
    }
    let free = free_from(draft, from);
    // Otherwise it is a report that came twice.
    if appointed != Some(free) {
        draft.event(Event::ResumeAppointed { at: Some(free) });
    }
}

/// Whether another session has gone on within five seconds of this moment. The times of those that are
/// still to come do not count: whoever is due goes first, or all would give way to each other for ever.
fn has_begun_lately(draft: &Draft<'_>, moment: WallMs) -> bool {
    let begun = |session: &Session| session.ahead.limits.returned_at;
    others(draft).filter_map(begun).any(|begun| is_near(begun, moment))
}

fn go_on(draft: &mut Draft<'_>, appointed: WallMs, moment: WallMs) {
    // It waits for its place already.
    if draft.session.starts.deferred.is_some() {
        return;
    }
    if let Err(refusal) = draft.check_start().and_then(|()| draft.check_place()) {
        appointment::put_off(draft, appointed, &refusal);
    } else if draft.session.resumable() {
        draft.event(Event::LimitOver { at: moment });
        // It is paused, and nothing is in the way: there is no reason to refuse.
        start::resume(draft, None).ok();
    } else {
        draft.event(Event::ResumeAppointed { at: None });
    }
}

/// The first moment from this one on at which no other session goes on after a limit.
fn free_from(draft: &Draft<'_>, mut at: WallMs) -> WallMs {
    let mut taken: Vec<WallMs> = others(draft).filter_map(slot).collect();
    taken.sort_unstable();
    for taken in taken {
        if is_near(taken, at) {
            at = taken.saturating_add(APART_MS);
        }
    }
    at
}

fn others<'a>(draft: &'a Draft<'_>) -> impl Iterator<Item = &'a Session> {
    draft.sessions().filter(|session| session.id != draft.session.id)
}

fn is_near(one: WallMs, other: WallMs) -> bool {
    (one - other).abs() < APART_MS
}

fn slot(session: &Session) -> Option<WallMs> {
    session.parked().and(session.appointment()).or(session.ahead.limits.returned_at)
}

/// A person pauses a session that is parked: it is the user's pause from now on, and does not end by
/// itself unless the user says when.
pub(super) fn take_over(draft: &mut Draft<'_>) {
    let parks = |pause: &Pause| pause.reason == PauseReason::RateLimit;
    let is_parking = matches!(&draft.session.phase, Phase::Pausing(pause) if parks(pause));
    if is_parking || draft.session.parked().is_some() {
        draft.event(Event::PauseTakenOver { reason: PauseReason::User });
    }
}

/// Pauses it as soon as nothing else is under way: what works beside its turn needs no model.
pub(super) fn park(draft: &mut Draft<'_>) {
    let limited = draft.session.run.as_ref().is_some_and(|run| run.limited);
    if !limited || draft.session.phase != Phase::Live || draft.session.safe_rule().is_none() {
        return;
    }
    pause::begin_by_itself(draft, PauseWish::plain(PauseReason::RateLimit));
}

/// Has it found out when a session goes on that was just parked, or was found so, and when one is tried
/// again that could not be resumed by itself.
pub(super) fn plan(draft: &mut Draft<'_>) {
    let rests = |event: &Event| matches!(event, Event::Paused { .. } | Event::StartFailed { .. });
    let rests = draft.own_events().any(rests) || draft.just_met;
    let returns = draft.session.parked().is_some() || draft.session.is_to_be_tried_again();
    if returns && draft.session.ahead.resume_at.is_none() && rests {
        draft.effect(Effect::PlanReturn);
    }
}
