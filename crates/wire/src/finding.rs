//! What `doctor` has looked at.

use serde::{Deserialize, Serialize};

/// One thing that `doctor` looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was looked at.
    pub subject: String,
    /// How it is.
    pub health: Health,
    /// What was seen.
    pub message: String,
    /// How to mend it.
    pub hint: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words explain themselves")]
pub enum Health {
    Good,
    Warning,
    Bad,
}
