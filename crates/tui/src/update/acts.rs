//! Deeds on their way: refused where only looking is allowed, asked about first, noted as commands.

use super::{said, wrong};
use crate::command::Command;
use crate::deed::Deed;
use crate::keymap::Place;
use crate::message::{Effect, Told};
use crate::model::{Access, Kind, Link, Mode, Model, Sure, UnderWay};
use glis_core::Status;
use glis_wire::client::Request;
use glis_wire::plan::PlanRequest;

/// So many sessions are named in a question; of the others it says how many there are.
const NAMED_MAX: usize = 5;

pub(super) type View = glis_wire::view::SessionRow;

/// Nothing is changed where only looking was asked for.
pub(super) fn refuses(model: &mut Model) -> bool {
    let read_only = model.house.access == Access::ReadOnly;
    if read_only {
        let message = "read-only: nothing is changed from here".to_owned();
        wrong(model, Told { message, hint: Some("`glis` without --read-only".to_owned()) });
    }
    read_only
}

/// Whom a key is meant for: the marked ones in the list, else the one in hand. Where a filter hides every mark, or
/// every one was removed, that is said.
pub(super) fn meant(model: &mut Model) -> Vec<String> {
    let ids = model.targets();
    let are_gone = model.list.marked.iter().all(|id| !model.rows.all.contains_key(id));
    if !model.list.marked.is_empty() && are_gone {
        model.list.unmark();
        said(model, "what you marked was removed: nothing is marked any more".to_owned());
        return Vec::new();
    }
    if ids.is_empty() && !model.list.marked.is_empty() {
        let key = model.key(Place::List, Command::Close);
        said(model, format!("the filter hides what you marked; {key} takes the marks away"));
    }
    ids
}

/// Whether a command is for the session in hand, and that was removed: no other one is meant, and that is said.
pub(super) fn is_for_removed(model: &mut Model, command: Command) -> bool {
    let acts =
        command.is_about_a_session() || matches!(command, Command::Mark | Command::MarkRange);
    let starts_daemon = command == Command::Attach && model.house.link == Link::Stopped;
    let gone = model.removed_in_hand().filter(|_| model.mode == Mode::List);
    let Some(name) = gone.filter(|_| acts && !starts_daemon).map(|gone| gone.name.clone()) else {
        return false;
    };
    let next = model.key(Place::List, Command::Down);
    said(model, format!("nothing was done: `{name}` was removed; {next} goes on"));
    true
}

/// Does it with each that is meant.
pub(super) fn each(model: &mut Model, deed: impl Fn(&View) -> Option<Deed>) {
    let ids = meant(model);
    if ids.is_empty() {
        return;
    }
    let deeds = ids.into_iter().filter_map(|id| {
        let deed = model.rows.all.get(&id).and_then(&deed)?;
        Some((id, deed))
    });
    let deeds: Vec<_> = deeds.collect();
    for (id, deed) in deeds {
        act(model, &id, deed);
    }
    model.list.unmark();
}

pub(super) fn confirm(model: &mut Model, deed: impl Fn(&View) -> Deed) {
    if refuses(model) {
        return;
    }
    let ids = meant(model);
    let Some(session) = ids.first().and_then(|id| model.rows.all.get(id)) else { return };
    let deed = deed(session);
    let working = matches!(session.status, Status::Busy | Status::Waiting);
    if deed == Deed::Stop && !working && ids.len() == 1 {
        return each(model, |_| Some(Deed::Stop));
    }
    let names: Vec<&str> = ids.iter().filter_map(|id| model.name_of(id)).collect();
    let named = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join("`, `");
    let names = match names.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named}` and `{more} more"),
    };
    let question = deed.question(&names).unwrap_or_default();
    ask(model, Sure::Each { deed, ids }, question);
}

/// Has a person say that it is meant.
pub(super) fn ask(model: &mut Model, sure: Sure, question: String) {
    model.notice = None;
    model.mode = Mode::Confirm { sure, question };
}

/// Does something with a session, beside everything else that goes on.
pub(super) fn act(model: &mut Model, id: &str, deed: Deed) {
    if refuses(model) {
        return;
    }
    let Some(name) = model.name_of(id).map(ToOwned::to_owned) else { return };
    // What is said of answers adds up.
    let adds = matches!(deed, Deed::Answer { .. });
    model.notice = model.notice.take().filter(|said| adds && said.kind == Kind::Answered);
    let task = model.rows.all.get(id).and_then(|session| of_task(model, session, &deed));
    let (request, line) = task.unwrap_or_else(|| (deed.request(id), deed.line(&name)));
    let label = deed.doing();
    let under_way = UnderWay {
        id: Some(id.to_owned()),
        name,
        deed: Some(deed),
        label,
        prompt: None,
        form: None,
    };
    call(model, under_way, request, line);
}

/// A task of a plan is resumed as such: its run is recorded. The session of a former run is resumed as any other is:
/// the task would go on in another one.
fn of_task(model: &Model, session: &View, deed: &Deed) -> Option<(Request, String)> {
    let (place, task) = (session.repo_root.clone(), session.task.clone()?);
    let is_later = |other: &View| {
        let same = other.task == session.task && other.plan == session.plan;
        same && other.created_at > session.created_at
    };
    if model.rows.all.values().any(is_later) {
        return None;
    }
    let Deed::Resume { prompt } = deed else { return None };
    let line = deed.line(&task);
    Some((Request::Plan(PlanRequest::Resume { place, task, prompt: prompt.clone() }), line))
}

/// Asks something of the whole house.
pub(super) fn of_all(model: &mut Model, (request, line): (Request, String), label: &'static str) {
    if !refuses(model) {
        let name = String::new();
        let under_way = UnderWay { id: None, name, deed: None, label, prompt: None, form: None };
        call(model, under_way, request, line);
    }
}

/// Makes a call.
pub(super) fn call(model: &mut Model, under_way: UnderWay, request: Request, line: String) {
    let ticket = model.work.begin(under_way, line, model.now.ms);
    model.effects.push(Effect::Call { ticket, request: Box::new(request) });
}
