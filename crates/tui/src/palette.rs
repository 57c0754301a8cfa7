//! The commands that fit some words: what `:` finds.

use crate::keymap::Command;
use crate::model::Model;
use crate::rank::fits;

/// The commands that fit some words, best first.
pub(crate) fn found(model: &Model, words: &str) -> Vec<(Command, &'static str, String)> {
    let mut all: Vec<_> = model
        .keys
        .commands()
        .into_iter()
        .filter_map(|(command, does, keys)| Some((fits(words, does)?, (command, does, keys))))
        .collect();
    all.sort_by_key(|(score, _)| -score);
    all.into_iter().map(|(_, found)| found).collect()
}
