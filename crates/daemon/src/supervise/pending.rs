//! What waits for a holder or for its agent's screen.

use glis_core::talk::Ask;
use glis_core::verdict::Answerer;
use glis_core::{MessageId, OpId};
use glis_wire::hold::MESSAGE;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// A holder answers an order at once; after this long it is looked at whether it was stopped.
const ANSWER_TIME: Duration = Duration::from_secs(5);

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

/// The number of the order that hands a message over: its holder remembers the last one.
pub(super) fn order_of(message: MessageId) -> u64 {
    MESSAGE | message.0
}

/// What is not answered yet, by the holder or by the disk.
#[derive(Default)]
pub(super) struct Owed {
    orders: HashMap<u64, Waits>,
    last_order: u64,
    /// When the holder is woken, if it has not answered an order by then.
    pub(super) wake_at: Option<Instant>,
    /// A message that a plain program was told, and that the disk has not taken yet.
    pub(super) unnoted: Option<MessageId>,
}

impl Owed {
    /// A number for an order that is waited for.
    pub(super) fn number(&mut self, waits: Waits) -> u64 {
        let order = match &waits {
            Waits::Paste(message, _) | Waits::Delivery(message, _) => order_of(*message),
            Waits::Answer(..) | Waits::Freeze(_) | Waits::Thaw(_) | Waits::Nothing => {
                self.last_order += 1;
                self.last_order
            }
        };
        self.orders.insert(order, waits);
        self.wake_at.get_or_insert(Instant::now() + ANSWER_TIME);
        order
    }

    /// The wait for the answer to an order, if there was one.
    pub(super) fn answered(&mut self, order: u64) -> Option<Waits> {
        let waits = self.orders.remove(&order);
        self.wait_on();
        waits
    }

    /// The time for an answer begins anew, if one is waited for.
    pub(super) fn wait_on(&mut self) {
        self.wake_at = (!self.orders.is_empty()).then(|| Instant::now() + ANSWER_TIME);
    }

    pub(super) fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// Whether something that matters may have got there or not.
    pub(super) fn is_open(&self) -> bool {
        let awaited = |waits: &Waits| !matches!(waits, Waits::Nothing);
        self.unnoted.is_some() || self.orders.values().any(awaited)
    }
}

/// What is typed, and what was typed and has not shown yet what it has done.
#[derive(Default)]
pub(super) struct Typed {
    /// A message that waits for the agent's prompt.
    pub(super) typing: Option<Typing>,
    /// A message that stands at the prompt and is entered next.
    pub(super) entering: Option<Entering>,
    /// A message that was typed and not yet seen to be taken.
    pub(super) sent: Option<Sent>,
    /// The last message that was typed a second time.
    pub(super) retyped: Option<MessageId>,
    /// An interruption that waits for what was typed, until then at most.
    pub(super) held: Option<Instant>,
    /// When the key of an interruption counts as swallowed, if the agent still works then.
    pub(super) swallowed_at: Option<Instant>,
}

impl Typed {
    /// Whether something waits for what the screen shows next.
    pub(super) fn waits(&self) -> bool {
        let interrupts = self.held.is_some() || self.swallowed_at.is_some();
        interrupts || self.typing.is_some() || self.entering.is_some()
    }
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

    pub(super) fn is_pressed(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.presses > 0)
    }

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
