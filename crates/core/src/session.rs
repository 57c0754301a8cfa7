//! One session: what is known about it and what it is doing.

use crate::ids::{OpId, SessionId};
pub use crate::known::{
    Agent, Ahead, Bar, Course, Damage, Place, Saved, Seen, SetAside, Starts, Talk, Times, Trashed,
    Upkeep,
};
use crate::pause::PauseRecord;
pub use crate::phase::{
    AfterStop, Chore, Deferral, Deferred, Pause, Phase, Rest, Start, StartCause, StartStep,
    StopCause,
};
use crate::rare::Rare;
use crate::reason::{Operation, SafeRule, Why};
use crate::refusal::Site;
use crate::rule::{Doing, Rule};
pub use crate::run::{Process, Rejection, Run, Spoken};
use crate::safe::ScreenState;
use crate::spec::{Mode, RefOrigin, SignSource, Spec};
use crate::spending::Spending;
use crate::status::Status;
use crate::talk::{Delivery, Message, Turn};
pub use crate::timer::WallMs;
use crate::triage::Triage;
use serde::{Deserialize, Serialize};

/// What an agent is told that comes back to what it was in the middle of.
pub(crate) const CONTINUE: &str = "[glis] Continue from where we left off.";
/// One failure may be chance, and the second haste; what fails three times fails again.
pub const FAILED_STARTS_MAX: u32 = 3;

/// Everything that is known about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub name: String,
    pub spec: Spec,
    pub phase: Phase,
    /// What is known of the agent's process, while one is known to live.
    pub run: Option<Box<Run>>,
    pub place: Place,
    pub agent: Agent,
    pub talk: Talk,
    pub times: Times,
    pub saved: Saved,
    pub ahead: Ahead,
    pub course: Course,
    pub starts: Rare<Starts>,
    pub upkeep: Rare<Upkeep>,
    /// How a person has put it among the others.
    #[serde(default)]
    pub triage: Rare<Triage>,
    /// What it has used of its budget.
    #[serde(default)]
    pub spending: Rare<Spending>,
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
        self.talk.cut_off || self.ahead.limits.unanswered
    }

    /// Whether its process has ended by itself before it got what waits for it. Nothing starts it again but a person.
    pub fn ended_unheard(&self) -> bool {
        let rests = self.phase == Phase::Rest(Rest::Suspended);
        rests && self.course.rule == Rule::EndedByItself && !self.talk.queue.is_empty()
    }

    /// The public word for what it is doing.
    pub fn status(&self) -> Status {
        match &self.phase {
            Phase::Starting(start) => match start.cause {
                StartCause::New => Status::Created,
                // What never ran cannot come back.
                StartCause::Message | StartCause::Resume if !self.agent.ran => Status::Created,
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
        self.spec.traits.refs == RefOrigin::None
            || self.agent.agent_ref.is_some()
            || !self.agent.ran
    }

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

    pub fn can_resume(&self) -> bool {
        match &self.phase {
            Phase::Rest(Rest::Paused(_) | Rest::Suspended | Rest::Interrupted) => self.resumable(),
            Phase::Rest(Rest::Created) => !self.talk.queue.is_empty(),
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
        let never_worked = !self.agent.ran || self.spec.traits.refs != RefOrigin::None;
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
        sleeps && self.course.failed_starts < FAILED_STARTS_MAX
    }

    /// Whether its process starts together with it, or only at its first message.
    pub fn starts_at_once(&self) -> bool {
        self.spec.mode == Mode::Terminal || self.spec.traits.refs == RefOrigin::None
    }

    /// Whose folder it works in.
    pub fn site(&self) -> Site {
        if self.spec.in_place { Site::InPlace } else { Site::Worktree }
    }

    /// The name that it is about to have, where it comes back from the trash.
    pub(crate) fn returns_as(&self) -> Option<&String> {
        if let Phase::Chore { chore: Chore::Return(name), .. } = &self.phase {
            Some(name)
        } else {
            None
        }
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
        at_rest
            && self.agent.generation > 0
            && self.place.worktree.is_some()
            && self.saved.baseline.is_none()
    }

    /// Whether its conversation is to be made short once it is not used, or because a caller asks.
    pub fn may_be_compacted(&self) -> bool {
        self.upkeep.compaction.asked.is_some() || self.is_worth_compacting()
    }

    /// Whether its conversation is to be made short once it is not used.
    pub(crate) fn is_worth_compacting(&self) -> bool {
        let rests = matches!(&self.phase, Phase::Rest(Rest::Paused(_) | Rest::Suspended));
        rests && !self.upkeep.compaction.is_given_up()
    }

    pub fn failure(&self) -> Option<&Why> {
        if let Phase::Rest(Rest::Failed(why)) = &self.phase { Some(why) } else { None }
    }

    /// Whether its agent refuses to begin, and has handed back a message for that reason.
    pub fn refuses_to_work(&self) -> bool {
        let handed_back =
            |message: &Message| message.delivery == Delivery::Queued && message.refused > 0;
        self.rejected().is_some() && self.talk.queue.front().is_some_and(handed_back)
    }

    pub fn in_flight(&self) -> Option<&Message> {
        self.talk.queue.front().filter(|message| message.delivery == Delivery::Sent)
    }

    /// Whether something of it is under way, or waits for its turn.
    pub fn stirs(&self) -> bool {
        !matches!(self.phase, Phase::Rest(_)) || self.starts.deferred.is_some()
    }

    /// Whether an agent of it runs, or is about to. A worktree that is being made is nothing yet.
    pub fn is_at_work(&self) -> bool {
        match &self.phase {
            Phase::Starting(start) => start.step != StartStep::Worktree,
            Phase::Live => true,
            // What was at rest before is only saved.
            Phase::Pausing(pause) => pause.from.is_none(),
            // A paused one whose process was kept stands still, and is only ended.
            Phase::Stopping { then: AfterStop::StayPaused(_), .. }
            | Phase::Rest(_)
            | Phase::Chore { .. } => false,
            Phase::Stopping { .. } => self.place.worktree.is_some(),
        }
    }

    /// Whether its worktree is being made for an agent that starts at once.
    pub(crate) fn is_coming(&self) -> bool {
        let made_for = |start: &Start| start.step == StartStep::Worktree;
        matches!(&self.phase, Phase::Starting(start) if made_for(start))
            && (self.starts_at_once() || !self.talk.queue.is_empty())
    }

    /// What its agent is told where no person says how it goes on: with all others, at its time, after a
    /// reboot. One that was cut off would stand still. A limit, a loop and a task have words of their own, a
    /// message that waits tells of the cut, and what was asked is for a person still.
    pub fn continuation(&self) -> Option<String> {
        let told = self.ahead.limits.unanswered
            || self.ahead.looped.as_ref().is_some_and(|looped| looped.goes_on())
            || self.spec.task.is_some()
            || !self.talk.queue.is_empty()
            || !self.talk.was_asking.is_empty();
        (self.talk.cut_off && !told).then(|| CONTINUE.to_owned())
    }
}
