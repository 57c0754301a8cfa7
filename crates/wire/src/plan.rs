//! Plans: what is asked of them, and how they and their runs are shown.

use crate::call::Scope;
use glis_core::merge::Unmerged;
use glis_core::pause::{PauseMode, PauseReason};
use glis_core::plan::{Budget, Pace, PlanPause, Ruling, RunFault, RunState, TaskSpec};
use glis_core::refusal::LineFault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The form of a run's record that is written.
pub const RECORD_SCHEMA: u32 = 1;

/// What a front end asks of plans. `place` is a folder of the repository that is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract explains each verb and its options")]
pub enum PlanRequest {
    /// Work on a plan.
    Execute(Execute),
    /// A plan as its file has it; without a file, that of the repository.
    Read { place: String, file: Option<String> },
    /// Every fault of a plan's file.
    Check { place: String, file: Option<String> },
    /// Another task in the repository's own file, or none, or a changed one.
    Change { place: String, change: Box<PlanChange> },
    /// The plan of this file, if it was ever executed.
    Show { place: String, file: String },
    /// What happens to a plan, until nothing of it goes on by itself. A question counts as going on where the caller
    /// has it answered.
    Follow {
        plan: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        answers: bool,
    },
    /// Let nothing begin, and pause what runs.
    Pause { plan: String, mode: PauseMode },
    /// The plans of a repository that were executed, oldest first.
    List { place: String },
    /// The runs in a repository, of one task or of all, oldest first.
    Runs { place: String, task: Option<String> },
    /// Go on with a task.
    Resume { place: String, task: String, prompt: Option<String> },
    /// Begin a task anew.
    Restart { place: String, task: String },
    /// Remove the sessions of tasks that are merged: of this plan, else of all of the repository.
    Clean { place: String, plan: Option<String> },
    /// What a person says about a task.
    Rule { place: String, task: String, ruling: Ruling },
}

/// A plan that is to be executed. The daemon reads its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract explains each option")]
pub struct Execute {
    pub place: String,
    /// Where in the repository its file is; without one, where plans are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// None: as it is executed already, else one at a time.
    pub pace: Option<Pace>,
}

/// A change to the file of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract explains each verb and its options")]
pub enum PlanChange {
    Add(TaskWords),
    /// A person has to approve it before it is worked on.
    Propose(TaskWords),
    Approve {
        id: String,
    },
    Edit(TaskWords),
    Remove {
        id: String,
    },
}

impl PlanChange {
    /// The task that it is about.
    pub fn task(&self) -> &str {
        match self {
            Self::Add(words) | Self::Propose(words) | Self::Edit(words) => &words.id,
            Self::Approve { id } | Self::Remove { id } => id,
        }
    }
}

/// A plan as its file has it, and as it is executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PlanFile {
    pub path: String,
    /// The worktree that it lies in, and its path there.
    pub place: String,
    pub file: String,
    pub title: Option<String>,
    /// What may be spent on all of it.
    #[serde(default)]
    pub budget: Budget,
    pub tasks: Vec<WrittenTask>,
    /// Why it cannot be worked on here, though it is a plan.
    pub faults: Vec<LineFault>,
    /// The plan that it was executed as last.
    pub executed: Option<Box<PlanView>>,
}

/// A task as a file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenTask {
    /// What it says.
    #[serde(flatten)]
    pub task: TaskSpec,
    /// Where it begins in the file.
    pub line: usize,
    /// It is done or worked on, and said something else then.
    pub changed: bool,
    /// Nobody works on it before a person approves it.
    #[serde(default)]
    pub proposed: bool,
}

impl PlanRequest {
    /// The least scope that may ask for this.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Show { .. }
            | Self::Read { .. }
            | Self::Check { .. }
            | Self::Follow { .. }
            | Self::List { .. }
            | Self::Runs { .. } => Scope::Watch,
            _ => Scope::Manage,
        }
    }

    /// Whether this may start a process.
    pub fn may_start(&self) -> bool {
        matches!(
            self,
            Self::Execute(_)
                | Self::Change { .. }
                | Self::Resume { .. }
                | Self::Restart { .. }
                | Self::Rule { .. }
        )
    }
}

/// What a face has done with the draft of a plan, by the command line's own functions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the contract explains each verb and its options")]
pub enum DraftWork {
    /// A session begins that drafts the plan.
    Begin { goal: String, agent: Option<String>, persona: Option<String>, model: Option<String> },
    /// The draft in the last words of a session, for a person to look at.
    Look { session: String },
    /// The draft in the last words of a session is written.
    Take {
        session: String,
        replace: bool,
        /// The one that was looked at: another one is not written.
        seen: Option<String>,
        /// What is written in its place: a person has changed it.
        text: Option<String>,
    },
}

/// A task as it is added or changed: what is not named stays, and an empty text takes a key away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract names each key of a task")]
pub struct TaskWords {
    pub id: String,
    pub title: Option<String>,
    pub prompt: Option<String>,
    pub parent: Option<String>,
    pub needs: Option<Vec<String>>,
    pub agent: Option<String>,
    pub persona: Option<String>,
    pub accept: Option<String>,
    pub accept_secs: Option<String>,
    pub max_cost: Option<String>,
    pub max_time: Option<String>,
}

/// A run: its record, as it lies in the repository too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the contract names each field of a run's record")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field that scripts read")]
pub struct RunView {
    pub schema_version: u32,
    pub run_id: String,
    pub task_id: String,
    pub state: RunState,
    pub provider: Option<String>,
    pub provider_session_ref: Option<String>,
    pub resumable: bool,
    pub repo_root: String,
    pub created_at: String,
    pub updated_at: String,
    pub paused_at: Option<String>,
    /// When it goes on by itself, if that is set.
    pub resume_at: Option<String>,
    pub pause_reason: Option<PauseReason>,
    pub resumed_from_run_id: Option<String>,
    pub restart_of_run_id: Option<String>,
    pub superseded_by_run_id: Option<String>,
    pub plan: String,
    /// The plan's name in the names of branches and folders.
    #[serde(default)]
    pub plan_slug: String,
    /// The session's id.
    pub session: Option<String>,
    pub session_name: Option<String>,
    pub worktree: Option<String>,
    pub branch: Option<String>,
    /// Its agent was stopped without having come to a safe state.
    pub forced: bool,
    /// Its work is judged and merged.
    pub finishing: bool,
    /// It goes on by itself, sooner or later.
    pub moves: bool,
    /// What its agent asks, while it waits for that.
    pub asks: Option<String>,
    /// A yes or a no answers that.
    #[serde(default)]
    pub decides: bool,
    /// What its agent may have got or not: the daemon died while it was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Why its agent has not got its prompt.
    pub undelivered: Option<String>,
    /// Why the last turn of its agent came to nothing, in the agent's words, if it did.
    pub turn_failed: Option<String>,
    /// Why its work is not merged.
    pub unmerged: Option<Unmerged>,
    /// Why it came to nothing.
    pub fault: Option<RunFault>,
    /// The commit of the plan's branch that has its work.
    pub commit: Option<String>,
    /// What `accept` has printed: a file of `.glis/runs`.
    pub accept_log: Option<String>,
    /// What its session had cost when it was judged last, in millionths of a dollar.
    #[serde(default)]
    pub cost_micros: u64,
    /// A person goes on without its task.
    #[serde(default)]
    pub skipped: bool,
}

/// A plan in execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the contract names each field")]
pub struct PlanView {
    pub id: String,
    /// Its name in the names of branches and folders, and before a task's: `SLUG/TASK`.
    #[serde(default)]
    pub slug: String,
    pub title: Option<String>,
    pub repo_root: String,
    pub branch: String,
    pub base: String,
    pub pace: Pace,
    pub created_at: String,
    /// Why nothing begins by itself.
    pub paused: Option<PlanPause>,
    /// Nothing of it goes on by itself.
    pub at_rest: bool,
    /// Everything is done.
    pub done: bool,
    /// Everything in the house is paused, and this with it.
    pub gate_shut: bool,
    /// What its runs have cost as far as they were judged, in millionths of a dollar.
    #[serde(default)]
    pub cost_micros: u64,
    /// What whoever executes it should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub tasks: Vec<TaskView>,
}

impl PlanView {
    /// The tasks that are worked on: all but those that are only a name for others.
    pub fn leaves(&self) -> impl Iterator<Item = &TaskView> {
        let groups: BTreeSet<&String> =
            self.tasks.iter().filter_map(|task| task.parent.as_ref()).collect();
        self.tasks.iter().filter(move |task| task.works || !groups.contains(&task.id))
    }
}

/// A plan in the list of those that were executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the contract names each field")]
pub struct PlanRow {
    pub id: String,
    pub slug: String,
    pub title: Option<String>,
    /// The worktree that its file lies in, and its path there.
    pub place: Option<String>,
    pub file: Option<String>,
    pub branch: String,
    pub created_at: String,
    /// So many of its tasks are done or skipped, of so many.
    pub settled: usize,
    pub tasks: usize,
    pub done: bool,
    /// Nothing of it goes on by itself.
    pub at_rest: bool,
}

/// A task of a plan in execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the contract names each key of a task")]
pub struct TaskView {
    pub id: String,
    pub title: Option<String>,
    pub parent: Option<String>,
    pub needs: Vec<String>,
    pub state: TaskState,
    /// It is worked on itself.
    #[serde(default)]
    pub works: bool,
    /// It is done, and says something else by now.
    #[serde(default)]
    pub changed: bool,
    /// Its latest run.
    pub run: Option<RunView>,
}

/// What a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// What it needs is not done.
    Todo,
    /// It can be worked on.
    Ready,
    /// What its latest run is.
    #[serde(untagged)]
    Run(RunState),
}

impl TaskState {
    /// The word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Ready => "ready",
            Self::Run(state) => state.word(),
        }
    }
}
