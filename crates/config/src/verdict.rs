//! What the rules say, in the words that are stored and shown.

use glis_approve::{Author, NotPlain, Verdict, Why};
use glis_core::verdict::{self, Unruled};
use std::path::Path;

/// A verdict in the core's own words.
pub fn in_words_of_core(told: Verdict) -> verdict::Verdict {
    match told {
        Verdict::Accept { rule, author } => {
            verdict::Verdict::Accept { rule, author: author_of(author) }
        }
        Verdict::Reject { rule, author } => {
            verdict::Verdict::Reject { rule, author: author_of(author) }
        }
        Verdict::Manual(why) => {
            let (why, about) = reason(why);
            verdict::Verdict::Manual { why, about }
        }
    }
}

fn author_of(author: Author) -> verdict::Author {
    match author {
        Author::Glis => verdict::Author::Glis,
        Author::User => verdict::Author::User,
    }
}

/// A reason, and what it is about.
fn reason(why: Why) -> (Unruled, String) {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    match why {
        Why::NotPlain(NotPlain::Empty) => (Unruled::Empty, String::new()),
        Why::NotPlain(NotPlain::TooLong) => (Unruled::TooLong, String::new()),
        Why::NotPlain(NotPlain::Character(odd)) => {
            (Unruled::Character, odd.escape_default().to_string())
        }
        Why::NotPlain(NotPlain::OpenQuote) => (Unruled::OpenQuote, String::new()),
        Why::NotPlain(NotPlain::Program(word)) => (Unruled::OddProgram, word),
        Why::NoRule { program } => (Unruled::NoRule, program),
        Why::Barred { program } => (Unruled::Barred, program),
        Why::Git { about } => (Unruled::Git, about),
        Why::NoFilter { program } => (Unruled::NoFilter, program),
        Why::NotLast { program } => (Unruled::NotLast, program),
        Why::Word { word: Some(word), .. } => (Unruled::Word, word),
        Why::Word { program, word: None } => (Unruled::WordsMissing, program),
        Why::NoProgram { program } => (Unruled::NoProgram, program),
        Why::ProgramInside { file } => (Unruled::ProgramInside, shown(&file)),
        Why::LoosePath { folder } => (Unruled::LoosePath, folder),
        Why::Variable { name } => (Unruled::Variable, name),
        Why::NoPlace => (Unruled::Place, String::new()),
        Why::PathOutside { path } => (Unruled::PathOutside, path),
        Why::Unlisted { path } => (Unruled::Unlisted, path),
        Why::Steers { path } => (Unruled::Steers, path),
        Why::NoPattern => (Unruled::NoPattern, String::new()),
        Why::Rejectable { pattern } => (Unruled::Rejectable, pattern),
        Why::Edits => (Unruled::Edits, String::new()),
        Why::Unknown => (Unruled::Unknown, String::new()),
    }
}
