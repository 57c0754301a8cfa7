//! What led to the question in hand: the last that was said before it, or the end of its screen.

use glis_wire::view::Entry;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lead {
    /// Whose it is, and which of its requests.
    of: (String, String),
    pub(crate) said: Vec<Entry>,
    /// The last rows of a terminal whose conversation is not known.
    pub(crate) screen: Vec<String>,
}

impl Lead {
    /// Nothing is known of it yet.
    pub(crate) fn of(session: &str, request: &str) -> Self {
        Self { of: (session.to_owned(), request.to_owned()), ..Self::default() }
    }

    pub(crate) fn is_of(&self, session: &str, request: &str) -> bool {
        (self.of.0.as_str(), self.of.1.as_str()) == (session, request)
    }
}
