//! The commands that fit some words, each with the session that it is about: what `:` finds.

use crate::command::Command;
use crate::fits::fits;
use crate::model::Model;

/// So many are more than are read; the best come first.
const FOUND_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) command: Command,
    /// The session that it is about, where that is not the one in hand.
    pub(crate) session: Option<(String, String)>,
    pub(crate) does: &'static str,
    pub(crate) keys: String,
}

impl Found {
    pub(crate) fn text(&self) -> String {
        match &self.session {
            Some((_, name)) => format!("{} · {name}", self.does),
            None => self.does.to_owned(),
        }
    }
}

/// The commands that fit some words, best first. Without words only those for the session in hand.
pub(crate) fn found(model: &Model, words: &str) -> Vec<Found> {
    let mut all: Vec<(i32, Found)> = Vec::new();
    for (command, does, keys) in model.keys.commands() {
        let own = Found { command, session: None, does, keys };
        if let Some(score) = fits(words, does) {
            // The session in hand is what is mostly meant.
            all.push((score + 3, own.clone()));
        }
        if words.trim().is_empty() || !command.is_about_a_session() {
            continue;
        }
        for session in model.rows.all.values() {
            let about = Some((session.id.clone(), session.name.clone()));
            let found = Found { session: about, ..own.clone() };
            if let Some(score) = fits(words, &found.text()) {
                all.push((score, found));
            }
        }
    }
    all.sort_by_key(|(score, _)| -score);
    all.into_iter().take(FOUND_MAX).map(|(_, found)| found).collect()
}
