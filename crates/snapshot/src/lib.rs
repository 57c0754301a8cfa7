//! A worktree and its uncommitted state, by the `git` command and nothing else.
#![forbid(unsafe_code)]

mod admin;
mod aside;
mod belongings;
mod checkup;
mod clear;
mod coming;
mod commit;
mod compare;
mod convert;
mod diff;
mod fault;
mod fill;
mod filters;
pub mod git;
mod gitdir;
mod glance;
mod hash;
mod hooks;
mod ignore;
mod import;
mod index;
mod list;
mod loaded;
mod lock;
mod merge;
mod moved;
mod nested;
mod objects;
mod packs;
mod picture;
mod place;
mod probe;
mod put_back;
mod quote;
mod read;
mod rebuild;
mod refs;
mod restore;
mod rights;
mod save;
mod scratch;
mod standing;
mod state;
pub mod submodules;
mod survey;
mod sweep;
mod task;
mod threads;
mod walk;
pub mod worktree;

pub use aside::SetAside;
pub use checkup::Checkup;
pub use clear::{ClearRequest, Cleared, LeftOut, clear, losable};
pub use commit::{
    CommitFault, CommitRequest, Committed, SENT, commit_work, discard_changes, is_changed,
};
pub use compare::{Change, ChangeKind, Difference, compare};
pub use diff::{FileDiff, Side, diff_files, patch};
pub use fault::SnapshotFault;
pub use git::GitFault;
pub use glance::{Glance, glance, left_out};
pub use hooks::{HookFault, Hooks, Source};
pub use list::{
    Keep, Listed, Shelf, commit_of, delete, delete_one, from_trash, list, list_last, names,
    not_captured, read_back, sessions, thin, to_trash, verify,
};
pub use lock::{index_lock, set_stale_lock_aside};
pub use merge::{
    MergeFault, MergeRequest, Merged, begin_branch, checked_out, drop_merged, is_ancestor, merge,
    tip,
};
pub use place::top_of;
pub use probe::can_save;
pub use put_back::{HeadState, Stand};
pub use read::{Limits, Unreadable};
pub use restore::{RestoreRequest, Restored, restore};
pub use save::{SaveRequest, Saved, save};
pub use standing::{BranchStand, Detached, detached, reattach};
pub use state::{NotCaptured, Why};
pub use sweep::{Swept, stale_locks, sweep};
pub use task::{Effort, Task, is_over, patiently};
