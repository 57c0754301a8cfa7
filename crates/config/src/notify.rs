//! What the user is told of, and how.

use serde::{Deserialize, Serialize};

/// What the user is told of, and how.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotifyConfig {
    /// Of what.
    pub on: Vec<Notice>,
    /// A command for the shell, with what there is to tell as JSON on its standard input.
    pub command: Option<String>,
    /// Whether the desktop is told, where there is one.
    pub desktop: bool,
}

/// What the user can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// A session asks something.
    Waiting,
    /// A turn has ended, or a command has.
    Finished,
    /// A session has failed.
    Failed,
    /// A usage limit is reached.
    Limit,
}

impl Default for NotifyConfig {
    fn default() -> Self {
        let on = vec![Notice::Waiting, Notice::Finished, Notice::Failed, Notice::Limit];
        Self { on, command: None, desktop: true }
    }
}
