//! Text as a chat shows it: plain words, and which of them are bold or code. Nothing needs escaping.
//!
//! Offsets and lengths are counted in UTF-16 units, as the networks count them.

mod markdown;
mod split;

pub use markdown::from_markdown;
pub use split::{Parts, in_parts, parts};

use glis_core::redact::redact;
use glis_wire::plain::without_escapes;
use serde::{Deserialize, Serialize};

/// Words, and how some of them look.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub text: String,
    /// How some of them look, in order, none inside another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
}

/// A stretch of a text that looks different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    #[serde(rename = "type")]
    pub style: Style,
    pub offset: usize,
    pub length: usize,
    /// The language of a block of code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    Bold,
    Code,
    Pre,
}

/// How long a text is, as the networks count.
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Words of an agent or a person as a chat may show them: without escape sequences and control characters,
/// without what turns the direction of writing around (a command could hide behind that), and without what
/// looks like a secret.
pub fn clean(text: &str) -> String {
    let text = without_escapes(text).replace("\r\n", "\n");
    let shown = text.chars().filter(|c| match c {
        '\n' | '\t' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        c => !c.is_control(),
    });
    let shown: String = shown.collect();
    redact(&shown).into_owned()
}

impl Text {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), entities: Vec::new() }
    }

    /// The same with more words behind.
    #[must_use]
    pub fn and(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    /// The same with bold words behind.
    #[must_use]
    pub fn bold(self, text: &str) -> Self {
        self.styled(Style::Bold, None, text)
    }

    /// The same with code behind.
    #[must_use]
    pub fn code(self, text: &str) -> Self {
        self.styled(Style::Code, None, text)
    }

    /// The same with a block of code behind.
    #[must_use]
    pub fn block(self, text: &str) -> Self {
        self.styled(Style::Pre, None, text)
    }

    pub(crate) fn styled(mut self, style: Style, language: Option<String>, text: &str) -> Self {
        let (offset, length) = (self.units(), units(text));
        if length > 0 {
            self.entities.push(Entity { style, offset, length, language });
            self.text.push_str(text);
        }
        self
    }

    /// The same with another text behind.
    #[must_use]
    pub fn join(mut self, other: &Self) -> Self {
        let by = self.units();
        self.text.push_str(&other.text);
        let moved = other.entities.iter().map(|e| Entity { offset: e.offset + by, ..e.clone() });
        self.entities.extend(moved);
        self
    }

    /// How long it is, as the networks count.
    pub fn units(&self) -> usize {
        units(&self.text)
    }

    /// Whether there is nothing to see.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// From one place to another, in units, without blanks around it; those that a block of code begins with are
    /// its own. What looks different is cut along.
    pub(crate) fn cut(&self, from: usize, to: usize) -> Self {
        let mut at = 0;
        let mut text = String::new();
        for c in self.text.chars() {
            if at >= from && at + c.len_utf16() <= to {
                text.push(c);
            }
            at += c.len_utf16();
        }
        let is_cut = |it: &&Entity| it.style == Style::Pre && it.offset + it.length > from;
        let block = self.entities.iter().find(is_cut);
        let block = block.map_or(usize::MAX, |block| block.offset.saturating_sub(from));
        // A blank is one unit.
        let lead = text.chars().take_while(|c| c.is_whitespace()).count().min(block);
        let from = from + lead;
        let text: String = text.trim_end().chars().skip(lead).collect();
        let end = from + units(&text);
        let clipped = self.entities.iter().filter_map(|entity| {
            let begins = entity.offset.max(from);
            let ends = (entity.offset + entity.length).min(end);
            (begins < ends).then(|| Entity {
                offset: begins - from,
                length: ends - begins,
                ..entity.clone()
            })
        });
        let entities = clipped.collect();
        Self { text, entities }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

#[cfg(test)]
mod tests;
