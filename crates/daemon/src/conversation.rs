//! A session's conversation: one JSON object a line, appended, each entry once.

use glis_agent::context::{Known, own_words};
use glis_agent::{Said, TaskChange, Usage};
use glis_wire::view::{Entry, Voice};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the agent's session id is noted by.
const AGENT_REF: &str = "agent_session_ref";
/// What entries about tasks and use are known by.
const TASKS: &str = "tasks";
const ACCOUNT: &str = "account";
/// How a tool or a turn ended that was denied or broken off.
const OUTCOME: &str = "outcome";
/// Name of the file in a session's folder.
const FILE: &str = "conversation.jsonl";
/// How much of the end is looked at for a digest: some hundred entries.
const DIGEST_BYTES: u64 = 128 * 1024;
/// A digest is for a list, not for reading.
const DIGEST_CHARS_MAX: usize = 200;

/// Where an entry was heard, so that it is written once however often it is heard again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
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
pub(crate) struct Conversation {
    file: Arc<File>,
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
    /// already.
    pub(crate) fn open(dir: &Path, generation: u32) -> io::Result<Self> {
        let path = dir.join(FILE);
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
            account = told_account(&entry).unwrap_or_else(|| std::mem::take(&mut account));
        })?;
        let file = Arc::new(file);
        Ok(Self { file, generation, stream_seen, hooks_seen, under: known, account })
    }

    /// How far the session's output has been written down.
    pub(crate) fn stream_seen(&self) -> u64 {
        self.stream_seen
    }

    /// Appends what was said, unless it was written down before.
    pub(crate) fn add(
        &mut self,
        heard: Heard,
        agent_ref: Option<&str>,
        said: Said,
    ) -> io::Result<()> {
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
        let entry = Entry { timestamp: now(), voice: said.voice, content: said.content, metadata };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        // One write: a reader sees the whole line or none of it.
        (&*self.file).write_all(&line)
    }

    /// The file, for whoever makes durable what was written. Shared: a further descriptor may be one
    /// too many.
    pub(crate) fn file(&self) -> Arc<File> {
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

/// The file of the session whose folder is `dir`.
pub(crate) fn file_of(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// How many lines of the conversation in `dir` are damaged.
pub(crate) fn damaged_lines(dir: &Path) -> io::Result<usize> {
    let file = match File::open(file_of(dir)) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(0),
        opened => opened?,
    };
    let mut damaged = 0;
    for line in BufReader::new(file).split(b'\n') {
        damaged += parse(&line?).1;
    }
    Ok(damaged)
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

/// Shows every entry, one at a time: a conversation may be larger than anybody wants to hold.
pub(crate) fn each(path: &Path, mut see: impl FnMut(Entry)) -> io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(fault) => return Err(fault),
    };
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(entry) = serde_json::from_slice(&line?) {
            see(entry);
        }
    }
    Ok(())
}

/// The agent's session id that an entry was said under.
pub(crate) fn under(entry: &Entry) -> Option<&str> {
    entry.metadata.get(AGENT_REF).and_then(Value::as_str)
}

/// Whole lines from `offset` on, up to about `bytes_max` bytes or one line if that is longer, and
/// how many bytes they were.
pub(crate) fn read_on(path: &Path, offset: u64, bytes_max: u64) -> io::Result<(Vec<Entry>, u64)> {
    let Ok(mut file) = File::open(path) else { return Ok((Vec::new(), 0)) };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    loop {
        let read = (&mut file).take(bytes_max).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        if whole > 0 || read == 0 {
            bytes.truncate(whole);
            return Ok((parse(&bytes).0, whole as u64));
        }
    }
}

/// Entries in the last `bytes_max` bytes, and how many lines among them are damaged.
pub(crate) fn read_tail(path: &Path, bytes_max: u64) -> io::Result<(Vec<Entry>, usize)> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(fault) => return Err(fault),
    };
    let from = file.metadata()?.len().saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // The first line is cut in half unless the whole file was read.
    let skip =
        if from == 0 { 0 } else { bytes.iter().position(|&b| b == b'\n').map_or(0, |p| p + 1) };
    Ok(parse(bytes.get(skip..).unwrap_or_default()))
}

/// Parses whole lines; damaged ones are counted and left out.
pub(crate) fn parse(bytes: &[u8]) -> (Vec<Entry>, usize) {
    let mut damaged = 0;
    let lines = bytes.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    let entries = lines.filter_map(|line| {
        let entry = serde_json::from_slice(line).ok();
        damaged += usize::from(entry.is_none());
        entry
    });
    (entries.collect(), damaged)
}

/// What an agent has used in all its conversations of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    /// What it says that the present conversation has cost, and what those before it had.
    #[serde(default)]
    cost_micros: Option<u64>,
    #[serde(default)]
    cost_before_micros: u64,
    /// Who told it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counter: Option<Counter>,
}

/// Who counts what a conversation costs: a process of the agent, for the conversation that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Counter {
    generation: u32,
    agent_ref: Option<String>,
}

impl Counter {
    fn new(generation: u32, agent_ref: Option<&str>) -> Self {
        Self { generation, agent_ref: agent_ref.map(ToOwned::to_owned) }
    }

    /// A process that comes back to its conversation may know what that has cost, and one that begins
    /// another may go on counting: only where both are new is the count new for sure.
    fn follows(&self, former: &Self) -> bool {
        self.generation == former.generation || self.agent_ref == former.agent_ref
    }
}

impl Account {
    fn add(&mut self, usage: Usage, counter: Counter) {
        self.tokens_in += usage.tokens_in;
        self.tokens_out += usage.tokens_out;
        if let (Some(now), Some(before)) = (usage.cost_micros, self.cost_micros) {
            let goes_on = self.counter.as_ref().is_none_or(|former| counter.follows(former));
            if now < before || !goes_on {
                self.cost_before_micros += before;
            }
        }
        self.cost_micros = usage.cost_micros.or(self.cost_micros);
        self.counter = Some(counter);
    }

    /// Millionths of a dollar, where the agent tells them.
    pub(crate) fn cost_micros(&self) -> Option<u64> {
        self.cost_micros.map(|now| now + self.cost_before_micros)
    }
}

/// What a conversation comes down to, without a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) account: Option<Account>,
    pub(crate) summary: Option<String>,
    pub(crate) last_action: Option<String>,
    pub(crate) pending: Vec<String>,
}

impl Digest {
    pub(crate) fn of(path: &Path) -> Self {
        let entries = read_tail(path, DIGEST_BYTES).map(|(entries, _)| entries).unwrap_or_default();
        let mut digest = Self::default();
        let mut asked = None;
        let mut said = None;
        for entry in &entries {
            if let Some(Value::Array(tasks)) = entry.metadata.get("pending_tasks") {
                let text = tasks.iter().filter_map(Value::as_str);
                digest.pending = text.map(ToOwned::to_owned).collect();
            }
            digest.account = told_account(entry).or(digest.account);
            match entry.voice {
                Voice::User => asked = own_words(&entry.content).map(short).or(asked),
                Voice::Assistant => said = Some(short(&entry.content)),
                Voice::Tool => {
                    let tool = entry.metadata.get("tool").and_then(Value::as_str).unwrap_or("tool");
                    let outcome = entry.metadata.get(OUTCOME).and_then(Value::as_str);
                    let outcome = outcome.map_or(String::new(), |word| format!("{word}: "));
                    let action = format!("{outcome}{tool} {}", entry.content);
                    digest.last_action = Some(short(&action));
                    continue;
                }
                Voice::System => continue,
            }
            if entry.voice == Voice::Assistant {
                digest.last_action.clone_from(&said);
            }
        }
        digest.summary = match (asked, said) {
            (Some(asked), Some(said)) => Some(format!("Asked: {asked}. Last said: {said}")),
            (Some(asked), None) => Some(format!("Asked: {asked}")),
            (None, said) => said.map(|said| format!("Last said: {said}")),
        };
        digest
    }

    /// What a fresh agent can be told of it.
    pub(crate) fn known(&self) -> Known<'_> {
        Known {
            summary: self.summary.as_deref(),
            last_action: self.last_action.as_deref(),
            pending: &self.pending,
        }
    }
}

/// What was used up to an entry, where that tells it.
fn told_account(entry: &Entry) -> Option<Account> {
    serde_json::from_value(entry.metadata.get(ACCOUNT)?.clone()).ok()
}

/// The last account of a whole conversation.
pub(crate) fn account(path: &Path) -> Option<Account> {
    if path.metadata().map_or(0, |facts| facts.len()) <= DIGEST_BYTES {
        return None;
    }
    let mut found = None;
    let read = each(path, |entry| {
        found = told_account(&entry).or_else(|| found.take());
    });
    read.ok().and(found)
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= DIGEST_CHARS_MAX {
        return line;
    }
    let cut: String = line.chars().take(DIGEST_CHARS_MAX).collect();
    format!("{cut}\u{2026}")
}

pub(crate) fn now() -> String {
    crate::clock::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_agent::context::{Form, resume_prompt};

    fn said(voice: Voice, content: &str) -> Said {
        Said::new(voice, content)
    }

    #[test]
    fn an_entry_heard_twice_is_written_once_also_after_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let mut talk = Conversation::open(dir.path(), 1).unwrap();
            talk.add(Heard::Stream(10), None, said(Voice::User, "hi")).unwrap();
            talk.add(Heard::Stream(20), None, said(Voice::Assistant, "ho")).unwrap();
        }
        let (entries, damaged) = read_tail(&file_of(dir.path()), u64::MAX).unwrap();
        assert_eq!((entries.len(), damaged), (2, 0));
    }

    #[test]
    fn a_torn_line_and_junk_lose_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        {
            let mut talk = Conversation::open(dir.path(), 1).unwrap();
            talk.add(Heard::Ours, None, said(Voice::User, "one")).unwrap();
        }
        let path = file_of(dir.path());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"junk\xff\n{\"timestamp\":\"x\",\"ty").unwrap();
        let mut talk = Conversation::open(dir.path(), 1).unwrap();
        talk.add(Heard::Ours, None, said(Voice::User, "two")).unwrap();
        let (entries, damaged) = read_tail(&path, u64::MAX).unwrap();
        let texts: Vec<_> = entries.iter().map(|e| e.content.as_str()).collect();
        assert_eq!((texts, damaged), (vec!["one", "two"], 2));
    }

    #[test]
    fn what_was_used_is_added_up_once_also_after_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let used = |cost| Said {
            usage: Some(Usage { tokens_in: 10, tokens_out: 2, cost_micros: Some(cost) }),
            ..said(Voice::System, "")
        };
        for _ in 0..2 {
            let mut talk = Conversation::open(dir.path(), 1).unwrap();
            talk.add(Heard::Stream(10), None, used(5)).unwrap();
            talk.add(Heard::Stream(20), None, used(8)).unwrap();
            // Its process was killed, and counts anew.
            talk.add(Heard::Stream(30), None, used(4)).unwrap();
        }
        let account = Digest::of(&file_of(dir.path())).account.unwrap();
        assert_eq!((account.tokens_in, account.tokens_out), (30, 6));
        assert_eq!(account.cost_micros(), Some(12));
    }

    #[test]
    fn a_place_in_a_transcript_belongs_to_one_conversation() {
        let dir = tempfile::tempdir().unwrap();
        let mut talk = Conversation::open(dir.path(), 1).unwrap();
        talk.add(Heard::Transcript(500), Some("a"), said(Voice::Assistant, "long")).unwrap();
        // In the same process it goes over to another conversation, comes back, and is heard again.
        talk.add(Heard::Transcript(20), Some("b"), said(Voice::Assistant, "fresh")).unwrap();
        talk.add(Heard::Transcript(500), Some("a"), said(Voice::Assistant, "long")).unwrap();
        let mut talk = Conversation::open(dir.path(), 2).unwrap();
        for (at, id, words) in [(500, "a", "long"), (20, "b", "fresh"), (40, "b", "more")] {
            talk.add(Heard::Transcript(at), Some(id), said(Voice::Assistant, words)).unwrap();
        }
        let (entries, _) = read_tail(&file_of(dir.path()), u64::MAX).unwrap();
        let texts: Vec<_> = entries.iter().map(|e| e.content.as_str()).collect();
        assert_eq!(texts, ["long", "fresh", "more"]);
    }

    #[test]
    fn a_fresh_conversation_of_a_fresh_process_counts_its_cost_from_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let cost = |generation, id, cost| {
            let used = Usage { tokens_in: 1, tokens_out: 1, cost_micros: Some(cost) };
            let said = Said { usage: Some(used), ..said(Voice::System, "") };
            let mut talk = Conversation::open(dir.path(), generation).unwrap();
            talk.add(Heard::Ours, Some(id), said).unwrap();
            Digest::of(&file_of(dir.path())).account.unwrap().cost_micros()
        };
        assert_eq!(cost(1, "a", 5), Some(5));
        assert_eq!(cost(2, "a", 7), Some(7), "it knew what it had cost");
        assert_eq!(cost(3, "b", 9), Some(16), "more than the former one, and yet another");
        assert_eq!(cost(3, "c", 11), Some(18), "the same process counts on");
    }

    #[test]
    fn tasks_are_kept_by_number_also_after_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let opened = |id: &str, subject: &str| {
            let (id, subject) = (id.to_owned(), subject.to_owned());
            Said { task: Some(TaskChange::Opened { id, subject }), ..said(Voice::Tool, "") }
        };
        let mut talk = Conversation::open(dir.path(), 1).unwrap();
        for (id, subject) in [("10", "ten"), ("2", "two"), ("1", "one")] {
            talk.add(Heard::Ours, Some("ref"), opened(id, subject)).unwrap();
        }
        let mut talk = Conversation::open(dir.path(), 1).unwrap();
        let closed = TaskChange::Closed { id: "1".to_owned() };
        let closed = Said { task: Some(closed), ..said(Voice::Tool, "") };
        talk.add(Heard::Ours, Some("ref"), closed).unwrap();
        assert_eq!(Digest::of(&file_of(dir.path())).pending, ["two", "ten"]);
        let mut talk = Conversation::open(dir.path(), 1).unwrap();
        talk.add(Heard::Ours, Some("another"), opened("1", "fresh")).unwrap();
        assert_eq!(Digest::of(&file_of(dir.path())).pending, ["fresh"]);
    }

    #[test]
    fn what_the_user_asked_for_outlives_any_number_of_our_own_prompts() {
        for form in [Form::Full, Form::Short] {
            let dir = tempfile::tempdir().unwrap();
            let path = file_of(dir.path());
            let mut talk = Conversation::open(dir.path(), 1).unwrap();
            talk.add(Heard::Ours, None, said(Voice::User, "build the bridge")).unwrap();
            for _ in 0..3 {
                talk.add(Heard::Ours, None, said(Voice::Assistant, "half done")).unwrap();
                let ours = resume_prompt(form, Digest::of(&path).known());
                talk.add(Heard::Ours, None, said(Voice::User, &ours)).unwrap();
                let summary = Digest::of(&path).summary.unwrap();
                assert_eq!(summary, "Asked: build the bridge. Last said: half done");
            }
            let (entries, _) = read_tail(&path, u64::MAX).unwrap();
            let by_glis = |entry: &&Entry| entry.metadata.get("by") == Some(&json!("glis"));
            assert_eq!(entries.iter().filter(by_glis).count(), 3);
        }
    }

    #[test]
    fn a_digest_tells_the_last_action_and_what_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let mut talk = Conversation::open(dir.path(), 1).unwrap();
        talk.add(Heard::Ours, None, said(Voice::User, "fix it")).unwrap();
        let mut list = said(Voice::Assistant, "To do: a; b");
        list.pending = Some(vec!["a".to_owned(), "b".to_owned()]);
        talk.add(Heard::Ours, None, list).unwrap();
        let mut tool = said(Voice::Tool, "ls");
        tool.tool = Some("run".to_owned());
        talk.add(Heard::Ours, None, tool).unwrap();
        let digest = Digest::of(&file_of(dir.path()));
        assert_eq!(digest.last_action.as_deref(), Some("run ls"));
        assert_eq!(digest.pending, ["a", "b"]);
        assert!(digest.summary.unwrap().contains("fix it"));
    }
}
