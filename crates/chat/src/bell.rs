//! What a thread waits at that has nothing to do.

use crate::time;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes a thread. Rung before it is waited at, it does not wait.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    /// There is something to do.
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_all();
    }

    /// Waits until it rings, or for so long.
    pub(crate) fn wait(&self, most: Option<Duration>) {
        let end = most.filter(|_| time::is_by_hand()).map(|most| time::passed() + most);
        match end {
            Some(end) => self.wait_by_hand(end),
            None => drop(self.wait_really(most)),
        }
    }

    /// The same in real time, also where a test moves the bot's. Tells whether it rang.
    pub(crate) fn wait_really(&self, most: Option<Duration>) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rung = if let Some(most) = most {
            let waited = self.heard.wait_timeout_while(rung, most, |rung| !*rung);
            waited.unwrap_or_else(PoisonError::into_inner).0
        } else {
            let waited = self.heard.wait_while(rung, |rung| !*rung);
            waited.unwrap_or_else(PoisonError::into_inner)
        };
        std::mem::take(&mut *rung)
    }

    /// Waits where a test moves time.
    fn wait_by_hand(&self, end: Duration) {
        let _waiting = time::Waiting::until(end);
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung && time::passed() < end {
            let waited = self.heard.wait_timeout(rung, time::LOOK);
            rung = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *rung = false;
    }
}
