//! A session as front ends and scripts see it. The field names are the contract's.

use crate::build::Build;
pub use crate::finding::{Finding, Health};
pub use crate::gate_view::{GateView, LimitsView};
pub use crate::loop_view::LoopView;
use glis_core::Status;
use glis_core::merge::Unmerged;
use glis_core::pause::PauseReason;
use glis_core::reason::SafeRule;
use glis_core::session::Deferral;
use glis_core::spec::Mode;
use glis_core::talk::AskKind;
use glis_core::tree::{Found, PathList, Restored, SnapshotRef};
use glis_core::verdict::{Verdict, Want};
use serde::{Deserialize, Serialize};

/// A session as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract explains each field under this very name")]
#[expect(clippy::struct_excessive_bools, reason = "the contract's flat JSON has them")]
pub struct SessionView {
    pub id: String,
    pub name: String,
    pub status: Status,
    pub agent: String,
    pub mode: Mode,
    pub agent_session_ref: Option<String>,
    pub resumable: bool,
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
    #[serde(default)]
    pub seconds_since_activity: u64,
    /// What its process and everything that it started has to itself; none if nothing runs.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    pub can_pause: bool,
    pub can_resume: bool,
    pub snapshot: Option<SnapshotRef>,
    pub conversation_summary: Option<String>,
    pub last_action: Option<String>,
    /// What it was last told, in the user's own words.
    #[serde(default)]
    pub last_prompt: Option<String>,
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
    /// Other processes that were ended along with the last one.
    pub killed: Vec<String>,
    /// The same with directory and ports.
    #[serde(default)]
    pub ended_processes: Vec<CompanionView>,
    /// Processes of it that could not be ended and are still there.
    #[serde(default)]
    pub stuck_processes: Vec<CompanionView>,
    /// Processes that the last pause has left running on purpose.
    #[serde(default)]
    pub kept_processes: Vec<CompanionView>,
    /// What the last pause could not do.
    pub warnings: Vec<String>,
    /// Which rule said that stopping was safe, of the last pause.
    pub pause_rule: Option<SafeRule>,
    /// The command or the agent's extra arguments.
    pub argv: Vec<String>,
    pub model: Option<String>,
    pub persona: Option<String>,
    /// What the agent may do unasked, in its own words.
    #[serde(default)]
    pub permission_mode: Option<String>,
    pub in_place: bool,
    /// Terminals that watch it right now.
    pub attached: u32,
    /// Terminal output is missing from here on, because the disk was full.
    pub output_gap_at: Option<u64>,
    /// What the worktree could not get when it was made.
    #[serde(default)]
    pub setup_notes: Vec<String>,
    /// How the worktree was found before the last start.
    #[serde(default)]
    pub found: Option<Found>,
    /// What the worktree was restored to, until the next start.
    #[serde(default)]
    pub restored: Option<Restored>,
    /// Why the worktree could not be saved the last time, where it could not.
    #[serde(default)]
    pub unsaved: Option<String>,
    /// The worktree was removed by a pause; a resume brings it back.
    #[serde(default)]
    pub worktree_removed: bool,
    /// Records that may have been about it were lost to damage, which is not acknowledged yet.
    #[serde(default)]
    pub record_damaged: bool,
    /// What took the daemon down; nothing more is done with it until the user acknowledges it.
    #[serde(default)]
    pub barred: Option<String>,
    /// Starts that have failed in a row. After three a message no longer wakes it.
    #[serde(default)]
    pub failed_starts: u32,
    /// Its work for a task is being judged and merged.
    #[serde(default)]
    pub judging: bool,
    /// What a start of it waits for, which then begins by itself.
    #[serde(default)]
    pub waits_to_start: Option<Deferral>,
    /// Ids that the agent's conversation had before a restart, oldest first.
    #[serde(default)]
    pub former_refs: Vec<String>,
    /// When a person last looked at it.
    #[serde(default)]
    pub last_accessed_at: Option<String>,
    /// Whether its conversation was made short.
    #[serde(default)]
    pub is_compacted: bool,
    #[serde(default)]
    pub compacted_at: Option<String>,
    /// Whether a pause removes its worktree, where the session says so itself.
    #[serde(default)]
    pub remove_worktree: Option<bool>,
    /// Whether a pause keeps its process, stopped in place.
    #[serde(default)]
    pub keep_process: bool,
    /// Its pause has done so: the process is there, and so is the memory that it holds.
    #[serde(default)]
    pub process_kept: bool,
    /// Its last resume went on in the process that its pause had kept.
    #[serde(default)]
    pub went_on: bool,
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
    /// What its agent is in the middle of saying, where it tells; only where one session is looked at.
    #[serde(default)]
    pub saying: Option<String>,
    /// Names of the variables in the environment it was last started with.
    pub env_names: Vec<String>,
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

/// A process that an agent has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CompanionView {
    pub pid: i32,
    pub command: String,
    pub cwd: Option<String>,
    /// TCP ports that it listened on.
    pub ports: Vec<u16>,
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

/// A snapshot as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract explains each field under this very name")]
pub struct SnapshotView {
    #[serde(rename = "ref")]
    pub name: String,
    pub commit: String,
    pub at: String,
    pub why: String,
    /// Paths that differ from HEAD.
    pub changed: usize,
    /// What is in the worktree and not in the snapshot.
    pub not_captured: Vec<NotCapturedView>,
    /// Paths that differ from the snapshot before it.
    pub since_before: Option<PathList>,
}

/// Something that a snapshot does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCapturedView {
    /// Where, seen from the worktree.
    pub path: String,
    /// `ignored`, `too_large`, `not_a_file`, `empty_folder`, `unreadable`, `moving` or `repository`.
    pub why: String,
}

/// One file of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiffView {
    /// Its path.
    pub path: String,
    /// Lines added; none for a binary file.
    pub added: Option<u64>,
    /// Lines removed; none for a binary file.
    pub removed: Option<u64>,
}

/// A session in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashView {
    /// Its id.
    pub id: String,
    /// The name it had.
    pub name: String,
    /// Its agent.
    pub agent: String,
    /// Its branch, which is still there.
    pub branch: Option<String>,
    /// When it was removed.
    pub removed_at: String,
    /// When `trash empty` takes it.
    pub deadline: String,
    /// The deadline has passed.
    pub due: bool,
    /// The folder that holds it.
    pub place: String,
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

/// One line of a conversation file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was written, RFC 3339.
    pub timestamp: String,
    /// Who speaks.
    #[serde(rename = "type")]
    pub voice: Voice,
    /// What is said.
    pub content: String,
    /// More about it: the tool, the offset it was read at.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub metadata: serde_json::Map<String, serde_json::Value>,
}

/// What a conversation comes down to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactionView {
    /// The session's id.
    pub id: String,
    /// The whole of it in short.
    pub summary: String,
    /// What was decided; only a model can tell.
    pub key_decisions: Vec<String>,
    /// How things stand.
    pub current_state: String,
    /// What is left to do.
    pub pending_tasks: Vec<String>,
    /// The latest entries as they are; all of them if there are few.
    pub recent_messages: Vec<Entry>,
    /// What stands in the file for the entries before those that it keeps; empty if it keeps all.
    pub compacted_history: String,
    /// How many entries were ever said.
    pub entries: usize,
}

/// What became of a session's work in a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeView {
    /// The session's id.
    pub id: String,
    /// Its name.
    pub session: String,
    /// The commit that holds its work.
    pub work: String,
    /// Whether that commit was made for this.
    pub committed: bool,
    /// The branch that was wanted.
    pub into: String,
    /// The branch that has the result: another one if the wanted one is checked out.
    pub branch: String,
    /// What it is at.
    pub commit: String,
    /// Whether everything was there before.
    pub already: bool,
    /// Where the wanted branch is checked out, if it was left alone for that.
    pub checked_out: Option<String>,
    /// What to type there.
    pub next: Option<String>,
}

/// An entry of a conversation that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The session's id.
    pub session: String,
    /// Its name.
    pub name: String,
    /// When it was said.
    pub at: String,
    /// Who said it.
    #[serde(rename = "type")]
    pub voice: Voice,
    /// The whole of it.
    pub content: String,
    /// What stands around the words.
    pub snippet: String,
}

/// Who speaks in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words explain themselves")]
pub enum Voice {
    User,
    Assistant,
    System,
    Tool,
}

/// The daemon about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract explains each field under this very name")]
pub struct DaemonView {
    pub pid: u32,
    #[serde(flatten)]
    pub build: Build,
    pub home: String,
    pub sessions: usize,
    pub uptime_secs: u64,
    /// Names the event log. Under another name its numbers mean other events.
    #[serde(default)]
    pub log_id: String,
    /// The number of the last event in it: who asks for the sessions after this, and then follows the events
    /// behind it, misses nothing.
    #[serde(default)]
    pub last_seq: u64,
    /// Memory that suspended sessions have given back since this daemon began.
    #[serde(default)]
    pub memory_given_back_bytes: u64,
    /// Agents of this home that run and are on no record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unregistered: Vec<i32>,
    /// What is wrong with the configuration file as it is. Until it is mended the former one counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_fault: Option<String>,
    /// How many agents run, and may.
    #[serde(default)]
    pub limits: Box<LimitsView>,
    /// Whether anything may start.
    #[serde(flatten)]
    pub gate: Box<GateView>,
}

/// What the rules have said of something that an agent asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictView {
    /// When, RFC 3339.
    pub at: String,
    /// The session's id.
    pub session: String,
    /// Its name.
    pub name: String,
    /// The name of the request that was judged.
    pub request: String,
    /// What was asked.
    pub text: String,
    /// What the rules have said.
    pub verdict: Verdict,
    /// No list of all sessions has shown it before.
    pub new: bool,
}
