//! Making a conversation short: the latest entries stay, what was before them is summed up in front of
//! them, and the file that has everything is kept beside it.
//!
//! Nothing that was said is deleted: `each`, `read_on` and the search go through all files, and every
//! entry keeps its offset.

use super::extract::extract;
use super::parts::{COMPACTED, Head, PART, Parts};
use super::reading::file_of;
use super::summary::{self, By, Summary};
use crate::durable;
use glis_wire::view::{Entry, Voice};
use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Map, json};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Fewer entries than this are short already.
pub const WORTH: usize = 50;
/// So many of the latest stay in the file.
pub const KEPT: usize = 50;
/// So many of the latest are told with a summary.
pub const RECENT: usize = 20;

/// An agent reads no more than this of what another has done. A hundred requests of some lines have room.
const HANDED_OVER_BYTES_MAX: usize = 32 * 1024;

/// What the text of the first line begins with.
const HEADING: &str = "[Compacted History]\n";

/// A conversation as it was found, and what would be made of it.
pub struct Plan {
    path: PathBuf,
    /// The file that was looked at.
    inode: u64,
    /// The offset from which on entries stay.
    cut: u64,
    /// How many entries its latest file has.
    pub entries: usize,
    /// What it comes down to without a model.
    pub extract: Summary,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The file that has everything that was summed up.
    pub original: String,
    /// How many entries were summed up.
    pub entries: usize,
}

impl Plan {
    /// Looks at the conversation of the session whose folder is `dir`.
    pub fn of(dir: &Path) -> io::Result<Self> {
        let path = file_of(dir);
        let parts = Parts::open(&path)?;
        let Some(last) = parts.last() else {
            return Ok(Self { path, inode: 0, cut: 0, entries: 0, extract: Summary::default() });
        };
        let mut places = Vec::new();
        parts.each_line_from(last.base, |at, line| {
            if serde_json::from_slice::<Entry>(line).is_ok() {
                places.push(at);
            }
            Ok(())
        })?;
        let first_kept = places.len().saturating_sub(KEPT);
        let cut = places.get(first_kept).copied().unwrap_or(last.end);
        let inode = last.file.metadata()?.ino();
        Ok(Self { extract: extract(&path)?, entries: places.len(), path, inode, cut })
    }

    /// Whether there is anything to sum up.
    pub fn is_worth_it(&self) -> bool {
        self.entries > WORTH
    }

    /// What a model is asked for a better summary.
    pub fn question(&self) -> io::Result<String> {
        let mut talk = String::new();
        super::each(&self.path, |entry| {
            let who = match entry.voice {
                Voice::User => "user",
                Voice::Assistant => "agent",
                Voice::System => "system",
                Voice::Tool => "tool",
            };
            let tool = entry.metadata.get("tool").and_then(serde_json::Value::as_str);
            let tool = tool.map(|tool| format!(" {tool}")).unwrap_or_default();
            for part in [who, &tool, ": ", &entry.content, "\n"] {
                talk.push_str(part);
            }
        })?;
        Ok(summary::question(&self.extract.summary, &talk))
    }

    /// The summary that a model has answered with, or the heading without which that is none.
    pub fn answered(&self, text: &str) -> Result<Summary, &'static str> {
        let told = summary::answered(text)?;
        let open = &self.extract.pending_tasks;
        let pending_tasks =
            if told.pending_tasks.is_empty() { open.clone() } else { told.pending_tasks.clone() };
        // What was asked for is told in the user's own words, whatever a model makes of it.
        let summary = format!("{}\n\n{}", self.extract.summary, told.summary);
        Ok(Summary { summary, pending_tasks, ..told })
    }

    /// Puts the short file in the place of the long one, which stays beside it. What was appended since
    /// the plan was made stays too. If anything fails, everything is as it was.
    pub fn carry_out(&self, summary: Summary, now: Timestamp) -> io::Result<Compacted> {
        self.swap(summary, now, || {})
    }

    /// As [`Plan::carry_out`]; `linked` is called when the long file has its second name and is still in
    /// its place.
    pub fn swap(
        &self,
        summary: Summary,
        now: Timestamp,
        linked: impl FnOnce(),
    ) -> io::Result<Compacted> {
        let file = File::open(&self.path)?;
        // Nothing is appended meanwhile; the next one to append finds the new file.
        flock(&file, FlockOperation::LockExclusive)?;
        let there = std::fs::metadata(&self.path)?.ino();
        if there != self.inode || file.metadata()?.ino() != self.inode {
            return Err(io::Error::other("the conversation was replaced meanwhile"));
        }
        let parts = Parts::open(&self.path)?;
        let Some(last) = parts.last().filter(|last| (last.base..=last.end).contains(&self.cut))
        else {
            return Err(io::Error::other("the conversation was cut short meanwhile"));
        };
        let mut kept = Vec::new();
        last.lines_from(self.cut)?.read_to_end(&mut kept)?;
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        let original = free_name(dir, now);
        let head =
            Head { original: original.clone(), base: self.cut, carried: parts.carried()?, summary };
        let mut bytes = line_of(&head, now)?;
        bytes.extend_from_slice(&kept);
        file.sync_all()?;
        let beside = dir.join(&original);
        // A second name first: at no moment is there no conversation.
        std::fs::hard_link(&self.path, &beside)?;
        linked();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if let Err(fault) =
            durable::sync_names(dir).and_then(|()| durable::write(dir, &name, &bytes))
        {
            let is_old = std::fs::metadata(&self.path).is_ok_and(|there| there.ino() == self.inode);
            if is_old {
                drop(std::fs::remove_file(&beside));
            }
            return Err(fault);
        }
        Ok(Compacted { original, entries: self.entries.saturating_sub(KEPT) })
    }
}

/// What the last compaction of a conversation has left: its summary, if there was one, and the entries
/// that stayed or came since.
pub fn compacted(dir: &Path) -> io::Result<Option<Summary>> {
    let parts = Parts::open(&file_of(dir))?;
    Ok(parts.last().and_then(|last| last.head.as_ref()).map(|head| head.summary.clone()))
}

/// What an agent is told of a conversation that it does not have: as a model has summed it up and what came
/// since, or as it is found without one. None if nothing was said.
pub fn handed_over(dir: &Path) -> io::Result<Option<String>> {
    let plan = Plan::of(dir)?;
    let summary = match compacted(dir)?.filter(|kept| kept.by == By::Model) {
        Some(kept) => format!("{}\n\nSince then:\n{}", kept.summary, plan.extract.current_state),
        None if plan.entries == 0 => return Ok(None),
        None => plan.extract.summary,
    };
    // What began the work stands first, and how things stand last.
    Ok(Some(summary::without_middle(&summary, HANDED_OVER_BYTES_MAX)))
}

/// The first line of a compacted file.
fn line_of(head: &Head, now: Timestamp) -> io::Result<Vec<u8>> {
    let mut metadata = Map::new();
    metadata.insert(COMPACTED.to_owned(), json!(head));
    let timestamp = now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    let content = format!("{HEADING}{}", head.summary.summary);
    let entry = Entry { timestamp, voice: Voice::System, content, metadata };
    let mut line = serde_json::to_vec(&entry)?;
    line.push(b'\n');
    Ok(line)
}

/// A name for the long file that no other has.
fn free_name(dir: &Path, now: Timestamp) -> String {
    let time = now.strftime("%Y%m%dT%H%M%S").to_string();
    let plain = format!("{PART}{time}.jsonl");
    let numbered = (2..).map(|n: u32| format!("{PART}{time}-{n}.jsonl"));
    let mut names = std::iter::once(plain).chain(numbered);
    let is_free = |name: &String| dir.join(name).symlink_metadata().is_err();
    names.find(is_free).unwrap_or_else(|| format!("{PART}{time}.jsonl"))
}

#[cfg(test)]
mod tests;
