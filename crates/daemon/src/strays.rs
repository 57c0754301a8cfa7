//! Agents of this home that the event log does not know: their home was deleted while they ran, or
//! their log was replaced. They are found by what their holders have open.

use crate::holder::is_holder;
use crate::process::{open, runs, start_ticks};
use rustix::process::{Signal, pidfd_send_signal};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A holder that the log does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stray {
    /// The id of its session.
    pub(crate) session: String,
    pub(crate) holder: i32,
    began: u64,
    /// Its agent, if that has not ended.
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
            crate::diary(&format!("{what} (holder {})", stray.holder));
            if let Some(handle) = open(stray.holder).filter(|_| is_holder(stray.holder)) {
                pidfd_send_signal(&handle, Signal::URG).ok();
            }
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// The agents that still run, or their holders.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let strays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let living = strays.iter().filter(|stray| runs(stray.holder, stray.began));
        living.map(|stray| stray.agent.unwrap_or(stray.holder)).collect()
    }
}

/// The holders of sessions in this folder that are not among the known ones.
pub(crate) fn find(folder: &Path, known: &BTreeSet<String>) -> Vec<Stray> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let stray = |holder: i32| {
        let session = session_of(holder, folder)?;
        let began = start_ticks(holder)?;
        Some(Stray { session, holder, began, agent: agent_of(holder) })
    };
    let found = pids.filter(|pid| is_holder(*pid)).filter_map(stray);
    found.filter(|stray| !known.contains(&stray.session)).collect()
}

/// The session in this folder that a holder has files of open, or had when they were deleted.
fn session_of(holder: i32, folder: &Path) -> Option<String> {
    let open = std::fs::read_dir(format!("/proc/{holder}/fd")).ok()?;
    let links = open.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let mut below = links.filter_map(|link| link.strip_prefix(folder).map(PathBuf::from).ok());
    let first = below.find_map(|path| path.iter().next().map(ToOwned::to_owned))?;
    let name = first.to_string_lossy().into_owned();
    Some(name.strip_suffix(" (deleted)").map_or(name.clone(), ToOwned::to_owned))
}

/// The process that a holder has started.
fn agent_of(holder: i32) -> Option<i32> {
    let children =
        std::fs::read_to_string(format!("/proc/{holder}/task/{holder}/children")).ok()?;
    children.split_ascii_whitespace().next()?.parse().ok()
}
