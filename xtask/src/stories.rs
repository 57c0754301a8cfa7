//! `cargo xtask stories`: every story with every real agent, also those that `cargo xtask test` leaves
//! out because their agents start slowly.

use std::process::{ExitCode, Stdio};

use anyhow::{Result, bail};

use crate::agents;
use crate::cargo::{Workspace, cargo, has};

/// Installs the agents where they are missing, and plays; the exit status is that of the tests.
pub(crate) fn run() -> Result<ExitCode> {
    if agents::run()? != ExitCode::SUCCESS {
        bail!("the agents were not installed");
    }
    let mut play = cargo();
    if has("nextest") {
        play.args(["nextest", "run", "--run-ignored", "all", "-E", "test(/^real::stories::/)"]);
        play.args(["-p", "glis", "--test", "e2e", "--no-fail-fast"]);
    } else {
        play.args(["test", "-p", "glis", "--test", "e2e", "--no-fail-fast"]);
        play.args(["--", "--include-ignored", "real::stories::"]);
    }
    play.current_dir(Workspace::find()?.root).stdin(Stdio::null());
    Ok(if play.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
