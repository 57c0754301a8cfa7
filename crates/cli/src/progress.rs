//! The line that tells a person what is being waited for. A script never sees it.

use glis_client::PATIENCE;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

/// Gone when dropped.
pub(crate) struct Progress {
    shown: bool,
    usual: &'static str,
    step: Option<&'static str>,
    /// What stands there: the step and the seconds.
    wrote: Option<(&'static str, u64)>,
}

impl Progress {
    pub(crate) fn new(usual: &'static str) -> Self {
        Self { shown: io::stderr().is_terminal(), usual, step: None, wrote: None }
    }

    /// What is being done now, if it is known.
    pub(crate) fn step(&mut self, step: Option<&'static str>) {
        self.step = step;
    }

    pub(crate) fn show(&mut self, since: Duration) {
        if self.shown && since >= PATIENCE {
            let line = (self.step.unwrap_or(self.usual), since.as_secs());
            // Some look many times a second; the line need not be written as often.
            if self.wrote.replace(line) != Some(line) {
                let mut err = io::stderr().lock();
                drop(write!(err, "\r\x1b[K{}\u{2026} {} s", line.0, line.1));
                drop(err.flush());
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.wrote.is_some() {
            clear();
        }
    }
}

/// Takes the line away, which another thread may have written.
pub(crate) fn clear() {
    let mut err = io::stderr().lock();
    if err.is_terminal() {
        drop(write!(err, "\r\x1b[K"));
    }
}
