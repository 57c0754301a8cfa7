//! How often something may be sent, whatever it is.

/// A private chat takes one message a second, and a few at once.
const CHAT: (u64, u64) = (1000, 3);
/// A group takes twenty a minute.
const GROUP: (u64, u64) = (3000, 3);
/// All chats together take thirty a second.
const ALL: (u64, u64) = (34, 15);

/// How often something may be sent. It refills by one after each `interval`, up to `burst`.
#[derive(Debug, Clone, Default)]
pub(super) struct Budget {
    pub(super) chat: i64,
    interval: u64,
    burst: u64,
    /// When it would be full again.
    full_at: u64,
}

impl Budget {
    pub(super) fn of_all() -> Self {
        Self::new(0, ALL)
    }

    /// Groups have negative numbers.
    pub(super) fn of_chat(chat: i64) -> Self {
        Self::new(chat, if chat < 0 { GROUP } else { CHAT })
    }

    fn new(chat: i64, (interval, burst): (u64, u64)) -> Self {
        Self { chat, interval, burst, full_at: 0 }
    }

    /// When one may be sent, and so many more right behind it.
    pub(super) fn free_at(&self, more: u64) -> u64 {
        let spare = self.burst.saturating_sub(1 + more);
        self.full_at.saturating_sub(spare * self.interval)
    }

    pub(super) fn spend(&mut self, now: u64) {
        self.full_at = self.full_at.max(now) + self.interval;
    }
}
