//! What comes from the daemon: sessions, events, the ends of calls.

use super::{BUSY_LOOK_MS, SETTLE_MS, answered, done, drafts, gone, house, move_on, wrong};
use crate::command::Command;
use crate::deed::{Deed, loop_line};
use crate::keymap::Place;
use crate::message::{Effect, Fetched, News, Seen, Tab, Told};
use crate::model::{End, Link, Mode, Model, NEW_DRAFT, Page, UnderWay, pauses_of};
use crate::rank::rank;
use glis_core::Status;
use glis_core::plan::RunState;
use glis_wire::client::Response;
use glis_wire::plan::{PlanView, TaskState};
use glis_wire::view::{GateView, SessionView};

/// Takes the whole list.
pub(super) fn listed(model: &mut Model, sessions: Vec<SessionView>, last_seq: u64, gate: String) {
    if std::mem::replace(&mut model.link, Link::Live) == Link::Stopped {
        model.preview.follow_at = Some(model.now.ms);
    }
    model.last_seq = last_seq;
    model.busy_look_at = model.now.ms + BUSY_LOOK_MS;
    model.gate = gate;
    let busy = sessions.iter().filter(|session| session.status == Status::Busy);
    model.turns = busy.filter_map(|s| Some((s.id.clone(), begun(model, s)?))).collect();
    model.looking.stale.clear();
    let living = sessions.into_iter().filter(|session| session.status != Status::Archived);
    let living = living.map(|session| (session.id.clone(), session)).collect();
    let former = std::mem::replace(&mut model.sessions, living);
    model.gone.retain(|id, _| !model.sessions.contains_key(id));
    for (id, gone) in former {
        if !model.sessions.contains_key(&id) {
            gone::forget(model, gone);
        }
    }
    model.put_in_order();
}

/// When the turn of a session began, as far as that is known: not before it was last heard of.
fn begun(model: &Model, session: &SessionView) -> Option<i64> {
    let known = model.turns.get(&session.id).copied();
    let heard = || session.last_active_at.parse::<jiff::Timestamp>().ok();
    known.or_else(|| heard().map(jiff::Timestamp::as_second))
}

/// Takes sessions that were looked at again.
pub(super) fn seen(model: &mut Model, seen: Vec<Seen>) {
    model.looking.under_way = false;
    for seen in seen {
        match seen {
            Seen::There(session) => take_look(model, *session),
            Seen::Gone(id) => forget(model, &id),
        }
    }
}

fn forget(model: &mut Model, id: &str) {
    if let Some(gone) = model.sessions.remove(id) {
        gone::forget(model, gone);
        model.put_in_order();
    }
}

/// Takes a look at a session. An event that has come since may tell more than it: that one's status
/// counts, and what is asked with it, until the next look, which is due.
fn take_look(model: &mut Model, mut session: SessionView) {
    let former = model.sessions.get(&session.id);
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
fn take(model: &mut Model, session: SessionView) {
    if session.status == Status::Archived {
        return forget(model, &session.id);
    }
    if model.gone.contains_key(&session.id) {
        return;
    }
    let is_shown = model.selected.as_ref() == Some(&session.id);
    let (generation, pid) = (session.generation, session.pid);
    let ranked = rank(&session);
    let former = model.sessions.insert(session.id.clone(), session);
    let begins = pid.is_some() && former.as_ref().is_some_and(|former| former.pid != pid);
    match former {
        None => model.put_in_order(),
        Some(former) if rank(&former) != ranked => settle(model),
        Some(_) => {}
    }
    if is_shown && model.preview.generation != generation {
        move_on(model);
    } else if is_shown && begins && model.preview.live().is_none() {
        model.preview.follow_at = Some(model.now.ms);
    }
}

fn settle(model: &mut Model) {
    model.settles_at.get_or_insert(model.now.ms + SETTLE_MS / 4);
}

/// Takes an event: its status counts at once, everything else is looked at again.
pub(super) fn event(model: &mut Model, event: News, effects: &mut Vec<Effect>) {
    model.link = Link::Live;
    model.last_seq = model.last_seq.max(event.seq);
    match event.name.as_str() {
        "gate_shut" => "pausing".clone_into(&mut model.gate),
        "orchestrator:paused" => "paused".clone_into(&mut model.gate),
        "gate_opened" | "orchestrator:resumed" => "running".clone_into(&mut model.gate),
        _ => {}
    }
    // What is stopped or taken out with everything, and what can be resumed, changes without an event of its own.
    if event.name.starts_with("gate_") || event.name.starts_with("orchestrator:") {
        let stopped = |s: &&SessionView| matches!(s.status, Status::Paused | Status::Pausing);
        let stopped = model.sessions.values().filter(stopped).map(|session| session.id.clone());
        model.looking.stale.extend(stopped.collect::<Vec<_>>());
    }
    if let ("turn_began", Some(id)) = (event.name.as_str(), &event.session) {
        model.turns.insert(id.clone(), model.now.wall_secs);
    }
    let Some(id) = event.session else { return };
    note_answer(model, &id, &event.name, event.answer);
    let own = |under_way: &&mut UnderWay| under_way.id.as_ref() == Some(&id);
    if let (Some(label), Some(own)) = (event.step, model.under_way.values_mut().rfind(own)) {
        own.label = label;
    }
    match event.status {
        Some(Status::Archived) if model.sessions.contains_key(&id) => return forget(model, &id),
        // It was taken out of the trash.
        Some(status) if status != Status::Archived => drop(model.gone.remove(&id)),
        Some(_) | None => {}
    }
    if let (Some(status), Some(session)) = (event.status, model.sessions.get_mut(&id)) {
        let former = session.status;
        let before = rank(session);
        session.status = status;
        let (name, after) = (session.name.clone(), rank(session));
        if before != after {
            settle(model);
        }
        if !model.is_looked_at() {
            notify(&name, former, status, effects);
        }
    }
    // A turn that ends is saved, and so is a pause: what it changed is counted then.
    if event.name == "snapshot_taken" || event.name == "worktree_saved" {
        effects.push(Effect::CountChanges { session: id.clone() });
    }
    let is_shown = model.selected.as_ref() == Some(&id);
    if is_shown && model.shown_tab() != Tab::Terminal && model.preview.follow_at.is_none() {
        model.preview.follow_at = Some(model.now.ms + super::LOOK_PACE_MS * 5);
    }
    model.looking.stale.insert(id);
}

/// How the question in hand is answered, whoever does.
fn note_answer(model: &mut Model, id: &str, name: &str, told: Option<(String, Option<String>)>) {
    let Some((request, answer)) = told else { return };
    if let Some(own) = model.in_hand.as_mut().filter(|own| own.is((id, &request))) {
        match name {
            "answer_began" => own.answered = answer,
            "answer_failed" => own.answered = None,
            _ => {}
        }
    }
}

/// Tells what a person may be waiting for.
fn notify(name: &str, former: Status, status: Status, effects: &mut Vec<Effect>) {
    let (text, ring) = match status {
        Status::Waiting => (format!("{name} waits for you"), true),
        Status::Failed | Status::Interrupted => (format!("{name} failed"), true),
        Status::Idle | Status::Completed if former == Status::Busy => {
            (format!("{name} is done"), false)
        }
        Status::Idle
        | Status::Completed
        | Status::Created
        | Status::Busy
        | Status::Pausing
        | Status::Paused
        | Status::Resuming
        | Status::Suspended
        | Status::Archived => return,
    };
    if former != status {
        effects.push(Effect::Notify { text, ring });
    }
}

/// Something that was asked for has ended.
pub(super) fn ended(
    model: &mut Model,
    ticket: u64,
    result: Result<Box<Response>, Told>,
    effects: &mut Vec<Effect>,
) {
    let Some(under_way) = model.under_way.remove(&ticket) else { return };
    let end = if result.is_ok() { End::Well } else { End::Badly };
    for made in model.history.iter_mut().filter(|made| made.ticket == ticket) {
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
                model.begun_plan = Some(plan.id.clone());
            }
            if let Some(session) = session_of(*response) {
                let made = under_way.id.is_none().then(|| session.id.clone());
                let returns = matches!(under_way.deed, Some(Deed::Undelete { .. }));
                let returned = returns.then(|| session.id.clone());
                model.gone.retain(|id, _| returned.as_ref() != Some(id));
                // A response is older than the events that came before it: what is known is looked
                // at again.
                if let Some(known) = model.sessions.get_mut(&session.id) {
                    under_way.deed.iter().for_each(|deed| has_become(known, deed));
                    (known.paused_at, known.resumed_at) = pauses_of(&session);
                    model.looking.stale.insert(session.id);
                } else {
                    take(model, session);
                }
                let shown = made.or(returned);
                if shown.is_some() && model.mode == Mode::List {
                    model.selected = shown;
                }
            }
            if let Mode::Trash { .. } = model.mode {
                effects.push(Effect::FetchTrash);
            }
            match &under_way.deed {
                Some(Deed::Answer { .. }) => answered(model, &message),
                Some(_) | None => done(model, message),
            }
        }
        Err(told) => {
            give_back(model, &under_way);
            wrong(model, told);
        }
    }
    if under_way.prompt.is_some() || under_way.deed.as_ref().is_some_and(|d| d.words().is_some()) {
        drafts::keep(model, effects);
    }
}

/// What the next press of the same key goes by is known at once: before the next look it would be taken
/// for what it was.
fn has_become(session: &mut SessionView, deed: &Deed) {
    if let Deed::AutoYes { on } = deed {
        session.auto_yes = *on;
    }
    if let (Deed::SetLoop { change }, Some(own)) = (deed, session.looped.as_deref_mut()) {
        own.max = change.max.unwrap_or(own.max);
    }
}

/// Words that did not arrive are a draft again, and so is what a new session was to be told.
fn give_back(model: &mut Model, under_way: &UnderWay) {
    if let Some(prompt) = &under_way.prompt {
        drafts::give_back(model, NEW_DRAFT, prompt);
    }
    let words = under_way.deed.as_ref().and_then(Deed::words);
    if let Some((id, words)) = under_way.id.as_deref().zip(words) {
        drafts::give_back(model, id, words);
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
            let stays = |session: &&SessionView| {
                session.status == Status::Paused && !back.contains(&session.id)
            };
            let stay = model.sessions.values().filter(stays).count();
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

fn session_of(response: Response) -> Option<SessionView> {
    if let Response::Done { session, .. }
    | Response::Made { session, .. }
    | Response::Queued { session, .. }
    | Response::Session(session) = response
    {
        return Some(*session);
    }
    None
}

/// What a view shows has come.
pub(super) fn fetched(model: &mut Model, session: &str, result: Result<Fetched, Told>) {
    if model.selected.as_deref() != Some(session) {
        return;
    }
    let fits = |fetched: &Fetched| match fetched {
        Fetched::Conversation(_) => model.shown_tab() == Tab::Conversation,
        Fetched::Diff { .. } => model.shown_tab() == Tab::Diff,
        Fetched::Snapshots(_) => model.shown_tab() == Tab::Snapshots,
        Fetched::Runs(_) => model.shown_tab() == Tab::Runs,
        Fetched::Events(_) => model.shown_tab() == Tab::Events,
    };
    match result {
        Ok(fetched) if !fits(&fetched) => {}
        Ok(fetched) => {
            let first = matches!(model.page, Page::Empty | Page::Loading);
            model.page = Page::Shown(fetched);
            if first {
                // What is said last is what is looked for.
                let newest_last =
                    matches!(model.shown_tab(), Tab::Conversation | Tab::Runs | Tab::Events);
                model.scroll = if newest_last { usize::MAX } else { 0 };
                let sought = model.sought_entry.take_if(|(id, _)| id == session);
                let line = sought.and_then(|(_, at)| crate::view::entry_line(model, &at));
                model.scroll = line.unwrap_or(model.scroll);
            }
        }
        Err(told) => model.page = Page::Fault(told),
    }
}
