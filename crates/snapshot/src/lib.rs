//! A worktree and its uncommitted state, by the `git` command and nothing else.
#![forbid(unsafe_code)]

pub mod git;
pub mod worktree;

pub use git::GitFault;
