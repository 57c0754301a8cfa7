//! A session's conversation: one JSON object a line, appended, each entry once.

mod account;
mod carried;
mod compaction;
mod digest;
mod extract;
mod parts;
mod reading;
mod summary;
mod tally;

pub use self::account::Account;
pub use self::carried::under;
pub use self::compaction::{Compacted, KEPT, Plan, RECENT, WORTH, compacted, handed_over};
pub use self::digest::{Digest, account, cost_micros, spent};
pub use self::extract::{ANSWERED, extract, first_request};
pub use self::reading::{
    Stretch, damaged_lines, each, file_of, parse, read_on, read_stretch, read_tail,
};
pub use self::summary::{By, Summary};

use self::account::{ACCOUNT, Counter};
use self::carried::{AGENT_REF, Carried, Under};
use self::digest::OUTCOME;
use self::parts::Parts;
use self::tally::TALLY;
use glis_agent::context::own_words;
use glis_agent::{Said, Tally, TaskChange};
use glis_wire::view::{Entry, Voice};
use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde_json::{Map, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What entries about tasks are known by.
const TASKS: &str = "tasks";
/// Which of them are worked on.
const ACTIVE: &str = "active_tasks";

/// Where an entry was heard, so that it is written once however often it is heard again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// In the session's output.
    Stream(u64),
    /// In the agent's transcript, which belongs to one session id of the agent.
    Transcript(u64),
    /// In what the agent's hooks have written.
    Hook(u64),
    Ours,
}

/// A conversation, open for appending.
pub struct Conversation {
    path: PathBuf,
    file: Arc<File>,
    clock: fn() -> Timestamp,
    /// Which start of the session's process is listened to.
    generation: u32,
    /// What all entries come down to.
    known: Carried,
    /// Whole lines that a full disk has refused, to be written before any other.
    unwritten: Vec<u8>,
}

/// So much is kept of what the disk refuses; what comes then is lost, and said to be. It is what the
/// messages that wait for a session may have together.
const UNWRITTEN_BYTES_MAX: usize = 16 << 20;

impl Conversation {
    /// Opens the file in `dir` for what the process of this start says, and finds out what it holds
    /// already. `clock` stamps what is added.
    pub fn open(dir: &Path, generation: u32, clock: fn() -> Timestamp) -> io::Result<Self> {
        let path = file_of(dir);
        let file = Arc::new(open(&path)?);
        let known = Parts::open(&path)?.carried()?;
        Ok(Self { path, file, clock, generation, known, unwritten: Vec::new() })
    }

    /// Goes on in another folder, where the one that it lay in was deleted. The file is open, so that
    /// everything in it is still there to be copied.
    pub fn move_to(&mut self, dir: &Path) -> io::Result<()> {
        let path = file_of(dir);
        let mut fresh =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path)?;
        if fresh.metadata()?.len() == 0 {
            let mut former = self.file.try_clone()?;
            former.seek(SeekFrom::Start(0))?;
            io::copy(&mut former, &mut fresh)?;
        }
        self.file = Arc::new(fresh);
        self.path = path;
        Ok(())
    }

    /// How far the session's output has been written down.
    pub fn stream_seen(&self) -> u64 {
        self.known.stream_seen
    }

    /// What the agent has used in all.
    pub fn account(&self) -> &Account {
        &self.known.account
    }

    /// Appends what was said, unless it was written down before.
    pub fn add(&mut self, heard: Heard, agent_ref: Option<&str>, said: Said) -> io::Result<()> {
        let mut metadata = Map::new();
        let known = &mut self.known;
        let under = known.under.entry(agent_ref.unwrap_or_default().to_owned()).or_default();
        match heard {
            Heard::Stream(at) if at <= known.stream_seen => return Ok(()),
            Heard::Transcript(at) if at <= under.transcript_seen => return Ok(()),
            Heard::Hook(at) if at <= known.hooks_seen => return Ok(()),
            Heard::Stream(at) => {
                metadata.insert("offset".to_owned(), json!(at));
                known.stream_seen = at;
            }
            Heard::Transcript(at) => {
                metadata.insert("transcript_offset".to_owned(), json!(at));
                under.transcript_seen = at;
            }
            Heard::Hook(at) => {
                metadata.insert("hook_offset".to_owned(), json!(at));
                known.hooks_seen = at;
            }
            Heard::Ours => {}
        }
        if let Some(agent_ref) = agent_ref {
            metadata.insert(AGENT_REF.to_owned(), json!(agent_ref));
        }
        if said.voice == Voice::User && own_words(&said.content).is_none() {
            metadata.insert("by".to_owned(), json!("glis"));
        }
        if let Some(outcome) = said.outcome {
            metadata.insert(OUTCOME.to_owned(), json!(outcome.word()));
        }
        if let Some(tool) = said.tool {
            metadata.insert("tool".to_owned(), json!(tool));
        }
        if let Some(edit) = said.edit {
            metadata.insert("edit".to_owned(), edit);
        }
        if let Some(usage) = said.usage {
            metadata.insert("tokens_in".to_owned(), json!(usage.tokens_in));
            metadata.insert("tokens_out".to_owned(), json!(usage.tokens_out));
            if let Some(cost) = usage.cost_micros {
                metadata.insert("cost_micros".to_owned(), json!(cost));
            }
            known.account.add(usage, Counter::new(self.generation, agent_ref));
            metadata.insert(ACCOUNT.to_owned(), json!(known.account));
        }
        if let Some(change) = said.task {
            under.change_task(change);
            metadata.insert(TALLY.to_owned(), json!(under.tally()));
            metadata.insert(ACTIVE.to_owned(), json!(under.active));
            metadata.insert(TASKS.to_owned(), json!(under.tasks));
            let mut open: Vec<_> = under.tasks.iter().collect();
            open.sort_by_key(|(id, _)| (id.len(), id.as_str()));
            let open: Vec<_> = open.into_iter().map(|(_, subject)| subject).collect();
            metadata.insert("pending_tasks".to_owned(), json!(open));
        }
        if let Some(tally) = said.tally {
            metadata.insert(TALLY.to_owned(), json!(tally));
        }
        if let Some(pending) = said.pending {
            metadata.insert("pending_tasks".to_owned(), json!(pending));
        }
        let timestamp = (self.clock)().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let entry = Entry { timestamp, voice: said.voice, content: said.content, metadata };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        self.append(&line)
    }

    /// A compaction may put another file in the place of this one; under the lock that it takes, the
    /// line goes into the one that is there.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        loop {
            flock(&self.file, FlockOperation::LockExclusive)?;
            match std::fs::metadata(&self.path) {
                Ok(there) if there.ino() != self.file.metadata()?.ino() => {
                    // The lock goes with the file.
                    self.file = Arc::new(open(&self.path)?);
                }
                // A folder that was deleted is another's business: the file is still there to us.
                Ok(_) | Err(_) => break,
            }
        }
        if self.unwritten.len() < UNWRITTEN_BYTES_MAX {
            self.unwritten.extend_from_slice(line);
        }
        // One write: a reader sees the whole line or none of it.
        let written = write_whole(&self.file, &self.unwritten);
        flock(&self.file, FlockOperation::Unlock)?;
        written.map(|()| self.unwritten.clear())
    }

    /// Writes what could not be written before.
    pub fn catch_up(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() { Ok(()) } else { self.append(&[]) }
    }

    /// The file, to sync what was written. Shared: a further descriptor may be one
    /// too many.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }
}

impl Under {
    fn change_task(&mut self, change: TaskChange) {
        match change {
            TaskChange::Opened { id, subject } => drop(self.tasks.insert(id, subject)),
            TaskChange::Begun { id } if self.tasks.contains_key(&id) => {
                self.active.insert(id);
            }
            TaskChange::Begun { .. } => {}
            TaskChange::Done { id } => {
                self.done += u32::from(self.tasks.remove(&id).is_some());
                self.active.remove(&id);
            }
            TaskChange::Closed { id } => {
                self.tasks.remove(&id);
                self.active.remove(&id);
            }
        }
    }

    fn tally(&self) -> Tally {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let active = count(self.active.len());
        Tally { done: self.done, active, open: count(self.tasks.len()).saturating_sub(active) }
    }
}

/// Opens a conversation for appending whole lines.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    end_torn_line(&file)?;
    Ok(file)
}

/// A crash may have left half a line; it must not swallow the next one.
fn end_torn_line(mut file: &File) -> io::Result<()> {
    let Some(last_at) = file.metadata()?.len().checked_sub(1) else { return Ok(()) };
    let mut last = [0];
    file.read_exact_at(&mut last, last_at)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

/// Appends all of it or nothing: what a full disk has taken of it is taken back, which needs no room.
fn write_whole(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    end_torn_line(file)?;
    let end = file.metadata()?.len();
    file.write_all(bytes).inspect_err(|_| drop(file.set_len(end)))
}

#[cfg(test)]
mod tests;
