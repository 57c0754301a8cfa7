//! What a conversation comes down to without a model.

use super::account::{Account, account_of};
use super::parts::Parts;
use super::reading::{each, read_tail};
use super::tally::tally_of;
use glis_agent::context::{Known, own_words};
use glis_agent::{Tally, Usage};
use glis_wire::plain::in_one_line;
use glis_wire::view::{Entry, Voice};
use jiff::Timestamp;
use serde_json::Value;
use std::io;
use std::path::Path;

/// How a tool or a turn ended that was denied or broken off.
pub(super) const OUTCOME: &str = "outcome";
/// How much of the end is looked at for a digest: some hundred entries.
const DIGEST_BYTES: u64 = 128 * 1024;
/// In an entry that tells what was used.
const MARK: &[u8] = b"\"account\"";
/// A digest is for a list, not for reading.
const DIGEST_CHARS_MAX: usize = 200;

/// What a conversation comes down to, without a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// What it has used, where that is told near the end.
    pub account: Option<Account>,
    /// What was asked last, and what was said to that.
    pub summary: Option<String>,
    /// The last thing that the agent did or said.
    pub last_action: Option<String>,
    /// What it was last told, in the user's own words.
    pub last_prompt: Option<String>,
    /// Tasks that are not done.
    pub pending: Vec<String>,
    /// How far its list is.
    pub tally: Tally,
}

impl Digest {
    /// The digest of the conversation in this file; empty where it cannot be read.
    pub fn of(path: &Path) -> Self {
        let entries = read_tail(path, DIGEST_BYTES).map(|(entries, _)| entries).unwrap_or_default();
        let mut digest = Self::default();
        let mut asked = None;
        let mut said = None;
        for entry in &entries {
            if let Some(Value::Array(tasks)) = entry.metadata.get("pending_tasks") {
                let text = tasks.iter().filter_map(Value::as_str);
                digest.pending = text.map(ToOwned::to_owned).collect();
            }
            digest.tally = tally_of(entry).unwrap_or(digest.tally);
            digest.account = account_of(entry).or(digest.account);
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
        digest.last_prompt.clone_from(&asked);
        digest.summary = match (asked, said) {
            (Some(asked), Some(said)) => Some(format!("Asked: {asked}. Last said: {said}")),
            (Some(asked), None) => Some(format!("Asked: {asked}")),
            (None, said) => said.map(|said| format!("Last said: {said}")),
        };
        digest
    }

    /// What a fresh agent can be told of it.
    pub fn known(&self) -> Known<'_> {
        Known {
            summary: self.summary.as_deref(),
            last_action: self.last_action.as_deref(),
            pending: &self.pending,
        }
    }
}

/// The last account of a whole conversation.
pub fn account(path: &Path) -> Option<Account> {
    if Parts::open(path).map_or(0, |parts| parts.end()) <= DIGEST_BYTES {
        return None;
    }
    let mut found = None;
    let read = each(path, |entry| {
        found = account_of(&entry).or_else(|| found.take());
    });
    read.ok().and(found)
}

/// What a session has cost so far, in millionths of a dollar, where its agent tells that.
pub fn cost_micros(path: &Path) -> Option<u64> {
    Digest::of(path).account.or_else(|| account(path)).and_then(|account| account.cost_micros())
}

/// What each turn of a conversation has used, and when that was told.
pub fn spent(path: &Path, mut see: impl FnMut(Timestamp, Usage)) -> io::Result<()> {
    let mut before = Account::default();
    Parts::open(path)?.each_line(|_, line| {
        // Few entries tell it.
        if !line.windows(MARK.len()).any(|part| part == MARK) {
            return Ok(());
        }
        let entry: Option<Entry> = serde_json::from_slice(line).ok();
        let told =
            entry.and_then(|entry| Some((entry.timestamp.parse().ok()?, account_of(&entry)?)));
        let Some((at, account)) = told else { return Ok(()) };
        let cost_before = before.cost_micros().unwrap_or_default();
        let usage = Usage {
            tokens_in: account.tokens_in.saturating_sub(before.tokens_in),
            tokens_out: account.tokens_out.saturating_sub(before.tokens_out),
            cost_micros: account.cost_micros().map(|now| now.saturating_sub(cost_before)),
            window_percent: account.window_percent,
        };
        before = account;
        see(at, usage);
        Ok(())
    })
}

fn short(text: &str) -> String {
    let line = in_one_line(text);
    if line.chars().count() <= DIGEST_CHARS_MAX {
        return line;
    }
    let cut: String = line.chars().take(DIGEST_CHARS_MAX).collect();
    format!("{cut}\u{2026}")
}
