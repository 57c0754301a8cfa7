//! How a person has put a session among the others.

use crate::rare::Seldom;
use crate::timer::WallMs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Where it stands among the others, by a person's word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Triage {
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// It stands first in its group, and is never folded away.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// It asks for nobody's attention meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snoozed: Option<Snooze>,
}

/// How long a session asks for nobody's attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Snooze {
    Until(WallMs),
    /// Until it asks something or comes to an end.
    Change,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    Labels { add: Vec<String>, remove: Vec<String> },
    Pinned(bool),
    Snoozed(Option<Snooze>),
}

impl Triage {
    /// What it is after this.
    pub(crate) fn after(&self, put: Put) -> Self {
        let mut triage = self.clone();
        match put {
            Put::Labels { add, remove } => {
                triage.labels.retain(|label| !remove.contains(label));
                triage.labels.extend(add);
            }
            Put::Pinned(pinned) => triage.pinned = pinned,
            Put::Snoozed(snoozed) => triage.snoozed = snoozed,
        }
        triage
    }

    /// Until when it sleeps by the clock.
    pub(crate) fn wakes_at(&self) -> Option<WallMs> {
        if let Some(Snooze::Until(at)) = self.snoozed { Some(at) } else { None }
    }
}

impl Seldom for Triage {
    fn nothing() -> &'static Self {
        static NOTHING: LazyLock<Triage> = LazyLock::new(Triage::default);
        &NOTHING
    }
}
