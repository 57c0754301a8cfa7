//! Messages: stored first, handed over at most once and in order, doubted rather than repeated.

use super::start;
use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::{Event, Spot};
use crate::ids::MessageId;
use crate::plain::{is_seen, without_escapes};
use crate::reason::Verb;
use crate::refusal::Refusal;
use crate::session::{AfterStop, Phase, Rest, StartCause};
use crate::spec::{SignSource, Takes};
use crate::talk::{Delivery, Message};
use crate::timer::{TimerKey, When};
use crate::tree::PathList;

/// Each waits twice as long as the one before. What is refused for more than a minute is refused
/// for a reason that time does not mend.
const RETRIES_MAX: u32 = 8;

pub(super) fn send(draft: &mut Draft<'_>, text: String) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Rest(Rest::Completed | Rest::Archived) => {
            return Err(draft.wrong_status(Verb::Send));
        }
        Phase::Rest(Rest::Failed(_)) if !draft.session.failed_early() => {
            return Err(draft.wrong_status(Verb::Send));
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
    if draft.session.wakes() && draft.refuses_start() {
        return Err(draft.is_full());
    }
    check_room(draft, &text)?;
    let status = draft.session.status();
    let before = draft.session.talk.queue.len();
    let message = draft.new_message(text);
    draft.reply(Reply::Queued { message, before, status });
    Ok(())
}

/// Whether the queue takes one more.
pub(super) fn check_room(draft: &Draft<'_>, text: &str) -> Result<(), Refusal> {
    if draft.session.talk.queue.is_full_for(text) {
        let messages = draft.session.talk.queue.len();
        return Err(Refusal::QueueFull { session: draft.session.name.clone(), messages });
    }
    Ok(())
}

/// It was handed over. Whether that is all that can be seen depends on the agent.
pub(super) fn delivered(draft: &mut Draft<'_>, message: MessageId) {
    let sent = draft.session.in_flight().is_some_and(|m| m.id == message);
    if sent && draft.session.spec.traits.takes == Takes::Anytime {
        draft.event(Event::MessageTaken { message, spot: None });
    }
}

pub(super) fn not_delivered(draft: &mut Draft<'_>, message: MessageId, why: String) {
    if draft.session.in_flight().is_some_and(|m| m.id == message) {
        draft.event(Event::DeliveryRefused { message, why });
        // Tried again at the next sign of life, or after a while; at once would be a loop.
        draft.hold_back = true;
        let refused = draft.session.talk.queue.front().map_or(0, |m| m.refused);
        if refused <= RETRIES_MAX {
            draft.timer(TimerKey::Retry(message), When::retry(refused));
        }
    }
}

/// The agent itself says that it has not looked at it: it waits for a process that does.
pub(super) fn refused(draft: &mut Draft<'_>, why: String) {
    if let Some(message) = draft.session.in_flight().map(|m| m.id) {
        draft.event(Event::DeliveryRefused { message, why });
        draft.hold_back = true;
    }
}

/// Only a person can say what became of it. Nothing else waits for that: neither a pause nor a stop.
pub(super) fn not_taken(draft: &mut Draft<'_>, message: MessageId) {
    if draft.session.in_flight().is_some_and(|m| m.id == message) {
        draft.event(Event::MessageDoubted { message });
    }
}

/// What can never be handed over as it is would stand in the way of every later message.
pub(super) fn undeliverable(draft: &mut Draft<'_>, message: MessageId, why: String) {
    if draft.session.in_flight().is_some_and(|m| m.id == message) {
        draft.event(Event::MessageRefused { message, why });
    }
}

/// The agent was seen to take what it was last handed, or what was in doubt. What the user typed
/// into its terminal meanwhile is none of ours.
pub(super) fn taken(draft: &mut Draft<'_>, spot: Spot, text: Option<&str>) {
    if draft.session.spec.traits.takes == Takes::Anytime {
        // It may hold several that it has not looked at yet; it is unknown which one this is.
        return;
    }
    let front = draft.session.talk.queue.front().filter(|m| m.delivery != Delivery::Queued);
    let ours = |m: &&Message| text.is_none_or(|text| holds(text, &m.text));
    if let Some(message) = front.filter(ours).map(|m| m.id) {
        draft.event(Event::MessageTaken { message, spot: Some(spot) });
    }
}

/// Whether a text that an agent took holds a message. Blanks, control characters, invisible ones and
/// escape sequences do not count: a terminal, or the program in it, changes them on the way.
fn holds(taken: &str, message: &str) -> bool {
    let bare =
        |text: &str| -> String { without_escapes(text).chars().filter(|c| is_seen(*c)).collect() };
    bare(taken).contains(&bare(message))
}

/// It is known that it has not arrived: it is handed over again.
pub(super) fn take_back_in_flight(draft: &mut Draft<'_>) {
    if let Some(message) = draft.session.in_flight().map(|m| m.id) {
        draft.event(Event::MessageRequeued { message });
    }
}

/// It is unknown from here on whether the agent took it.
pub(super) fn doubt_in_flight(draft: &mut Draft<'_>) {
    if let Some(message) = draft.session.in_flight().map(|m| m.id) {
        draft.event(Event::MessageDoubted { message });
    }
}

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

/// The next message is handed over as soon as the agent takes one.
pub(super) fn deliver_next(draft: &mut Draft<'_>) {
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

/// A message is reason enough to start what sleeps. What is paused stays paused.
pub(super) fn wake(draft: &mut Draft<'_>) {
    // Only a message that has just come wakes a session: one that is left over from a failed
    // start must not start it again and again.
    let arrived = draft
        .own_events()
        .any(|event| matches!(event, Event::MessageQueued { .. } | Event::MessageRequeued { .. }));
    let wanted = arrived || draft.wake;
    // Behind a message in doubt it waits, but not for ever: the look before the start may find out
    // what became of that one, and a session that runs can be asked.
    let waits = draft.session.talk.queue.iter().any(|m| m.delivery == Delivery::Queued);
    if draft.session.wakes() && wanted && waits {
        let waits_already = draft.session.starts.deferred.is_some();
        if let Some(why) = draft.must_wait() {
            if !waits_already {
                draft.defer(StartCause::Message, why);
            }
            return;
        }
        let reply = draft.decision.reply.clone();
        let op = draft.new_op();
        draft.reply(reply);
        start::begin(draft, op, StartCause::Message);
    }
}
