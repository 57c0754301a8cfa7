//! A test that cannot run here says so: aloud, counted by `cargo xtask test`, and as a failure on a
//! build server where an installation would help.

use std::error::Error;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;

/// Names the file that `cargo xtask test` reads the skips from: a line each, its fields parted by
/// tabs.
const NOTES: &str = "GLIS_SKIPS";

/// Where the test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    /// People read what is printed.
    Own,
    /// Its log is read only after a failure.
    BuildServer,
}

impl Machine {
    /// `CI` is what build servers set.
    fn this() -> Self {
        let ci = std::env::var_os("CI").unwrap_or_default();
        if ci.is_empty() || ci == "false" { Self::Own } else { Self::BuildServer }
    }
}

/// Leaves the test out that calls it; fails where it must not be left out. `remedy` is the program
/// whose installation would let it run; `None` for a right that this machine does not give.
pub(crate) fn skip(why: &str, remedy: Option<&str>) -> Result<(), Box<dyn Error>> {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    note(test, why, remedy, std::env::var_os(NOTES).as_deref(), Machine::this())
}

/// As [`skip`], with everything told that it would find out.
#[expect(clippy::print_stderr, reason = "a test that was left out says so")]
pub(crate) fn note(
    test: &str,
    why: &str,
    remedy: Option<&str>,
    notes: Option<&OsStr>,
    machine: Machine,
) -> Result<(), Box<dyn Error>> {
    eprintln!("SKIPPED: {test}: {why}");
    if let Some(notes) = notes {
        let mut file = std::fs::File::options().append(true).create(true).open(Path::new(notes))?;
        // One write, so that tests which end at the same moment do not mix their lines.
        let (help, why) = (remedy.unwrap_or_default(), why.replace(['\t', '\n'], " "));
        file.write_all(format!("{test}\t{help}\t{why}\n").as_bytes())?;
    }
    match (remedy, machine) {
        (Some(help), Machine::BuildServer) => {
            Err(format!("left out although CI is set: {why}; installing {help} helps").into())
        }
        (_, Machine::Own) | (None, Machine::BuildServer) => Ok(()),
    }
}
