//! One thing that was found, as it is told.

use glis_wire::view::{Finding, Health};

/// What to do about a git that hangs.
pub(super) const HUNG: &str = "look there for a disk that does not answer, a lock or a filter that \
                               waits; then `glis doctor` again";

/// A finding about `subject`, with the way out.
pub(super) fn finding(
    subject: &str,
    health: Health,
    message: String,
    hint: Option<&str>,
) -> Finding {
    Finding { subject: subject.to_owned(), health, message, hint: hint.map(ToOwned::to_owned) }
}

/// Something that is wrong, and what helps.
pub(super) fn bad(subject: &str, message: String, hint: &str) -> Finding {
    finding(subject, Health::Bad, message, Some(hint))
}

/// Something that may be wrong, and what helps.
pub(super) fn warning(subject: &str, message: String, hint: &str) -> Finding {
    finding(subject, Health::Warning, message, Some(hint))
}
