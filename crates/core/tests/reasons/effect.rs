//! Why an effect may be dispatched: what is durable by then. For the search and the simulator.

use glis_core::effect::Effect;
use glis_core::pause::PauseStep;
use glis_core::session::StartStep;
use glis_core::{Phase, Session, TimerKey};

/// The step of the pause that is under way.
pub(crate) fn step_of(session: &Session) -> Option<PauseStep> {
    if let Phase::Pausing(pause) = &session.phase { Some(pause.step) } else { None }
}

/// Whether what is durable of the session gives a reason for the effect.
pub(crate) fn has_reason(session: &Session, effect: &Effect) -> bool {
    let step = step_of(session);
    match effect {
        Effect::StartProcess { op, generation } => {
            matches!(&session.phase, Phase::Starting(start)
                if start.op == *op && start.step == StartStep::Process)
                && session.generation == *generation
        }
        Effect::Deliver { message, .. } => session.in_flight().is_some_and(|m| m.id == *message),
        Effect::GiveAnswer { ask, .. } => {
            session.asks().iter().any(|open| open.id == ask.id && open.answering)
        }
        Effect::Interrupt { .. } => step == Some(PauseStep::Interrupting),
        Effect::StopProcess { generation, .. } => {
            step.is_none()
                || step == Some(PauseStep::Ending)
                || *generation != session.generation
                || !session.runs()
        }
        Effect::PutAside { op }
        | Effect::RestoreWorktree { op, .. }
        | Effect::BringBack { op }
        | Effect::Empty { op } => {
            matches!(&session.phase, Phase::Chore { op: own, .. } if own == op)
        }
        Effect::ClearWorktree { .. } => {
            step == Some(PauseStep::Clearing) && session.baseline.is_some()
        }
        Effect::CutSetUpShort => matches!(&session.phase, Phase::Stopping { .. }),
        Effect::Sweep { .. } | Effect::CheckSave { .. } => step == Some(PauseStep::Boundary),
        Effect::CaptureTerminal { .. } => step == Some(PauseStep::Capturing),
        Effect::TakeSnapshot { .. } => {
            matches!(step, Some(PauseStep::Saving | PauseStep::Sealing))
        }
        // A step of a pause, a worktree that a stop waits for, a chore, or what no operation waits for any more.
        Effect::CutShort { op } => {
            let makes =
                matches!(&session.phase, Phase::Stopping { .. }) && session.worktree.is_none();
            let own = session.operation().is_some_and(|(own, _)| own == *op);
            let chore = matches!(&session.phase, Phase::Chore { .. });
            !own || step.is_some() || makes || chore
        }
        Effect::CheckIdle { spell, .. } | Effect::SetTimer { key: TimerKey::Idle(spell), .. } => {
            session.idle_spell() == Some(*spell)
        }
        Effect::DropTimer { key } => {
            session.idle_spell().is_none_or(|spell| *key != TimerKey::Idle(spell))
        }
        Effect::MakeWorktree { .. }
        | Effect::CheckStart { .. }
        | Effect::SaveWorktree { .. }
        | Effect::SetTimer { .. } => true,
    }
}
