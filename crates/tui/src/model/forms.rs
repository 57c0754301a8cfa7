//! Boxes with something typed in them.

use super::Reading;
use crate::editor::Editor;
use crate::wanted::Wanted;
use glis_wire::view::Hit;

/// A box with several fields, of which one is in hand.
pub(crate) trait Fields {
    /// Goes on by so many fields, round and round.
    fn step(&mut self, by: isize);
    /// The choice in hand becomes the next one, or the one before.
    fn turn(&mut self, by: isize);
    /// The text of the field in hand, if it has one.
    fn text_in_hand(&mut self) -> Option<&mut Editor>;
    /// Whether that may have several lines.
    fn has_lines(&self) -> bool;
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FileBox {
    pub(crate) id: String,
    /// Those that go with it already.
    pub(crate) files: Vec<String>,
    pub(crate) words: Editor,
    /// Why what was typed is not taken.
    pub(crate) fault: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WordsBox {
    pub(crate) wanted: Wanted,
    pub(crate) ids: Vec<String>,
    pub(crate) words: Editor,
    /// Why what was typed is not taken.
    pub(crate) fault: Option<String>,
}

impl WordsBox {
    /// The question that is answered with them, by session and request.
    pub(crate) fn ask(&self) -> Option<(&str, &str)> {
        self.ids.first().map(String::as_str).zip(self.wanted.request())
    }

    pub(crate) fn takes_lines(&self) -> bool {
        matches!(self.wanted, Wanted::Answer { .. })
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SearchBox {
    pub(crate) words: Editor,
    /// The words that the results are of.
    pub(crate) sought_words: String,
    pub(crate) sought: Reading<Vec<Hit>>,
    pub(crate) at: usize,
}
