//! One session: what is known about it and what it is doing.

use crate::by_itself::ByItself;
use crate::compaction::Compaction;
use crate::ids::{OpId, SessionId};
use crate::leftover::Leftovers;
use crate::looping::Loop;
use crate::pause::PauseRecord;
pub use crate::phase::{
    AfterStop, Chore, Deferral, Deferred, Pause, Phase, Rest, Start, StartCause, StartStep,
    StopCause,
};
use crate::queue::Queue;
use crate::reason::{Operation, SafeRule, Why};
use crate::refusal::Site;
use crate::rule::{Doing, Rule};
pub use crate::run::{Process, Rejection, Run, Spoken};
use crate::safe::ScreenState;
use crate::spec::{Mode, RefOrigin, SignSource, Spec};
use crate::status::Status;
use crate::talk::{Ask, Delivery, Message, Turn};
pub use crate::timer::WallMs;
use crate::tree::{Found, PathList, Restored, SnapshotRef};
use crate::usage_limit::UsageLimits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One failure may be chance, and the second haste; what fails three times fails again.
pub const FAILED_STARTS_MAX: u32 = 3;

/// Everything that is known about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its name.
    pub name: String,
    /// What it was asked to be.
    pub spec: Spec,
    /// What it is doing.
    pub phase: Phase,
    /// Where it works, once that is there.
    pub worktree: Option<String>,
    /// What its worktree could not get when it was made.
    pub notes: Vec<String>,
    /// Its branch, if it has one of its own.
    pub branch: Option<String>,
    /// The agent's own session id.
    pub agent_ref: Option<String>,
    /// Ids it had before a restart or a rotation.
    pub former_refs: Vec<String>,
    /// A start has succeeded since the agent's conversation began: there is one to go on with.
    pub ran: bool,
    /// What a restart has set aside, until it succeeds.
    pub set_aside: Option<Box<SetAside>>,
    /// Goes up with every start of its process.
    pub generation: u32,
    /// What is known of the agent's process, while one is known to live.
    pub run: Option<Run>,
    /// Which rule decided the last change of status.
    pub rule: Rule,
    /// Messages not yet taken, oldest first.
    pub queue: Queue,
    /// The last turn ended with the process, not by itself.
    pub cut_off: bool,
    /// Why the last turn came to nothing, in the agent's words, if it did.
    pub turn_failed: Option<String>,
    /// What it asked when it was last paused or its process ended, until the agent has words again.
    pub was_asking: Vec<Ask>,
    /// What a person has allowed for the session, which is not asked about again.
    pub allowed: Vec<Ask>,
    /// How far its stream and its transcript are accounted for.
    pub seen: Seen,
    /// How far the transcripts of conversations that it was in before are accounted for, by their ids.
    pub seen_before: BTreeMap<String, u64>,
    /// A usage limit lasts until then.
    pub limit_until: Option<String>,
    /// What is remembered of usage limits.
    pub limits: Box<UsageLimits>,
    /// What is remembered of resumes that no person has asked for.
    pub by_itself: ByItself,
    /// What the last process left behind.
    pub leftovers: Leftovers,
    /// What became of its own folder while a process ran.
    pub folder: FolderState,
    /// Why the last message was not handed over, until another one is.
    pub undelivered: Option<String>,
    /// A start of it waits, and begins by itself as soon as it may.
    pub deferred: Option<Deferred>,
    /// Starts that have failed in a row.
    pub failed_starts: u32,
    /// Records that may have been about it were lost, which the user has not acknowledged yet.
    pub damage: Option<Damage>,
    /// What was done with what it holds took the daemon down, which the user has not acknowledged yet.
    pub barred: Option<Bar>,
    /// When it was created.
    pub created_at: WallMs,
    /// When something last happened.
    pub last_active_at: WallMs,
    /// How often it has become idle, or has got another time for it: each spell has its own timer.
    pub idle_spells: u64,
    /// When it was last resumed.
    pub resumed_at: Option<WallMs>,
    /// The last pause, while it lasts.
    pub paused_at: Option<WallMs>,
    /// When that pause, or the one under way, ends by itself.
    pub resume_at: Option<WallMs>,
    /// It was found that the pause does not end by itself, by the user's bounds.
    #[serde(default)]
    pub stays: bool,
    /// The latest snapshot of its worktree.
    pub snapshot: Option<SnapshotRef>,
    /// The snapshot of its worktree as the last process left it, while none runs.
    pub baseline: Option<SnapshotRef>,
    /// A caller waits for a snapshot by this operation.
    pub saving: Option<OpId>,
    /// Why the last attempt to save the worktree failed, until one succeeds.
    pub unsaved: Option<Why>,
    /// How the worktree was found before the last start.
    pub found: Option<Found>,
    /// What the worktree was restored to, until the next start.
    pub restored: Option<Restored>,
    /// What changed in the worktree behind the agent's back, until it is told.
    pub changed: Option<PathList>,
    /// Where it is, once it was removed and until that is emptied.
    pub trashed: Option<Box<Trashed>>,
    /// How the compaction of its conversation stands.
    pub compaction: Box<Compaction>,
    /// How its loop stands, if it is one.
    pub looped: Option<Box<Loop>>,
}

/// What became of a session's own folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FolderState {
    /// As far as anybody knows it is there.
    Whole,
    /// It was deleted under a running process, which the user has not acknowledged yet.
    Lost,
}

/// What damage to the log has done to a session's record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Records that are lost, at most.
    pub lost: u64,
    /// Where the damaged log is kept.
    pub kept: String,
}

/// Why nothing is done with what a session holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    /// What was being done.
    pub what: String,
    /// What came of it.
    pub why: String,
}

/// Where a removed session is until its trash is emptied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trashed {
    /// When it was put there.
    pub at: WallMs,
    /// The folder.
    pub place: String,
    /// What it was before.
    pub from: Rest,
}

/// What was agreed with an agent before a restart, which counts again if the restart fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The first message of the fresh conversation, once it has begun.
    pub prompt: Option<String>,
    /// The agent's own session id.
    pub agent_ref: Option<String>,
    /// A process ran under it.
    pub ran: bool,
    /// Its last turn ended with the process.
    pub cut_off: bool,
    /// How far its transcript is accounted for.
    pub transcript: u64,
    /// A usage limit had ended its last turn.
    pub unanswered: bool,
}

/// Positions up to which an agent's signs are accounted for. A restarted daemon reads everything
/// again and leaves out what lies before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Offset in the session's output.
    pub stream: u64,
    /// Offset in the agent's transcript of the present conversation.
    pub transcript: u64,
    /// Offset in what the agent's hooks have written.
    #[serde(default)]
    pub hooks: u64,
}

/// Where nothing runs, no turn is under way.
static NO_TURN: Turn = Turn { due: false, open: false, tools: Vec::new(), background: 0 };

impl Session {
    /// The agent's process, while one is known to live.
    pub fn process(&self) -> Option<&Process> {
        self.run.as_ref().map(|run| &run.process)
    }

    /// Whether a process is known to live.
    pub fn runs(&self) -> bool {
        self.run.is_some()
    }

    /// Whether the agent showed that it takes messages.
    pub fn is_ready(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.ready)
    }

    /// What the agent refused at its start, if it did.
    pub(crate) fn rejected(&self) -> Option<&Rejection> {
        self.run.as_ref()?.rejected.as_ref()
    }

    /// The agent's turn, by structured signs.
    pub fn turn(&self) -> &Turn {
        self.run.as_ref().map_or(&NO_TURN, |run| &run.turn)
    }

    /// The screen of a program that gives no better sign.
    pub fn screen(&self) -> &ScreenState {
        self.run.as_ref().map_or(&ScreenState::Flowing, |run| &run.screen)
    }

    /// Whether it is paused and its process was kept: it lives, stopped where it is.
    pub fn is_frozen(&self) -> bool {
        matches!(self.phase, Phase::Rest(Rest::Paused(_))) && self.runs()
    }

    /// Whether a process that was stopped in place is let go on.
    pub(crate) fn thaws(&self) -> bool {
        matches!(&self.phase, Phase::Starting(start) if start.step == StartStep::Thaw)
    }

    /// Whether its last turn was broken off, by the end of its process or by a usage limit.
    pub fn is_unfinished(&self) -> bool {
        self.cut_off || self.limits.unanswered
    }

    /// Whether its process has ended by itself before it got what waits for it. Nothing starts it again but a person.
    pub fn ended_unheard(&self) -> bool {
        let rests = self.phase == Phase::Rest(Rest::Suspended);
        rests && self.rule == Rule::EndedByItself && !self.queue.is_empty()
    }

    /// The public word for what it is doing.
    pub fn status(&self) -> Status {
        match &self.phase {
            Phase::Starting(start) => match start.cause {
                StartCause::New => Status::Created,
                // What never ran cannot come back.
                StartCause::Message | StartCause::Resume if !self.ran => Status::Created,
                StartCause::Message | StartCause::Resume | StartCause::Restart => Status::Resuming,
            },
            Phase::Pausing(_) | Phase::Stopping { then: AfterStop::Pause { .. }, .. } => {
                Status::Pausing
            }
            Phase::Stopping { then: AfterStop::StayPaused(_), .. } => Status::Paused,
            Phase::Stopping { .. } if !self.expects_process() => Status::Suspended,
            Phase::Live if self.pause_to_come().is_some() => Status::Pausing,
            Phase::Live | Phase::Stopping { .. } => self.live_status(),
            Phase::Rest(rest) | Phase::Chore { from: rest, .. } => rest.status(),
        }
    }

    /// What keeps the agent from being in a safe state.
    pub fn doing(&self) -> Doing {
        let turn = self.turn();
        if let Some(tool) = turn.tools.last() {
            let what = if tool.what.is_empty() { &tool.id } else { &tool.what };
            return Doing::Tool(what.clone());
        }
        if turn.background > 0 {
            return Doing::Background;
        }
        if !turn.open && self.in_flight().is_some() {
            return Doing::Receiving;
        }
        match (self.spec.traits.signs, *self.screen() == ScreenState::Flowing) {
            (SignSource::Structured, true | false) => Doing::TurnOpen,
            (SignSource::Screen, true) => Doing::Printing,
            (SignSource::Screen, false) => Doing::Silent,
        }
    }

    /// Whether the agent may be stopped right now, and by which rule.
    pub fn safe_rule(&self) -> Option<SafeRule> {
        match self.spec.traits.signs {
            SignSource::Structured => {
                if !self.asked().is_empty() {
                    return Some(SafeRule::WaitsForAnswer);
                }
                // What was just handed over may have begun a turn that we have not heard of yet.
                (!self.turn().under_way() && self.is_ready() && self.in_flight().is_none())
                    .then_some(SafeRule::TurnEnded)
            }
            SignSource::Screen => match self.screen() {
                ScreenState::AtPrompt { pattern } => {
                    Some(SafeRule::AtPrompt(format!("{pattern:?}")))
                }
                ScreenState::Asking { pattern, .. } => {
                    Some(SafeRule::AtQuestion(format!("{pattern:?}")))
                }
                ScreenState::Flowing | ScreenState::Silent => None,
            },
        }
    }

    /// Whether a process is known to live or to be on its way.
    pub fn expects_process(&self) -> bool {
        match &self.phase {
            Phase::Rest(_) => self.is_frozen(),
            Phase::Chore { .. } => false,
            Phase::Starting(start) => {
                matches!(start.step, StartStep::Process | StartStep::Ready | StartStep::Thaw)
            }
            // A stop of a start waits for a process to come; what follows a stop waits for one to go.
            Phase::Stopping { then, .. } => !then.saves_first() || self.runs(),
            Phase::Live => true,
            Phase::Pausing(_) => self.runs(),
        }
    }

    /// Whether it could be resumed by what is known without looking at the world.
    pub fn resumable(&self) -> bool {
        self.spec.traits.refs == RefOrigin::None || self.agent_ref.is_some() || !self.ran
    }

    /// Whether `pause` would do something.
    pub fn can_pause(&self) -> bool {
        match &self.phase {
            Phase::Live => true,
            Phase::Rest(rest) => match rest {
                Rest::Suspended | Rest::Interrupted | Rest::Created => true,
                Rest::Paused(_) | Rest::Completed | Rest::Failed(_) | Rest::Archived => false,
            },
            Phase::Starting(_)
            | Phase::Pausing(_)
            | Phase::Stopping { .. }
            | Phase::Chore { .. } => false,
        }
    }

    /// Whether `resume` would do something.
    pub fn can_resume(&self) -> bool {
        match &self.phase {
            Phase::Rest(Rest::Paused(_) | Rest::Suspended | Rest::Interrupted) => self.resumable(),
            Phase::Rest(Rest::Created) => !self.queue.is_empty(),
            Phase::Rest(Rest::Failed(_)) => self.failed_early() && self.resumable(),
            Phase::Rest(Rest::Completed | Rest::Archived)
            | Phase::Starting(_)
            | Phase::Live
            | Phase::Pausing(_)
            | Phase::Stopping { .. }
            | Phase::Chore { .. } => false,
        }
    }

    /// Whether it failed before there was anything to come to an end: its process was never there, or
    /// its agent never got ready. Once the reason is mended, the same start may succeed.
    pub fn failed_early(&self) -> bool {
        let never_worked = !self.ran || self.spec.traits.refs != RefOrigin::None;
        self.failure().is_some() && never_worked
    }

    /// Whether the next message starts its process. After so many failures in a row only a person
    /// who asks for it does: a message that comes again and again would be a crash loop.
    pub fn wakes(&self) -> bool {
        let sleeps = match &self.phase {
            Phase::Rest(Rest::Created) => true,
            Phase::Rest(Rest::Suspended) => self.resumable(),
            Phase::Rest(
                Rest::Paused(_)
                | Rest::Interrupted
                | Rest::Completed
                | Rest::Failed(_)
                | Rest::Archived,
            )
            | Phase::Starting(_)
            | Phase::Live
            | Phase::Pausing(_)
            | Phase::Stopping { .. }
            | Phase::Chore { .. } => false,
        };
        sleeps && self.failed_starts < FAILED_STARTS_MAX
    }

    /// Whether its process starts together with it, or only at its first message.
    pub fn starts_at_once(&self) -> bool {
        self.spec.mode == Mode::Terminal || self.spec.traits.refs == RefOrigin::None
    }

    /// Whose folder it works in.
    pub fn site(&self) -> Site {
        if self.spec.in_place { Site::InPlace } else { Site::Worktree }
    }

    /// The resting state behind whatever is under way.
    pub(crate) fn resting(&self) -> Rest {
        match &self.phase {
            Phase::Rest(rest) | Phase::Chore { from: rest, .. } => rest.clone(),
            Phase::Starting(start) => start.from.clone(),
            Phase::Pausing(pause) => pause.from.clone().unwrap_or(Rest::Interrupted),
            Phase::Stopping { then: AfterStop::StayPaused(record), .. } => {
                Rest::Paused(record.clone())
            }
            Phase::Live | Phase::Stopping { .. } => Rest::Interrupted,
        }
    }

    /// The operation under way.
    pub fn operation(&self) -> Option<(OpId, Operation)> {
        match &self.phase {
            Phase::Starting(start) => Some((
                start.op,
                match start.cause {
                    StartCause::New => Operation::New,
                    StartCause::Message => Operation::WakeUp,
                    StartCause::Resume => Operation::Resume,
                    StartCause::Restart => Operation::Restart,
                },
            )),
            Phase::Pausing(pause) => Some((pause.op, Operation::Pause)),
            Phase::Stopping { op, then, .. } => Some((
                *op,
                match then {
                    AfterStop::Rest | AfterStop::StayPaused(_) => Operation::Stop,
                    AfterStop::Restart { .. } => Operation::Restart,
                    AfterStop::Remove => Operation::Remove,
                    AfterStop::Pause { .. } => Operation::Pause,
                },
            )),
            Phase::Chore { op, chore, .. } => Some((
                *op,
                match chore {
                    Chore::PutAside => Operation::Remove,
                    Chore::Restore(_) => Operation::Restore,
                    Chore::Return(_) => Operation::Return,
                    Chore::Empty => Operation::Empty,
                },
            )),
            Phase::Live | Phase::Rest(_) => None,
        }
    }

    /// What the pause that it is in has to tell.
    pub fn pause_record(&self) -> Option<&PauseRecord> {
        if let Phase::Rest(Rest::Paused(record)) = &self.phase { Some(record) } else { None }
    }

    /// Whether its last process has left something that no snapshot is known to hold.
    pub fn is_left_unsaved(&self) -> bool {
        let at_rest = matches!(&self.phase, Phase::Rest(rest) if *rest != Rest::Archived);
        at_rest && self.generation > 0 && self.worktree.is_some() && self.baseline.is_none()
    }

    /// Whether its conversation is to be made short once it is not used, or because a caller asks.
    pub fn may_be_compacted(&self) -> bool {
        let rests = matches!(&self.phase, Phase::Rest(Rest::Paused(_) | Rest::Suspended));
        self.compaction.asked.is_some() || rests && !self.compaction.is_given_up()
    }

    /// Why it failed, if it did.
    pub fn failure(&self) -> Option<&Why> {
        if let Phase::Rest(Rest::Failed(why)) = &self.phase { Some(why) } else { None }
    }

    /// Whether its agent refuses to begin, and has handed back a message for that reason.
    pub fn refuses_to_work(&self) -> bool {
        let handed_back =
            |message: &Message| message.delivery == Delivery::Queued && message.refused > 0;
        self.rejected().is_some() && self.queue.front().is_some_and(handed_back)
    }

    /// The message that is on its way, if any.
    pub fn in_flight(&self) -> Option<&Message> {
        self.queue.front().filter(|message| message.delivery == Delivery::Sent)
    }
}
