//! How often a chat may be written to, and what becomes of those who do it more often.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A private chat: so many at once, then one a second.
const CHAT: (usize, Duration) = (5, Duration::from_secs(1));
/// A group: twenty a minute.
const GROUP: (usize, Duration) = (20, Duration::from_secs(3));
/// How long a ban for a flood is.
const BAN: Duration = Duration::from_secs(5);

/// What every chat has had.
#[derive(Default)]
pub(crate) struct Rates {
    chats: BTreeMap<i64, Rate>,
}

#[derive(Default)]
struct Rate {
    /// When the chat would be fresh again.
    full_at: Option<Instant>,
    banned_until: Option<Instant>,
}

impl Rates {
    /// Counts a request; for how many seconds it is refused.
    pub(crate) fn count(&mut self, chat: i64, now: Instant) -> Result<(), u64> {
        let rate = self.chats.entry(chat).or_default();
        if let Some(until) = rate.banned_until.filter(|until| *until > now) {
            // An early request makes it longer.
            let longer = until + BAN;
            rate.banned_until = Some(longer);
            return Err(seconds(longer - now));
        }
        let (burst, interval) = if chat < 0 { GROUP } else { CHAT };
        let full_at = rate.full_at.unwrap_or(now).max(now) + interval;
        let burst = u32::try_from(burst).unwrap_or(u32::MAX);
        if full_at - now > interval * burst {
            return Err(self.ban(chat, now, BAN));
        }
        rate.full_at = Some(full_at);
        Ok(())
    }

    /// Bans a chat. For how many seconds.
    pub(crate) fn ban(&mut self, chat: i64, now: Instant, time: Duration) -> u64 {
        self.chats.entry(chat).or_default().banned_until = Some(now + time);
        seconds(time)
    }
}

/// Whole seconds, never too few.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
