//! The hooks of a repository that have a say in a commit. Nothing of it is run here: who wants them
//! brings along what runs them.

use std::path::Path;

/// Runs the hooks of a repository. Without one, none is run.
pub trait Hooks: std::fmt::Debug {
    /// Before a commit of what this index holds, which they may change.
    fn before(&self, index: &Path) -> Result<(), HookFault>;
    /// What a commit is to say in the end.
    fn message(&self, text: &str, source: Source) -> Result<String, HookFault>;
    /// After a commit, which is there whatever they say.
    fn after(&self);
}

/// What a message is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Work,
    /// The commit of a merge.
    Merge,
}

/// A hook has refused a commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook {name} of the repository has refused it: {said}")]
pub struct HookFault {
    pub name: &'static str,
    /// How it ended, and its last words.
    pub said: String,
}
