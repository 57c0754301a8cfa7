//! What comes in: commands from people, outcomes from adapters, signs from agents, timers.

mod sign;
mod world;

use crate::budget::Budget;
use crate::event::Spot;
use crate::gate::GateCommand;
use crate::ids::{AskId, MessageId, OpId, PlanId, SessionId};
use crate::leftover::Leftovers;
use crate::limits::Limits;
use crate::looping::{LookedBack, LoopChange};
use crate::pause::{Captured, Moment, PauseWish};
use crate::plan::{PlanCommand, PlanOutcome};
use crate::reason::Why;
use crate::refusal::ResumeFault;
use crate::session::{Process, StopCause};
use crate::spec::{IdleLimit, Spec};
use crate::subject::Subject;
use crate::talk::Ask;
use crate::timer::{TimerKey, WallMs};
use crate::tree::{Found, Occasion, PathList, SnapshotRef};
use crate::triage::Put;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub use sign::{Hearing, Sign};
pub use world::{Exit, World};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A call asks for something.
    Command(Command),
    /// An effect has had an end.
    Outcome { session: SessionId, outcome: Outcome },
    /// An agent was seen to do something, in this start of its process.
    Sign { session: SessionId, generation: u32, spot: Spot, hearing: Hearing, sign: Sign },
    /// A repository is at another place now.
    RepoMoved { from: String, to: String },
    /// The configuration says how many agents may run at once.
    Limits(Limits),
    /// The configuration file was read: what is wrong with it, if anything is.
    ConfigRead(Option<String>),
    /// A call asks for something of the gate.
    Gate(GateCommand),
    /// What the gate has stopped is written down, or could not be.
    GateKept { op: OpId, result: Result<(), Why> },
    /// A call asks for something of a plan.
    Plan(PlanCommand),
    /// An effect about a plan has had an end.
    PlanOutcome { plan: PlanId, outcome: PlanOutcome },
    /// After this daemon's own start every session was told what the world looks like.
    AllObserved,
    /// The time of a timer has come.
    TimerFired { subject: Subject, key: TimerKey },
    /// All sessions together have used so much on this day.
    DayUsed { date: String, cost_micros: u64, tokens: u64 },
    /// The machine is short of memory.
    MemoryShort,
    /// What was being done for a session took the daemon down, or cannot be done at all.
    Broke { session: SessionId, what: String, why: String },
    /// What the world looks like after this daemon's own start.
    Observed { session: SessionId, world: World },
}

impl Input {
    pub fn subject(&self) -> Subject {
        match self {
            Self::Command(command) => command.session().clone().into(),
            Self::Outcome { session, .. }
            | Self::Sign { session, .. }
            | Self::Broke { session, .. }
            | Self::Observed { session, .. } => session.clone().into(),
            Self::Limits(_)
            | Self::RepoMoved { .. }
            | Self::ConfigRead(_)
            | Self::Gate(_)
            | Self::GateKept { .. }
            | Self::AllObserved
            | Self::DayUsed { .. }
            | Self::MemoryShort => Subject::House,
            Self::Plan(command) => Subject::Plan(command.plan().clone()),
            Self::PlanOutcome { plan, .. } => Subject::Plan(plan.clone()),
            Self::TimerFired { subject, .. } => subject.clone(),
        }
    }
}

/// What a person can ask of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A session of its own.
    New { id: SessionId, name: String, spec: Box<Spec>, agent_ref: Option<String> },
    /// Hand this to its agent.
    Send { session: SessionId, text: String },
    /// Stop its agent and save everything; until the clock on the wall shows this time, where one is told.
    Pause { session: SessionId, wish: PauseWish, until: Option<WallMs> },
    /// Take back a pause that waits.
    CancelPause { session: SessionId },
    /// Bring it back in its own conversation.
    Resume { session: SessionId, prompt: Option<String> },
    /// Begin anew, with this first message.
    Restart { session: SessionId, agent_ref: Option<String>, prompt: Option<String> },
    /// End the process, keep the session.
    Stop { session: SessionId, cause: StopCause },
    /// Suspend it after so much idle time.
    LimitIdle { session: SessionId, limit: IdleLimit },
    /// Put it into the trash.
    Remove { session: SessionId, running: IfRunning },
    /// Save its worktree.
    Snapshot { session: SessionId },
    /// Make its conversation short.
    Compact { session: SessionId },
    /// Bring its worktree back to what this snapshot holds.
    Restore { session: SessionId, snapshot: String },
    /// Take it out of the trash, under another name if need be.
    Return { session: SessionId, name: Option<String> },
    /// Delete what the trash has of it, for good.
    Empty { session: SessionId },
    /// Take note of the damage to its record, and of what took the daemon down.
    Acknowledge { session: SessionId },
    /// Answer what it asks.
    Answer { session: SessionId, ask: Option<AskId>, answer: String, reason: Option<String> },
    /// Have the rules answer what it asks, or not.
    SetAutoYes { session: SessionId, on: bool },
    /// Have it use no more than this before a person is asked. So much was used before.
    SetBudget { session: SessionId, budget: Option<Box<Budget>>, cost_micros: u64, tokens: u64 },
    /// Label, pin or snooze it.
    Triage { session: SessionId, put: Put },
    /// Note that somebody begins to type into its terminal.
    BeginTyping { session: SessionId },
    /// Change what a loop is asked to be.
    SetLoop { session: SessionId, change: LoopChange },
}

impl Command {
    pub fn session(&self) -> &SessionId {
        match self {
            Self::New { id: session, .. }
            | Self::Send { session, .. }
            | Self::Pause { session, .. }
            | Self::CancelPause { session }
            | Self::Resume { session, .. }
            | Self::Restart { session, .. }
            | Self::Stop { session, .. }
            | Self::LimitIdle { session, .. }
            | Self::Remove { session, .. }
            | Self::Snapshot { session }
            | Self::Compact { session }
            | Self::Restore { session, .. }
            | Self::Return { session, .. }
            | Self::Empty { session }
            | Self::Acknowledge { session }
            | Self::Answer { session, .. }
            | Self::BeginTyping { session }
            | Self::SetLoop { session, .. }
            | Self::Triage { session, .. }
            | Self::SetBudget { session, .. }
            | Self::SetAutoYes { session, .. } => session,
        }
    }
}

/// What becomes of a process that is in the way of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IfRunning {
    /// It keeps running, and the request is refused.
    #[default]
    Refuse,
    Stop,
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// There is a place to work in.
    WorktreeMade { op: OpId, worktree: String, branch: Option<String>, notes: Vec<String> },
    /// There is none, and why.
    WorktreeFailed { op: OpId, why: Why },
    /// Whether a start can succeed.
    StartChecked { op: OpId, result: Result<Checked, ResumeFault> },
    /// The holder reports a process.
    ProcessStarted { op: OpId, generation: u32, process: Process, began_at: u64 },
    /// There is none, and why.
    ProcessNotStarted { op: OpId, fault: ResumeFault },
    /// It was handed over.
    Delivered { message: MessageId },
    /// It was not, and may be later.
    NotDelivered { message: MessageId, why: String },
    /// It was handed over, and nothing shows that the agent took it.
    NotTaken { message: MessageId },
    /// It cannot be handed over as it is, now or later.
    Undeliverable { message: MessageId, why: String },
    /// It was handed over.
    AnswerGiven { ask: AskId },
    /// It was not, and why.
    AnswerNotGiven { ask: AskId, why: Why },
    /// When a session that is parked at a usage limit may go on by itself, by the user's bounds, and what time it is.
    ReturnPlanned { at: Option<WallMs>, now: WallMs },
    /// Its agent has used so much by now.
    Used { cost_micros: u64, tokens: u64 },
    /// It was looked at what keeps an idle session awake.
    UseChecked { spell: u64, cause: StopCause, usage: Use },
    /// What the rules say about this very question of this very process: the next one may ask the same
    /// with other programs at hand.
    Judged { generation: u32, ask: Ask, verdict: Verdict },
    /// Whether the worktree could be saved.
    SaveChecked { op: OpId, result: Result<(), Why> },
    /// The screen is kept as of this offset.
    TerminalCaptured { op: OpId, screen_at: u64 },
    /// Screen or conversation could not be kept.
    CaptureFailed { op: OpId, what: Captured, why: Why },
    /// Its turn could not be stopped.
    NotInterrupted { generation: u32, why: Why },
    /// It took longer than it may.
    CaptureOverdue { op: OpId, why: Why },
    /// The worktree is saved for a pause, or could not be.
    SnapshotTaken { op: OpId, moment: Moment, result: Result<Taken, Why> },
    /// It took longer than it may.
    SnapshotOverdue { op: OpId, moment: Moment, why: Why },
    /// It stands still, or could not be stopped.
    Frozen { op: OpId, result: Result<(), Why> },
    /// It goes on, or could not be let go.
    Thawed { op: OpId, result: Result<(), Why> },
    /// What an earlier process has left was ended.
    Swept { op: OpId, left: Leftovers },
    /// The session's own folder is gone while its process runs.
    FolderLost,
    /// A start's process is gone.
    ProcessEnded { generation: u32, exit: Exit },
    /// What was done with what it holds.
    ChoreEnded { op: OpId, result: Result<Done, Why> },
    /// The worktree is saved beside all else, or could not be.
    WorktreeSaved {
        op: Option<OpId>,
        occasion: Occasion,
        generation: u32,
        result: Result<SnapshotRef, Why>,
    },
    /// What could not be deleted of it is told, where something could not; else why it stays.
    WorktreeCleared { op: OpId, result: Result<Option<Why>, Why> },
    /// So many entries were summed up; this file has them.
    Compacted { op: Option<OpId>, entries: u64, original: String },
    /// What an iteration has left.
    LookedBack(LookedBack),
    /// The conversation stays as it was.
    NotCompacted { op: Option<OpId>, why: Why },
    /// A person has looked at the session not long ago.
    CompactionEarly { wait: Duration },
}

/// What a look before a start has shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    pub found: Option<Found>,
    /// What came of a set-up that ran again.
    pub set_up: Option<Vec<String>>,
    /// Messages that the agent took, and that its former process took with it before anything was written
    /// down: to the one that begins now they were never said.
    pub forgotten: Vec<String>,
    /// Messages in doubt that it has never heard of either.
    pub unheard: Vec<MessageId>,
}

/// Whether a session that does nothing is used all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is, or that cannot be known.
    InUse,
    Free,
}

/// What a pause has saved of a worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    pub snapshot: Option<SnapshotRef>,
    /// What would be lost with the worktree.
    pub left_out: PathList,
    pub warning: Option<Why>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    PutAside { place: String },
    Restored { snapshot: SnapshotRef, notes: Vec<String> },
    BroughtBack,
    Emptied,
}
