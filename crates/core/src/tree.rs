//! A worktree between two runs: how it was saved, and how it was found again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A saved state of the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotRef {
    /// The ref that keeps it.
    #[serde(rename = "ref")]
    pub name: String,
    pub commit: String,
    /// How many paths differ from HEAD in it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u32>,
}

/// What a snapshot was taken for, beside those of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// The agent's turn ended, or its screen came to rest.
    TurnEnded,
    ProcessEnded,
    Asked,
}

/// How the worktree was found before a start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// As it was left.
    Untouched,
    /// Not as it was left. Nothing was overwritten; `snapshot` is how it was found.
    Changed { snapshot: SnapshotRef, paths: PathList },
    /// Gone, and brought back from this.
    Restored { snapshot: SnapshotRef, notes: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    /// What it was brought back from.
    pub snapshot: SnapshotRef,
    /// What could not be as it was, and where that is which was there before.
    pub notes: Vec<String>,
}

/// Some paths, and how many there are in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathList {
    pub first: Vec<String>,
    pub total: usize,
}

impl PathList {
    /// More than a person or an agent reads; the rest is counted.
    const SHOWN_MAX: usize = 20;

    /// Keeps the first few of many.
    pub fn of(paths: impl IntoIterator<Item = String>) -> Self {
        let mut list = Self::default();
        for path in paths {
            if list.first.len() < Self::SHOWN_MAX {
                list.first.push(path);
            }
            list.total += 1;
        }
        list
    }

    pub fn line(&self) -> String {
        let more = self.total.saturating_sub(self.first.len());
        let line = self.first.join(", ");
        if more > 0 { format!("{line} and {more} more") } else { line }
    }
}

/// What becomes of the worktree of a paused session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clearing {
    /// It stays where it is.
    #[default]
    Keep,
    /// It is removed, unless something in it is in no snapshot.
    IfAllIsSaved,
    /// It is removed, with what is in no snapshot.
    Always,
    /// It is removed if a snapshot holds all of it, and stays otherwise: the configuration or the
    /// session has it so, and this call did not ask for it.
    IfPossible,
}

impl Clearing {
    /// Whether this call for a pause wants the worktree removed. What is only usual for the session
    /// is no reason to refuse a pause, or to begin one again.
    pub(crate) fn is_asked(self) -> bool {
        match self {
            Self::Keep | Self::IfPossible => false,
            Self::IfAllIsSaved | Self::Always => true,
        }
    }

    /// Whether nothing is asked for.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(crate) fn is_keep(&self) -> bool {
        *self == Self::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_paths_are_counted_and_few_are_named() {
        let list = PathList::of((0..23).map(|n| n.to_string()));
        assert_eq!((list.first.len(), list.total), (20, 23));
        assert!(list.line().ends_with("18, 19 and 3 more"), "{}", list.line());
        assert_eq!(PathList::of(["a".to_owned(), "b".to_owned()]).line(), "a, b");
    }
}
