//! What waits for a holder or for its agent's screen.

use glis_core::talk::Ask;
use glis_core::verdict::Answerer;
use glis_core::{MessageId, OpId};
use tokio::time::Instant;

/// What an order with a number was sent for.
pub(super) enum Waits {
    /// A message that is pasted at a prompt. Its Enter comes next.
    Paste(MessageId, String),
    Delivery(MessageId, String),
    Answer(Box<Ask>, String),
    Freeze(OpId),
    Thaw(OpId),
    /// Its answer is of no interest.
    Nothing,
}

/// A message that waits for the prompt.
pub(super) struct Typing {
    pub(super) message: MessageId,
    pub(super) text: String,
    pub(super) until: Instant,
}

/// A message that was pasted and waits for the screen to show it.
pub(super) struct Entering {
    pub(super) message: MessageId,
    pub(super) text: String,
    /// Enter is pressed by then, whatever is shown.
    pub(super) by: Instant,
}

/// A message that was typed and not yet seen to be taken.
pub(super) struct Sent {
    pub(super) message: MessageId,
    pub(super) text: String,
    pub(super) at: Instant,
    /// How often Enter was pressed again.
    pub(super) enters: u8,
}

impl Sent {
    pub(super) fn now(message: MessageId, text: String) -> Self {
        Self { message, text, at: Instant::now(), enters: 0 }
    }
}

/// A question that stands on the screen, or will in a moment.
pub(super) struct OnScreen {
    pub(super) ask: Ask,
    pub(super) seen: bool,
    pub(super) answer: Option<Answering>,
}

/// An answer that waits for its question, or for its being taken.
pub(super) struct Answering {
    /// In words.
    pub(super) answer: String,
    pub(super) keys: Vec<u8>,
    pub(super) presses: u8,
    /// Not again before.
    pub(super) again_at: Instant,
    pub(super) until: Instant,
}

impl OnScreen {
    pub(super) fn new(ask: Ask) -> Self {
        Self { ask, seen: false, answer: None }
    }

    /// One that the screen itself has told of.
    pub(super) fn seen(ask: Ask) -> Self {
        Self { ask, seen: true, answer: None }
    }

    pub(super) fn is_answered(&self) -> bool {
        self.answer.is_some()
    }

    /// Whether the answer that waits for it is one of the rules.
    pub(super) fn is_answered_by_rule(&self) -> bool {
        self.is_answered() && self.ask.answerer == Answerer::Rules
    }
}

/// Why the screen is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// It moves, or something waits.
    Moved,
    /// It has come to rest.
    Rested,
}

/// How the names of questions begin that can only be answered at the terminal.
pub(super) const DIALOG: &str = "dialog-";
