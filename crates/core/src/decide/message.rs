//! Messages: stored first, handed over at most once and in order, doubted rather than repeated.

use super::{Draft, start};
use crate::effect::Effect;
use crate::event::{Event, Spot};
use crate::house::Reply;
use crate::ids::MessageId;
use crate::refusal::Refusal;
use crate::session::{AfterStop, Phase, Rest, StartCause};
use crate::spec::{SignSource, Takes};
use crate::talk::{Leg, Message};
use crate::timer::{TimerKey, When};
use crate::tree::PathList;

/// What an agent reads before the first message after its turn was cut off.
const CUT_OFF_NOTE: &str = "[glis] Your last step was cut off before it ended. \
     Check whether it took effect before you do anything again.\n\n";

/// What an agent reads before the first message after its files were changed by somebody else.
fn changed_note(paths: &PathList) -> String {
    format!(
        "[glis] While you were away, {} of your files changed: {}. \
         Read them again before you rely on them.\n\n",
        paths.total,
        paths.line()
    )
}

/// Each waits twice as long as the one before. What is refused for more than a minute is refused
/// for a reason that time does not mend.
const RETRIES_MAX: u32 = 8;

pub(super) fn send(draft: &mut Draft, text: String) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Rest(Rest::Completed | Rest::Archived) => {
            return Err(draft.wrong_status("send to"));
        }
        Phase::Rest(Rest::Failed(_)) if !draft.session.failed_early() => {
            return Err(draft.wrong_status("send to"));
        }
        Phase::Chore { .. } | Phase::Stopping { then: AfterStop::Remove, .. } => {
            return Err(draft.busy());
        }
        Phase::Starting(_)
        | Phase::Live
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Rest(
            Rest::Paused(_) | Rest::Suspended | Rest::Interrupted | Rest::Created | Rest::Failed(_),
        ) => {}
    }
    if draft.session.queue.is_full_for(&text) {
        let messages = draft.session.queue.len();
        return Err(Refusal::QueueFull { session: draft.session.name.clone(), messages });
    }
    let status = draft.session.status();
    let before = draft.session.queue.len();
    let message = draft.new_message(text);
    draft.reply(Reply::Queued { message, before, status });
    Ok(())
}

/// A message is reason enough to start what sleeps. What is paused stays paused.
pub(super) fn wake_if_wanted(draft: &mut Draft) {
    // Only a message that has just come wakes a session: one that is left over from a failed
    // start must not start it again and again.
    let arrived = draft.decision.events.iter().any(|(_, event)| {
        matches!(event, Event::MessageQueued { .. } | Event::MessageRequeued { .. })
    });
    let wanted = arrived || draft.wake;
    // Behind a message in doubt it waits, but not for ever: the look before the start may find out
    // what became of that one, and a session that runs can be asked.
    let waits = draft.session.queue.iter().any(|m| m.leg == Leg::Queued);
    if draft.session.wakes() && wanted && waits {
        let reply = draft.decision.reply.clone();
        let op = draft.new_op();
        draft.reply(reply);
        start::begin(draft, op, StartCause::Message);
    }
}

pub(super) fn deliver_next(draft: &mut Draft) {
    let session = &draft.session;
    if draft.hold_back || session.phase != Phase::Live {
        return;
    }
    let may = match session.spec.traits.takes {
        Takes::Anytime => true,
        Takes::WhenIdle => {
            session.ready && !session.turn.open && !session.turn.due && session.asks.is_empty()
        }
    };
    let Some(next) = session.queue.front() else { return };
    if !may || next.leg != Leg::Queued {
        return;
    }
    let (message, mut text) = (next.id, next.text.clone());
    if session.spec.traits.signs == SignSource::Structured {
        if let Some(paths) = &session.changed {
            text.insert_str(0, &changed_note(paths));
        }
        if session.cut_off {
            text.insert_str(0, CUT_OFF_NOTE);
        }
    }
    let generation = session.generation;
    draft.event(Event::DeliveryBegan { message });
    draft.effect(Effect::Deliver { generation, message, text });
}

/// It was handed over. Whether that is all that can be seen depends on the agent.
pub(super) fn delivered(draft: &mut Draft, message: MessageId) {
    let sent = draft.session.in_flight().is_some_and(|m| m.id == message);
    if sent && draft.session.spec.traits.takes == Takes::Anytime {
        draft.event(Event::MessageTaken { message, spot: None });
    }
}

pub(super) fn not_delivered(draft: &mut Draft, message: MessageId, why: String) {
    if draft.session.in_flight().is_some_and(|m| m.id == message) {
        draft.event(Event::DeliveryRefused { message, why });
        // Tried again at the next sign of life, or after a while; at once would be a loop.
        draft.hold_back = true;
        let refused = draft.session.queue.front().map_or(0, |m| m.refused);
        if refused <= RETRIES_MAX {
            draft.timer(TimerKey::Retry(message), When::retry(refused));
        }
    }
}

/// The agent itself says that it has not looked at it: it waits for a process that does.
pub(super) fn refused(draft: &mut Draft, why: String) {
    if let Some(message) = draft.session.in_flight().map(|m| m.id) {
        draft.event(Event::DeliveryRefused { message, why });
        draft.hold_back = true;
    }
}

/// Only a person can say what became of it. Nothing else waits for that: neither a pause nor a stop.
pub(super) fn not_taken(draft: &mut Draft, message: MessageId) {
    if draft.session.in_flight().is_some_and(|m| m.id == message) {
        draft.event(Event::MessageDoubted { message });
    }
}

/// What can never be handed over as it is would stand in the way of every later message.
pub(super) fn undeliverable(draft: &mut Draft, message: MessageId, why: String) {
    if draft.session.in_flight().is_some_and(|m| m.id == message) {
        draft.event(Event::MessageRefused { message, why });
    }
}

/// The agent was seen to take what it was last handed, or what was in doubt. What somebody typed
/// into its terminal meanwhile is none of ours.
pub(super) fn taken(draft: &mut Draft, spot: Spot, text: Option<&str>) {
    if draft.session.spec.traits.takes == Takes::Anytime {
        // It may hold several that it has not looked at yet; nobody can say which one this is.
        return;
    }
    let front = draft.session.queue.front().filter(|m| m.leg != Leg::Queued);
    let ours = |m: &&Message| text.is_none_or(|text| holds(text, &m.text));
    if let Some(message) = front.filter(ours).map(|m| m.id) {
        draft.event(Event::MessageTaken { message, spot: Some(spot) });
    }
}

/// Whether a text that an agent took holds a message. Blanks, control characters and what nobody sees
/// do not count: a terminal, or the program in it, changes them on the way.
fn holds(taken: &str, message: &str) -> bool {
    let bare = |text: &str| -> String { text.chars().filter(|c| is_seen(*c)).collect() };
    bare(taken).contains(&bare(message))
}

/// Unicode's characters that may be left out of what is shown, and a blank in the dress of a letter.
fn is_seen(c: char) -> bool {
    let ignorable = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    !(c.is_whitespace() || c.is_control() || ignorable)
}

/// Nobody can know any more whether the agent took it.
pub(super) fn doubt_in_flight(draft: &mut Draft) {
    if let Some(message) = draft.session.in_flight().map(|m| m.id) {
        draft.event(Event::MessageDoubted { message });
    }
}
