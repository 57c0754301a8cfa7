//! Chats to which a card is being sent: the network may show it before its number is written down.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Chats to which a card is being sent.
#[derive(Debug, Default)]
pub(crate) struct OnTheWay {
    chats: Mutex<BTreeSet<i64>>,
    settled: Condvar,
}

/// A card that is being sent; when this goes, it was written down what came of it.
pub(crate) struct Sending<'w> {
    way: &'w OnTheWay,
    chat: i64,
}

impl OnTheWay {
    fn chats(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        self.chats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A card is being sent to this chat. There is one sender, so it is the only one.
    pub(crate) fn begin(&self, chat: i64) -> Sending<'_> {
        self.chats().insert(chat);
        Sending { way: self, chat }
    }

    /// Waits until no card is being sent to this chat, and no longer than this.
    pub(crate) fn wait(&self, chat: i64, most: Duration) {
        let waited =
            self.settled.wait_timeout_while(self.chats(), most, |chats| chats.contains(&chat));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.way.chats().remove(&self.chat);
        self.way.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    #[test]
    fn a_card_on_its_way_is_waited_for_and_nothing_else() {
        let (way, noted) = (OnTheWay::default(), AtomicBool::new(false));
        // Nothing is on its way to these: an hour would be too long for any test.
        let hour = Duration::from_secs(3600);
        way.wait(7, hour);
        let sending = way.begin(7);
        way.wait(8, hour);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                way.wait(7, hour);
                noted.load(Ordering::SeqCst)
            });
            noted.store(true, Ordering::SeqCst);
            drop(sending);
            assert!(waiting.join().unwrap(), "it waits until what came of the card is noted");
        });
        let _sending = way.begin(7);
        let began = Instant::now();
        way.wait(7, Duration::from_millis(5));
        assert!(
            began.elapsed() >= Duration::from_millis(5),
            "a network that is silent holds it up for no longer"
        );
    }
}
