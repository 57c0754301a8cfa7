//! What a person is told of a fault.

/// A message for a person: what happened, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What happened.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
}

impl Told {
    /// What happened, and the next step.
    pub(crate) fn new(message: &str, hint: &str) -> Self {
        Self { message: message.to_owned(), hint: Some(hint.to_owned()) }
    }
}
