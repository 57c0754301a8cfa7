//! What the server received, and what became of it.

use crate::http::Request;
use crate::protocol::{Protocol, Purpose, Question, Turn, Voice};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How the answer to a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was said to its end.
    Answered,
    /// A failure was told, with this status.
    Failed(u16),
    /// The server broke it off, as the script wanted.
    Cut,
    /// The client went away first.
    ClientGone,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Received {
    /// The first one is 1.
    pub number: usize,
    /// When it was read to its end.
    pub at: SystemTime,
    /// The protocol, where it asks a model.
    pub protocol: Option<Protocol>,
    /// What it is for.
    pub purpose: Purpose,
    /// The agent's own id of the conversation, where it tells it.
    pub conversation: Option<String>,
    /// The history it carries.
    pub turns: Vec<Turn>,
    /// GET, POST.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is empty or no JSON.
    pub body: Value,
    /// How the answer ended; none while it is under way.
    pub outcome: Option<Outcome>,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the history holds these words, whoever says them.
    pub fn holds(&self, words: &str) -> bool {
        self.turns.iter().any(|turn| turn.text.contains(words))
    }

    /// Whether `voice` says these words.
    pub fn says(&self, voice: Voice, words: &str) -> bool {
        self.turns.iter().any(|turn| turn.voice == voice && turn.text.contains(words))
    }

    /// The model that is asked: in the body, or in the path.
    pub fn model(&self) -> &str {
        let path = self.target.split("/models/").nth(1).and_then(|rest| rest.split(':').next());
        self.body["model"].as_str().or(path).unwrap_or_default()
    }

    /// What the user says last.
    pub fn prompt(&self) -> &str {
        let last = self.turns.iter().rev().find(|turn| turn.voice == Voice::User);
        last.map(|turn| turn.text.as_str()).unwrap_or_default()
    }
}

#[derive(Default)]
struct State {
    received: Vec<Received>,
    /// How often each step was told to fail already.
    failures: BTreeMap<String, u32>,
}

/// All requests of a server.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<(Mutex<State>, Condvar)>);

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a request down and returns its number.
    pub(crate) fn enter(
        &self,
        request: &Request,
        body: &Value,
        question: Option<&Question>,
    ) -> usize {
        let mut state = self.state();
        let number = state.received.len() + 1;
        state.received.push(Received {
            number,
            at: SystemTime::now(),
            protocol: question.map(|question| question.protocol),
            purpose: question.map_or(Purpose::Other, |question| question.purpose),
            conversation: question.and_then(|question| question.conversation.clone()),
            turns: question.map(|question| question.turns.clone()).unwrap_or_default(),
            method: request.method.clone(),
            target: request.target.clone(),
            headers: request.headers.clone(),
            body: body.clone(),
            outcome: None,
        });
        drop(state);
        self.0.1.notify_all();
        number
    }

    pub(crate) fn close(&self, number: usize, outcome: Outcome) {
        if let Some(received) = self.state().received.get_mut(number - 1) {
            received.outcome = Some(outcome);
        }
        self.0.1.notify_all();
    }

    pub(crate) fn all(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    /// Waits for a request like this, among those that were there already too.
    pub(crate) fn until(
        &self,
        wanted: impl Fn(&Received) -> bool,
        patience: Duration,
    ) -> Option<Received> {
        let end = Instant::now() + patience;
        let mut state = self.state();
        loop {
            if let Some(found) = state.received.iter().find(|received| wanted(received)) {
                return Some(found.clone());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.0.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Counts one more failure of a step; says how many there were before.
    pub(crate) fn failed_before(&self, key: &str) -> u32 {
        let mut state = self.state();
        let count = state.failures.entry(key.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}
