//! What is recorded when the end of the log is lost: what the sessions' cards know, and doubts.

use crate::card::Card;
use crate::event::Event;
use crate::house::House;
use crate::ids::SessionId;
use crate::queue::Queue;
use crate::talk::Delivery;
use std::collections::BTreeMap;

impl House {
    /// What is to be recorded when the end of the log is lost, however much that was. What a
    /// session's own card knows beyond the log counts; every session that may lack something is
    /// flagged; and a message that may have been handed over since is asked about. `kept` is where the
    /// log came from, and `folder` where the cards are.
    pub fn after_a_loss(
        &self,
        cards: &BTreeMap<SessionId, Card>,
        (kept, folder): (&str, &str),
    ) -> Vec<(SessionId, Event)> {
        let mut events = Vec::new();
        for session in self.sessions().filter(|session| !is_ahead(self, cards, &session.id)) {
            events.extend(doubts(&session.id, &session.talk.queue, kept));
        }
        for (id, card) in cards.iter().filter(|(id, _)| is_ahead(self, cards, id)) {
            let recovered = Event::SessionRecovered { card: Box::new(card.clone()) };
            events.push((id.clone(), recovered));
            if card.trashed.is_none() {
                events.extend(doubts(id, &card.talk.queue, folder));
            }
        }
        events
    }
}

/// Whether a session's card knows more than the log.
fn is_ahead(house: &House, cards: &BTreeMap<SessionId, Card>, id: &SessionId) -> bool {
    cards.get(id).is_some_and(|card| house.session(id).is_none() || card.seq > house.last_seq())
}

/// The flag of a session that may lack something, and what of its queue is uncertain.
fn doubts(id: &SessionId, queue: &Queue, kept: &str) -> Vec<(SessionId, Event)> {
    let flag = Event::RecordDamaged { lost: Vec::new(), kept: kept.to_owned() };
    let open = queue.iter().filter(|message| message.delivery != Delivery::Doubtful);
    let doubted = open.map(|message| Event::MessageDoubted { message: message.id });
    std::iter::once(flag).chain(doubted).map(|event| (id.clone(), event)).collect()
}
