//! The fold, as far as messages are concerned.

use crate::event::Spot;
use crate::ids::MessageId;
use crate::rule::Rule;
use crate::session::{Phase, Session, Spoken};
use crate::talk::{Delivery, Message};

impl Session {
    pub(super) fn queue_message(&mut self, id: MessageId, text: &str, first: bool) {
        let (text, delivery) = (text.to_owned(), Delivery::Queued);
        let message =
            Message { id, text, delivery, noted: false, changed: None, refused: 0, refusal: None };
        if first {
            self.queue.push_first(message);
        } else {
            self.queue.push(message);
        }
        self.await_message();
    }

    pub(super) fn begin_delivery(&mut self, message: MessageId) {
        if let Some(run) = &mut self.run {
            run.spoken = Spoken::Something;
        }
        self.rule = Rule::Delivering;
        self.set_delivery(message, Delivery::Sent);
        let (noted, changed) = (std::mem::take(&mut self.cut_off), self.changed.take());
        if let Some(message) = self.queue.get_mut(message) {
            message.noted = noted;
            message.changed = changed;
        }
    }

    pub(super) fn refuse_delivery(&mut self, message: MessageId, why: &str) {
        self.rule = Rule::MessageWaits(why.to_owned());
        self.set_delivery(message, Delivery::Queued);
        if let Some(message) = self.queue.get_mut(message) {
            message.refused += 1;
            message.refusal = Some(why.to_owned());
        }
        self.take_note_back(message);
    }

    pub(super) fn take_message(&mut self, message: MessageId, spot: Option<Spot>) {
        if let Some(run) = &mut self.run {
            run.turn.due |= spot.is_some();
        }
        self.undelivered = None;
        self.was_asking.clear();
        self.queue.remove(message);
    }

    pub(super) fn doubt_message(&mut self, message: MessageId) {
        self.set_delivery(message, Delivery::Doubtful);
    }

    pub(super) fn requeue_message(&mut self, message: MessageId) {
        self.set_delivery(message, Delivery::Queued);
        if let Some(message) = self.queue.get_mut(message) {
            (message.refused, message.refusal) = (0, None);
        }
        self.take_note_back(message);
        self.await_message();
    }

    pub(super) fn refuse_message(&mut self, message: MessageId, why: &str) {
        self.rule = Rule::MessageRefused(why.to_owned());
        self.undelivered = Some(why.to_owned());
        self.drop_message(message);
    }

    pub(super) fn drop_message(&mut self, message: MessageId) {
        self.take_note_back(message);
        self.queue.remove(message);
    }

    fn set_delivery(&mut self, message: MessageId, delivery: Delivery) {
        if let Some(message) = self.queue.get_mut(message) {
            message.delivery = delivery;
        }
    }

    /// The note that a message carried may not have got there: the next one carries it again.
    fn take_note_back(&mut self, message: MessageId) {
        if let Some(message) = self.queue.get_mut(message) {
            self.cut_off |= std::mem::take(&mut message.noted);
            self.changed = self.changed.take().or(message.changed.take());
        }
    }

    /// A message to a session that is being stopped brings it back afterwards.
    fn await_message(&mut self) {
        if let Phase::Stopping { awaited, .. } = &mut self.phase {
            *awaited = true;
        }
    }
}
