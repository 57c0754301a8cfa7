//! The daemon's diary: what it writes about itself, on standard error.

use std::io::{self, Write as _};

/// Standard error is a file: the command that starts the daemon sees to that. What git, an agent or a
/// file said may be in the text, and with it a secret.
pub(crate) fn diary(text: &str) {
    let text = glis_core::redact::redact(text);
    // A disk that is full is told of elsewhere; for want of a line nothing ends.
    drop(writeln!(io::stderr(), "{} {text}", crate::clock::stamp()));
}
