//! What is wrong in one place of the file.

use glis_core::plain::in_one_line;

/// What is wrong in one place of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there, in one line.
    pub why: String,
}

impl Fault {
    /// A fault as it was found in a text.
    pub(crate) fn of(text: &str, fault: &toml::de::Error) -> Self {
        let line = fault.span().map_or(1, |span| line_of(text, span.start));
        // The command that starts the daemon shows one line of it.
        let why = in_one_line(fault.message());
        Self { line, why }
    }
}

/// The line of a place in a text, counted from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
