//! What comes in: commands from people, outcomes from adapters, signs from agents, timers.

mod sign;
mod world;

use crate::event::Spot;
use crate::gate::GateCommand;
use crate::ids::{AskId, MessageId, OpId, PlanId, SessionId};
use crate::leftover::Leftovers;
use crate::limits::Limits;
use crate::looping::{LookedBack, LoopChange};
use crate::pause::{Captured, Moment, OnTimeout, PauseMode, PauseReason};
use crate::plan::{PlanCommand, PlanOutcome};
use crate::reason::Why;
use crate::refusal::ResumeFault;
use crate::session::{Process, StopCause};
use crate::spec::{IdleLimit, Spec};
use crate::subject::Subject;
use crate::talk::Ask;
use crate::timer::{TimerKey, WallMs};
use crate::tree::{Clearing, Found, Occasion, PathList, SnapshotRef};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub use sign::{Hearing, Sign};
pub use world::{Exit, World};

/// One thing to decide on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A call asks for something.
    Command(Command),
    /// An effect has had an end.
    Outcome {
        /// The session.
        session: SessionId,
        /// What came of it.
        outcome: Outcome,
    },
    /// An agent was seen to do something.
    Sign {
        /// The session.
        session: SessionId,
        /// The start of its process that this is about.
        generation: u32,
        /// Where it was seen.
        spot: Spot,
        /// When it was heard.
        hearing: Hearing,
        /// What was seen.
        sign: Sign,
    },
    /// The configuration says how many agents may run at once.
    Limits(Limits),
    /// The configuration file was read: what is wrong with it, if anything is.
    ConfigRead(Option<String>),
    /// A call asks for something of the gate.
    Gate(GateCommand),
    /// What the gate has stopped is written down, or could not be.
    GateKept {
        /// The operation.
        op: OpId,
        /// Why not, if not.
        result: Result<(), Why>,
    },
    /// A call asks for something of a plan.
    Plan(PlanCommand),
    /// An effect about a plan has had an end.
    PlanOutcome {
        /// The plan.
        plan: PlanId,
        /// What came of it.
        outcome: PlanOutcome,
    },
    /// After this daemon's own start every session was told what the world looks like.
    AllObserved,
    /// The time of a timer has come.
    TimerFired {
        /// What it is about.
        subject: Subject,
        /// What it was set for.
        key: TimerKey,
    },
    /// The machine is short of memory.
    MemoryShort,
    /// What was being done for a session took the daemon down, or cannot be done at all.
    Broke {
        /// The session.
        session: SessionId,
        /// What was being done.
        what: String,
        /// What came of it.
        why: String,
    },
    /// What the world looks like after this daemon's own start.
    Observed {
        /// The session.
        session: SessionId,
        /// What was found.
        world: World,
    },
}

impl Input {
    /// What this is about.
    pub fn subject(&self) -> Subject {
        match self {
            Self::Command(command) => command.session().clone().into(),
            Self::Outcome { session, .. }
            | Self::Sign { session, .. }
            | Self::Broke { session, .. }
            | Self::Observed { session, .. } => session.clone().into(),
            Self::Limits(_)
            | Self::ConfigRead(_)
            | Self::Gate(_)
            | Self::GateKept { .. }
            | Self::AllObserved
            | Self::MemoryShort => Subject::House,
            Self::Plan(command) => Subject::Plan(command.plan().clone()),
            Self::PlanOutcome { plan, .. } => Subject::Plan(plan.clone()),
            Self::TimerFired { subject, .. } => subject.clone(),
        }
    }
}

/// What a person can ask of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "the fields are named like the session's own, where they are explained"
)]
pub enum Command {
    /// A session of its own.
    New { id: SessionId, name: String, spec: Box<Spec>, agent_ref: Option<String> },
    /// A message.
    Send { session: SessionId, text: String },
    /// Stop and keep everything.
    Pause {
        session: SessionId,
        mode: PauseMode,
        reason: PauseReason,
        on_timeout: OnTimeout,
        #[serde(default)]
        clearing: Clearing,
    },
    /// Stop and keep everything, and go on by itself when the clock on the wall shows this time.
    PauseUntil {
        session: SessionId,
        mode: PauseMode,
        on_timeout: OnTimeout,
        clearing: Clearing,
        until: WallMs,
    },
    /// Call a pause off.
    CancelPause { session: SessionId },
    /// Go on.
    Resume { session: SessionId, prompt: Option<String> },
    /// Begin anew, with this first message.
    Restart { session: SessionId, agent_ref: Option<String>, prompt: Option<String> },
    /// End the process, keep the session.
    Stop { session: SessionId, cause: StopCause },
    /// Suspend it after so much idle time.
    LimitIdle { session: SessionId, limit: IdleLimit },
    /// Put the session aside.
    Remove {
        session: SessionId,
        #[serde(default)]
        running: IfRunning,
    },
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
    Answer {
        session: SessionId,
        ask: Option<AskId>,
        answer: String,
        /// Why it is a no.
        reason: Option<String>,
    },
    /// Have the rules answer what it asks, or not.
    SetAutoYes { session: SessionId, on: bool },
    /// Note that somebody begins to type into its terminal.
    BeginTyping { session: SessionId },
    /// Change what a loop is asked to be.
    SetLoop { session: SessionId, change: LoopChange },
}

impl Command {
    /// The session that is meant.
    pub fn session(&self) -> &SessionId {
        match self {
            Self::New { id: session, .. }
            | Self::Send { session, .. }
            | Self::Pause { session, .. }
            | Self::PauseUntil { session, .. }
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
    /// It is stopped first.
    Stop,
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each names the effect that it answers")]
pub enum Outcome {
    WorktreeMade {
        op: OpId,
        worktree: String,
        branch: Option<String>,
        notes: Vec<String>,
    },
    WorktreeFailed {
        op: OpId,
        why: Why,
    },
    StartChecked {
        op: OpId,
        found: Option<Found>,
        set_up: Option<Vec<String>>,
        forgotten: Vec<String>,
        unheard: Vec<MessageId>,
    },
    StartUnfit {
        op: OpId,
        fault: ResumeFault,
    },
    ProcessStarted {
        op: OpId,
        generation: u32,
        process: Process,
        began_at: u64,
    },
    ProcessNotStarted {
        op: OpId,
        fault: ResumeFault,
    },
    Delivered {
        message: MessageId,
    },
    NotDelivered {
        message: MessageId,
        why: String,
    },
    /// It was handed over, and nothing shows that the agent took it.
    NotTaken {
        message: MessageId,
    },
    /// It cannot be handed over as it is, now or later.
    Undeliverable {
        message: MessageId,
        why: String,
    },
    AnswerGiven {
        ask: AskId,
    },
    AnswerNotGiven {
        ask: AskId,
        why: Why,
    },
    /// The user's bounds have been asked about a session that is parked at a usage limit.
    ReturnPlanned {
        /// When it may go on by itself, if it may.
        at: Option<WallMs>,
        /// What the clock on the wall shows.
        now: WallMs,
    },
    /// Nothing keeps an idle session awake.
    NotInUse {
        spell: u64,
        cause: StopCause,
    },
    /// Something does, or it cannot be known.
    InUse {
        spell: u64,
        cause: StopCause,
    },
    /// What the rules say about this very question of this very process: the next one may ask the same
    /// with other programs at hand.
    Judged {
        generation: u32,
        ask: Ask,
        verdict: Verdict,
    },
    CanSave {
        op: OpId,
    },
    CannotSave {
        op: OpId,
        why: Why,
    },
    TerminalCaptured {
        op: OpId,
        screen_at: u64,
    },
    CaptureFailed {
        op: OpId,
        what: Captured,
        why: Why,
    },
    NotInterrupted {
        generation: u32,
        why: Why,
    },
    /// It took longer than it may.
    CaptureOverdue {
        op: OpId,
        why: Why,
    },
    SnapshotTaken {
        op: OpId,
        moment: Moment,
        snapshot: Option<SnapshotRef>,
        left_out: PathList,
        warning: Option<Why>,
    },
    SnapshotFailed {
        op: OpId,
        moment: Moment,
        why: Why,
    },
    /// It took longer than it may.
    SnapshotOverdue {
        op: OpId,
        moment: Moment,
        why: Why,
    },
    ProcessFrozen {
        op: OpId,
    },
    NotFrozen {
        op: OpId,
        why: Why,
    },
    Thawed {
        op: OpId,
    },
    NotThawed {
        op: OpId,
        why: Why,
    },
    Swept {
        op: OpId,
        left: Leftovers,
    },
    /// The session's own folder is gone while its process runs.
    FolderLost,
    ProcessEnded {
        generation: u32,
        exit: Exit,
    },
    PutAside {
        op: OpId,
        place: String,
    },
    NotPutAside {
        op: OpId,
        why: Why,
    },
    WorktreeSaved {
        op: Option<OpId>,
        occasion: Occasion,
        generation: u32,
        snapshot: SnapshotRef,
    },
    WorktreeNotSaved {
        op: Option<OpId>,
        occasion: Occasion,
        why: Why,
    },
    WorktreeCleared {
        op: OpId,
        leftover: Option<Why>,
    },
    WorktreeStays {
        op: OpId,
        why: Why,
    },
    WorktreeRestored {
        op: OpId,
        snapshot: SnapshotRef,
        notes: Vec<String>,
    },
    NotRestored {
        op: OpId,
        why: Why,
    },
    BroughtBack {
        op: OpId,
    },
    NotBroughtBack {
        op: OpId,
        why: Why,
    },
    Emptied {
        op: OpId,
    },
    NotEmptied {
        op: OpId,
        why: Why,
    },
    /// So many entries were summed up; this file has them.
    Compacted {
        op: Option<OpId>,
        entries: u64,
        original: String,
    },
    LookedBack(LookedBack),
    NotCompacted {
        op: Option<OpId>,
        why: Why,
    },
    /// A person has looked at the session not long ago.
    CompactionEarly {
        wait: Duration,
    },
}
