//! What every face has in common: what can be asked for, what comes of it as a document, and the words for what goes
//! wrong.
#![forbid(unsafe_code)]

pub mod chord;
pub mod command;
pub mod complaint;
pub mod documents;
pub mod draft;
pub mod file;
pub mod keymap;
mod perform;
pub mod plan;
pub mod say;
pub mod verdict;

pub use complaint::{Complaint, Kind};
pub use perform::{Each, Performed, Wanted, acted, deleted, perform, whole_characters};

/// A daemon of the same protocol never gives an answer of another kind than was asked for.
pub fn unexpected() -> Complaint {
    Complaint::new(Kind::Failed, "the daemon gave an answer that does not fit the question")
}
