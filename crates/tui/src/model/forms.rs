//! Boxes with something typed in them.

use crate::editor::Editor;
use crate::message::Told;
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

/// The box for the path of a file that goes with a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FileBox {
    pub(crate) id: String,
    /// Those that go with it already.
    pub(crate) files: Vec<String>,
    pub(crate) words: Editor,
    /// Why what was typed is not taken.
    pub(crate) fault: Option<&'static str>,
}

/// The box for the words that a deed still needs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WordsBox {
    pub(crate) wanted: Wanted,
    pub(crate) ids: Vec<String>,
    pub(crate) words: Editor,
    /// Why what was typed is not taken.
    pub(crate) fault: Option<String>,
}

/// The box for words that are sought in all conversations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SearchBox {
    pub(crate) words: Editor,
    /// The words that the results are of.
    pub(crate) sought_words: String,
    pub(crate) sought: Sought,
    pub(crate) at: usize,
}

impl SearchBox {
    /// What was found.
    pub(crate) fn hits(&self) -> &[Hit] {
        match &self.sought {
            Sought::Found(hits) => hits,
            Sought::Nothing | Sought::UnderWay | Sought::Fault(_) => &[],
        }
    }
}

/// How far a search is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Sought {
    #[default]
    Nothing,
    UnderWay,
    Found(Vec<Hit>),
    Fault(Told),
}
