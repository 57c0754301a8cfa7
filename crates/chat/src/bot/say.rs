//! What the bot has to say, before it is put into the outbox: texts in parts, buttons with their words.

use crate::button::{Keyboard, Keys, nonce};
use crate::outbox::{Item, Key, Lane, POST_UNITS_MAX, What as Sent, Whole};
use crate::policy::Place;
use crate::store::{Change, StoreFault};
use crate::text::{Parts, Text, in_parts, parts};
use std::collections::BTreeMap;

/// How long a button counts.
const BUTTON_MS: i64 = 24 * 3_600_000;

/// Something that the bot has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Say {
    pub(super) place: Place,
    pub(super) lane: Lane,
    pub(super) text: Text,
    pub(super) keys: Keys,
    /// The session whose words it shows.
    pub(super) speaker: Option<String>,
    /// The card that it shows, if its message is to be known.
    pub(super) card: Option<String>,
    /// All that the card asks, where that is too long for a message.
    pub(super) whole: Option<Whole>,
    /// Words without buttons that would be too many parts: what their file is called, and what they are as they were
    /// written.
    pub(super) file: Option<(String, String)>,
}

impl Say {
    /// Words with buttons, if there are any.
    pub(super) fn card(place: Place, lane: Lane, text: impl Into<Text>, keys: Keys) -> Self {
        let (text, speaker, card, whole, file) = (text.into(), None, None, None, None);
        Self { place, lane, text, keys, speaker, card, whole, file }
    }

    /// Words alone.
    pub(super) fn text(place: Place, lane: Lane, text: impl Into<Text>) -> Self {
        Self::card(place, lane, text, Keys::new())
    }

    /// The same, as what this session says.
    #[must_use]
    pub(super) fn by(self, session: &str) -> Self {
        Self { speaker: Some(session.to_owned()), ..self }
    }

    /// Puts it into the outbox. Its buttons are this user's.
    pub(super) fn put(&self, change: &Change<'_>, user: i64) -> Result<(), StoreFault> {
        if !self.keys.is_empty() || self.card.is_some() {
            return self.put_card(change, user);
        }
        match parts(&self.text, POST_UNITS_MAX) {
            Parts::Whole(parts) => {
                parts.into_iter().try_for_each(|text| self.push(change, Sent::words(text)))
            }
            Parts::First(text) => {
                self.push(change, Sent::words(text))?;
                let usual = || ("answer".to_owned(), self.text.text.clone());
                let (name, content) = self.file.clone().unwrap_or_else(usual);
                let (name, caption) = (format!("{name}.md"), "The whole text".to_owned());
                self.push(change, Sent::File { name, content, caption })
            }
        }
    }

    fn put_card(&self, change: &Change<'_>, user: i64) -> Result<(), StoreFault> {
        let (before, last) = in_parts(&self.text, POST_UNITS_MAX);
        before.into_iter().try_for_each(|text| self.push(change, Sent::words(text)))?;
        let (mut acts, mut rows, mut denials) = (BTreeMap::new(), Vec::new(), Vec::new());
        for row in &self.keys {
            let (mut shown, mut denial) = (Vec::new(), Vec::new());
            for (label, act) in row {
                let data = nonce();
                acts.insert(data.clone(), act.clone());
                let key = Key { label: label.clone(), data };
                denial.extend(act.is_denial().then(|| key.clone()));
                shown.push(key);
            }
            rows.push(shown);
            denials.extend((!denial.is_empty()).then_some(denial));
        }
        let (chat, deadline) = (self.place.chat, change.now() + BUTTON_MS);
        let card = self.card.clone().unwrap_or_else(nonce);
        change.add_buttons(&Keyboard { card, chat, user, deadline, acts, used_by: None })?;
        let whole = self.whole.clone().map(|whole| {
            let without = (whole.without.0.clone(), denials);
            Box::new(Whole { without, ..whole })
        });
        self.push(change, Sent::Post { text: last, keys: rows, card: self.card.clone(), whole })
    }

    fn push(&self, change: &Change<'_>, what: Sent) -> Result<(), StoreFault> {
        let item = Item::new(0, self.place.chat, self.place.thread, self.lane, what);
        change.push_item(&Item { speaker: self.speaker.clone(), ..item })
    }
}
