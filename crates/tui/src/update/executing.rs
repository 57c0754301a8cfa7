//! Loops and plans: what `ctrl+c` does while one of them is executed, and how often a loop goes round.

use super::acts::{View, act, call};
use super::said;
use crate::command::Command;
use crate::deed::{Deed, PauseWith};
use crate::message::{Effect, Told};
use crate::model::{
    Access, Executed, Kind, Mode, Model, Notice, Stage, UnderWay, executed_stage, folder_of,
};
use glis_core::Status;
use glis_core::looping::LoopChange;
use glis_core::pause::PauseMode;
use glis_wire::client::Request;
use glis_wire::plan::PlanRequest;

/// What is said once an interrupt has paused what was executed.
const PAUSED: &str = "Paused. Ctrl+C again to quit.";
/// It stays for as long as a person may be away: a day.
const PAUSED_MS: u64 = 24 * 60 * 60 * 1000;

/// An interrupt: pauses what is executed here and stays, forces a pause that is waited for, and leaves
/// otherwise. Who may only look just leaves.
pub(super) fn interrupt(model: &mut Model) {
    let here = match model.house.access {
        Access::Full => model.executed_here(),
        Access::ReadOnly => Vec::new(),
    };
    let at = |wanted: Stage| {
        let those = here.iter().filter(|one| model.rows.stage_of(one) == wanted);
        those.cloned().collect::<Vec<_>>()
    };
    let (these, mode) = match (at(Stage::Runs), at(Stage::Pausing)) {
        (runs, pausing) if runs.is_empty() => (pausing, PauseMode::Force),
        (runs, _) => (runs, PauseMode::Interrupt),
    };
    if these.is_empty() {
        return model.effects.push(Effect::Quit);
    }
    for one in &these {
        pause(model, one, mode);
    }
    model.work.interrupted = these;
}

fn pause(model: &mut Model, what: &Executed, mode: PauseMode) {
    let stage = model.rows.stage_of(what);
    let first = model.rows.executing(what).find(|session| executed_stage(session) == stage);
    let Some((id, name)) = first.map(|session| (session.id.clone(), session.name.clone())) else {
        return;
    };
    match what {
        Executed::Loop(_) => {
            let with = match mode {
                PauseMode::Force => PauseWith::FORCED,
                PauseMode::Interrupt | PauseMode::Boundary => PauseWith::PLAIN,
            };
            act(model, &id, Deed::Pause(with));
        }
        Executed::Plan(plan) => {
            let (deed, label) = (Some(Deed::Pause(PauseWith::PLAIN)), "PAUSING...");
            let under_way = UnderWay { id: Some(id), name, deed, label, prompt: None, form: None };
            let request = Request::Plan(PlanRequest::Pause { plan: plan.clone(), mode });
            let line = "# ctrl+c of `glis execute`".to_owned();
            call(model, under_way, request, line);
        }
    }
}

/// Says it once what was interrupted is paused, and by its name; and keeps the task in hand that a plan is at
/// which was begun here.
pub(super) fn keep(model: &mut Model) {
    follow_plan(model);
    let all = model.work.interrupted.clone();
    if all.is_empty() || all.iter().any(|one| model.rows.stage_of(one) != Stage::AtRest) {
        return;
    }
    let is_paused = |session: &View| session.status == Status::Paused;
    let paused = all.iter().filter(|one| model.rows.executing(one).any(is_paused));
    let names = paused.map(|one| called(model, one)).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        let told = Told { message: PAUSED.to_owned(), hint: Some(names) };
        let until = model.now.ms + PAUSED_MS;
        model.notice = Some(Notice { told, kind: Kind::Done, until });
    }
    // The end of the call would say less over it.
    let goes_on = |session: &View| model.work.latest_with(&session.id).is_some();
    if !all.iter().any(|one| model.rows.executing(one).any(goes_on)) {
        model.work.interrupted.clear();
    }
}

/// What is executed, by a name that a person knows.
fn called(model: &Model, what: &Executed) -> String {
    let first = model.rows.executing(what).next();
    match what {
        Executed::Loop(id) => format!("loop `{}`", model.name_of(id).unwrap_or(id)),
        Executed::Plan(_) => {
            let repo = first.map(|session| session.repo_root.as_str()).unwrap_or_default();
            format!("the plan of {}", folder_of(repo))
        }
    }
}

/// The task that runs is in hand, of a plan that was begun here, until a key is pressed.
fn follow_plan(model: &mut Model) {
    let Some(plan) = model.hand.plan.clone().filter(|_| model.mode == Mode::List) else { return };
    let plan = Executed::Plan(plan);
    let runs = |session: &&View| executed_stage(session) == Stage::Runs;
    let stays = model.session().filter(runs).and_then(Executed::of).as_ref() == Some(&plan);
    let listed = |session: &&View| model.list.ids().any(|id| *id == session.id);
    let next =
        model.rows.executing(&plan).filter(runs).find(listed).map(|session| session.id.clone());
    if let Some(next) = next.filter(|_| !stays) {
        model.hand.selected = Some(next);
    }
}

/// A loop is paused after its iteration, any other session as soon as it can be.
pub(super) fn usual_pause(session: &View) -> Deed {
    if session.looped.is_none() {
        return Deed::Pause(PauseWith::PLAIN);
    }
    Deed::Pause(PauseWith { mode: Some(PauseMode::Boundary), ..PauseWith::USUAL })
}

/// One more iteration at most, or one less; never less than there were.
pub(super) fn count(model: &mut Model, command: Command) {
    let by = if command == Command::MoreIterations { 1 } else { -1 };
    let Some(session) = model.session().cloned() else { return };
    let Some(own) = &session.looped else {
        return said(model, format!("`{}` is no loop", session.name));
    };
    // A key that is pressed twice counts twice, however fast.
    let asked = |deed: &Deed| if let Deed::SetLoop { change } = deed { change.max } else { None };
    let Some(max) = model.work.asked_of(&session.id, asked).unwrap_or(own.max) else {
        return said(model, format!("`{}` goes round as often as it takes", session.name));
    };
    let next = (i64::from(max) + by).max(i64::from(own.iteration.max(1)));
    let Ok(next) = u32::try_from(next) else { return };
    if next == max {
        return said(model, format!("iteration {max} is the one that it is at"));
    }
    let change = LoopChange { max: Some(Some(next)), ..LoopChange::default() };
    act(model, &session.id, Deed::SetLoop { change });
}
