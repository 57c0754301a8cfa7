//! `cargo xtask soak`: twenty agents at work for minutes, on the release build.

use std::ffi::OsString;
use std::process::{ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{Workspace, cargo};

/// What is run; among the tests it takes less than a minute.
const TEST: &str =
    "cost::soak::twenty_agents_at_work_cost_no_more_memory_and_descriptors_in_the_end";

/// Five minutes: one to warm up, and the last one is compared with the second.
const USUAL_SECS: u64 = 300;

/// Plays it and prints what was measured; the exit status is the test's.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let secs = match words.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
        [] => USUAL_SECS,
        ["--for", time] => seconds(time).with_context(|| format!("`{time}` is no time"))?,
        _ => bail!("usage: cargo xtask soak [--for 5m]"),
    };
    let workspace = Workspace::find()?;
    let mut build = cargo();
    build.args(["build", "--release"]).current_dir(&workspace.root).stdin(Stdio::null());
    if !build.status()?.success() {
        bail!("the release build failed");
    }
    let mut test = cargo();
    // Not nextest: it takes a test that runs for minutes for one that hangs.
    test.args(["test", "--quiet", "-p", "glis", "--test", "e2e", "--", "--exact", TEST]);
    test.arg("--nocapture").current_dir(&workspace.root).stdin(Stdio::null());
    test.env("GLIS_BINARY", workspace.release("glis")).env("GLIS_STEADY_SECS", secs.to_string());
    Ok(if test.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `90s`, `5m`, or seconds.
fn seconds(time: &str) -> Option<u64> {
    let (number, factor) = match (time.strip_suffix('m'), time.strip_suffix('s')) {
        (Some(minutes), _) => (minutes, 60),
        (None, Some(secs)) => (secs, 1),
        (None, None) => (time, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|secs| *secs > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        let read = ["90s", "5m", "7", "0m", "m", "five"].map(seconds);
        assert_eq!(read, [Some(90), Some(300), Some(7), None, None, None]);
    }
}
