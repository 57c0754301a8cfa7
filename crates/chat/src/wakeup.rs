//! A wake-up signal for idle threads.

use crate::thread::locked;
use crate::time;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes a thread. One that was woken before it waits does not wait.
#[derive(Debug, Default)]
pub(crate) struct Wakeup {
    woken: Mutex<bool>,
    heard: Condvar,
}

/// All threads that wait are woken together.
#[derive(Debug, Default)]
pub(crate) struct Wakeups(Mutex<Vec<Arc<Wakeup>>>);

impl Wakeups {
    pub(crate) fn add(&self) -> Arc<Wakeup> {
        let wakeup = Arc::default();
        locked(&self.0).push(Arc::clone(&wakeup));
        wakeup
    }

    pub(crate) fn wake(&self) {
        locked(&self.0).iter().for_each(|wakeup| wakeup.wake());
    }
}

/// Lets so much time pass: nobody wakes who waits for that.
pub(crate) fn sleep(span: Duration) {
    Wakeup::default().wait(Some(span));
}

impl Wakeup {
    /// There is something to do.
    pub(crate) fn wake(&self) {
        *locked(&self.woken) = true;
        self.heard.notify_all();
    }

    /// Waits until it is woken, or for so long.
    pub(crate) fn wait(&self, most: Option<Duration>) {
        let end = most.filter(|_| time::is_by_hand()).map(|most| time::passed() + most);
        match end {
            Some(end) => self.wait_by_hand(end),
            None => drop(self.wait_really(most)),
        }
    }

    /// The same in real time, also where a test moves the bot's. Tells whether it was woken.
    pub(crate) fn wait_really(&self, most: Option<Duration>) -> bool {
        let woken = locked(&self.woken);
        let most = most.unwrap_or(Duration::MAX);
        let waited = self.heard.wait_timeout_while(woken, most, |woken| !*woken);
        let mut woken = waited.unwrap_or_else(PoisonError::into_inner).0;
        std::mem::take(&mut *woken)
    }

    /// Waits where a test moves time.
    fn wait_by_hand(&self, end: Duration) {
        let _waiting = time::Waiting::until(end);
        let mut woken = locked(&self.woken);
        while !*woken && time::passed() < end {
            let waited = self.heard.wait_timeout(woken, time::LOOK);
            woken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *woken = false;
    }
}
