//! Resumes that a time begins and no person: how often one that fails is tried again, and when.

use crate::timer::WallMs;
use serde::{Deserialize, Serialize};

/// Before the first time that it is tried again: a network or a disk that was gone for a moment is back.
const FIRST_WAIT_MS: WallMs = 60 * 1000;
/// Each wait is twice as long as the one before, so that all of them take an hour. What lasts longer is
/// not mended by waiting.
const RETRIES: u32 = 6;

/// What is remembered of a session's resumes that no person has asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByItself {
    /// The time has come: the start that begins next is not a person's.
    pub due: bool,
    /// The start that is under way is not a person's.
    pub under_way: bool,
    /// So many of these starts have failed in a row.
    pub failed: u32,
}

impl ByItself {
    /// Whether it has failed and is to be tried again.
    pub fn tries_again(self) -> bool {
        self.failed > 0 && !self.is_given_up()
    }

    /// Whether it has failed so often that only a person tries again.
    pub fn is_given_up(self) -> bool {
        self.failed > RETRIES
    }

    /// How long is waited after the last failure.
    pub(crate) fn wait(self) -> WallMs {
        match self.failed.checked_sub(1) {
            None => 0,
            Some(doubled) => FIRST_WAIT_MS << doubled.min(RETRIES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_tried_again_for_an_hour_and_then_left_to_a_person() {
        let after = |failed| ByItself { failed, ..ByItself::default() };
        let minutes = [0, 1, 2, 3, 6].map(|failed| after(failed).wait() / 60_000);
        assert_eq!(minutes, [0, 1, 2, 4, 32]);
        let tried = [0, 1, 6, 7, 8].map(|failed| after(failed).tries_again());
        assert_eq!(tried, [false, true, true, false, false]);
        assert!(after(7).is_given_up() && !after(6).is_given_up());
    }
}
