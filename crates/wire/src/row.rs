//! A session as a list has it: what faces show of each of many. The field names are the contract's.

use crate::need::Need;
use glis_core::Status;
use glis_core::looping::{Breaker, LoopContext, LoopEnd};
use glis_core::merge::Unmerged;
use glis_core::pause::PauseReason;
use glis_core::session::Deferral;
use glis_core::spec::Mode;
use glis_core::talk::AskKind;
use glis_core::verdict::Want;
use serde::{Deserialize, Serialize};

/// A row of a list of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract explains each field under this very name")]
#[expect(clippy::struct_excessive_bools, reason = "the contract's flat JSON has them")]
pub struct SessionRow {
    pub id: String,
    pub name: String,
    pub status: Status,
    pub agent: String,
    pub mode: Mode,
    pub repo_root: String,
    /// The task of a plan that it works on.
    #[serde(default)]
    pub task: Option<String>,
    /// The plan of that task.
    #[serde(default)]
    pub plan: Option<String>,
    /// Why its work for that task is not merged, while that waits for a person.
    #[serde(default)]
    pub unmerged: Option<Unmerged>,
    pub worktree: Option<String>,
    pub branch: Option<String>,
    /// Its worktree stands on a commit and not on `branch`: commits go to no branch.
    #[serde(default)]
    pub detached: Option<DetachedView>,
    /// Its agent works outside of its worktree: what it makes there is in no snapshot and no difference.
    #[serde(default)]
    pub elsewhere: Option<ElsewhereView>,
    pub pid: Option<i32>,
    pub created_at: String,
    pub last_active_at: String,
    pub paused_at: Option<String>,
    pub pause_reason: Option<PauseReason>,
    pub resumed_at: Option<String>,
    /// 0: it is never suspended for idleness.
    pub idle_timeout_secs: u64,
    /// When it is suspended, if it stays idle.
    #[serde(default)]
    pub suspend_at: Option<String>,
    /// When its pause ends by itself.
    #[serde(default)]
    pub resume_at: Option<String>,
    /// What its process and everything that it started has to itself; none if nothing runs.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    pub can_pause: bool,
    pub can_resume: bool,
    pub last_action: Option<String>,
    pub pending_tasks: Vec<String>,
    pub queued: usize,
    /// Its prompt holds text that was not sent, and messages wait behind it.
    #[serde(default)]
    pub draft: bool,
    pub waiting_for: Option<WaitingFor>,
    /// Everything that it asks, oldest first.
    #[serde(default)]
    pub asks: Vec<WaitingFor>,
    /// What it asked when it was paused, until the agent has words again; it cannot be answered any more.
    #[serde(default)]
    pub was_asking: Vec<WaitingFor>,
    pub auto_yes: bool,
    pub generation: u32,
    /// Which rule decided the status.
    pub verdict: String,
    /// What is under way: a verb, or nothing.
    pub operation: Option<String>,
    /// Why it failed, where it did.
    pub failure: Option<String>,
    /// Its last turn was cut off by the end of its process.
    pub cut_off: bool,
    /// A usage limit lasts until then: RFC 3339, or the agent's own words, or `unknown`.
    pub limit_until: Option<String>,
    /// What the agent has used in all, where it tells.
    #[serde(default)]
    pub usage: Option<UsageView>,
    pub model: Option<String>,
    pub persona: Option<String>,
    /// What took the daemon down; nothing more is done with it until the user acknowledges it.
    #[serde(default)]
    pub barred: Option<String>,
    /// Records that may have been about it were lost to damage, which is not acknowledged yet.
    #[serde(default)]
    pub record_damaged: bool,
    /// Terminal output is missing from here on, because the disk was full.
    pub output_gap_at: Option<u64>,
    /// Starts that have failed in a row. After three a message no longer wakes it.
    #[serde(default)]
    pub failed_starts: u32,
    /// Its work for a task is being judged and merged.
    #[serde(default)]
    pub judging: bool,
    /// What a start of it waits for, which then begins by itself.
    #[serde(default)]
    pub waits_to_start: Option<Deferral>,
    /// When a person last looked at it.
    #[serde(default)]
    pub last_accessed_at: Option<String>,
    /// A person has looked at what it did last.
    #[serde(default)]
    pub seen: bool,
    /// How much it needs a person.
    #[serde(default)]
    pub need: Need,
    /// Its pause has done so: the process is there, and so is the memory that it holds.
    #[serde(default)]
    pub process_kept: bool,
    /// How far it is, if it iterates.
    #[serde(default, rename = "loop")]
    pub looped: Option<Box<LoopView>>,
    /// Tasks on its check list, or on its agent's own list, that are done.
    #[serde(default)]
    pub tasks_done: u32,
    /// Those that are worked on.
    #[serde(default)]
    pub tasks_active: u32,
    /// Those that are left.
    #[serde(default)]
    pub tasks_open: u32,
    /// How many files differ from HEAD, as of the last time that the worktree was saved.
    #[serde(default)]
    pub changed_files: Option<u32>,
}

/// A worktree that stands on no branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachedView {
    /// The commit that it stands on.
    pub commit: String,
    /// Why it is not on its branch.
    pub why: String,
    /// What to type to get out of it.
    pub way_out: String,
}

/// A folder outside of its worktree that an agent works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElsewhereView {
    /// Where that is.
    pub folder: String,
    /// What to type so that the worktree has what was made there, if git can bring it.
    pub way_back: Option<String>,
}

/// What an agent has used, by its own count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UsageView {
    /// Tokens that went in.
    pub tokens_in: u64,
    /// Tokens that came out.
    pub tokens_out: u64,
    /// What it has cost, in dollars, where the agent tells.
    pub cost_usd: Option<f64>,
}

/// What a session asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingFor {
    /// The request, for `answer --request`.
    pub request: String,
    /// Approval, question or doubt.
    pub kind: AskKind,
    /// What it asks.
    pub text: String,
    /// What can be answered, where that is not any text; empty if only the agent's terminal takes it.
    #[serde(default)]
    pub choices: Option<Vec<String>>,
    /// The command or the files that it is about, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants: Option<Want>,
    /// What the agent said with it, in its own form: the text of an edit, the options of a choice.
    #[serde(default)]
    pub input: Option<serde_json::Value>,
    /// Since when it is asked, RFC 3339.
    #[serde(default)]
    pub since: Option<String>,
    /// Of a doubt: why the message is not delivered, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_delivered: Option<String>,
}

/// A loop as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopView {
    /// The iteration that is open, or was last; counted from one.
    pub iteration: u32,
    /// How many there are at most.
    pub max: Option<u32>,
    /// `running`, `pausing`, `paused`, `done` or `stopped`.
    pub state: String,
    /// How many in a row have failed.
    pub failures: u32,
    /// What it has cost, in dollars; none where the agent does not tell.
    pub cost: Option<f64>,
    /// What it may cost.
    pub max_cost: Option<f64>,
    /// After how many failures in a row it is paused.
    pub max_failures: u32,
    /// How many in a row have left everything as it was.
    pub without_progress: u32,
    /// The line for the shell that ends it when it succeeds.
    pub until: Option<String>,
    /// What an iteration knows of those before it.
    pub context: LoopContext,
    /// Whether the work of every iteration is committed.
    pub auto_commit: bool,
    /// The file that it works from, seen from its worktree.
    pub spec: Option<String>,
    /// What has ended it.
    pub done_by: Option<LoopEnd>,
    /// Why it was paused by itself, until it is resumed.
    pub broke: Option<Breaker>,
    /// What could not be done or seen after the last iteration.
    pub note: Option<String>,
}
