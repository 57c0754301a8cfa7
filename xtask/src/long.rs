//! `cargo xtask soak` and `cargo xtask storm`: tests that take less than a minute among the tests, played for minutes
//! on the release build.

use std::ffi::OsString;
use std::process::{ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{Workspace, cargo};

/// A test that lasts as long as it is told to.
pub(crate) struct Long {
    verb: &'static str,
    pub(crate) test: &'static str,
    /// Tells it how many seconds.
    pub(crate) variable: &'static str,
    /// How long it is played if nobody says otherwise.
    usual: &'static str,
}

/// Five minutes: one to warm up, and the last one is compared with the second.
pub(crate) const SOAK: Long = Long {
    verb: "soak",
    test: "cost::soak::twenty_agents_at_work_cost_no_more_memory_and_descriptors_in_the_end",
    variable: "GLIS_STEADY_SECS",
    usual: "5m",
};

/// Ten minutes: some thousand messages, and each kind of blow some forty times.
pub(crate) const STORM: Long = Long {
    verb: "storm",
    test: "kill::storm::thirty_sessions_in_a_storm_lose_no_message_and_no_file",
    variable: "GLIS_STORM_SECS",
    usual: "10m",
};

impl Long {
    /// The call that plays it. Not nextest: it takes a test that runs for minutes for one that hangs.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        let e2e =
            ["test", "--quiet", "-p", "glis", "--test", "e2e", "--", "--nocapture", "--exact"];
        [&e2e[..], &[self.test]].concat()
    }

    /// Plays it and prints what was seen; the exit status is the test's.
    pub(crate) fn run(&self, arguments: &[OsString]) -> Result<ExitCode> {
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let time = match words.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
            [] => self.usual,
            ["--for", time] => time,
            _ => bail!("usage: cargo xtask {} [--for {}]", self.verb, self.usual),
        };
        let secs = seconds(time).with_context(|| format!("`{time}` is no time"))?;
        let workspace = Workspace::find()?;
        let mut build = cargo();
        build.args(["build", "--release"]).current_dir(&workspace.root).stdin(Stdio::null());
        if !build.status()?.success() {
            bail!("the release build failed");
        }
        let mut test = cargo();
        test.args(self.words()).current_dir(&workspace.root).stdin(Stdio::null());
        test.env("GLIS_BINARY", workspace.release("glis")).env(self.variable, secs.to_string());
        Ok(if test.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
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
