//! Agents of this home that the event log does not know: their home was deleted while they ran, or
//! their log was replaced. They are found by what their holders have open.

use crate::holder::is_holder;
use crate::panics::held;
use glis_os::Handle;
use glis_os::process::{all, children_of, open_files_of, runs, start_ticks, undeleted};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use tracing::warn;

/// A holder that the log does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stray {
    pub(crate) session: String,
    pub(crate) holder: i32,
    began: u64,
    pub(crate) agent: Option<i32>,
}

/// The ones that were there when the daemon began; there are no others, unless a home is deleted, and
/// then its daemon ends.
#[derive(Default)]
pub(crate) struct Strays(Mutex<Vec<Stray>>);

impl Strays {
    /// Looks for them, and has each put back the files that it can be found by.
    pub(crate) fn look(&self, folder: &Path, known: &BTreeSet<String>) {
        let found = find(folder, known);
        for stray in &found {
            let what = format!("session {}: its agent runs and is on no record", stray.session);
            warn!("{what} (holder {})", stray.holder);
            let handle = Handle::open(stray.holder).ok();
            if let Some(handle) = handle.filter(|_| is_holder(stray.holder)) {
                handle.signal(Signal::URG);
            }
        }
        *held(&self.0) = found;
    }

    /// The agents that still run, or their holders.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let strays = held(&self.0);
        let living = strays.iter().filter(|stray| runs(stray.holder, stray.began));
        living.map(|stray| stray.agent.unwrap_or(stray.holder)).collect()
    }
}

/// The holders of sessions in this folder that are not among the known ones.
pub(crate) fn find(folder: &Path, known: &BTreeSet<String>) -> Vec<Stray> {
    let stray = |holder: i32| {
        let session = session_of(holder, folder)?;
        let began = start_ticks(holder)?;
        Some(Stray { session, holder, began, agent: agent_of(holder) })
    };
    let found = all().filter(|pid| is_holder(*pid)).filter_map(stray);
    found.filter(|stray| !known.contains(&stray.session)).collect()
}

/// The session in this folder that a holder has files of open, or had when they were deleted.
fn session_of(holder: i32, folder: &Path) -> Option<String> {
    let mut open = open_files_of(holder).map(undeleted);
    open.find_map(|path| {
        Some(path.strip_prefix(folder).ok()?.iter().next()?.to_string_lossy().into_owned())
    })
}

/// The process that a holder has started.
fn agent_of(holder: i32) -> Option<i32> {
    children_of(holder).ok()?.first().copied()
}
