//! Why a session's work cannot be merged.

use crate::tree::PathList;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a session's work is not merged. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unmerged {
    /// Both have changed the same.
    Conflict { files: PathList },
    /// Its worktree stands on another branch, or on none.
    OffBranch { found: Option<String> },
    /// A merge or the like is not finished in its worktree.
    Unfinished { what: String },
    /// A folder of its worktree is a repository of its own, whose files no commit can hold.
    Nested { path: String },
    /// A submodule of its worktree has changes that no commit of the outer repository can hold, or is at a commit that
    /// nobody else has.
    Submodule { path: String },
    /// There is no such branch.
    NoBranch,
    /// No branch was named, and it is not known from which one the session began.
    NoBase,
    /// The branch that would get the result is checked out.
    CheckedOut { branch: String, at: String },
    /// Its worktree is not there.
    NoWorktree,
    /// A hook of the repository has refused it, where the user wants them to be run: its name, its end, its last words.
    Hook { why: String },
    /// A person looks at it first.
    Review,
    /// A person has stopped it while it was judged.
    Stopped,
    /// Git or the disk kept it.
    Failed { why: String },
}
