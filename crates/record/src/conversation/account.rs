//! What an agent has used in all its conversations of a session.

use glis_agent::Usage;
use glis_wire::view::Entry;
use serde::{Deserialize, Serialize};

/// What the entries that tell it have it under.
pub(super) const ACCOUNT: &str = "account";

/// What an agent has used in all its conversations of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Tokens that the agent has read.
    pub tokens_in: u64,
    /// Tokens that it has written.
    pub tokens_out: u64,
    /// What it says that the present conversation has cost, and what those before it had.
    cost_micros: Option<u64>,
    #[serde(default)]
    cost_before_micros: u64,
    /// How much of what its vendor allows in a time was used up when it told that last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_percent: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counter: Option<Counter>,
}

/// Who counts what a conversation costs: a process of the agent, for the conversation that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counter {
    generation: u32,
    agent_ref: Option<String>,
}

impl Counter {
    pub(super) fn new(generation: u32, agent_ref: Option<&str>) -> Self {
        Self { generation, agent_ref: agent_ref.map(ToOwned::to_owned) }
    }

    /// A process that comes back to its conversation may know what that has cost, and one that begins
    /// another may go on counting: only where both are new is the count new for sure.
    fn follows(&self, former: &Self) -> bool {
        self.generation == former.generation || self.agent_ref == former.agent_ref
    }
}

impl Account {
    pub(super) fn add(&mut self, usage: Usage, counter: Counter) {
        self.tokens_in += usage.tokens_in;
        self.tokens_out += usage.tokens_out;
        if let (Some(now), Some(before)) = (usage.cost_micros, self.cost_micros) {
            let goes_on = self.counter.as_ref().is_none_or(|former| counter.follows(former));
            if now < before || !goes_on {
                self.cost_before_micros += before;
            }
        }
        self.cost_micros = usage.cost_micros.or(self.cost_micros);
        self.window_percent = usage.window_percent.or(self.window_percent);
        self.counter = Some(counter);
    }

    /// Millionths of a dollar, as far as they are told, and tokens in all.
    pub fn amounts(&self) -> (u64, u64) {
        (self.cost_micros().unwrap_or_default(), self.tokens_in + self.tokens_out)
    }

    /// Millionths of a dollar, where the agent tells them.
    pub fn cost_micros(&self) -> Option<u64> {
        self.cost_micros.map(|now| now + self.cost_before_micros)
    }
}

/// What was used up to an entry, where that tells it.
pub(super) fn account_of(entry: &Entry) -> Option<Account> {
    serde_json::from_value(entry.metadata.get(ACCOUNT)?.clone()).ok()
}
