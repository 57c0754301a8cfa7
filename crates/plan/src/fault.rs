//! What is wrong in one place of a plan.

use std::fmt;

/// What is wrong in one place of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there, in one line.
    pub why: String,
}

impl Fault {
    pub(crate) fn new(line: usize, why: impl Into<String>) -> Self {
        Self { line, why: why.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.why)
    }
}
