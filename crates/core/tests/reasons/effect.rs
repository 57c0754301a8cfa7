//! Why an effect may be dispatched: what is durable by then. For the search and the simulator.

use glis_core::effect::Effect;
use glis_core::gate::GateStep;
use glis_core::looping::{Loop, LoopStage};
use glis_core::pause::PauseStep;
use glis_core::session::{StartCause, StartStep};
use glis_core::verdict::Answerer;
use glis_core::{Event, Gate, GateEvent, House, Phase, Recorded, Session, TimerKey};

/// The step of the pause that is under way.
pub(crate) fn step_of(session: &Session) -> Option<PauseStep> {
    if let Phase::Pausing(pause) = &session.phase { Some(pause.step) } else { None }
}

/// Whether what is durable of the house gives a reason for the effect.
pub(crate) fn house_has_reason(house: &House, effect: &Effect) -> bool {
    match (effect, house.gate()) {
        // What a person has taken out of it since is written down as well.
        (Effect::KeepGate { op }, Gate::Paused(shut))
        | (Effect::SetTimer { key: TimerKey::Gate(op), .. }, Gate::Pausing(shut)) => shut.op == *op,
        (Effect::KeepGate { op }, Gate::Pausing(shut)) => {
            let at_work = house.all_sessions().any(Session::is_at_work);
            shut.op == *op && shut.step == GateStep::Keeping && !at_work
        }
        (Effect::DropGate { .. }, Gate::Open { .. }) => true,
        (_, _) => false,
    }
}

/// Whether what is durable of the session gives a reason for the effect.
#[expect(clippy::too_many_lines, reason = "every effect is named once")]
pub(crate) fn has_reason(session: &Session, effect: &Effect) -> bool {
    let step = step_of(session);
    match effect {
        Effect::StartProcess { op, generation } => {
            matches!(&session.phase, Phase::Starting(start)
                if start.op == *op && start.step == StartStep::Process)
                && session.agent.generation == *generation
        }
        Effect::Deliver { message, .. } => session.in_flight().is_some_and(|m| m.id == *message),
        Effect::GiveAnswer { ask, .. } => {
            session.asks().iter().any(|open| open.id == ask.id && open.answering)
        }
        Effect::Judge { ask, .. } => session
            .asked()
            .iter()
            .any(|open| open.is_same(ask) && open.answerer == Answerer::Rules && !open.answering),
        Effect::Interrupt { .. } => step == Some(PauseStep::Interrupting),
        Effect::StopProcess { generation, .. } => {
            step.is_none()
                || step == Some(PauseStep::Ending)
                || *generation != session.agent.generation
                || !session.runs()
        }
        Effect::Freeze { generation, .. } => {
            step == Some(PauseStep::Freezing) && *generation == session.agent.generation
        }
        // What could not be stopped goes on, too, and so does what a lost pause has stopped, also where
        // a shut gate begins the next one.
        Effect::Thaw { generation, .. } => {
            let thaws = matches!(&session.phase, Phase::Starting(start)
                if start.step == StartStep::Thaw);
            let runs = session.phase == Phase::Live
                || matches!(step, Some(PauseStep::Boundary | PauseStep::Capturing));
            (thaws || runs) && *generation == session.agent.generation
        }
        Effect::DoChore { op, .. } => {
            matches!(&session.phase, Phase::Chore { op: own, .. } if own == op)
        }
        Effect::ClearWorktree { .. } => {
            step == Some(PauseStep::Clearing) && session.saved.baseline.is_some()
        }
        Effect::LookBack { iteration } => session.ahead.looped.as_ref().is_some_and(|looped| {
            looped.iteration == *iteration && matches!(looped.stage, LoopStage::Looking { .. })
        }),
        Effect::Compact { op: Some(op) } => session.upkeep.compaction.asked == Some(*op),
        Effect::CutSetUpShort => matches!(&session.phase, Phase::Stopping { .. }),
        // Of a loop that was stopped, paused or begun anew, or of a task whose work is judged.
        Effect::CutLineShort => {
            let looks = |looped: &Loop| matches!(looped.stage, LoopStage::Looking { .. });
            let pauses = matches!(session.phase, Phase::Pausing(_));
            let looked_at = session.ahead.looped.as_deref().is_some_and(looks);
            session.spec.task.is_some() || pauses || !looked_at
        }
        Effect::Sweep { .. } | Effect::CheckSave { .. } => step == Some(PauseStep::Boundary),
        Effect::CaptureTerminal { .. } => step == Some(PauseStep::Capturing),
        Effect::TakeSnapshot { .. } => {
            matches!(step, Some(PauseStep::Saving | PauseStep::Sealing))
        }
        // A step of a pause, a worktree that a stop waits for, a chore, or what no operation waits for any more.
        Effect::CutShort { op } => {
            let makes = matches!(&session.phase, Phase::Stopping { .. })
                && session.place.worktree.is_none();
            let own = session.operation().is_some_and(|(own, _)| own == *op);
            let chore = matches!(&session.phase, Phase::Chore { .. });
            !own || step.is_some() || makes || chore
        }
        Effect::CheckIdle { spell, .. } | Effect::SetTimer { key: TimerKey::Idle(spell), .. } => {
            session.idle_spell() == Some(*spell)
        }
        Effect::PlanReturn => session.parked().is_some() || session.is_to_be_tried_again(),
        Effect::SetTimer { key: TimerKey::ResumeAt(at), .. } => session.appointment() == Some(*at),
        Effect::DropTimer { key: TimerKey::ResumeAt(at) } => session.appointment() != Some(*at),
        Effect::DropTimer { key } => {
            session.idle_spell().is_none_or(|spell| *key != TimerKey::Idle(spell))
        }
        // It is of the house, or of a plan.
        Effect::KeepGate { .. }
        | Effect::DropGate { .. }
        | Effect::BeginRun { .. }
        | Effect::JudgeRun { .. }
        | Effect::MergeRun { .. } => false,
        Effect::MakeWorktree { .. }
        | Effect::CheckStart { .. }
        | Effect::SaveWorktree { .. }
        | Effect::Compact { op: None }
        | Effect::SetTimer { .. } => true,
    }
}

/// Judges what an event is worth by the gate as it was before it, and by the house as it is after it.
pub(crate) fn judge_gate(before: &Gate, house: &House, recorded: &Recorded) -> Result<(), String> {
    let fault = |what: &str| Err(format!("{what}: {recorded:?} at {before:?}"));
    let starts = matches!(recorded.event, Event::StartBegan { .. } | Event::ThawBegan { .. });
    if starts && before.shut().is_some() {
        let id = recorded.subject.session();
        let restarts = id.and_then(|id| house.session(id)).is_some_and(|session| {
            matches!(&session.phase, Phase::Starting(start) if start.cause == StartCause::Restart)
        });
        // A restart that had ended its former process before is not left half done.
        return if restarts { Ok(()) } else { fault("something starts at a shut gate") };
    }
    let Event::Gate(event) = &recorded.event else { return Ok(()) };
    let at_work = house.all_sessions().any(Session::is_at_work);
    match (event, before) {
        (GateEvent::Paused { .. }, Gate::Pausing(_)) if !at_work => Ok(()),
        (GateEvent::Paused { .. }, _) => fault("paused, and it is not so"),
        (GateEvent::Resumed { .. }, Gate::Open { told: true, .. }) => Ok(()),
        (GateEvent::Resumed { .. }, _) => fault("resumed, and that was told or never paused"),
        (GateEvent::Stopped { .. }, _) if at_work => fault("not everything has stopped"),
        (GateEvent::Shut { .. }, Gate::Pausing(_) | Gate::Paused(_)) => fault("shut twice"),
        (GateEvent::Opened { .. }, Gate::Open { .. }) => fault("opened twice"),
        (_, _) => Ok(()),
    }
}

/// Judges a start by the places that there are. What the gate has stopped comes back whatever the limit,
/// and what is restarted has its place.
pub(crate) fn judge_limits(
    before: &Gate,
    house: &House,
    recorded: &Recorded,
) -> Result<(), String> {
    let (Event::StartBegan { cause, .. } | Event::ThawBegan { cause, .. }, Some(id)) =
        (&recorded.event, recorded.subject.session())
    else {
        return Ok(());
    };
    let returns = matches!(before, Gate::Open { returning, .. } if returning.contains(id));
    let others = house.all_sessions().filter(|session| session.id != *id && session.is_at_work());
    if *cause == StartCause::Restart || returns || !house.limits().are_reached_by(others.count()) {
        return Ok(());
    }
    Err(format!("{recorded:?} and there is no place: {:?}", house.limits()))
}
