//! Which events are still the doing of a call, and of whose.

use crate::caller::Origin;
use crate::event::Event;
use crate::ids::{AskId, MessageId, OpId};
use crate::session::Session;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who asked for what is not over yet in one session. Known from the log, so that the next daemon
/// knows it too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Callers {
    operations: BTreeMap<OpId, Origin>,
    messages: BTreeMap<MessageId, Origin>,
    answers: BTreeMap<AskId, Origin>,
}

impl Callers {
    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.messages.is_empty() && self.answers.is_empty()
    }

    /// Who asked for what leads to this event. `session` is as it was before it.
    pub(crate) fn of(&self, session: Option<&Session>, event: &Event) -> Option<&Origin> {
        let under_way = || session.and_then(Session::operation).map(|(op, _)| op);
        if let Some(op) = event.op() {
            return self.operations.get(&op);
        }
        if let Some(message) = message_of(event) {
            return self.messages.get(&message);
        }
        if let Some(ask) = ask_of(event) {
            return self.answers.get(ask);
        }
        // Steps of an operation that do not name it.
        let is_step = matches!(
            event,
            Event::ProcessEnded { ordered: true, .. }
                | Event::WorktreeSaved { .. }
                | Event::WorktreeNotSaved { .. }
                | Event::Suspended { .. }
        );
        if is_step { self.operations.get(&under_way()?) } else { None }
    }

    /// Takes note of who an event is from, and forgets what has ended with it. `session` is as it is
    /// after it.
    pub(crate) fn learn(&mut self, session: &Session, event: &Event, from: Option<&Origin>) {
        if let (Some(op), Some(from)) = (event.op(), from) {
            let under_way = session.operation().map(|(op, _)| op);
            // What ended without an event of its own is left out here.
            self.operations.retain(|known, _| {
                Some(*known) == under_way
                    || [session.upkeep.saving, session.upkeep.compaction.asked]
                        .contains(&Some(*known))
            });
            self.operations.insert(op, from.clone());
        }
        if let Some((op, _)) = event.ends() {
            self.operations.remove(&op);
        }
        if let (Event::MessageQueued { message, .. }, Some(from)) = (event, from) {
            self.messages.insert(*message, from.clone());
        }
        if let Event::MessageTaken { message, .. }
        | Event::MessageRefused { message, .. }
        | Event::MessageDropped { message } = event
        {
            self.messages.remove(message);
        }
        if let (Event::AnswerBegan { ask, .. }, Some(from)) = (event, from) {
            self.answers.insert(ask.clone(), from.clone());
        }
        if let Event::AskGone { ask, .. } | Event::AnswerFailed { ask, .. } = event {
            self.answers.remove(ask);
        }
        // With its process everything is void that was asked by it.
        if matches!(event, Event::ProcessEnded { .. }) {
            self.answers.clear();
        }
        if matches!(event, Event::Emptied { .. }) {
            *self = Self::default();
        }
    }
}

fn message_of(event: &Event) -> Option<MessageId> {
    if let Event::MessageQueued { message, .. }
    | Event::DeliveryBegan { message }
    | Event::DeliveryRefused { message, .. }
    | Event::MessageTaken { message, .. }
    | Event::MessageRefused { message, .. }
    | Event::MessageDoubted { message }
    | Event::MessageRequeued { message }
    | Event::MessageDropped { message } = event
    {
        Some(*message)
    } else {
        None
    }
}

fn ask_of(event: &Event) -> Option<&AskId> {
    if let Event::AnswerBegan { ask, .. }
    | Event::AskGone { ask, .. }
    | Event::AnswerFailed { ask, .. } = event
    {
        Some(ask)
    } else {
        None
    }
}
