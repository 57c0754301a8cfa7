//! A session's conversation: one JSON object a line, appended, each entry once.

mod account;
mod digest;
mod reading;

pub use self::account::Account;
pub use self::digest::{Digest, account};
pub use self::reading::{damaged_lines, each, file_of, parse, read_on, read_tail, under};

use self::account::{ACCOUNT, Counter, account_of};
use self::digest::OUTCOME;
use self::reading::AGENT_REF;
use glis_agent::context::own_words;
use glis_agent::{Said, TaskChange};
use glis_wire::view::{Entry, Voice};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

/// What entries about tasks are known by.
const TASKS: &str = "tasks";

/// Where an entry was heard, so that it is written once however often it is heard again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// In the session's output.
    Stream(u64),
    /// In the agent's transcript, which belongs to one session id of the agent.
    Transcript(u64),
    /// In what the agent's hooks have written.
    Hook(u64),
    /// Nowhere: it is ours.
    Ours,
}

/// A conversation, open for appending.
pub struct Conversation {
    file: Arc<File>,
    clock: fn() -> Timestamp,
    /// Which start of the session's process is listened to.
    generation: u32,
    stream_seen: u64,
    hooks_seen: u64,
    /// What is known under each session id of the agent: a place in a transcript is one in the
    /// transcript of that conversation, and of no other.
    under: HashMap<Option<String>, Under>,
    account: Account,
}

/// What the entries under one session id of the agent come down to.
#[derive(Default)]
struct Under {
    transcript_seen: u64,
    /// Tasks that the agent keeps by number and has not done.
    tasks: BTreeMap<String, String>,
}

impl Conversation {
    /// Opens the file in `dir` for what the process of this start says, and finds out what it holds
    /// already. `clock` stamps what is added.
    pub fn open(dir: &Path, generation: u32, clock: fn() -> Timestamp) -> io::Result<Self> {
        let path = file_of(dir);
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path)?;
        end_torn_line(&mut file)?;
        let (mut stream_seen, mut hooks_seen) = (0, 0);
        let mut known: HashMap<Option<String>, Under> = HashMap::new();
        let mut account = Account::default();
        each(&path, |entry| {
            let number = |key: &str| entry.metadata.get(key).and_then(Value::as_u64).unwrap_or(0);
            stream_seen = stream_seen.max(number("offset"));
            hooks_seen = hooks_seen.max(number("hook_offset"));
            let under = known.entry(under(&entry).map(ToOwned::to_owned)).or_default();
            under.transcript_seen = under.transcript_seen.max(number("transcript_offset"));
            if let Some(Value::Object(open)) = entry.metadata.get(TASKS) {
                let subject = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                under.tasks = open.iter().map(|(id, value)| (id.clone(), subject(value))).collect();
            }
            account = account_of(&entry).unwrap_or_else(|| std::mem::take(&mut account));
        })?;
        let file = Arc::new(file);
        Ok(Self { file, clock, generation, stream_seen, hooks_seen, under: known, account })
    }

    /// Goes on in another folder, where the one that it lay in was deleted. The file is open, so that
    /// everything in it is still there to be copied.
    pub fn move_to(&mut self, dir: &Path) -> io::Result<()> {
        let path = file_of(dir);
        let mut fresh =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        if fresh.metadata()?.len() == 0 {
            let mut former = self.file.try_clone()?;
            former.seek(SeekFrom::Start(0))?;
            io::copy(&mut former, &mut fresh)?;
        }
        self.file = Arc::new(fresh);
        Ok(())
    }

    /// How far the session's output has been written down.
    pub fn stream_seen(&self) -> u64 {
        self.stream_seen
    }

    /// Appends what was said, unless it was written down before.
    pub fn add(&mut self, heard: Heard, agent_ref: Option<&str>, said: Said) -> io::Result<()> {
        let mut metadata = Map::new();
        let under = self.under.entry(agent_ref.map(ToOwned::to_owned)).or_default();
        match heard {
            Heard::Stream(at) if at <= self.stream_seen => return Ok(()),
            Heard::Transcript(at) if at <= under.transcript_seen => return Ok(()),
            Heard::Hook(at) if at <= self.hooks_seen => return Ok(()),
            Heard::Stream(at) => {
                metadata.insert("offset".to_owned(), json!(at));
                self.stream_seen = at;
            }
            Heard::Transcript(at) => {
                metadata.insert("transcript_offset".to_owned(), json!(at));
                under.transcript_seen = at;
            }
            Heard::Hook(at) => {
                metadata.insert("hook_offset".to_owned(), json!(at));
                self.hooks_seen = at;
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
        if let Some(usage) = said.usage {
            metadata.insert("tokens_in".to_owned(), json!(usage.tokens_in));
            metadata.insert("tokens_out".to_owned(), json!(usage.tokens_out));
            if let Some(cost) = usage.cost_micros {
                metadata.insert("cost_micros".to_owned(), json!(cost));
            }
            self.account.add(usage, Counter::new(self.generation, agent_ref));
            metadata.insert(ACCOUNT.to_owned(), json!(self.account));
        }
        if let Some(change) = said.task {
            under.change_task(change);
            metadata.insert(TASKS.to_owned(), json!(under.tasks));
            let mut open: Vec<_> = under.tasks.iter().collect();
            open.sort_by_key(|(id, _)| (id.len(), id.as_str()));
            let open: Vec<_> = open.into_iter().map(|(_, subject)| subject).collect();
            metadata.insert("pending_tasks".to_owned(), json!(open));
        }
        if let Some(pending) = said.pending {
            metadata.insert("pending_tasks".to_owned(), json!(pending));
        }
        let timestamp = (self.clock)().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let entry = Entry { timestamp, voice: said.voice, content: said.content, metadata };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        // One write: a reader sees the whole line or none of it.
        (&*self.file).write_all(&line)
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
            TaskChange::Opened { id, subject } => self.tasks.insert(id, subject),
            TaskChange::Closed { id } => self.tasks.remove(&id),
        };
    }
}

/// A crash may have left half a line; it must not swallow the next one.
fn end_torn_line(file: &mut File) -> io::Result<()> {
    let len = file.metadata()?.len();
    if len == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::Start(len - 1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
