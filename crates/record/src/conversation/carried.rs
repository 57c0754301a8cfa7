//! What all entries of a conversation come down to for those who go on with it.

use super::account::{Account, account_of};
use super::tally::tally_of;
use super::{ACTIVE, TASKS};
use glis_wire::view::Entry;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the agent's session id is noted by.
pub(super) const AGENT_REF: &str = "agent_session_ref";

/// The agent's session id that an entry was said under.
pub fn under(entry: &Entry) -> Option<&str> {
    entry.metadata.get(AGENT_REF).and_then(Value::as_str)
}

/// How far everything was heard, what is to do and what was used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Carried {
    pub(super) stream_seen: u64,
    pub(super) hooks_seen: u64,
    /// By the session ids of the agent: a place in a transcript is one in the transcript of that
    /// conversation, and of no other. What was said before any id was known has an empty one.
    pub(super) under: BTreeMap<String, Under>,
    pub(super) account: Account,
}

/// What the entries under one session id of the agent come down to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Under {
    pub(super) transcript_seen: u64,
    /// Tasks that the agent keeps by number and has not done.
    pub(super) tasks: BTreeMap<String, String>,
    /// Those of them that it works on.
    pub(super) active: BTreeSet<String>,
    /// How many it has done.
    pub(super) done: u32,
}

impl Carried {
    /// Takes in what an entry tells.
    pub(super) fn take(&mut self, entry: &Entry) {
        let number = |key: &str| entry.metadata.get(key).and_then(Value::as_u64).unwrap_or(0);
        self.stream_seen = self.stream_seen.max(number("offset"));
        self.hooks_seen = self.hooks_seen.max(number("hook_offset"));
        let own = self.under.entry(under(entry).unwrap_or_default().to_owned()).or_default();
        own.transcript_seen = own.transcript_seen.max(number("transcript_offset"));
        if let Some(Value::Object(open)) = entry.metadata.get(TASKS) {
            let subject = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            own.tasks = open.iter().map(|(id, value)| (id.clone(), subject(value))).collect();
            own.done = tally_of(entry).map_or(own.done, |tally| tally.done);
            let active = entry.metadata.get(ACTIVE).cloned().map(serde_json::from_value);
            own.active = active.and_then(Result::ok).unwrap_or_default();
        }
        if let Some(account) = account_of(entry) {
            self.account = account;
        }
    }
}
