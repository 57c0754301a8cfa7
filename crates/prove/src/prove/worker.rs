//! A session of the house that is being broken, and everything that must be so about it.

use super::dirt::{Dirt, JOURNAL, SLOW};
use super::tally::Tally;
use super::victims;
use crate::portrait::Portrait;
use crate::stage::{Signals, Stage};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

/// Every state in which nothing is under way.
pub(super) const SETTLED: &str = "created,busy,idle,waiting,paused,suspended,interrupted,failed";
/// However it was treated, an agent is back within this time.
const BACK_TIME: Duration = Duration::from_secs(60);
/// A living agent reads what was typed within a fraction of this.
const HEARING_TIME: Duration = Duration::from_secs(1);
const HEARING_PACE: Duration = Duration::from_millis(20);
/// How long the news of a death may take on a busy machine.
pub(super) const NEWS_TIME: Duration = Duration::from_secs(10);
/// Lines of a slow turn, and how many of them a second.
const SLOW_LINES: usize = 12;
const SLOW_RATE: usize = 100;

/// How long a turn takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Quick,
    Slow,
}

/// Whether an agent may have been cut off in the middle of its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Never,
    Perhaps,
}

/// A message, with a word in it that no other has.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) word: String,
    pub(super) text: String,
    writes: Vec<(&'static str, Vec<u8>)>,
}

impl Sent {
    pub(super) fn new(word: String, pace: Pace) -> Self {
        let mut writes = Vec::new();
        let mut slowly = String::new();
        if pace == Pace::Slow {
            slowly = format!("touch-slowly {SLOW} {SLOW_LINES} {SLOW_RATE} ;; ");
            let lines = (1..=SLOW_LINES).flat_map(|n| format!("line {n}\n").into_bytes());
            writes.push((SLOW, lines.collect()));
        }
        writes.push((JOURNAL, format!("{word}\n").into_bytes()));
        let text = format!("{slowly}append {JOURNAL} {word}\\n ;; say {word}");
        Self { word, text, writes }
    }
}

/// Whether a command line said that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    Given,
    None,
}

impl Promise {
    /// What a command line said by its exit status.
    pub(super) fn of(output: &Output) -> Self {
        if output.status.success() { Self::Given } else { Self::None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Terminal,
    Headless,
}

/// What has become of a message.
struct Fate {
    sent: Sent,
    promise: Promise,
    cut: Cut,
    /// What it wrote is among what is expected.
    settled: bool,
}

pub(super) struct Worker {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) tree: PathBuf,
    pub(super) branch: String,
    pub(super) mode: Mode,
    agent_ref: String,
    pub(super) expected: Portrait,
    fates: Vec<Fate>,
    /// The conversation and the output as they were last seen: both only ever grow.
    entries: Vec<Value>,
    output: Vec<u8>,
}

impl Worker {
    /// A session on a dirty tree whose agent has had its first turn.
    pub(super) fn hire(stage: &Stage, dirt: Dirt, mode: Mode) -> Result<Self> {
        let mut args = vec!["new", dirt.name(), "--agent", "rehearsal"];
        if mode == Mode::Headless {
            args.push("--headless");
        }
        let made = stage.glis(&args)?;
        let text = |field: &str| -> Result<String> {
            Ok(made[field].as_str().with_context(|| format!("its {field}"))?.to_owned())
        };
        let tree = PathBuf::from(text("worktree")?);
        super::dirt::make(stage, &tree, dirt)?;
        let expected = stage.portrait(&tree)?;
        Ok(Self {
            name: text("name")?,
            id: text("id")?,
            tree,
            branch: text("branch")?,
            mode,
            agent_ref: text("agent_session_ref")?,
            expected,
            fates: Vec::new(),
            entries: Vec::new(),
            output: Vec::new(),
        })
    }

    pub(super) fn show(&self, stage: &Stage) -> Result<Value> {
        stage.glis(&["show", &self.name])
    }

    /// Waits until nothing is under way with it.
    pub(super) fn settled(&self, stage: &Stage) -> Result<Value> {
        stage.glis(&["wait", &self.name, "--for", SETTLED, "--timeout", "60s"])
    }

    /// Takes note of a message, and whether its storing was confirmed.
    pub(super) fn note(&mut self, sent: Sent, promise: Promise) {
        self.fates.push(Fate { sent, promise, cut: Cut::Never, settled: false });
    }

    /// The last turn may have been cut off.
    pub(super) fn cut(&mut self) {
        for fate in self.fates.iter_mut().filter(|fate| !fate.settled) {
            fate.cut = Cut::Perhaps;
        }
    }

    /// What glis keeps of its words was destroyed: only what comes from now on is expected.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
        self.output.clear();
        for fate in &mut self.fates {
            fate.cut = Cut::Perhaps;
        }
    }

    /// What its agent was told, by the agent's own record.
    fn user_messages(&self, stage: &Stage) -> Vec<String> {
        let file = stage.home().join("rehearsal").join(format!("{}.jsonl", self.agent_ref));
        let record = std::fs::read_to_string(file).unwrap_or_default();
        let lines = record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let told = lines.filter(|line| line["type"] == "user");
        told.filter_map(|line| line["text"].as_str().map(ToOwned::to_owned)).collect()
    }

    /// Brings it to where it waits for the next message, with nothing left in its queue.
    pub(super) fn bring_back(&mut self, stage: &Stage, tally: &mut Tally) -> Result<()> {
        let began = Instant::now();
        loop {
            ensure!(stage.interrupted().is_none(), "interrupted");
            let shown = self.settled(stage)?;
            ensure!(began.elapsed() < BACK_TIME, "it does not come back: {shown}");
            match shown["status"].as_str().unwrap_or_default() {
                "idle" if shown["queued"] == 0 => return Ok(()),
                "idle" | "created" => std::thread::sleep(HEARING_PACE),
                "busy" => {
                    let rest = "idle,waiting,paused,suspended,interrupted";
                    stage.glis(&["wait", &self.name, "--for", rest, "--timeout", "60s"])?;
                }
                "waiting" => self.resolve(stage, &shown, tally)?,
                "paused" | "suspended" | "interrupted" => {
                    let resumed = stage.glis(&["resume", &self.name])?;
                    tally.resumes += 1;
                    if resumed["found"].to_string().contains("restored") {
                        tally.restores += 1;
                    }
                }
                other => bail!("it is {other}: {shown}"),
            }
        }
    }

    /// Says whether the agent took the message. glis cannot know; here the agent's record is read.
    fn resolve(&self, stage: &Stage, shown: &Value, tally: &mut Tally) -> Result<()> {
        let open = &shown["waiting_for"];
        ensure!(open["kind"] == "doubt", "it asks {open}");
        let text = open["text"].as_str().unwrap_or_default();
        let fate = self.fates.iter().find(|fate| text.contains(&fate.sent.word));
        let word = &fate.with_context(|| format!("an unknown doubt: {text}"))?.sent.word;
        let began = Instant::now();
        let mut told = times(&self.user_messages(stage), word) > 0;
        // What was typed may still be on its way into a living agent.
        while !told && !shown["pid"].is_null() && began.elapsed() < HEARING_TIME {
            std::thread::sleep(HEARING_PACE);
            told = times(&self.user_messages(stage), word) > 0;
        }
        let request = open["request"].as_str().context("its request")?;
        let answer = if told { "deny" } else { "allow" };
        let args = ["--json", "answer", &self.name, answer, "--request", request];
        // It may have resolved itself in the meantime.
        stage.finish(stage.start(&args)?, Signals::Heeded)?;
        tally.doubts += 1;
        Ok(())
    }

    /// Everything about it that must be so.
    pub(super) fn check(&mut self, stage: &Stage, tally: &mut Tally) -> Result<()> {
        self.check_process(stage)?;
        self.check_messages(stage, tally)?;
        self.check_conversation(stage, tally)?;
        self.check_output(stage, tally)
    }

    fn check_process(&self, stage: &Stage) -> Result<()> {
        let began = Instant::now();
        let shown = loop {
            let shown = self.show(stage)?;
            let pid = shown["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
            let (agents, known) = (victims::agents_of(&self.id), Vec::from_iter(pid));
            if agents == known {
                break shown;
            }
            // The news of a death is on its way for a moment.
            let in_time = began.elapsed() < NEWS_TIME;
            ensure!(in_time, "it should have the process {known:?} and has {agents:?}");
            std::thread::sleep(HEARING_PACE);
        };
        ensure!(
            shown["agent_session_ref"] == self.agent_ref.as_str(),
            "it is in another conversation than before"
        );
        Ok(())
    }

    /// Each message was told once, or at most once if nothing was promised; and its work is
    /// done, or a beginning of it.
    fn check_messages(&mut self, stage: &Stage, tally: &mut Tally) -> Result<()> {
        let seen = stage.portrait(&self.tree)?;
        let told = self.user_messages(stage);
        for fate in &mut self.fates {
            let told = times(&told, &fate.sent.word);
            let least = usize::from(fate.promise == Promise::Given);
            ensure!(
                (least..=1).contains(&told),
                "the message {:?} was told {told} times",
                fate.sent.text
            );
            if std::mem::replace(&mut fate.settled, true) {
                continue;
            }
            for (file, text) in &fate.sent.writes {
                match fate.cut {
                    Cut::Never if told == 1 => self.expected.append(file, text),
                    Cut::Never => {}
                    Cut::Perhaps => self.expected.append_some(file, text, &seen),
                }
            }
        }
        self.compare(&seen, tally)
    }

    fn compare(&self, seen: &Portrait, tally: &mut Tally) -> Result<()> {
        tally.comparisons += 1;
        tally.bytes += self.expected.bytes();
        let differences = self.expected.differences(seen);
        ensure!(differences.is_empty(), "its worktree differs: {}", differences.join("; "));
        Ok(())
    }

    /// Its files, while nothing was asked of it.
    pub(super) fn compare_files(&self, stage: &Stage, tally: &mut Tally) -> Result<()> {
        self.compare(&stage.portrait(&self.tree)?, tally)
    }

    /// What was said stays said, and nothing is written down twice.
    fn check_conversation(&mut self, stage: &Stage, tally: &mut Tally) -> Result<()> {
        let log = stage.glis(&["log", &self.name])?;
        let entries = log.as_array().context("a conversation")?.clone();
        ensure!(entries.starts_with(&self.entries), "its conversation has changed");
        let mut places = std::collections::BTreeSet::new();
        for entry in &entries {
            let data = &entry["metadata"];
            let place = [&data["offset"], &data["transcript_offset"]];
            let placed = place.iter().any(|at| at.is_u64());
            let once = places.insert(format!("{place:?} {}", data["agent_session_ref"]));
            ensure!(!placed || once, "written down twice: {entry}");
        }
        tally.bytes += log.to_string().len() as u64;
        self.entries = entries;
        Ok(())
    }

    /// Every byte that the agent printed is where it was.
    fn check_output(&mut self, stage: &Stage, tally: &mut Tally) -> Result<()> {
        let output = stage.finish(stage.start(&["output", &self.name])?, Signals::Heeded)?;
        ensure!(output.status.success(), "its output cannot be had");
        ensure!(output.stdout.starts_with(&self.output), "its output has changed");
        tally.bytes += output.stdout.len() as u64;
        self.output = output.stdout;
        Ok(())
    }

    /// At the very end: what it was told and what it said, each once.
    pub(super) fn check_words(&self, stage: &Stage) -> Result<()> {
        let told = self.user_messages(stage);
        for fate in &self.fates {
            let word = fate.sent.word.as_str();
            let said = |entry: &&Value| {
                entry["type"] == "assistant"
                    && entry["content"].as_str().is_some_and(|text| text.trim() == word)
            };
            let heard = self.entries.iter().filter(said).count();
            let told = times(&told, word);
            let least = if fate.cut == Cut::Never { told } else { 0 };
            ensure!(
                (least..=told).contains(&heard),
                "{word} was told {told} times, and its answer is in the conversation {heard} times"
            );
        }
        Ok(())
    }
}

/// How often a word was told.
fn times(told: &[String], word: &str) -> usize {
    told.iter().map(|text| text.matches(&format!("say {word}")).count()).sum()
}
