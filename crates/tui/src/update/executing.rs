//! Loops and plans: what `ctrl+c` does while one of them is executed, and how often a loop goes round.

use super::acts::{View, act, call};
use super::said;
use crate::command::Command;
use crate::deed::{Deed, PauseWith};
use crate::message::{Effect, Told};
use crate::model::{Kind, Model, Notice, UnderWay};
use glis_core::Status;
use glis_core::looping::LoopChange;
use glis_core::pause::PauseMode;
use glis_wire::client::Request;
use glis_wire::plan::PlanRequest;

/// What is said once an interrupt has paused what was executed.
const PAUSED: &str = "Paused. Ctrl+C again to quit.";
/// It stays for as long as a person may be away: a day.
const PAUSED_MS: u64 = 24 * 60 * 60 * 1000;

/// How far what is executed is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Runs,
    Pausing,
    AtRest,
}

fn stage(session: &View) -> Stage {
    let own = session.looped.as_deref().map(|own| own.state.as_str());
    match (own, session.status) {
        (None, _) if session.plan.is_none() => Stage::AtRest,
        // An event tells the status at once; what the loop is at is looked at a moment later.
        (Some("paused" | "done" | "stopped"), _) | (_, Status::Paused) => Stage::AtRest,
        (Some("pausing"), _) | (_, Status::Pausing) => Stage::Pausing,
        // Between two iterations it is idle, suspended or without a process, and goes on.
        (Some(_), _) | (_, Status::Busy | Status::Waiting | Status::Resuming) => Stage::Runs,
        (
            _,
            Status::Created
            | Status::Idle
            | Status::Suspended
            | Status::Interrupted
            | Status::Completed
            | Status::Failed
            | Status::Archived,
        ) => Stage::AtRest,
    }
}

/// An interrupt: pauses what is executed here and stays, forces a pause that is waited for, and leaves
/// otherwise. Who may only look just leaves.
pub(super) fn interrupt(model: &mut Model, effects: &mut Vec<Effect>) {
    let full = model.access == crate::model::Access::Full;
    let shown = model.session().filter(|_| full).map(|s| (s.clone(), stage(s)));
    let (session, mode) = match shown {
        Some((session, Stage::Runs)) => (session, PauseMode::Interrupt),
        Some((session, Stage::Pausing)) => (session, PauseMode::Force),
        Some((_, Stage::AtRest)) | None => return effects.push(Effect::Quit),
    };
    model.interrupted = Some(session.id.clone());
    let Some(plan) = session.plan.clone().filter(|_| session.looped.is_none()) else {
        let deed = match mode {
            PauseMode::Force => Deed::ForcePause,
            PauseMode::Interrupt | PauseMode::Boundary => Deed::Pause,
        };
        return act(model, &session.id, deed, effects);
    };
    let under_way = UnderWay {
        id: Some(session.id.clone()),
        name: session.name.clone(),
        deed: Some(Deed::Pause),
        label: "PAUSING...",
        prompt: None,
    };
    let request = Request::Plan(PlanRequest::Pause { plan, mode });
    let line = "# ctrl+c of `glis execute`".to_owned();
    call(model, under_way, request, line, effects);
}

/// Says it once what was interrupted is paused.
pub(super) fn keep(model: &mut Model) {
    let Some(id) = model.interrupted.clone() else { return };
    let session = model.sessions.get(&id);
    let rests = session.is_none_or(|session| stage(session) == Stage::AtRest);
    let paused = session.is_some_and(|session| session.status == Status::Paused);
    if paused {
        let told = Told { message: PAUSED.to_owned(), hint: None };
        let until = model.now.ms + PAUSED_MS;
        model.notice = Some(Notice { told, kind: Kind::Done, until });
    }
    // The end of the call would say less over it.
    if rests && model.under_way_with(&id).is_none() {
        model.interrupted = None;
    }
}

/// A loop is paused after its iteration, any other session as soon as it can be.
pub(super) fn usual_pause(session: &View) -> Deed {
    if session.looped.is_none() {
        return Deed::Pause;
    }
    Deed::PauseWith(PauseWith { mode: PauseMode::Boundary, ..PauseWith::USUAL })
}

/// One more iteration at most, or one less; never less than there were.
pub(super) fn count(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    let by = if command == Command::MoreIterations { 1 } else { -1 };
    let Some(session) = model.session().cloned() else { return };
    let Some(own) = &session.looped else {
        return said(model, format!("`{}` is no loop", session.name));
    };
    // A key that is pressed twice counts twice, however fast.
    let asked = |deed: &Deed| if let Deed::SetLoop { change } = deed { change.max } else { None };
    let Some(max) = model.asked_of(&session.id, asked).unwrap_or(own.max) else {
        return said(model, format!("`{}` goes round as often as it takes", session.name));
    };
    let next = (i64::from(max) + by).max(i64::from(own.iteration.max(1)));
    let Ok(next) = u32::try_from(next) else { return };
    if next == max {
        return said(model, format!("iteration {max} is the one that it is at"));
    }
    let change = LoopChange { max: Some(Some(next)), ..LoopChange::default() };
    act(model, &session.id, Deed::SetLoop { change }, effects);
}
