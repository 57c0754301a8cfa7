//! A session as front ends and scripts see it. The field names are the contract's.

use crate::build::Build;
pub use crate::row::{
    BudgetView, DetachedView, ElsewhereView, LoopView, SessionRow, Used, WaitingFor,
};
use glis_core::limits::Over;
use glis_core::reason::SafeRule;
use glis_core::tree::{Found, PathList, Restored, SnapshotRef};
use glis_core::verdict::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Everything about a session, as JSON: its row, and what is only shown where one session is looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the contract explains each field under this very name")]
#[expect(clippy::struct_excessive_bools, reason = "the contract's flat JSON has them")]
pub struct SessionView {
    #[serde(flatten)]
    pub row: SessionRow,
    pub agent_session_ref: Option<String>,
    pub resumable: bool,
    #[serde(default)]
    pub seconds_since_activity: u64,
    pub snapshot: Option<SnapshotRef>,
    pub conversation_summary: Option<String>,
    /// What it was last told, in the user's own words.
    pub last_prompt: Option<String>,
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
    #[schemars(with = "Option<String>")]
    pub pause_rule: Option<SafeRule>,
    /// The command or the agent's extra arguments.
    pub argv: Vec<String>,
    /// What the agent may do unasked, in its own words.
    pub permission_mode: Option<String>,
    pub in_place: bool,
    /// Where its work goes to unless another branch is named: the one that it began from.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// Terminals that watch it right now.
    pub attached: u32,
    /// What the worktree could not get when it was made.
    #[serde(default)]
    pub setup_notes: Vec<String>,
    /// How the worktree was found before the last start.
    pub found: Option<Found>,
    /// What the worktree was restored to, until the next start.
    pub restored: Option<Restored>,
    /// Why the worktree could not be saved the last time, where it could not.
    pub unsaved: Option<String>,
    /// The worktree was removed by a pause; a resume brings it back.
    #[serde(default)]
    pub worktree_removed: bool,
    /// Ids that the agent's conversation had before a restart, oldest first.
    #[serde(default)]
    pub former_refs: Vec<String>,
    /// Whether its conversation was made short.
    #[serde(default)]
    pub is_compacted: bool,
    /// Whether a pause removes its worktree, where the session says so itself.
    pub remove_worktree: Option<bool>,
    /// Whether a pause keeps its process, stopped in place.
    #[serde(default)]
    pub keep_process: bool,
    /// Its last resume went on in the process that its pause had kept.
    #[serde(default)]
    pub went_on: bool,
    /// What its agent is in the middle of saying, where it tells; only where one session is looked at.
    pub saying: Option<String>,
    /// Names of the variables in the environment it was last started with.
    pub env_names: Vec<String>,
}

/// Whoever can do with a row can do with the whole of it.
impl Deref for SessionView {
    type Target = SessionRow;

    fn deref(&self) -> &SessionRow {
        &self.row
    }
}

impl DerefMut for SessionView {
    fn deref_mut(&mut self) -> &mut SessionRow {
        &mut self.row
    }
}

/// A process that an agent has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CompanionView {
    pub pid: i32,
    pub command: String,
    pub cwd: Option<String>,
    /// TCP ports that it listened on.
    pub ports: Vec<u16>,
}

/// A snapshot as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotCapturedView {
    /// Where, seen from the worktree.
    pub path: String,
    /// `ignored`, `too_large`, `not_a_file`, `empty_folder`, `unreadable`, `moving` or `repository`.
    pub why: String,
}

/// One file of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiffView {
    /// Its path.
    pub path: String,
    /// Lines added; none for a binary file.
    pub added: Option<u64>,
    /// Lines removed; none for a binary file.
    pub removed: Option<u64>,
}

/// A session in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TrashView {
    pub id: String,
    pub name: String,
    pub agent: String,
    /// Its branch, which is still there.
    pub branch: Option<String>,
    pub removed_at: String,
    /// When `trash empty` takes it.
    pub deadline: String,
    pub due: bool,
    pub place: String,
}

/// One line of a conversation file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CompactionView {
    pub id: String,
    pub summary: String,
    /// What was decided; only a model can tell.
    pub key_decisions: Vec<String>,
    pub current_state: String,
    pub pending_tasks: Vec<String>,
    /// The latest entries as they are; all of them if there are few.
    pub recent_messages: Vec<Entry>,
    /// What stands in the file for the entries before those that it keeps; empty if it keeps all.
    pub compacted_history: String,
    /// How many entries were ever said.
    pub entries: usize,
}

/// What became of a session's work in a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct MergeView {
    pub id: String,
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
    pub already: bool,
    /// Where the wanted branch is checked out, if it was left alone for that.
    pub checked_out: Option<String>,
    /// What to type there.
    pub next: Option<String>,
}

/// An entry of a conversation that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Hit {
    pub session: String,
    pub name: String,
    pub at: String,
    #[serde(rename = "type")]
    pub voice: Voice,
    pub content: String,
    /// What stands around the words.
    pub snippet: String,
}

/// What costs are added up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum CostBy {
    Session,
    Repo,
    Agent,
    Day,
}

/// What something has used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CostView {
    /// The session, the repository, the agent or the day.
    pub key: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// In dollars, where the agent tells it.
    pub usd: Option<f64>,
    /// How often sessions were suspended because they were idle, or memory ran short.
    #[serde(default)]
    pub suspended: u64,
    /// How often they were woken after that.
    #[serde(default)]
    pub woken: u64,
}

/// What a new session can be made of, and what lists can be asked for by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ChoicesView {
    pub agents: Vec<AgentView>,
    pub personas: Vec<PersonaView>,
    /// Words that lists are narrowed down by, as they were kept.
    pub filters: Vec<String>,
}

/// An agent as it can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AgentView {
    pub name: String,
    /// Whether a session of it could start.
    pub installed: bool,
    /// Its program.
    pub path: Option<String>,
    /// It is taken where none is named.
    pub usual: bool,
}

/// A persona of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the configuration explains each key under this very name")]
pub struct PersonaView {
    pub name: String,
    pub agent: Option<String>,
    pub model: Option<String>,
}

impl CostView {
    /// The sum of several.
    pub fn together(all: &[Self]) -> Self {
        Self {
            key: "together".to_owned(),
            tokens_in: all.iter().map(|one| one.tokens_in).sum(),
            tokens_out: all.iter().map(|one| one.tokens_out).sum(),
            usd: all.iter().filter_map(|one| one.usd).reduce(|sum, one| sum + one),
            suspended: all.iter().map(|one| one.suspended).sum(),
            woken: all.iter().map(|one| one.woken).sum(),
        }
    }
}

/// Millionths of a dollar as dollars.
#[expect(clippy::cast_precision_loss, reason = "a bill of 2^53 millionths has other problems")]
pub fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Who speaks in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words explain themselves")]
pub enum Voice {
    User,
    Assistant,
    System,
    Tool,
}

/// The daemon about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// How far the budget of the day is used, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<Box<BudgetView>>,
    /// How many agents run, and may.
    #[serde(default)]
    pub limits: Box<LimitsView>,
    /// Whether anything may start.
    #[serde(flatten)]
    pub gate: Box<GateView>,
}

/// What the rules have said of something that an agent asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct VerdictView {
    /// When, RFC 3339.
    pub at: String,
    pub session: String,
    pub name: String,
    /// The name of the request that was judged.
    pub request: String,
    pub text: String,
    pub verdict: Verdict,
    /// No list of all sessions has shown it before.
    pub new: bool,
}

/// One thing that `doctor` looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Finding {
    pub subject: String,
    pub health: Health,
    pub message: String,
    pub hint: Option<String>,
}

/// How something is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words explain themselves")]
pub enum Health {
    Good,
    Warning,
    Bad,
}

/// How many agents run at once, and may.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitsView {
    /// The names of those that run.
    pub agents: Vec<String>,
    /// The names of those that wait for a place, in their order.
    pub waiting: Vec<String>,
    /// Beyond so many the user is warned; 0 never warns.
    pub warn: u32,
    /// Beyond so many nothing starts; 0 is no limit.
    pub live: u32,
    /// What becomes of a start beyond that.
    pub over: Over,
}

/// The gate: whether anything may start, and what it has stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateView {
    /// `running`, `pausing` or `paused`.
    #[serde(rename = "gate", default = "running")]
    pub state: String,
    /// Since when it is shut.
    #[serde(default, rename = "gate_since", skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The names of those that it has stopped.
    #[serde(default, rename = "gate_stopped", skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<String>,
    /// The names of those that have not stopped yet.
    #[serde(default, rename = "gate_waits_for", skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// What is worth knowing about how it was opened.
    #[serde(default, rename = "gate_note", skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a daemon of before there was a gate does.
fn running() -> String {
    "running".to_owned()
}

impl Default for GateView {
    fn default() -> Self {
        let (stopped, waits_for) = (Vec::new(), Vec::new());
        Self { state: running(), since: None, stopped, waits_for, note: None }
    }
}
