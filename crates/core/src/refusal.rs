//! Why the house does not do what it was asked. Nothing has changed when one of these is returned.

use crate::merge::Unmerged;
use crate::reason::{FailedStep, Operation, Verb, Why};
use crate::{
    ids::AskId, ids::RunId, name::BadName, spec::Mode, status::Status, task::RunState,
    tree::PathList,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request that cannot be met as things stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No session has this name or id.
    NoSuchSession { given: String },
    /// No plan has this task, or no run of it.
    NoSuchTask { given: String },
    /// There is nothing to resume in the task's latest run.
    TaskIdle { task: String, run: RunId, state: RunState },
    /// The task belongs to another repository than the one that the caller is in.
    WrongRoot(Box<Elsewhere>),
    /// The task's latest run is under way.
    TaskAtWork { task: String, run: RunId },
    /// Nothing was done for the task yet.
    TaskNotBegun { task: String },
    /// The file of a plan cannot be worked with.
    PlanFile(Box<PlanFileFault>),
    /// No session in the trash has this name or id.
    NotInTrash { given: String },
    /// More than one session's id begins like this.
    Ambiguous { given: String },
    /// A living session has this name already.
    NameTaken { name: String },
    /// The name cannot be a session's.
    BadName { name: String, why: BadName },
    /// A process of another session, of this name, is at work in the same folder.
    PlaceTaken { place: String, by: String },
    /// Everything is paused, and nothing starts until it is resumed.
    Shut { session: String },
    /// As many agents run as may: these.
    Full { session: String, live: u32, holders: Vec<String> },
    /// What the gate has stopped was written down, and that cannot be read. It is kept.
    GateDamaged { path: String, why: String },
    /// It has not stopped what it was seen doing in time, and is paused at the end of its turn.
    StillAtWork { session: String, doing: String },
    /// The verb makes no sense in the session's status.
    WrongStatus { session: String, status: Status, verb: Verb },
    /// Another operation is under way.
    Busy { session: String, with: Operation },
    /// So many messages wait for the agent, or such long ones, that it takes no more.
    QueueFull { session: String, messages: usize },
    /// The agent did not come to a safe state in time; it goes on with what it was seen doing.
    NotSafe { session: String, doing: String },
    /// A pause that is past its safe state runs to its end.
    TooLate { session: String },
    /// The pause was called off before it took effect.
    Cancelled { session: String },
    /// The session was stopped before its start was over.
    Stopped { session: String },
    /// A session cannot be given so little idle time, or so much.
    IdleLimitOutOfRange,
    /// The session cannot be resumed, and nothing else is tried instead.
    NotResumable {
        session: String,
        agent: String,
        /// The agent's session id, where one is known.
        agent_ref: Option<String>,
        /// Whose folder it works in.
        #[serde(default)]
        site: Site,
        why: ResumeFault,
    },
    /// A session's work cannot be merged.
    NotMerged {
        session: String,
        /// The branch that it was to go into; empty if none was named.
        into: String,
        worktree: Option<String>,
        why: Unmerged,
    },
    /// The session works in the user's own folder, where this is never done.
    InPlace { session: String, wish: InPlaceWish },
    /// Its worktree cannot be taken from under a process that was kept.
    ProcessKept { session: String },
    /// A pause could not keep a process of this kind, spoken to like this.
    NothingToKeep { agent: String, mode: Mode },
    /// The worktree was to be removed, but this is in no snapshot of it.
    WouldBeLost { session: String, left_out: PathList },
    /// It is no loop, and has none of its limits.
    NoLoop { session: String },
    /// A loop has cost what it may cost.
    BudgetSpent { session: String },
    /// A message was not sent, and is not kept for later.
    NotSent { session: String, why: String },
    /// The command that would show its terminal runs in that terminal.
    AttachedToItself { session: String },
    /// The session shows the one that the command runs in, or one that does.
    ShowsCaller {
        session: String,
        /// The session that the command runs in.
        inside: String,
    },
    /// Nothing waits for an answer.
    NothingAsked { session: String },
    /// Another request than the named one is open, or several are.
    WrongAsk { session: String, open: Vec<AskId> },
    /// An answer to this request is on its way.
    AnswerUnderWay { session: String },
    /// What is asked has no such answer.
    NotAChoice {
        session: String,
        /// Whether it has a terminal.
        mode: Mode,
        /// The answers that it has; none if it can only be answered at the agent's terminal.
        choices: Vec<String>,
    },
    /// An answer did not reach the agent.
    AnswerNotGiven { session: String, why: Why },
    /// Something outside failed.
    Failed {
        session: String,
        step: FailedStep,
        /// The reason as it was given.
        why: Why,
        /// Messages of a session that is gone by this: the agent never got them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unsent: Vec<String>,
    },
}

/// Whose folder a session works in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// A worktree that was made for it.
    #[default]
    Worktree,
    /// The user's own folder.
    InPlace,
}

/// What is never done in the user's own folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InPlaceWish {
    RemoveWorktree,
    /// Bring its files back to a snapshot.
    Restore,
    /// Commit and merge its files.
    Merge,
}

/// Why a session cannot be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeFault {
    /// The agent never told its session id.
    NoRef,
    /// The agent does not know the id, or rejects it.
    Rejected(String),
    /// The repository is another one.
    WrongRoot(String),
    /// The working directory is not there.
    NoDirectory(String),
    /// The agent's program is not there.
    NotInstalled(String),
    /// The agent's program is of a version that cannot work.
    WrongVersion(String),
    /// The agent's transcript is not there.
    NoTranscript(String),
    /// Another process has the agent's session id.
    Locked(String),
    /// The agent ended or fell silent before it was ready.
    NotReady(String),
    System(String),
    /// The worktree is gone, and its snapshot cannot be brought back.
    NotRestored(String),
    /// The terminal, or the holder that owns it, cannot be made.
    NoTerminal(String),
}

impl ResumeFault {
    /// The word by which a script knows it: `kind` in the error's JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoRef => "no_ref",
            Self::Rejected(_) => "rejected",
            Self::WrongRoot(_) => "wrong_root",
            Self::NoDirectory(_) => "no_directory",
            Self::NotInstalled(_) => "not_installed",
            Self::WrongVersion(_) => "wrong_version",
            Self::NoTranscript(_) => "no_transcript",
            Self::Locked(_) => "locked",
            Self::NotReady(_) => "not_ready",
            Self::System(_) => "system",
            Self::NotRestored(_) => "not_restored",
            Self::NoTerminal(_) => "no_terminal",
        }
    }
}

impl std::fmt::Display for ResumeFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoRef => write!(f, "the agent never told its session id"),
            Self::Rejected(why) => write!(f, "the agent rejects its session id: {why}"),
            Self::WrongRoot(found) => {
                write!(f, "its directory does not belong to its repository ({found})")
            }
            Self::NoDirectory(path) => write!(f, "its directory is not there ({path})"),
            Self::NotInstalled(program) => write!(f, "its program is not there ({program})"),
            Self::WrongVersion(what) => write!(f, "its program has the wrong version ({what})"),
            Self::NoTranscript(path) => write!(f, "the agent's transcript is not there ({path})"),
            Self::Locked(who) => write!(f, "another process has it: {who}"),
            Self::NotReady(what) => write!(f, "the agent did not get ready: {what}"),
            Self::System(what) => write!(f, "{what}"),
            Self::NotRestored(why) => {
                write!(f, "its worktree is gone and the snapshot cannot be brought back: {why}")
            }
            Self::NoTerminal(why) => write!(f, "its terminal cannot be made: {why}"),
        }
    }
}

/// A task that belongs to another repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    pub task: String,
    pub run: RunId,
    /// The agent that works on it.
    pub provider: Option<String>,
    /// Its own name for the conversation.
    pub agent_ref: Option<String>,
    pub repo_root: String,
    pub here: String,
}

/// What is wrong with the file of a plan, or with a change to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFileFault {
    pub path: String,
    pub why: PlanFileWhy,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFileWhy {
    Missing,
    Unreadable(String),
    Unwritten(String),
    /// It is no plan, or none that can be worked on here.
    Faulty(Vec<LineFault>),
    /// It would be none with this change.
    BadChange(Vec<LineFault>),
    /// Other tasks name the one that is to go.
    Named(Vec<LineFault>),
    /// It has no such task.
    NoTask(String),
}

/// What is wrong in one place of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineFault {
    /// The line, counted from 1.
    pub line: usize,
    pub why: String,
}

impl LineFault {
    pub fn new(line: usize, why: impl Into<String>) -> Self {
        Self { line, why: why.into() }
    }
}

impl std::fmt::Display for LineFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.line, self.why)
    }
}
