//! What waits for a person: the agent's questions, and our own doubts about messages.

use crate::session::{Phase, Session};
use crate::talk::{Ask, Delivery, Message};

impl Session {
    /// What the agent asks, oldest first. Our own doubts are not among it.
    pub fn asked(&self) -> &[Ask] {
        self.run.as_ref().map_or(&[], |run| &run.asks)
    }

    /// Everything that waits for a person: our doubts, whose messages are older than whatever the
    /// agent does, and then what the agent asks. What is stopped in place takes no answer.
    pub fn asks(&self) -> Vec<Ask> {
        let asked = if self.is_frozen() { &[] } else { self.asked() };
        self.doubts().map(Message::doubt).chain(asked.iter().cloned()).collect()
    }

    /// Messages of which a person has to say what becomes of them: perhaps taken, or refused again and again.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = &Message> {
        let live = self.phase == Phase::Live;
        let doubted = move |m: &&Message| m.delivery == Delivery::Doubtful || live && m.is_stuck();
        self.queue.iter().filter(doubted)
    }

    /// Whether anything is asked, and the next message has to wait for the answer.
    pub fn is_asked_about(&self) -> bool {
        !self.asked().is_empty() || self.doubts().any(|m| m.delivery == Delivery::Doubtful)
    }

    /// Whether a person has allowed the very same for the session. What is being paused, stopped or started
    /// takes no answer.
    pub(crate) fn allows_again(&self, ask: &Ask) -> bool {
        self.phase == Phase::Live && self.allowed.iter().any(|known| known.is_alike(ask))
    }

    /// Whether something waits for a person that no rule is about to answer.
    pub fn waits_for_person(&self) -> bool {
        let asked = self.asked().iter().any(|ask| ask.answerer.is_person());
        asked || self.doubts().next().is_some()
    }
}
