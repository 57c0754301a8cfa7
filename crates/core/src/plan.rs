//! A plan in execution: its tasks, its runs, and what may begin.

mod budget;
mod command;
mod ruling;
pub mod schedule;

pub use crate::task::{RunState, TaskRef};

pub use crate::budget::Budget;
pub use command::{Before, PlanCommand, PlanOutcome};
pub use ruling::Ruling;

use crate::ids::{PlanId, RunId, SessionId};
use crate::merge::Unmerged;
use crate::reason::Why;
use crate::session::{Session, WallMs};
use crate::shared::{SharedMap, whole};
use crate::status::Status;
use schedule::{Link, Schedule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A plan, as far as it is executed. Its copies share what they have in common, so that a decision which
/// takes one does the same work for a task of three as for one of ten thousand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub id: PlanId,
    /// What was asked for last.
    #[serde(with = "whole")]
    pub spec: Arc<PlanSpec>,
    pub pace: Pace,
    /// Why nothing begins by itself, if so.
    pub paused: Option<PlanPause>,
    /// What can be worked on.
    pub schedule: Schedule,
    /// Every run there ever was.
    pub runs: SharedMap<RunId, Run>,
    /// The latest run of each task.
    pub latest: SharedMap<String, RunId>,
    /// Runs that are not over.
    pub active: BTreeSet<RunId>,
    /// Tasks that were done by the plan before this one, of the same file.
    #[serde(default)]
    pub before: BTreeSet<String>,
    /// Tasks that a person has skipped: done for what needs them, and nothing of them is merged.
    #[serde(default)]
    pub skipped: BTreeSet<String>,
    /// Where its branch has to be at least: the last commit that something was merged by.
    pub tip: Option<String>,
    pub created_at: WallMs,
    /// When it was last executed; 0 of a version that did not know.
    #[serde(default)]
    pub executed_at: WallMs,
    /// What its agents have told to have cost, in millionths of a dollar.
    #[serde(default)]
    pub cost_micros: u64,
    /// What of that was granted already when it was executed again.
    #[serde(default)]
    pub granted_micros: u64,
}

/// What a plan is, as its file had it when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSpec {
    pub title: Option<String>,
    /// Its name in the names of branches.
    pub slug: String,
    pub repo_root: String,
    /// The branch that gets everything.
    pub branch: String,
    /// The commit that the branch begins from.
    pub base: String,
    /// Where its file is; see [`Plan::origin`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What may be spent on all of it.
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
    /// Its tasks, in the order of the file.
    pub tasks: Vec<TaskSpec>,
}

/// Where the file of a plan is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The worktree of the user's that it lies in.
    pub checkout: String,
    pub file: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_secs: Option<u32>,
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
}

impl TaskSpec {
    /// What it says, as a number: whoever says something else has another one. It is kept, so it is FNV-1a for good.
    pub fn said(&self) -> u64 {
        let parts = [&self.prompt, &self.accept].into_iter().flatten().chain(&self.needs);
        let bytes = parts.flat_map(|part| part.bytes().chain([0xff]));
        bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pace {
    /// So many runs at a time.
    pub jobs: u32,
    /// A person looks at each task before it is merged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub review: bool,
    /// The hooks of the repository have a say in its commits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooks: bool,
    /// Only this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { jobs: 1, review: false, hooks: false, only: None }
    }
}

/// Why nothing of a plan begins by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanPause {
    /// A person has interrupted it.
    User,
    /// A task is merged, and a person looks at it: of a version that asked for the review behind the merge.
    Review,
    /// The one task that was asked for is done.
    Only,
    /// What may be spent on it is spent.
    Budget,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub task: String,
    /// What that said when it began; 0 where it is not known.
    #[serde(default)]
    pub said: u64,
    pub step: RunStep,
    /// Who works on it.
    pub session: Option<SessionId>,
    /// It was asked for by itself, and runs although the plan is paused.
    pub alone: bool,
    /// How often in a row its agent was told by itself what was not accepted.
    #[serde(default)]
    pub retries: u32,
    /// A person takes it as it is: nothing judges it.
    #[serde(default)]
    pub as_it_is: bool,
    /// What its session has cost so far.
    #[serde(default)]
    pub cost_micros: u64,
    /// What of that was granted already when a person had it go on.
    #[serde(default)]
    pub granted_micros: u64,
    pub created_at: WallMs,
    /// When it last became something else.
    pub updated_at: WallMs,
    /// The run that it takes the place of.
    pub restart_of: Option<RunId>,
    /// The run whose conversation it goes on in: that one was not accepted.
    pub resumed_from: Option<RunId>,
    /// The run that has taken its place.
    pub superseded_by: Option<RunId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStep {
    /// Its session is being made.
    Preparing,
    /// Its agent works, waits or rests: the session tells which.
    Working,
    /// Its agent is done; its work is committed and judged.
    Finishing,
    /// This commit was accepted, and is being merged.
    Merging(String),
    /// Its work cannot be merged as it is.
    Waiting(Unmerged),
    /// Its work is in the plan's branch, by this commit.
    Succeeded(String),
    /// It came to nothing.
    Failed(RunFault),
    /// Its session was removed.
    Canceled,
}

/// Why a run came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunFault {
    /// Its session could not be made.
    NotBegun(#[schemars(with = "String")] Why),
    /// Its agent did not start.
    NotStarted(#[schemars(with = "String")] Why),
    /// The plan's own command says that it is not done.
    NotAccepted(String),
    /// A person does not want it.
    Rejected,
}

impl Run {
    /// Whether nothing comes of it any more.
    pub fn is_over(&self) -> bool {
        let over = match self.step {
            RunStep::Preparing
            | RunStep::Working
            | RunStep::Finishing
            | RunStep::Merging(_)
            | RunStep::Waiting(_) => false,
            RunStep::Succeeded(_) | RunStep::Failed(_) | RunStep::Canceled => true,
        };
        over || self.superseded_by.is_some()
    }

    /// What it is, given its session as that is.
    pub fn state(&self, session: Option<&Session>) -> RunState {
        match &self.step {
            RunStep::Preparing | RunStep::Finishing | RunStep::Merging(_) => RunState::Running,
            RunStep::Waiting(_) => RunState::Waiting,
            RunStep::Succeeded(_) => RunState::Succeeded,
            RunStep::Failed(_) => RunState::Failed,
            RunStep::Canceled => RunState::Canceled,
            RunStep::Working => match session.map(Session::status) {
                Some(Status::Waiting) => RunState::Waiting,
                // It has not got what it was to do, and only a person can say it otherwise.
                Some(Status::Idle | Status::Suspended)
                    if session.is_some_and(|session| session.starts.undelivered.is_some()) =>
                {
                    RunState::Waiting
                }
                // One that died can be resumed, as one that was paused.
                Some(Status::Paused | Status::Interrupted) => RunState::Paused,
                Some(Status::Suspended)
                    if session.is_some_and(|it| it.is_unfinished() || it.ended_unheard()) =>
                {
                    RunState::Paused
                }
                Some(Status::Failed) => RunState::Failed,
                Some(Status::Archived) => RunState::Canceled,
                Some(
                    Status::Created
                    | Status::Busy
                    | Status::Idle
                    | Status::Pausing
                    | Status::Resuming
                    | Status::Suspended
                    | Status::Completed,
                )
                | None => RunState::Running,
            },
        }
    }
}

/// A task as it is named, with its plan before it where that is: `PLAN/TASK`.
pub fn named(given: &str) -> (Option<&str>, &str) {
    given.split_once('/').map_or((None, given), |(plan, task)| (Some(plan), task))
}

impl Plan {
    pub fn run(&self, id: &RunId) -> Option<&Run> {
        self.runs.get(id)
    }

    /// The run that a session works on, or worked on last: one that was not accepted may be followed by
    /// another in the same conversation.
    pub fn run_of(&self, of: &TaskRef, session: &SessionId) -> Option<&Run> {
        let latest = self.latest_run(&of.task);
        latest.filter(|run| run.session.as_ref() == Some(session)).or_else(|| self.run(&of.run))
    }

    /// The file that it was executed from. A plan of a former version has its path for an id.
    pub fn origin(&self) -> Option<Origin> {
        let of_id = || {
            let (checkout, file) = self.id.0.rsplit_once(':')?;
            Some(Origin { checkout: checkout.to_owned(), file: file.to_owned() })
        };
        self.spec.origin.clone().or_else(of_id)
    }

    /// Whether nothing of it is left to do.
    pub fn is_over(&self) -> bool {
        self.schedule.is_over() && self.active.is_empty()
    }

    /// Whether a task is done or worked on, and says something else by now.
    pub fn is_changed(&self, task: &TaskSpec) -> bool {
        let counts = |run: &&Run| matches!(run.step, RunStep::Succeeded(_)) || !run.is_over();
        let run = self.latest_run(&task.id).filter(counts);
        run.is_some_and(|run| run.said != 0 && run.said != task.said())
    }

    /// What of these tasks is settled as they are.
    pub fn settled_of(&self, tasks: &[TaskSpec]) -> Before {
        let settled = tasks.iter().filter(|task| {
            let known = self.task(&task.id).is_some_and(|known| known.said() == task.said());
            known && self.is_done(&task.id) && !self.is_changed(task)
        });
        let ids = settled.map(|task| task.id.clone());
        let (skipped, done) = ids.partition(|id| self.skipped.contains(id));
        Before { done, skipped }
    }

    pub fn latest_run(&self, task: &str) -> Option<&Run> {
        self.latest.get(task).and_then(|id| self.runs.get(id))
    }

    pub fn task(&self, id: &str) -> Option<&TaskSpec> {
        self.schedule.place(id).and_then(|at| self.spec.tasks.get(at))
    }

    /// The task that may begin now, if there is room for one.
    pub fn next(&self) -> Option<&str> {
        self.begins().next()
    }

    /// The tasks that may begin now, as far as there is room, in the order of the file.
    pub(crate) fn begins(&self) -> impl Iterator<Item = &str> {
        let only = self.pace.only.as_deref();
        let ready = self.schedule.ready().filter(move |task| only.is_none_or(|only| only == *task));
        ready.take(if self.paused.is_some() { 0 } else { usize::MAX })
    }

    /// The id of a task's next run.
    pub(crate) fn next_run(&self, task: &str) -> RunId {
        let number = |run: &RunId| run.0.rsplit('-').next()?.parse::<u32>().ok();
        let former = self.latest.get(task).and_then(number).unwrap_or(0);
        RunId(format!("{task}-{}", former + 1))
    }
}

/// The schedule of these tasks, of which nothing is done.
pub fn schedule_of(tasks: &[TaskSpec]) -> Schedule {
    let links: Vec<Link<'_>> = tasks
        .iter()
        .map(|task| Link {
            id: &task.id,
            parent: task.parent.as_deref(),
            needs: &task.needs,
            works: task.prompt.is_some(),
        })
        .collect();
    Schedule::new(&links)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanEvent {
    /// It is to be executed.
    Begun {
        spec: Box<PlanSpec>,
        pace: Pace,
        /// What the plan before it has done of this.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        done: Vec<String>,
    },
    /// Its file has changed.
    Revised { spec: Box<PlanSpec> },
    /// It goes on, at this pace.
    Continued { pace: Pace },
    /// Nothing begins by itself any more.
    Stopped { why: PlanPause },
    /// A task is being worked on.
    RunBegan {
        run: RunId,
        task: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restart_of: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resumed_from: Option<RunId>,
        /// Its agent is told by itself what was not accepted.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        retry: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        alone: bool,
    },
    /// Its agent is done, or a person takes what it has done.
    RunFinishing {
        run: RunId,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_it_is: bool,
    },
    /// Its session has cost so much by now.
    RunCost { run: RunId, micros: u64 },
    /// This commit of its work was accepted.
    RunAccepted { run: RunId, commit: String },
    /// Its work is in the plan's branch.
    RunSucceeded { run: RunId, commit: String },
    /// It came to nothing.
    RunFailed { run: RunId, why: RunFault },
    /// Its work cannot be merged as it is.
    RunWaits { run: RunId, why: Unmerged },
    /// Its session was removed, or its task skipped.
    RunCanceled { run: RunId },
    /// A task is not done, and counts as done for what needs it.
    TaskSkipped { task: String },
    /// An agent proposes a task, which is in its file; nobody works on it before a person approves it.
    TaskProposed { task: String, title: Option<String> },
}
