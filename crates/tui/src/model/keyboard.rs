//! Keys that were pressed, and what is known of who presses them.

use crate::chord::Chord;
use crate::input::Focus;
use crate::message::Now;

#[derive(Default)]
pub(crate) struct Keyboard {
    pub(crate) prefix: Option<Prefix>,
    pub(crate) pressed: Option<Chord>,
    /// When a key was last pressed, or the program was begun.
    pub(crate) pressed_at: u64,
    /// Letters mean nothing before: they were typed for a box that did not open.
    pub(crate) deaf_until: u64,
    /// Whether the user's terminal is typed into, once it has said so.
    pub(crate) focus: Option<Focus>,
}

/// Keys that were pressed and wait for the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) keys: Vec<Chord>,
    pub(crate) until: u64,
}

/// Whoever has pressed a key still looks, for so long, at a terminal that never tells whether it is typed into.
const LOOKED_AT_MS: u64 = 20_000;

impl Keyboard {
    /// Whether somebody sits before this, as far as it is known: many terminals say so, and who has just
    /// pressed a key does.
    pub(crate) fn is_looked_at(&self, now: Now) -> bool {
        match self.focus {
            Some(Focus::Here) => true,
            Some(Focus::Elsewhere) => false,
            None => now.ms < self.pressed_at + LOOKED_AT_MS,
        }
    }
}
