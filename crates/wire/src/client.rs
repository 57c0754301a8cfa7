//! What front ends ask of the daemon, and what it answers.
//!
//! A connection begins with [`Greeting`] in both directions. Then a front end sends one
//! [`Call`] at a time and reads frames until a final one ([`Response::is_final`]); raw frames in
//! between are output bytes, tagged with their offset.

use crate::build::Build;
use crate::call::{Origin, Scope};
use crate::hold::Limit;
use crate::plan::PlanRequest;
use crate::view::CostBy;
use glis_core::Status;
use glis_core::input::IfRunning;
use glis_core::looping::{LoopChange, LoopSpec};
use glis_core::pause::{OnTimeout, PauseMode, PauseReason};
use glis_core::spec::IdleLimit;
use glis_core::tree::Clearing;
use serde::{Deserialize, Serialize};

pub use crate::response::{Response, ScreenView, Trouble};

/// Version of this protocol. Front end and daemon come from one program, so a mismatch means that
/// the daemon is older or newer; an older one is replaced.
pub const PROTOCOL: u32 = 1;

/// The first words in both directions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The build of the program. One that tells only its version is older than any that tells more.
    #[serde(flatten)]
    pub build: Build,
    /// The daemon's: the name of its event log. A client that has followed events under another name reads
    /// them anew, since numbers may have come again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_id: Option<String>,
}

/// A request with what comes along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What is asked for.
    pub request: Request,
    /// The caller's environment, for requests that may start a process. Never written to disk.
    pub env: Option<Vec<(String, String)>>,
    /// The caller's limits, which go with the environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// Names this call. A repeat under the same key within a day changes nothing and gets the first
    /// response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Who it is from, by which face.
    #[serde(default)]
    pub from: Origin,
    /// What the caller may do.
    #[serde(default)]
    pub scope: Scope,
}

/// What a front end asks for. `session` is a name, an id, or a unique beginning of an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract explains each verb and its options")]
pub enum Request {
    /// A session of its own.
    New(Box<NewSession>),
    /// Sessions that live, and of those at rest the latest; or all, removed ones included.
    List {
        all: bool,
    },
    /// All of one.
    Show {
        session: String,
    },
    /// Its terminal.
    Attach {
        session: String,
    },
    /// Do something with one.
    Act {
        session: String,
        action: Action,
    },
    /// The same with several sessions at once.
    ActEach {
        which: Which,
        action: Action,
    },
    /// Until it is in one of these states.
    Wait {
        session: String,
        statuses: Vec<Status>,
        timeout_ms: Option<u64>,
    },
    /// Its conversation.
    Log {
        session: String,
        follow: bool,
        /// Where the former read has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
    },
    /// As of now, or as of an offset of the output.
    Screen {
        session: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<u64>,
    },
    /// Its bytes.
    Output {
        session: String,
        from: u64,
        follow: bool,
        /// No more bytes than this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<u64>,
    },
    /// What happens to all of them.
    Events {
        from: u64,
        follow: bool,
    },
    /// What the rules have said of what was asked, of one session or of all, oldest first.
    Verdicts {
        session: Option<String>,
        /// Only what no list of all sessions has shown yet.
        #[serde(default)]
        fresh: bool,
    },
    /// What its conversation comes down to.
    Compaction {
        session: String,
    },
    /// The snapshots of a session; only the last so many if a number is given.
    Snapshots {
        session: String,
        last: Option<u32>,
    },
    /// What a session has done since its beginning, or since one of its snapshots.
    Diff {
        session: String,
        since: Option<String>,
        patch: bool,
    },
    /// A snapshot at another place.
    RestoreTo {
        session: String,
        snapshot: Option<String>,
        to: String,
    },
    /// A session's work, committed and merged into a branch: that one, or the one that it began from.
    Merge {
        session: String,
        into: Option<String>,
        /// Whether the hooks of the repository have a say in the commits.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hooks: bool,
        /// A folder of the repository whose plan is meant, where several have one of this name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
    },
    /// Something about a plan or its tasks.
    Plan(PlanRequest),
    /// Entries of all conversations that hold these words.
    Search {
        words: String,
        most: u32,
    },
    /// What was used, added up.
    Cost {
        by: CostBy,
        /// Only from the beginning of this day on, by the daemon's clock: `today`, or a date.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
    },
    /// What a new session can be made of.
    Choices {
        repo: Option<String>,
    },
    /// Keep words that lists are narrowed down by, or forget them.
    Filter {
        words: String,
        keep: bool,
    },
    Trash,
    /// `session` is one that was removed.
    TrashAct {
        session: String,
        action: TrashAction,
    },
    /// Pauses everything; nothing starts until it is resumed.
    PauseAll(PauseAll),
    /// Resumes what the last pause of everything has stopped; without one, nothing.
    ResumeAll {
        /// By the event log, without what was written down beside it.
        #[serde(default)]
        from_log: bool,
    },
    /// Deletes what the trash has of these, for good.
    TrashEmpty {
        which: Discard,
    },
    /// What is wrong.
    Doctor,
    /// A repository is at another place now: so are its sessions and its plans.
    RepoMoved {
        from: String,
        to: String,
    },
    /// How the daemon is.
    DaemonStatus,
    /// End the daemon, and the agents with it where that is wanted.
    DaemonStop {
        agents: bool,
    },
}

/// Which sessions are meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// These, in this order.
    Named(Vec<String>),
    /// All with which it can be done, latest activity first.
    All,
    /// All whose process died uncleanly, latest activity first.
    Interrupted,
}

/// How everything is to be paused. What is not said is as the sessions and the configuration have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract explains each option of `pause`")]
pub struct PauseAll {
    pub mode: PauseMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clearing: Option<Clearing>,
    pub reason: PauseReason,
}

/// Which removed sessions are deleted for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discard {
    /// Those past their deadline.
    Due,
    /// Everything in the trash.
    All,
    /// These, in this order.
    Named(Vec<String>),
}

/// What a front end wants done with a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract explains each verb and its options")]
pub enum Action {
    Send {
        text: String,
        /// Absolute paths of files that are copied into the worktree and named in the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
    },
    /// What is not said is as the session and the configuration have it: a loop is paused after its
    /// iteration, what else runs is interrupted.
    Pause {
        mode: Option<PauseMode>,
        on_timeout: Option<OnTimeout>,
        clearing: Option<Clearing>,
        /// It ends by itself after so many seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_secs: Option<u64>,
    },
    CancelPause,
    Resume {
        prompt: Option<String>,
    },
    Restart {
        with_context: bool,
    },
    Stop,
    Remove {
        #[serde(default)]
        running: IfRunning,
    },
    Answer {
        ask: Option<String>,
        answer: String,
        /// Why it is a no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Acknowledge,
    /// Suspend it after so much idle time.
    LimitIdle {
        limit: IdleLimit,
    },
    /// Have the rules answer what it asks, or not.
    AutoYes {
        on: bool,
    },
    Label {
        add: Vec<String>,
        remove: Vec<String>,
    },
    Pin {
        on: bool,
    },
    Budget {
        /// As it is typed: `usd=5,tokens=200k,time=2h`, each part or none, or `off`.
        budget: String,
    },
    Snooze {
        /// As it is typed: `2h`, `18:00`, `change` or `off`.
        until: String,
    },
    /// Note that the caller begins to type into its terminal: its keys go past the daemon.
    BeginTyping,
    /// Change the limits of a loop.
    SetLoop {
        change: LoopChange,
    },
    Snapshot,
    /// Make its conversation short.
    Compact,
    Restore {
        snapshot: Option<String>,
    },
}

impl Action {
    /// Labels as they are typed: `+auth` or `auth` comes, `-auth` goes.
    pub fn labels<'a>(typed: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut add, mut remove) = (Vec::new(), Vec::new());
        for word in typed {
            match word.strip_prefix('-') {
                Some(label) => remove.push(label.to_owned()),
                None => add.push(word.strip_prefix('+').unwrap_or(word).to_owned()),
            }
        }
        Self::Label { add, remove }
    }
}

/// What a front end wants done with a session that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract explains each verb and its options")]
pub enum TrashAction {
    Restore { name: Option<String> },
    Empty,
}

/// What a new session is to be; by default nothing that has to be asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the contract explains each option of `new`")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of `new` that no other implies")]
pub struct NewSession {
    /// None: one is made from the prompt, the program or the agent.
    pub name: Option<String>,
    pub agent: Option<String>,
    pub prompt: Option<String>,
    /// Absolute path of a folder in the repository.
    pub repo: String,
    pub base: Option<String>,
    pub in_place: bool,
    pub headless: bool,
    pub persona: Option<String>,
    pub model: Option<String>,
    pub idle_timeout_secs: Option<u64>,
    pub auto_yes: bool,
    /// As it is typed; none leaves it to the configuration, and `off` means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    pub argv: Vec<String>,
    /// Whether a pause removes the worktree; none leaves it to the configuration.
    pub remove_worktree: Option<bool>,
    /// Whether a pause keeps its process, stopped in place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_process: bool,
    /// It iterates, as this says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looped: Option<LoopSpec>,
    /// Absolute path of the file that a loop works from, in place of a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_file: Option<String>,
}

impl Request {
    /// A look that counts as no person's, as `show` would: a wait that is over at once.
    pub fn glance(session: &str) -> Self {
        let (session, statuses) = (session.to_owned(), Status::ALL.to_vec());
        Self::Wait { session, statuses, timeout_ms: Some(0) }
    }

    /// The least scope that may ask for this.
    pub fn scope(&self) -> Scope {
        match self {
            Self::List { .. }
            | Self::Show { .. }
            | Self::Attach { .. }
            | Self::Wait { .. }
            | Self::Log { .. }
            | Self::Screen { .. }
            | Self::Output { .. }
            | Self::Events { .. }
            | Self::Verdicts { .. }
            | Self::Snapshots { .. }
            | Self::Compaction { .. }
            | Self::Diff { .. }
            | Self::Search { .. }
            | Self::Cost { .. }
            | Self::Choices { .. }
            | Self::Trash
            | Self::Doctor
            | Self::DaemonStatus => Scope::Watch,
            Self::Act { action: Action::Answer { .. }, .. } => Scope::Answer,
            // Files are read wherever the caller says; and any of several may be a plain program, which is typed into.
            Self::Act { action: Action::Send { files, .. }, .. } if files.is_empty() => Scope::Send,
            Self::Plan(request) => request.scope(),
            // Whatever else comes changes something, perhaps wherever the caller says.
            _ => Scope::Manage,
        }
    }

    /// Whether this ends agents whatever else hangs or is full.
    pub fn ends_whatever_happens(&self) -> bool {
        if let Self::PauseAll(PauseAll { mode: PauseMode::Force, .. })
        | Self::Plan(PlanRequest::Pause { mode: PauseMode::Force, .. }) = self
        {
            return true;
        }
        let (Self::Act { action, .. } | Self::ActEach { action, .. }) = self else { return false };
        matches!(action, Action::Stop | Action::Pause { mode: Some(PauseMode::Force), .. })
    }

    /// Whether this needs the caller's environment: it may start a process, or looks whether one could be.
    pub fn needs_environment(&self) -> bool {
        let looks = matches!(
            self,
            Self::Choices { .. } | Self::Plan(PlanRequest::Read { .. } | PlanRequest::Check { .. })
        );
        looks || self.may_start()
    }

    /// Whether this may start a process.
    pub fn may_start(&self) -> bool {
        let (Self::Act { action, .. } | Self::ActEach { action, .. }) = self else {
            return match self {
                Self::New(_) | Self::ResumeAll { .. } => true,
                Self::Plan(request) => request.may_start(),
                // Hooks are programs of the user's.
                Self::Merge { hooks, .. } => *hooks,
                _ => false,
            };
        };
        matches!(
            action,
            Action::Send { .. }
                | Action::Resume { .. }
                | Action::Restart { .. }
                | Action::SetLoop { .. }
                | Action::Answer { .. }
        )
    }
}
