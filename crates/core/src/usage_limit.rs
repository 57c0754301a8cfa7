//! Usage limits: what is remembered of those that a session has met, and when it may go on.

use crate::timer::WallMs;
use serde::{Deserialize, Serialize};

/// What an agent is told when it goes on after a limit. It has what it was asked in its conversation.
pub const GO_ON: &str = "[glis] The usage limit that ended your last turn is over. \
     Go on with what you were asked. What you had begun may have taken effect: check before you do it again.";

/// Before a limit is tried again whose end is not known, for the first time: most that are so short
/// are waited for by the agents themselves.
const FIRST_WAIT_MS: WallMs = 5 * 60 * 1000;
/// The longest of these waits: as long as the windows that the vendors count in.
const LONGEST_WAIT_MS: WallMs = 5 * 3600 * 1000;
/// So many tries in vain take fifteen hours; what lasts longer is no matter of waiting.
const TRIES_MAX: u32 = 8;

/// What is remembered of the usage limits that a session has met, over all of its processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageLimits {
    /// A limit has ended its last turn: what it was asked is not answered yet.
    pub unanswered: bool,
    /// How often in a row it was parked, without a turn in between that came to another end.
    pub tries: u32,
    /// How many limits it has gone on after by itself since a person last had a hand in it.
    pub returns: u32,
    /// The moment at which it last went on by itself: its appointment, where its timer fired in time.
    pub returned_at: Option<WallMs>,
}

impl UsageLimits {
    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// When a limit may be over that a session was parked for at this time: as the agent told, or after
    /// a wait that grows with every try in vain. Nothing if it was tried often enough.
    pub(crate) fn over_at(&self, parked_at: WallMs, told: Option<&str>) -> Option<WallMs> {
        if self.tries > TRIES_MAX {
            return None;
        }
        let seconds = told.and_then(|told| told.parse::<WallMs>().ok());
        let told = seconds.map(|seconds| seconds.saturating_mul(1000));
        // Whoever told a time is believed once.
        let waits = if told.is_some() { self.tries.saturating_sub(1) } else { self.tries };
        let earliest = parked_at.saturating_add(wait(waits));
        Some(told.map_or(earliest, |told| told.max(earliest)))
    }
}

/// How long is waited before a try: twice as long each time.
fn wait(waits: u32) -> WallMs {
    match waits.checked_sub(1) {
        None => 0,
        Some(doubled) => (FIRST_WAIT_MS << doubled.min(TRIES_MAX)).min(LONGEST_WAIT_MS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_grows_from_five_minutes_to_five_hours() {
        let minutes = [0, 1, 2, 3, 7, 8, 99].map(|waits| wait(waits) / 60_000);
        assert_eq!(minutes, [0, 5, 10, 20, 300, 300, 300]);
    }
}
