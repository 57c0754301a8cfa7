//! What the bot has to say, before it is put into the outbox: texts in parts, buttons with their words.

use crate::button::{Act, Bound, nonce};
use crate::outbox::{Key, Lane, POST_UNITS_MAX, What as Sent, Whole};
use crate::policy::Place;
use crate::store::{Change, StoreFault};
use crate::text::{Parts, Text, in_parts, parts};

/// How long a button counts.
const BUTTON_MS: i64 = 24 * 3_600_000;
/// How long a press wants an answer.
const ACK_MS: i64 = 10_000;

/// Something that the bot has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Say {
    place: Place,
    lane: Lane,
    what: What,
    speaker: Option<String>,
}

/// What it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Words, in as many parts as it takes; `whole` is what stands in the file if those are too many.
    Text {
        /// The words.
        text: Text,
        /// The same as it was written.
        whole: String,
        /// What the file is called.
        name: String,
    },
    /// A card with buttons: what stands on each, and what it does.
    Card {
        /// The words.
        text: Text,
        /// Rows of buttons.
        keys: Vec<Vec<(String, Act)>>,
        /// Its name, if its message is to be known.
        card: Option<String>,
        /// All of it, where that is too long for a message.
        whole: Option<Beside>,
    },
    /// A file.
    File {
        /// Its name.
        name: String,
        /// All of it.
        content: String,
        /// Some words below it.
        caption: String,
    },
    /// That a press is known.
    Ack {
        /// The press.
        query: String,
        /// Some words that pop up.
        words: String,
    },
}

/// A file with all that a card is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// Its name.
    pub name: String,
    /// All of it.
    pub content: String,
    /// The words of the card where the network does not take the file.
    pub without: Text,
}

impl Say {
    /// Something in a place.
    pub fn new(place: Place, lane: Lane, what: What) -> Self {
        Self { place, lane, what, speaker: None }
    }

    /// The same, as what this session says.
    #[must_use]
    pub fn by(self, session: &str) -> Self {
        Self { speaker: Some(session.to_owned()), ..self }
    }

    /// Words.
    pub fn text(place: Place, lane: Lane, text: impl Into<Text>) -> Self {
        let text = text.into();
        let (whole, name) = (text.text.clone(), "answer".to_owned());
        Self::new(place, lane, What::Text { text, whole, name })
    }

    /// Words with buttons.
    pub fn card(
        place: Place,
        lane: Lane,
        text: impl Into<Text>,
        keys: Vec<Vec<(String, Act)>>,
    ) -> Self {
        Self::new(place, lane, What::Card { text: text.into(), keys, card: None, whole: None })
    }

    /// That a press is known.
    pub fn ack(place: Place, query: &str, words: &str) -> Self {
        let what = What::Ack { query: query.to_owned(), words: words.to_owned() };
        Self::new(place, Lane::Approval, what)
    }

    /// Puts it into the outbox. Its buttons are this user's.
    pub fn put(&self, change: &Change<'_>, user: i64, now: i64) -> Result<(), StoreFault> {
        let to = (self.place.chat, self.place.thread);
        let speaker = self.speaker.as_deref();
        let push = |what: &Sent, expires| change.push_by(speaker, to, (self.lane, what), expires);
        match &self.what {
            What::Text { text, whole, name } => match parts(text, POST_UNITS_MAX) {
                Parts::Whole(parts) => {
                    parts.into_iter().try_for_each(|text| push(&Sent::words(text), None))
                }
                Parts::First(text) => {
                    push(&Sent::words(text), None)?;
                    let (name, content) = (format!("{name}.md"), whole.clone());
                    let caption = "The whole text".to_owned();
                    push(&Sent::File { name, content, caption }, None)
                }
            },
            What::Card { text, keys, card, whole } => {
                let (before, last) = in_parts(text, POST_UNITS_MAX);
                for text in before {
                    push(&Sent::words(text), None)?;
                }
                let group = card.clone().unwrap_or_else(nonce);
                let (mut rows, mut denials) = (Vec::new(), Vec::new());
                for row in keys {
                    let (mut shown, mut denial) = (Vec::new(), Vec::new());
                    for (label, act) in row {
                        let data = nonce();
                        let bound = Bound {
                            chat: self.place.chat,
                            user,
                            deadline: now + BUTTON_MS,
                            act: act.clone(),
                        };
                        change.add_button(&group, &data, &bound)?;
                        let key = Key { label: label.clone(), data };
                        denial.extend(act.is_denial().then(|| key.clone()));
                        shown.push(key);
                    }
                    rows.push(shown);
                    denials.extend((!denial.is_empty()).then_some(denial));
                }
                let whole = whole.clone().map(|Beside { name, content, without }| {
                    let without = (without, denials);
                    Box::new(Whole { name, content, taken_in: None, without })
                });
                push(&Sent::Post { text: last, keys: rows, card: card.clone(), whole }, None)
            }
            What::File { name, content, caption } => {
                let (name, content, caption) = (name.clone(), content.clone(), caption.clone());
                push(&Sent::File { name, content, caption }, None)
            }
            What::Ack { query, words } => {
                let ack = Sent::Ack { query: query.clone(), words: words.clone() };
                push(&ack, Some(now + ACK_MS))
            }
        }
    }
}
