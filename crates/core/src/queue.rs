//! The messages that wait for an agent.
//!
//! Every decision begins with a copy of its session. Of a queue that copy is one counter: neither
//! the list nor a text is copied before something in the queue changes, and then only the list of
//! places and the one message.

use crate::ids::MessageId;
use crate::talk::{Delivery, Message};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{VecDeque, vec_deque};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// More messages than this were written by a program that does not look at what comes of them.
pub const MESSAGES_MAX: usize = 1000;
/// All texts together. The queue lies in memory, in every checkpoint and in the log.
pub const BYTES_MAX: usize = 16 * 1024 * 1024;
/// One text, as JSON: what agents and their transcripts are known to take in one line.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// Something that is longer than it may be, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    pub length: usize,
    pub most: usize,
}

impl TooLong {
    /// Whether a message is too long for an agent.
    pub fn message(text: &str) -> Option<Self> {
        let escaped = |byte: u8| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
            0..=31 => 6,
            _ => 1,
        };
        let length = text.bytes().map(escaped).sum();
        (length > MESSAGE_BYTES_MAX).then_some(Self { length, most: MESSAGE_BYTES_MAX })
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEGABYTE: usize = 1024 * 1024;
        // Rounded up: what is too long by a byte must not look as long as it may be.
        let tenths = (self.length * 10).div_ceil(MEGABYTE);
        let most = self.most / MEGABYTE;
        write!(f, "{}.{} MB, and {most} MB is the most", tenths / 10, tenths % 10)
    }
}

/// The messages of a queue, one after the other.
pub type Iter<'a> =
    std::iter::Map<vec_deque::Iter<'a, Arc<Message>>, fn(&Arc<Message>) -> &Message>;

/// Messages not yet taken, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue(Arc<VecDeque<Arc<Message>>>);

/// What nothing waits in, once for all: of thousands of sessions most have such a queue.
impl Default for Queue {
    fn default() -> Self {
        static EMPTY: LazyLock<Queue> = LazyLock::new(|| Queue(Arc::default()));
        EMPTY.clone()
    }
}

impl Queue {
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(AsRef::as_ref)
    }

    pub fn front(&self) -> Option<&Message> {
        self.0.front().map(AsRef::as_ref)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one more of this length is too much.
    pub fn is_full_for(&self, text: &str) -> bool {
        let bytes: usize = self.iter().map(|message| message.text.len()).sum();
        self.len() >= MESSAGES_MAX || bytes.saturating_add(text.len()) > BYTES_MAX
    }

    pub(crate) fn push(&mut self, message: Message) {
        Arc::make_mut(&mut self.0).push_back(Arc::new(message));
    }

    /// Puts a message before all others, but for those that the user has yet to decide on:
    /// nothing overtakes them.
    pub(crate) fn push_first(&mut self, message: Message) {
        let decided =
            self.iter().position(|m| m.delivery == Delivery::Queued).unwrap_or(self.len());
        Arc::make_mut(&mut self.0).insert(decided, Arc::new(message));
    }

    /// The message of this number, to be changed.
    pub(crate) fn get_mut(&mut self, id: MessageId) -> Option<&mut Message> {
        let at = self.iter().position(|message| message.id == id)?;
        Arc::make_mut(&mut self.0).get_mut(at).map(Arc::make_mut)
    }

    /// The agent leaves its conversation, and with it all that could tell whether it took these.
    pub(crate) fn leave_doubts(&mut self) {
        if self.iter().any(|message| message.delivery == Delivery::Doubtful) {
            for message in Arc::make_mut(&mut self.0).iter_mut().map(Arc::make_mut) {
                message.of_former |= message.delivery == Delivery::Doubtful;
            }
        }
    }

    pub(crate) fn remove(&mut self, id: MessageId) {
        if let Some(at) = self.iter().position(|message| message.id == id) {
            Arc::make_mut(&mut self.0).remove(at);
        }
    }
}

impl<'a> IntoIterator for &'a Queue {
    type Item = &'a Message;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<Message> for Queue {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let messages: VecDeque<_> = messages.into_iter().map(Arc::new).collect();
        if messages.is_empty() { Self::default() } else { Self(Arc::new(messages)) }
    }
}

impl Serialize for Queue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Queue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Message>::deserialize(deserializer).map(Self::from_iter)
    }
}
