//! The messages of commits, and the names of branches that merges make.

use glis_core::Session;

/// How the names of the branches begin that get a result whose own branch is checked out.
pub(crate) const ASIDE: &str = "glis/merge/";
/// A subject that is longer is cut by those who show it.
const SUBJECT_MAX: usize = 72;

/// What a session was told first, in a line, and which session it was.
pub(super) fn message(session: &Session) -> String {
    let first = session.spec.prompt.as_deref().unwrap_or_default();
    let subject = subject(first, &session.name);
    format!("{subject}\n\nSession: {} ({})", session.name, session.id)
}

/// The first line of these words, as long as a subject may be; whose work it is, where there are none.
pub(crate) fn subject(words: &str, session: &str) -> String {
    match words.trim().lines().next() {
        Some(line) => line.chars().take(SUBJECT_MAX).collect(),
        None => format!("Work of `{session}`"),
    }
}
