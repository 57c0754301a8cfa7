//! Why a session's work is not in a branch.

use glis_core::merge::Unmerged;
use glis_core::tree::PathList;
use glis_snapshot::{CommitFault, MergeFault, SnapshotFault};

/// Why a session's work is not in a branch.
pub(crate) enum NotMerged {
    /// It cannot be, as things stand.
    Refused(Unmerged),
    /// Git or the disk kept it.
    Failed(SnapshotFault),
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
            MergeFault::Snapshot(fault) => return Self::Failed(fault),
        })
    }
}
