//! Patterns on the text of a prompt: what is rejected, and what is accepted where no command and no
//! edit is asked for.
//!
//! A reject pattern disregards case and an accept pattern does not: a rejection that was not meant
//! costs a look, an acceptance that was not meant may cost everything.

use regex::{Regex, RegexBuilder};

/// A compiled pattern is at most this large, so that no configuration can eat the daemon's memory.
const COMPILED_BYTES_MAX: usize = 256 * 1024;

/// What a prompt is answered with a yes for, unless the configuration says otherwise.
pub(crate) const ACCEPT: [&str; 4] =
    [r"Do you want to proceed\?", r"Continue\?", r"\[Y/n\]", "Press Enter to continue"];

/// What is answered with a no.
pub(crate) const REJECT: [&str; 3] = ["delete|remove|rm -rf", "force push", "drop database"];

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPattern {
    pub pattern: String,
    /// What is wrong with it, in the words of the library that reads it.
    pub why: String,
}

/// The patterns of a configuration, ready for use.
#[derive(Debug)]
pub struct Patterns {
    reject: Vec<Regex>,
    accept: Vec<Regex>,
}

impl Patterns {
    /// Reads them all. What would accept anything accepts nothing ([`is_too_wide`]).
    pub fn new<T: AsRef<str>>(reject: &[T], accept: &[T]) -> Result<Self, BadPattern> {
        let read = |patterns: &[T], any_case| -> Result<Vec<Regex>, BadPattern> {
            patterns.iter().map(|pattern| compile(pattern.as_ref(), any_case)).collect()
        };
        let mut accept = read(accept, Case::AsWritten)?;
        accept.retain(|pattern| !fits_nothing(pattern));
        Ok(Self { reject: read(reject, Case::Any)?, accept })
    }

    pub(crate) fn rejecting(&self, text: &str) -> impl Iterator<Item = &str> {
        self.reject.iter().filter(move |pattern| pattern.is_match(text)).map(Regex::as_str)
    }

    /// The first pattern that accepts a text: one that fits its end. What stands behind a question was
    /// typed or printed after it.
    pub(crate) fn accepts(&self, text: &str) -> Option<&str> {
        let ends =
            |pattern: &&Regex| pattern.find_iter(text).any(|found| is_end(text, found.end()));
        self.accept.iter().find(ends).map(Regex::as_str)
    }
}

/// Whether a pattern fits also where nothing is asked, so that it would accept anything.
pub fn is_too_wide(pattern: &str) -> bool {
    compile(pattern, Case::AsWritten).is_ok_and(|pattern| fits_nothing(&pattern))
}

/// No question consists of nothing, or of a character that is not printed.
fn fits_nothing(pattern: &Regex) -> bool {
    ["", "\u{1}"].iter().any(|nothing| pattern.is_match(nothing))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Any,
    AsWritten,
}

fn compile(pattern: &str, case: Case) -> Result<Regex, BadPattern> {
    RegexBuilder::new(pattern)
        .case_insensitive(case == Case::Any)
        .size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|why| BadPattern { pattern: pattern.to_owned(), why: why.to_string() })
}

/// Whether nothing is left of a text but what closes a question: `[Y/n]: `, `continue...`.
fn is_end(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.chars().all(|c| " .:".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejecting_disregards_case_and_accepting_does_not() {
        let patterns = Patterns::new(&REJECT, &ACCEPT).unwrap();
        assert_eq!(patterns.rejecting("Delete it?").next(), Some("delete|remove|rm -rf"));
        assert_eq!(patterns.rejecting("proceed?").next(), None);
        assert_eq!(patterns.accepts("Continue?"), Some(r"Continue\?"));
        assert_eq!(patterns.accepts("continue?"), None);
    }

    #[test]
    fn a_question_is_accepted_by_its_end_alone() {
        let patterns = Patterns::new(&REJECT, &ACCEPT).unwrap();
        for text in
            ["Go on? [Y/n]", "[Y/n] or not: [Y/n]: ", "Press Enter to continue...", "Continue? "]
        {
            assert!(patterns.accepts(text).is_some(), "{text}");
        }
        for text in
            ["Go on? [Y/n] n", "Continue?$ ", "Continue? Send all keys? ", "[Y/n]\u{a0}", ""]
        {
            assert_eq!(patterns.accepts(text), None, "{text}");
        }
    }

    #[test]
    fn what_would_accept_anything_accepts_nothing() {
        for pattern in ["", ".*", "(y|)", "x?", "$", r"\s*", ".", ".+", "[^a]"] {
            assert!(is_too_wide(pattern), "{pattern}");
            let patterns = Patterns::new(&[], &[pattern]).unwrap();
            assert_eq!(patterns.accepts("Delete all? [Y/n]"), None, "{pattern}");
        }
        for pattern in ACCEPT {
            assert!(!is_too_wide(pattern), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_read_or_is_too_large_is_named() {
        let bad = Patterns::new(&["("], &[]).unwrap_err();
        assert_eq!(bad.pattern, "(");
        assert!(bad.why.contains("unclosed group"), "{}", bad.why);
        let large = Patterns::new(&[], &[r"\w{500}{50}"]).unwrap_err();
        assert!(large.why.contains("size limit"), "{}", large.why);
    }
}
