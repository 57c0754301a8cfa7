//! `cargo xtask plan-kills`: the daemon, the window or both die at every journalled step of a plan.

use std::process::{ExitCode, Stdio};

use anyhow::Result;

use crate::cargo::{Workspace, cargo};

/// What is run; among the tests it plays one life of a plan, here some seventy.
const TEST: &str = "plans::kill::everything_is_killed_at_every_step";

/// Plays it on the debug build, since a release has no place to die at; the exit status is the test's.
pub(crate) fn run() -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let mut test = cargo();
    // Not nextest: it takes a test that runs for minutes for one that hangs.
    test.args(["test", "--quiet", "-p", "glis", "--test", "e2e", "--", "--exact", TEST]);
    test.arg("--nocapture").current_dir(&workspace.root).stdin(Stdio::null());
    test.env("GLIS_EVERY_STEP", "1");
    Ok(if test.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
