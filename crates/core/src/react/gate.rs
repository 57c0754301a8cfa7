//! While the gate is shut, whatever runs is paused; once nothing runs, that is written down.

use crate::decide::{pause, returning};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::gate::{Gate, GateEvent, GateStep};
use crate::pause::PauseMode;
use crate::session::{Phase, Rest, Session};

/// Pauses the session in hand if it runs although the gate is shut.
pub(super) fn stop_if_shut(draft: &mut Draft<'_>) {
    let Some(shut) = draft.gate.shut() else { return };
    if draft.session.phase != Phase::Live || !may_be_tried(draft) {
        return;
    }
    let mut wish = shut.wish.of(&draft.session);
    // An agent that did not heed an interrupt is waited for.
    if draft.own_events().any(|event| matches!(event, Event::PauseRefused { .. })) {
        wish.mode = PauseMode::Boundary;
    }
    if !shut.set.contains(&draft.session.id) || shut.step == GateStep::Keeping {
        let session = draft.session.id.clone();
        draft.house_event(GateEvent::Joined { session });
    }
    let reply = draft.decision.reply.clone();
    // It runs, and nothing is under way on it: there is no reason to refuse.
    pause::begin(draft, wish).ok();
    draft.reply(reply);
}

/// A pause that has failed would fail again at once. At the end of a turn it may succeed.
fn may_be_tried(draft: &Draft<'_>) -> bool {
    let failed = draft.gate.shut().is_some_and(|shut| shut.failed.contains(&draft.session.id));
    let just_failed =
        |event: &Event| matches!(event, Event::PauseFailed { .. } | Event::PauseBarred { .. });
    let ended = |event: &Event| matches!(event, Event::TurnEnded { .. });
    !failed || (draft.own_events().any(ended) && !draft.own_events().any(just_failed))
}

/// What was paused too late to be called off comes back now that it is paused.
pub(super) fn return_if_open(draft: &mut Draft<'_>) {
    let Gate::Open { returning: set, .. } = &draft.gate else { return };
    let paused = matches!(draft.session.phase, Phase::Rest(Rest::Paused(_)));
    if paused && set.contains(&draft.session.id) {
        // One that cannot be resumed is left as it is.
        returning::resume(draft).ok();
    }
}

/// Goes on with the gate, once what it waits for is so.
pub(crate) fn complete(draft: &mut Draft<'_>) {
    match &draft.gate {
        Gate::Pausing(shut) if shut.step == GateStep::Stopping => {
            let op = shut.op;
            // Also one that was at rest is on record as paused first, if it is paused by this.
            let saves = |session: &Session| {
                shut.set.contains(&session.id) && matches!(session.phase, Phase::Pausing(_))
            };
            if !draft.stirring().any(|session| session.is_at_work() || saves(session)) {
                draft.house_event(GateEvent::Stopped { op });
                draft.house_effect(Effect::KeepGate { op });
            }
        }
        Gate::Open { returning: set, told: true, .. } if set.is_empty() => {
            returning::tell_resumed(draft);
        }
        // Whom a person has taken out of it is not to be brought back by the file either.
        Gate::Paused(shut) => {
            let (op, changed) = (shut.op, has_changed(draft));
            if changed {
                draft.house_effect(Effect::KeepGate { op });
            }
        }
        Gate::Pausing(_) | Gate::Open { .. } => {}
    }
}

/// Whether this decision has changed what comes back.
fn has_changed(draft: &Draft<'_>) -> bool {
    draft
        .house_events()
        .any(|event| matches!(event, GateEvent::Joined { .. } | GateEvent::Released { .. }))
}
