//! What is to be done outside. Each effect may be carried out twice without harm, unless it says
//! otherwise; its end comes back as an [`Outcome`](crate::input::Outcome).

use crate::gate::GateSource;
use crate::ids::{MessageId, OpId, RunId};
use crate::pause::Moment;
use crate::phase::{Chore, StopCause};
use crate::talk::Ask;
use crate::timer::{TimerKey, When};
use crate::tree::Occasion;

/// How gently a process is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// No turn is open: close its input and terminate it.
    Quiet,
    /// A turn may be open: interrupt it first.
    Interrupt,
    /// At once.
    Kill,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Make or find the session's worktree.
    MakeWorktree { op: OpId },
    /// End the command that sets a fresh worktree up, or keep it from beginning. The worktree itself
    /// is made all the same.
    CutSetUpShort,
    /// End the command that says whether its work is done (`--until` of a loop, `accept` of a task), or
    /// keep it from beginning: nobody waits for its word any more. That of a loop has no outcome then.
    CutLineShort,
    /// See whether a start can succeed, and bring the worktree back if it is gone.
    CheckStart { op: OpId },
    /// Start the holder, unless one of this generation lives.
    StartProcess { op: OpId, generation: u32 },
    /// Hand a message over. Never twice.
    Deliver { generation: u32, message: MessageId, text: String },
    /// Hand an answer over. Never twice.
    GiveAnswer { generation: u32, ask: Ask, answer: String, reason: Option<String> },
    /// Say what the rules say about this question. Files and programs are looked up for it.
    Judge { generation: u32, ask: Ask },
    /// See whether the worktree could be saved, changing nothing, before a pause disturbs the agent.
    CheckSave { op: OpId },
    /// Tell the agent to stop its turn. Never twice.
    Interrupt { generation: u32 },
    /// Keep the screen.
    CaptureTerminal { op: OpId },
    /// Save the worktree, as a step of a pause.
    TakeSnapshot { op: OpId, moment: Moment },
    /// End the process and everything it started.
    StopProcess { generation: u32, urgency: Urgency },
    /// Stop the process and everything it started where they are, as a step of a pause.
    Freeze { op: OpId, generation: u32 },
    /// Let what was stopped in place go on. What runs goes on running.
    Thaw { op: OpId, generation: u32 },
    /// End what carries the session's mark and has no holder, as a step of a pause.
    Sweep { op: OpId },
    /// End what the operation is doing: it has taken too long, or nothing waits for it any more. Its
    /// outcome says so.
    CutShort { op: OpId },
    /// Say when this time has come. A timer of the same key is forgotten.
    SetTimer { key: TimerKey, when: When },
    /// Forget this timer. It may fire all the same, if its time has come meanwhile.
    DropTimer { key: TimerKey },
    /// See whether anything that only the world knows keeps an idle session awake: an attached
    /// terminal, text that was typed and not sent, work beside it.
    CheckIdle { spell: u64, cause: StopCause },
    /// Say when a session that is parked at a usage limit may go on by itself, by the user's bounds.
    PlanReturn,
    /// Do something with what it holds, while nothing runs.
    DoChore { op: OpId, chore: Chore },
    /// Save the worktree, beside whatever else goes on.
    SaveWorktree { op: Option<OpId>, occasion: Occasion, generation: u32 },
    /// Make the conversation short, if that is worth it, beside whatever else goes on. Where no caller
    /// has asked for it: only if it is long, and was not looked at for a while.
    Compact { op: Option<OpId> },
    /// Look at what an iteration has left, and have its work committed where that is wanted.
    LookBack { iteration: u32 },
    /// Remove the worktree, if its snapshot holds everything that may be asked of it.
    ClearWorktree { op: OpId },
    /// Of a plan: make what a run begins from, write its record, and make its session, unless it has one.
    BeginRun { run: RunId },
    /// Of a plan: have the work of a run committed and judged.
    JudgeRun { run: RunId },
    /// Of a plan: have the commit of a run merged that was accepted.
    MergeRun { run: RunId },
    /// Of the house: write down which sessions the gate has stopped, in the place of what was written
    /// down before.
    KeepGate { op: OpId },
    /// Of the house: take what was written down for a gate of an operation before this one away, or
    /// keep it aside where it was not to be asked.
    DropGate { before: OpId, source: GateSource },
}
