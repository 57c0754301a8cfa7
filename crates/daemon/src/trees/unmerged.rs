//! Why a session's work is not in a branch.

use glis_core::merge::Unmerged;
use glis_core::tree::PathList;
use glis_snapshot::{CommitFault, HookFault, MergeFault, SnapshotFault};
use std::fmt;

/// Why a session's work is not in a branch.
pub(crate) enum NotMerged {
    /// It cannot be, as things stand.
    Refused(Unmerged),
    /// Git or the disk kept it.
    Failed(SnapshotFault),
}

/// For a note beside something else; who asked for it is told by a front end.
impl fmt::Display for NotMerged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Self::Failed(fault) => return write!(f, "{fault}"),
            Self::Refused(why) => why,
        };
        match why {
            Unmerged::OffBranch { found: Some(branch) } => write!(f, "it is on branch {branch}"),
            Unmerged::OffBranch { found: None } => write!(f, "it is on no branch"),
            Unmerged::Unfinished { what } => write!(f, "a {what} is not finished"),
            Unmerged::Nested { path } => write!(f, "{path} is a repository of its own"),
            Unmerged::Submodule { path } => {
                write!(
                    f,
                    "the submodule {path} has changes that no commit of this repository can hold"
                )
            }
            Unmerged::NoWorktree => write!(f, "it has no worktree of its own"),
            Unmerged::Hook { why } => write!(f, "a hook has refused it: {why}"),
            Unmerged::Review => write!(f, "it is to be looked at first"),
            Unmerged::Stopped => write!(f, "it was stopped"),
            Unmerged::Failed { why } => write!(f, "{why}"),
            Unmerged::Conflict { .. }
            | Unmerged::NoBranch
            | Unmerged::NoBase
            | Unmerged::CheckedOut { .. } => write!(f, "its branch cannot take it"),
        }
    }
}

impl From<NotMerged> for Unmerged {
    fn from(why: NotMerged) -> Self {
        match why {
            NotMerged::Refused(why) => why,
            NotMerged::Failed(fault) => Self::Failed { why: fault.to_string() },
        }
    }
}

impl From<SnapshotFault> for NotMerged {
    fn from(fault: SnapshotFault) -> Self {
        Self::Failed(fault)
    }
}

impl From<CommitFault> for NotMerged {
    fn from(fault: CommitFault) -> Self {
        Self::Refused(match fault {
            CommitFault::OffBranch { found, .. } => Unmerged::OffBranch { found },
            CommitFault::Unfinished { what, .. } => Unmerged::Unfinished { what: what.to_owned() },
            CommitFault::Nested { path } => Unmerged::Nested { path },
            CommitFault::Submodule { path } => Unmerged::Submodule { path },
            CommitFault::Hook(fault) => hook(&fault),
            CommitFault::Snapshot(fault) => return Self::Failed(fault),
        })
    }
}

impl From<MergeFault> for NotMerged {
    fn from(fault: MergeFault) -> Self {
        Self::Refused(match fault {
            MergeFault::NoBranch(_) => Unmerged::NoBranch,
            MergeFault::Conflict { files, .. } => Unmerged::Conflict { files: PathList::of(files) },
            MergeFault::CheckedOut { branch, at } => {
                Unmerged::CheckedOut { branch, at: at.to_string_lossy().into_owned() }
            }
            MergeFault::Hook(fault) => hook(&fault),
            MergeFault::Snapshot(fault) => return Self::Failed(fault),
        })
    }
}

fn hook(fault: &HookFault) -> Unmerged {
    Unmerged::Hook { why: format!("{}: {}", fault.name, fault.said) }
}
