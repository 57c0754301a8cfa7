//! The rehearsal agent as a program of its own, for this crate's tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    glis_rehearse::run(&args)
}
