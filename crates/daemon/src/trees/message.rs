//! The messages of commits, and the names of branches that merges make.

use glis_core::Session;

/// How the names of the branches begin that get a result whose own branch is checked out.
pub(crate) const ASIDE: &str = "glis/merge/";
/// A subject that is longer is cut by those who show it.
const SUBJECT_MAX: usize = 72;

/// What a session was told first, in a line, and which session it was.
pub(super) fn message(session: &Session) -> String {
    signed(&subject(told(session), &session.name), session)
}

/// What an iteration of a loop was about, in a line, and which session it was.
pub(super) fn of_iteration(session: &Session, iteration: u32, about: &str) -> String {
    let words = if about.trim().is_empty() { told(session) } else { about };
    signed(&format!("{} ({iteration})", subject(words, &session.name)), session)
}

fn told(session: &Session) -> &str {
    session.spec.prompt.as_deref().unwrap_or_default()
}

fn signed(subject: &str, session: &Session) -> String {
    format!("{subject}\n\nSession: {} ({})", session.name, session.id)
}

/// The first line of these words, as long as a subject may be; whose work it is, where there are none.
pub(crate) fn subject(words: &str, session: &str) -> String {
    match words.trim().lines().next() {
        Some(line) => line.chars().take(SUBJECT_MAX).collect(),
        None => format!("Work of `{session}`"),
    }
}
