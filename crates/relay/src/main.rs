//! The relay as a program of its own, for this crate's tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    glis_relay::run(&std::env::args().nth(1).unwrap_or_default(), |_, _| true)
}
