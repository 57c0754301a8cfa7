//! `cargo xtask plan-many`, `cargo xtask sessions-many`: tests that are played with more than they have among the others.

use std::ffi::OsString;
use std::process::{ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cargo::{Workspace, cargo};

/// A test, and of what it can have more.
pub(crate) struct Many {
    verb: &'static str,
    test: &'static str,
    option: &'static str,
    variable: &'static str,
    usual: u32,
}

/// A plan whose checkouts are cleared away as they are merged.
pub(crate) const TASKS: Many = Many {
    verb: "plan-many",
    test: "plans::many::many_tasks_leave_no_checkout_and_the_last_costs_what_the_first_did",
    option: "--tasks",
    variable: "GLIS_MANY_TASKS",
    usual: 1000,
};

/// Sessions at rest, in the lists of all faces.
pub(crate) const SESSIONS: Many = Many {
    verb: "sessions-many",
    test: "verbs::crowd::thousands_at_rest_break_no_list_and_slow_nothing_that_lives",
    option: "--sessions",
    variable: "GLIS_MANY_SESSIONS",
    usual: 20_000,
};

impl Many {
    /// Plays it and prints what was measured; the exit status is the test's.
    pub(crate) fn run(&self, arguments: &[OsString]) -> Result<ExitCode> {
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let number = match words.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
            [] => self.usual,
            [option, number] if option == self.option => {
                number.parse().with_context(|| format!("`{number}` is no number"))?
            }
            _ => bail!("usage: cargo xtask {} [{} {}]", self.verb, self.option, self.usual),
        };
        let workspace = Workspace::find()?;
        let mut test = cargo();
        // Not nextest: it takes a test that runs for minutes for one that hangs.
        test.args(["test", "--quiet", "-p", "glis", "--test", "e2e", "--", "--exact", self.test]);
        test.arg("--nocapture").current_dir(&workspace.root).stdin(Stdio::null());
        test.env(self.variable, number.to_string());
        Ok(if test.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
