//! What comes from the daemon: sessions, events, the ends of calls.

use super::{
    BUSY_LOOK_MS, SETTLE_MS, answered, done, drafts, house, move_on, new, reader, search, wrong,
};
use crate::command::Command;
use crate::deed::{Deed, loop_line};
use crate::keymap::Place;
use crate::message::{Effect, Fetched, Listed, News, Seen, Tab, Told};
use crate::model::{End, Link, Mode, Model, Page, Sure, UnderWay, pauses_of};
use glis_core::Status;
use glis_core::plan::RunState;
use glis_wire::client::Response;
use glis_wire::plan::{PlanView, TaskState};
use glis_wire::view::{GateView, SessionRow};

pub(super) fn listed(model: &mut Model, listed: Listed) {
    let Listed { sessions, more, last_seq, gate } = listed;
    if std::mem::replace(&mut model.house.link, Link::Live) != Link::Live {
        model.pane.preview.follow_at = Some(model.now.ms);
    }
    (model.house.last_seq, model.rows.more) = (last_seq, more);
    model.looking.busy_at = model.now.ms + BUSY_LOOK_MS;
    model.house.gate = gate;
    let busy = sessions.iter().filter(|session| session.status == Status::Busy);
    model.rows.turns = busy.filter_map(|s| Some((s.id.clone(), begun(model, s)?))).collect();
    model.looking.stale.clear();
    let living = sessions.into_iter().filter(|session| session.status != Status::Archived);
    let living = living.map(|session| (session.id.clone(), session)).collect();
    let former = std::mem::replace(&mut model.rows.all, living);
    model.rows.gone.retain(|id, _| !model.rows.all.contains_key(id));
    for (id, gone) in former {
        if !model.rows.all.contains_key(&id) {
            let_go(model, gone);
        }
    }
    model.rows.plans.changed();
    model.put_in_order();
}

/// When the turn of a session began, as far as that is known: not before it was last heard of.
fn begun(model: &Model, session: &SessionRow) -> Option<i64> {
    let known = model.rows.turns.get(&session.id).copied();
    let heard = || session.last_active_at.parse::<jiff::Timestamp>().ok();
    known.or_else(|| heard().map(jiff::Timestamp::as_second))
}

pub(super) fn seen(model: &mut Model, seen: Vec<Seen>) {
    model.looking.under_way = false;
    for seen in seen {
        match seen {
            Seen::There(session) => take_look(model, *session),
            Seen::Gone(id) => forget(model, &id),
        }
    }
    if let Some((id, name)) =
        model.hand.reached.clone().filter(|(id, _)| !model.looking.stale.contains(id))
    {
        search::reach(model, id, &name);
        model.hand.reached = None;
    }
}

fn forget(model: &mut Model, id: &str) {
    if let Some(gone) = model.rows.all.remove(id) {
        let_go(model, gone);
        model.put_in_order();
    }
}

/// A session is no longer there. A box about it stays open, or the next letters that are typed into it would
/// be commands; what is sent from it is refused by the daemon, and a draft again.
fn let_go(model: &mut Model, gone: SessionRow) {
    if is_typed_about(model, &gone.id) {
        let message = format!("`{}` is gone", gone.name);
        let hint = format!("{} shows the trash", model.key(Place::List, Command::Trash));
        wrong(model, Told { message, hint: Some(hint) });
    }
    model.rows.gone.insert(gone.id.clone(), gone.name.clone());
    if model.hand.selected.as_ref() == Some(&gone.id) {
        // Its snapshots are not to choose from any more; the row says why.
        if matches!(model.mode, Mode::Pick { .. }) {
            model.mode = Mode::List;
        }
        model.list.removed = Some(gone);
        move_on(model);
    }
}

fn is_typed_about(model: &Model, gone: &str) -> bool {
    match &model.mode {
        Mode::Send { id, .. } | Mode::Inline { id } => id == gone,
        Mode::File(form) => form.id == gone,
        Mode::Words(form) => form.ids.iter().any(|id| id == gone),
        Mode::Confirm { sure: Sure::Each { ids, .. }, .. } => ids.iter().any(|id| id == gone),
        _ => false,
    }
}

/// Takes a look at a session. An event that has come since may tell more than it: that one's status
/// counts, and what is asked with it, until the next look, which is due.
pub(super) fn take_look(model: &mut Model, mut session: SessionRow) {
    let former = model.rows.all.get(&session.id);
    if let Some(former) = former.filter(|former| model.looking.stale.contains(&former.id)) {
        if former.status == Status::Waiting && session.status != Status::Waiting {
            session.asks.clone_from(&former.asks);
            session.waiting_for.clone_from(&former.waiting_for);
        }
        session.status = former.status;
    }
    take(model, session);
}

/// Takes a session as it is. The list is put in order once the hand rests, unless it is a new one. What was removed
/// is not taken: it was read before that.
fn take(model: &mut Model, session: SessionRow) {
    if session.status == Status::Archived {
        return forget(model, &session.id);
    }
    if model.rows.gone.contains_key(&session.id) {
        return;
    }
    let is_shown = model.hand.selected.as_ref() == Some(&session.id);
    let (generation, pid) = (session.generation, session.pid);
    let need = session.needs();
    let former = model.rows.all.insert(session.id.clone(), session);
    let begins = pid.is_some() && former.as_ref().is_some_and(|former| former.pid != pid);
    match former {
        None => {
            model.rows.plans.changed();
            model.put_in_order();
        }
        Some(former) if former.needs() != need => settle(model),
        Some(_) => {}
    }
    if is_shown && model.pane.preview.generation != generation {
        move_on(model);
    } else if is_shown && begins && model.pane.preview.live().is_none() {
        model.pane.preview.follow_at = Some(model.now.ms);
    }
}

fn settle(model: &mut Model) {
    model.list.settles_at.get_or_insert(model.now.ms + SETTLE_MS / 4);
}

/// Takes an event: its status counts at once, everything else is looked at again.
pub(super) fn event(model: &mut Model, event: News) {
    model.house.link = Link::Live;
    model.house.last_seq = model.house.last_seq.max(event.seq);
    match event.name.as_str() {
        "gate_shut" => "pausing".clone_into(&mut model.house.gate),
        "orchestrator:paused" => "paused".clone_into(&mut model.house.gate),
        "gate_opened" | "orchestrator:resumed" => "running".clone_into(&mut model.house.gate),
        _ => {}
    }
    // What is stopped or taken out with everything, and what can be resumed, changes without an event of its own.
    if event.name.starts_with("gate_") || event.name.starts_with("orchestrator:") {
        let stopped = |s: &&SessionRow| matches!(s.status, Status::Paused | Status::Pausing);
        let stopped = model.rows.all.values().filter(stopped).map(|session| session.id.clone());
        model.looking.stale.extend(stopped.collect::<Vec<_>>());
    }
    if ["plan_", "run_"].iter().any(|kind| event.name.starts_with(kind)) {
        model.rows.plans.changed();
    }
    if let ("turn_began", Some(id)) = (event.name.as_str(), &event.session) {
        model.rows.turns.insert(id.clone(), model.now.wall_secs);
    }
    let Some(id) = event.session else { return };
    note_answer(model, &id, &event.name, event.answer);
    let own = |under_way: &&mut UnderWay| under_way.id.as_ref() == Some(&id);
    if let (Some(label), Some(own)) = (event.step, model.work.under_way.values_mut().rfind(own)) {
        own.label = label;
    }
    match event.status {
        Some(Status::Archived) if model.rows.all.contains_key(&id) => return forget(model, &id),
        // It was taken out of the trash.
        Some(status) if status != Status::Archived => drop(model.rows.gone.remove(&id)),
        Some(_) | None => {}
    }
    if let (Some(status), Some(session)) = (event.status, model.rows.all.get_mut(&id)) {
        let former = session.status;
        let before = session.needs();
        session.status = status;
        if former == Status::Waiting && status != former {
            // What it has asked is answered, or cut; what it asks now, the next look tells.
            session.asks.clear();
            session.waiting_for = None;
        }
        let (name, after) = (session.name.clone(), session.needs());
        // What it sleeps until is just this, where that is a change.
        let is_awake = session.snoozed_until.as_ref().is_none_or(|until| until == "change");
        if before != after {
            settle(model);
        }
        if is_awake && !model.keyboard.is_looked_at(model.now) {
            notify(model, &name, former, status);
        }
    }
    // A turn that ends is saved, and so is a pause: what it changed is counted then.
    if event.name == "snapshot_taken" || event.name == "worktree_saved" {
        model.effects.push(Effect::CountChanges { session: id.clone() });
    }
    let is_shown = model.hand.selected.as_ref() == Some(&id);
    if is_shown && model.shown_tab() != Tab::Terminal && model.pane.preview.follow_at.is_none() {
        model.pane.preview.follow_at = Some(model.now.ms + super::LOOK_PACE_MS * 5);
    }
    model.looking.stale.insert(id);
}

/// How the question in hand is answered, whoever does.
fn note_answer(model: &mut Model, id: &str, name: &str, told: Option<(String, Option<String>)>) {
    let Some((request, answer)) = told else { return };
    if let Some(own) = model.hand.ask.as_mut().filter(|own| own.is((id, &request))) {
        match name {
            "answer_began" => own.answered = answer,
            "answer_failed" => own.answered = None,
            _ => {}
        }
    }
}

/// Tells what a person may be waiting for.
fn notify(model: &mut Model, name: &str, former: Status, status: Status) {
    let (text, ring) = match status {
        Status::Waiting => (format!("{name} waits for you"), true),
        Status::Failed | Status::Interrupted => (format!("{name} failed"), true),
        Status::Idle | Status::Completed if former == Status::Busy => {
            (format!("{name} is done"), false)
        }
        _ => return,
    };
    if former != status {
        model.effects.push(Effect::Notify { text, ring });
    }
}

pub(super) fn ended(model: &mut Model, ticket: u64, result: Result<Box<Response>, Told>) {
    let Some(under_way) = model.work.under_way.remove(&ticket) else { return };
    let end = if result.is_ok() { End::Well } else { End::Badly };
    for made in model.work.history.iter_mut().filter(|made| made.ticket == ticket) {
        made.end = end;
        if let Ok(Response::Made { session, .. }) = result.as_deref() {
            made.line = loop_line(&made.line, &session.name);
        }
        if let Ok(Response::Done { session, already }) = result.as_deref() {
            made.left = Some(pauses_of(session));
            // What was so before is not undone here.
            let undoes = made.deed.as_ref().is_some_and(|deed| deed.undone().is_some());
            made.deed = made.deed.take().filter(|_| !(*already && undoes));
        }
    }
    match result {
        Ok(response) => {
            let message = well(model, &under_way, &response);
            if let (None, Response::Plan(plan)) = (&under_way.deed, &*response) {
                model.hand.plan = Some(plan.id.clone());
            }
            if let Some(session) = session_of(*response) {
                let made = under_way.id.is_none().then(|| session.id.clone());
                let returns = matches!(under_way.deed, Some(Deed::Undelete { .. }));
                let returned = returns.then(|| session.id.clone());
                model.rows.gone.retain(|id, _| returned.as_ref() != Some(id));
                // A response is older than the events that came before it: what is known is looked
                // at again.
                if let Some(known) = model.rows.all.get_mut(&session.id) {
                    under_way.deed.iter().for_each(|deed| has_become(known, deed));
                    (known.paused_at, known.resumed_at) = pauses_of(&session);
                    model.looking.stale.insert(session.id);
                } else {
                    take(model, session);
                }
                let shown = made.or(returned);
                if shown.is_some() && model.mode == Mode::List {
                    model.hand.selected = shown;
                }
            }
            if let Mode::Trash { .. } = model.mode {
                model.effects.push(Effect::FetchTrash);
            }
            match &under_way.deed {
                Some(Deed::Answer { .. }) => answered(model, &message),
                Some(_) | None => done(model, message),
            }
        }
        Err(told) => {
            give_back(model, &under_way);
            if let Some(form) = under_way.form.clone() {
                new::refused(model, form, &told);
            }
            wrong(model, told);
        }
    }
    if under_way.prompt.is_some() || under_way.deed.as_ref().is_some_and(|d| d.words().is_some()) {
        drafts::keep(model);
    }
}

/// What the next press of the same key goes by is known at once: before the next look it would be taken
/// for what it was.
fn has_become(session: &mut SessionRow, deed: &Deed) {
    if let Deed::AutoYes { on } = deed {
        session.auto_yes = *on;
    }
    if let (Deed::SetLoop { change }, Some(own)) = (deed, session.looped.as_deref_mut()) {
        own.max = change.max.unwrap_or(own.max);
    }
}

/// Words that did not arrive are a draft again.
fn give_back(model: &mut Model, under_way: &UnderWay) {
    let words = under_way.deed.as_ref().and_then(Deed::words);
    if let Some((id, words)) = under_way.id.as_deref().zip(words) {
        model.drafts.give_back(id, words);
    }
}

fn well(model: &Model, under_way: &UnderWay, response: &Response) -> String {
    let name = &under_way.name;
    match (&under_way.deed, response) {
        (Some(Deed::Send { .. }), Response::Queued { session, .. }) if house::is_held(session) => {
            let key = model.key(Place::List, Command::ResumeAll);
            format!("queued: `{name}` was stopped with everything; {key} resumes it all")
        }
        (Some(Deed::Send { .. }), Response::Queued { status: Status::Paused, .. }) => {
            let key = model.key(Place::List, Command::Resume);
            format!("queued: `{name}` is paused; {key} resumes it")
        }
        (Some(deed @ Deed::Remove { .. }), _) => {
            let key = model.key(Place::List, Command::Undo);
            format!("{}; {key} brings it back", deed.done(name))
        }
        (Some(_), Response::Merged(merged)) if merged.next.is_some() => {
            format!("merged into {}; {}", merged.branch, merged.next.as_deref().unwrap_or_default())
        }
        (Some(_), Response::Merged(merged)) => format!("merged into {}", merged.branch),
        (Some(deed), Response::Done { already: true, .. }) => {
            format!("{} already", deed.done(name))
        }
        (Some(deed), _) => deed.done(name),
        (None, Response::Made { session, .. }) => format!("`{}` is there", session.name),
        (None, Response::Each(each)) => format!("{} deleted for good", each.len()),
        (None, Response::Plan(plan)) => executed(model, plan),
        (None, Response::Gate { gate, each, .. }) => gate_turned(model, gate, each),
        (None, _) => "done".to_owned(),
    }
}

/// Who was paused or resumed with everything, and who stays as it is.
fn gate_turned(model: &Model, gate: &GateView, each: &[Response]) -> String {
    let counted = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 session {one}"),
        _ => format!("{number} sessions {many}"),
    };
    let key = model.key(Place::List, Command::ResumeAll);
    match gate.state.as_str() {
        "paused" => {
            let paused = counted(gate.stopped.len(), "is paused", "are paused");
            format!("{paused}; nothing begins until {key}")
        }
        "pausing" => format!("still at work: {}; {key} lets them go on", gate.waits_for.join(", ")),
        _ => {
            let done = each.iter().filter_map(|response| session_of(response.clone()));
            let back: Vec<String> = done.map(|session| session.id).collect();
            let stays = |session: &&SessionRow| {
                session.status == Status::Paused && !back.contains(&session.id)
            };
            let stay = model.rows.all.values().filter(stays).count();
            let stay = (stay > 0).then(|| counted(stay, "stays paused", "stay paused"));
            let stay = stay.map(|stay| format!("; {stay}")).unwrap_or_default();
            format!("{}{stay}", counted(back.len(), "is back", "are back"))
        }
    }
}

/// How far a plan is that was asked to be executed.
fn executed(model: &Model, plan: &PlanView) -> String {
    let (all, done) = plan.leaves().fold((0, 0), |(all, done), task| {
        let is_done = task.state == TaskState::Run(RunState::Succeeded);
        (all + 1, done + u32::from(is_done))
    });
    if plan.gate_shut {
        let key = model.key(Place::List, Command::ResumeAll);
        return format!("everything is paused: nothing begins before {key}");
    }
    if plan.done {
        "all of the plan is done".to_owned()
    } else {
        format!("the plan goes on: {done} of {all} tasks are done")
    }
}

fn session_of(response: Response) -> Option<SessionRow> {
    if let Response::Done { session, .. }
    | Response::Made { session, .. }
    | Response::Queued { session, .. }
    | Response::Session(session) = response
    {
        return Some(session.row);
    }
    None
}

pub(super) fn fetched(model: &mut Model, session: &str, result: Result<Fetched, Told>) {
    if model.hand.selected.as_deref() != Some(session) {
        return;
    }
    let fits = |fetched: &Fetched| match fetched {
        Fetched::Conversation(_) => model.shown_tab() == Tab::Conversation,
        Fetched::Diff(_) => model.shown_tab() == Tab::Diff,
        Fetched::Snapshots(_) => model.shown_tab() == Tab::Snapshots,
        Fetched::Runs(_) => model.shown_tab() == Tab::Runs,
        Fetched::Events(_) => model.shown_tab() == Tab::Events,
    };
    match result {
        Ok(fetched) if !fits(&fetched) => {}
        Ok(fetched) => reader::arrived(model, fetched),
        Err(told) => model.pane.page = Page::Fault(told),
    }
}
