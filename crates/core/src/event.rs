//! What has happened. The fold of these is the whole state, so a form that was ever stored stays
//! readable: new fields get a default, no field changes its meaning.

mod about;
mod ends;

use crate::caller::Origin;
use crate::card::Card;
use crate::gate::GateEvent;
use crate::ids::{AskId, MessageId, OpId};
use crate::leftover::Leftovers;
use crate::limits::Limits;
use crate::looping::LoopEvent;
use crate::pause::{OnTimeout, PauseMode, PauseReason};
use crate::plan::PlanEvent;
use crate::reason::{FailedStep, SafeRule, Why};
use crate::refusal::ResumeFault;
use crate::safe::ScreenState;
use crate::session::{AfterStop, Deferral, Process, StartCause, StopCause, WallMs};
use crate::spec::{IdleLimit, Spec};
use crate::spending::SpendingEvent;
use crate::status::Status;
use crate::subject::Subject;
use crate::talk::Ask;
use crate::tree::{Clearing, Found, Occasion, PathList, SnapshotRef};
use crate::triage::Triage;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Position in the log; no gaps.
    pub seq: u64,
    pub at: WallMs,
    #[serde(rename = "session")]
    pub subject: Subject,
    pub event: Event,
    /// Who asked for what led to it, where a call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
    /// The status of its session, where it has become another one with this event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

impl Recorded {
    /// An event of which nothing more is known.
    pub fn new(seq: u64, at: WallMs, subject: Subject, event: Event) -> Self {
        Self { seq, at, subject, event, from: None, status: None }
    }
}

/// Where in an agent's words a sign was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spot {
    /// This offset in the session's output.
    Stream(u64),
    /// This offset in the agent's transcript.
    Transcript(u64),
    /// This offset in what the agent's hooks have written.
    Hook(u64),
    /// On the screen, which has no memory.
    Screen,
}

/// How a process ended, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Its holder is gone and left no record.
    Unknown,
    /// The machine was restarted under it.
    Reboot,
}

impl Ending {
    /// It, as a reason for what follows.
    pub(crate) fn told(&self) -> Why {
        match self {
            Self::Exited(status) => Why::ExitStatus(status.to_string()),
            Self::Signalled(signal) => Why::Signal(signal.to_string()),
            Self::Unknown => Why::HolderGone,
            Self::Reboot => Why::Rebooted,
        }
    }
}

/// What has happened to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A session exists.
    SessionCreated { op: OpId, name: String, spec: Box<Spec>, agent_ref: Option<String> },
    /// It has a place to work in.
    WorktreeMade {
        op: OpId,
        worktree: String,
        branch: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// It could not be made; the name is free again.
    CreationFailed { op: OpId, why: Why },
    /// It waits for its first message.
    CreationEnded { op: OpId },
    /// A process is to be started; everything the former one might still do is void.
    StartBegan { op: OpId, cause: StartCause, generation: u32 },
    /// Directory, program and transcript are there.
    StartChecked {
        op: OpId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Found>,
        /// The set-up of the worktree was cut short before and ran again: what came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        set_up: Option<Vec<String>>,
    },
    /// The holder reports a process.
    ProcessStarted { op: OpId, process: Process, began_at: u64 },
    /// The start is over: the agent takes messages, or at least runs.
    StartEnded { op: OpId, cause: StartCause },
    /// The agent rejects the session id it was given; its process is ended.
    RefRejected { why: String, spot: Spot },
    /// The agent does not begin, whatever conversation it was given; it is being ended.
    StartRefused { why: String, spot: Spot },
    /// The session is stopped before its start is over.
    StartCancelled { op: OpId },
    /// The start failed; the session is what it was before.
    StartFailed { op: OpId, fault: ResumeFault },
    /// All that was agreed with the agent is forgotten; a fresh one begins.
    RestartBegan { op: OpId, agent_ref: Option<String>, prompt: Option<String> },
    /// The agent told its session id, or another one than before.
    AgentRefLearned { agent_ref: String, spot: Spot },
    /// A message is stored.
    MessageQueued {
        message: MessageId,
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        first: bool,
    },
    /// From here on the message counts as perhaps delivered.
    DeliveryBegan { message: MessageId },
    /// Nothing of it was handed over; it is queued again.
    DeliveryRefused { message: MessageId, why: String },
    /// The agent took it.
    MessageTaken { message: MessageId, spot: Option<Spot> },
    /// It can never be handed over as it is; it is taken out of the queue.
    MessageRefused { message: MessageId, why: String },
    /// Whether the agent took it is unknown.
    MessageDoubted { message: MessageId },
    /// The user decided that it is sent again.
    MessageRequeued { message: MessageId },
    /// The user decided that it is not sent again.
    MessageDropped { message: MessageId },
    /// The agent takes messages.
    BecameReady { spot: Spot },
    /// The agent works.
    TurnBegan { spot: Spot },
    /// A tool runs.
    ToolBegan {
        tool: String,
        #[serde(default)]
        what: String,
        spot: Spot,
    },
    /// A tool has ended.
    ToolEnded { tool: String, spot: Spot },
    /// So much work goes on beside the turn.
    BackgroundChanged { running: u32, spot: Spot },
    /// The agent is done with its turn, or has let go of it.
    TurnEnded {
        spot: Spot,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
        /// A usage limit was in its way.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        limited: bool,
        /// Another error was, in the agent's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
    /// The agent asks.
    Asked { ask: Ask, spot: Spot },
    /// The question is answered or void.
    AskGone { ask: AskId, spot: Option<Spot> },
    /// From here on the answer counts as perhaps given.
    AnswerBegan {
        ask: AskId,
        answer: String,
        /// Why it is a no, where the agent is told that with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The answer did not arrive, or that is unknown; it may be given again.
    AnswerFailed { ask: AskId, why: Why },
    /// The rules have said something about a question: it is answered so, or left to a person.
    AskJudged { ask: AskId, text: String, verdict: Verdict },
    /// From here on the rules answer what the agent asks, or not.
    AutoYesSet { on: bool },
    /// A person has put it so among the others, or its snooze is over.
    Triaged(Box<Triage>),
    /// What becomes of a budget: its own, or the one of the day.
    Spending(SpendingEvent),
    /// Somebody whose keys go past the daemon begins to type into its terminal: `from` tells who.
    TypingBegan,
    /// The agent's usage limit is reached.
    LimitReached { reset_at: String, spot: Spot },
    /// The screen of a program without signs has come to another state.
    ScreenJudged { state: ScreenState },
    /// A pause was promised.
    PauseBegan {
        op: OpId,
        mode: PauseMode,
        reason: PauseReason,
        on_timeout: OnTimeout,
        #[serde(default, skip_serializing_if = "Clearing::is_keep")]
        clearing: Clearing,
    },
    /// A pause is to end by itself at this time, or no longer is.
    ResumeAppointed { at: Option<WallMs> },
    /// That time has come: it is resumed, or waits for its place.
    ResumeFellDue,
    /// A session that was paused for a usage limit is paused for this from now on.
    PauseTakenOver { reason: PauseReason },
    /// The usage limit is over, and the session goes on by itself.
    LimitOver { at: WallMs },
    /// It may disturb more than at first.
    PauseHastened { op: OpId, mode: PauseMode, on_timeout: OnTimeout },
    /// The agent is told to stop its turn; this is never repeated.
    InterruptBegan { op: OpId },
    /// It may be stopped.
    SafeStateReached { op: OpId, rule: SafeRule, forced: bool },
    /// The screen is kept.
    TerminalCaptured { op: OpId, screen_at: u64 },
    /// The screen could not be read in time; a forced pause goes on without it.
    CaptureMissed { op: OpId, why: Why },
    /// The worktree is saved, or need not be.
    SnapshotTaken { op: OpId, snapshot: Option<SnapshotRef>, warning: Option<Why> },
    /// Everything is kept; the process is ended, unless it has ended by itself.
    EndBegan { op: OpId },
    /// Everything is kept; the process is stopped in place.
    FreezeBegan { op: OpId },
    /// It is, and everything it had started; its memory stays taken.
    ProcessFrozen { op: OpId },
    /// What was stopped in place is let go on.
    ThawBegan { op: OpId, cause: StartCause },
    /// The worktree is saved and is to be removed.
    ClearingBegan { op: OpId },
    /// The worktree is removed; a start brings it back.
    WorktreeCleared {
        op: OpId,
        /// What could not be deleted of it, where something could not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leftover: Option<Why>,
    },
    /// It could not be removed; the pause holds all the same.
    WorktreeStays { op: OpId, why: Why },
    /// The worktree was to be removed, but this is in no snapshot; the agent goes on.
    PauseBarred { op: OpId, left_out: PathList },
    /// The pause is over and true.
    Paused { op: OpId },
    /// It was called off in time.
    PauseCancelled { op: OpId },
    /// No safe state in time; the agent goes on.
    PauseRefused { op: OpId, doing: String },
    /// A step failed; the agent goes on.
    PauseFailed { op: OpId, step: FailedStep, why: Why },
    /// The process is ended, the session stays, or what it was stopped for follows.
    StopBegan {
        op: OpId,
        #[serde(default, skip_serializing_if = "AfterStop::is_rest")]
        then: AfterStop,
        #[serde(default, skip_serializing_if = "StopCause::is_asked")]
        cause: StopCause,
    },
    /// The process is gone, and everything it had started unless this says otherwise.
    ProcessEnded {
        generation: u32,
        ending: Ending,
        ordered: bool,
        #[serde(flatten)]
        left: Box<Leftovers>,
    },
    /// What an earlier process had left was looked for again, and ended where that was possible.
    LeftoversSwept {
        op: OpId,
        #[serde(flatten)]
        left: Box<Leftovers>,
    },
    /// The session's own folder was deleted while its process ran. What it held is gone.
    FolderLost,
    /// Nothing runs; the next message wakes it.
    Suspended { op: Option<OpId> },
    /// From now on it may be idle for so long.
    IdleLimitSet { limit: IdleLimit },
    /// It died uncleanly.
    Interrupted { why: Why },
    /// The command ended well.
    Completed,
    /// The command, or the agent's first start, failed.
    Failed { why: Why },
    /// What it holds is being put aside.
    RemovalBegan { op: OpId },
    /// It could not be put aside; nothing was lost.
    RemovalFailed { op: OpId, why: Why },
    /// It is put aside there.
    Archived { op: OpId, place: String },
    /// A save of the worktree was asked for.
    SaveBegan { op: OpId },
    /// A person has asked for a short conversation.
    CompactionBegan { op: OpId },
    /// So many entries of the conversation were summed up; `original` has them as they were.
    ConversationCompacted { op: Option<OpId>, entries: u64, original: String },
    /// The conversation is as it was.
    CompactionFailed { op: Option<OpId>, why: Why },
    /// The worktree is saved, beside any pause.
    WorktreeSaved { op: Option<OpId>, occasion: Occasion, generation: u32, snapshot: SnapshotRef },
    /// It could not be saved.
    WorktreeNotSaved { op: Option<OpId>, occasion: Occasion, why: Why },
    /// The worktree is to be as this snapshot has it.
    RestoreBegan { op: OpId, snapshot: String },
    /// It is; what was there before is kept beside it.
    WorktreeRestored { op: OpId, snapshot: SnapshotRef, notes: Vec<String> },
    /// It could not be restored; nothing was lost.
    RestoreFailed { op: OpId, why: Why },
    /// It is taken out of the trash, under this name.
    ReturnBegan { op: OpId, name: String },
    /// It is back.
    Returned { op: OpId },
    /// It stays in the trash.
    ReturnFailed { op: OpId, why: Why },
    /// What the trash has of it is being deleted.
    EmptyingBegan { op: OpId },
    /// Nothing is left of it but this log.
    Emptied { op: OpId },
    /// Something of it is still in the trash.
    EmptyingFailed { op: OpId, why: Why },
    /// A process lives that was started later than anything on record: the log has lost its end.
    /// The session is what that process makes it.
    ProcessAdopted { generation: u32, process: Process, began_at: u64 },
    /// Records that may have been about this session were lost to damage: the first and the last
    /// of each stretch. The damaged log is kept there.
    RecordDamaged { lost: Vec<(u64, u64)>, kept: String },
    /// The user has acknowledged that.
    DamageAcknowledged,
    /// The log has lost the session, or its end; this is what the session's own folder knows.
    SessionRecovered { card: Box<Card> },
    /// What glis did for it took the daemon down; nothing more is done with what it holds until
    /// the user acknowledges it.
    Barred { what: String, why: String },
    /// The user has acknowledged it; it is tried again.
    BarLifted,
    /// It may not start yet. It does so by itself, when its turn has come.
    StartDeferred { cause: StartCause, why: Deferral, turn: u64 },
    /// What it waited for with its start is not waited for any more.
    StartForgone,
    /// Its repository is at another place now.
    RepoMoved { repo_root: String },
    /// Of the house: so many agents may run at once.
    LimitsSet(Limits),
    /// Of the house: the configuration file has a fault. The last good one counts meanwhile.
    ConfigBroke { fault: String },
    /// Of the house: it has none any more, and counts.
    ConfigMended,
    /// Something has happened to its loop.
    Loop(LoopEvent),
    /// Of the house: something has happened to the gate.
    Gate(GateEvent),
    /// Of a plan: something has happened to it.
    Plan(PlanEvent),
}
