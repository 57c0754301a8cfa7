//! The next message is handed over as soon as the agent takes one.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::session::Phase;
use crate::spec::{SignSource, Takes};
use crate::talk::Delivery;
use crate::tree::PathList;

/// What an agent reads before the first message after its turn was cut off.
const CUT_OFF_NOTE: &str = "[glis] Your last step was cut off before it ended. \
     Check whether it took effect before you do anything again.\n\n";

/// What an agent reads before the first message after its files were changed from outside.
fn changed_note(paths: &PathList) -> String {
    format!(
        "[glis] While you were away, {} of your files changed: {}. \
         Read them again before you rely on them.\n\n",
        paths.total,
        paths.line()
    )
}

pub(super) fn next(draft: &mut Draft<'_>) {
    let session = &draft.session;
    if draft.hold_back || session.phase != Phase::Live || draft.gate.shut().is_some() {
        return;
    }
    let may = match session.spec.traits.takes {
        Takes::Anytime => true,
        Takes::WhenIdle => {
            session.is_ready()
                && !session.turn().open
                && !session.turn().due
                && !session.is_asked_about()
        }
    };
    let Some(next) = session.talk.queue.front() else { return };
    if !may || next.delivery != Delivery::Queued {
        return;
    }
    let (message, mut text) = (next.id, next.text.clone());
    if session.spec.traits.signs == SignSource::Structured {
        if let Some(paths) = &session.upkeep.changed {
            text.insert_str(0, &changed_note(paths));
        }
        if session.talk.cut_off {
            text.insert_str(0, CUT_OFF_NOTE);
        }
    }
    let generation = session.agent.generation;
    draft.event(Event::DeliveryBegan { message });
    draft.effect(Effect::Deliver { generation, message, text });
}
