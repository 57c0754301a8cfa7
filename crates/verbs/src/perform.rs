//! A request carried out as its verb does: what comes of it is what the command line prints with `--json`.

use crate::complaint::Failure;
use crate::documents::{
    self, Acted, Diff, Dress, Emptied, Log, Made, Merged, Output, Removed, Restoration, RestoredTo,
    Screen,
};
use crate::say::{check_answer, sayable, sendable, warning_of};
use crate::{Complaint, Kind, draft, plan, unexpected, verdict};
use glis_client::{Client, Fault, Streamed, usable};
use glis_wire::call::Scope;
use glis_wire::client::{Action, Request, Response};
use glis_wire::plan::{DraftWork, PlanRequest};
use glis_wire::view::{Health, SessionView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Performed {
    pub document: Value,
    /// The exit status: of several sessions, or of what was looked at, something may be wrong.
    pub exit: u8,
}

impl From<Value> for Performed {
    fn from(document: Value) -> Self {
        Self { document, exit: 0 }
    }
}

/// What a face asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    Request(Request),
    /// Something is done with a draft of the plan of the repository that this folder is in.
    Draft(PathBuf, DraftWork),
}

impl Wanted {
    /// The least scope that may ask for this.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Request(request) => request.scope(),
            Self::Draft(_, DraftWork::Look { .. }) => Scope::Watch,
            Self::Draft(_, DraftWork::Begin { .. } | DraftWork::Take { .. }) => Scope::Manage,
        }
    }
}

/// Carries out what is asked for as its verb does.
pub fn perform(control: &mut Client, wanted: Wanted) -> Result<Performed, Complaint> {
    let request = match wanted {
        Wanted::Request(request) => request,
        Wanted::Draft(folder, work) => return draft::work_on(control, &folder, work),
    };
    match request {
        Request::Act { session, action } => on_session(control, &session, action),
        Request::New(mut new) => {
            new.prompt = new.prompt.map(sayable).transpose()?;
            let made = control.call(Request::New(new)).map_err(|fault| {
                if let Fault::Refused(refusal) = fault {
                    Complaint::of_new(refusal)
                } else {
                    fault.into()
                }
            })?;
            let Response::Made { session, notes } = made else { return Err(unexpected()) };
            Ok(json!(Made { session: &session, notes: &notes }).into())
        }
        Request::Merge { session, into, hooks, place } => {
            let files = documents::to_merge(control, &session)?;
            let merge = Request::Merge { session, into, hooks, place };
            let Response::Merged(merged) = control.call(merge)? else { return Err(unexpected()) };
            Ok(json!(Merged { merge: &merged, files: &files }).into())
        }
        Request::TrashEmpty { .. } => emptied(control, request),
        Request::ActEach { .. } | Request::PauseAll(_) | Request::ResumeAll { .. } => {
            each(control, request)
        }
        Request::Log { .. }
        | Request::Output { .. }
        | Request::Verdicts { .. }
        | Request::Diff { .. } => streamed(control, request),
        Request::List { .. }
        | Request::Show { .. }
        | Request::Wait { .. }
        | Request::Screen { .. }
        | Request::Compaction { .. }
        | Request::Snapshots { .. }
        | Request::RestoreTo { .. }
        | Request::Plan(
            PlanRequest::Show { .. }
            | PlanRequest::Read { .. }
            | PlanRequest::Check { .. }
            | PlanRequest::Change { .. }
            | PlanRequest::List { .. }
            | PlanRequest::Runs { .. }
            | PlanRequest::Pause { .. }
            | PlanRequest::Execute(_)
            | PlanRequest::Resume { .. }
            | PlanRequest::Restart { .. }
            | PlanRequest::Rule { .. }
            | PlanRequest::Clean { .. },
        )
        | Request::Search { .. }
        | Request::Cost { .. }
        | Request::Choices { .. }
        | Request::Filter { .. }
        | Request::Trash
        | Request::TrashAct { .. }
        | Request::Doctor
        | Request::RepoMoved { .. }
        | Request::DaemonStatus => told(control.call(request)?),
        // They have no end, or are no face's to ask for.
        Request::Attach { .. }
        | Request::Events { .. }
        | Request::Plan(PlanRequest::Follow { .. })
        | Request::DaemonStop { .. } => Err(unexpected()),
    }
}

/// What is done with one session.
fn on_session(control: &mut Client, session: &str, action: Action) -> Result<Performed, Complaint> {
    let act = |action| Request::Act { session: session.to_owned(), action };
    match action {
        Action::Send { text, files } => {
            let text = sendable(control, session, text)?;
            let send = act(Action::Send { text: text.clone(), files });
            let Response::Queued { session, message, before, status, .. } = control.call(send)?
            else {
                return Err(unexpected());
            };
            let warning = warning_of(&session, &text);
            let counted = (message, before, status);
            Ok(json!(documents::queued(&session, counted, warning.as_deref())).into())
        }
        Action::Answer { ask, answer, reason } => {
            let reason = reason.map(sayable).transpose()?;
            check_answer(control, session, ask.as_deref(), &answer)?;
            told(control.call(act(Action::Answer { ask, answer, reason }))?)
        }
        Action::Snapshot => {
            let (session, _) = acted(control.call(act(Action::Snapshot))?)?;
            let request = Request::Snapshots { session: session.row.id, last: Some(1) };
            let Response::Snapshots(mut list) = control.call(request)? else {
                return Err(unexpected());
            };
            Ok(json!(list.pop().ok_or_else(unexpected)?).into())
        }
        Action::Compact => {
            let (session, _) = acted(control.call(act(Action::Compact))?)?;
            told(control.call(Request::Compaction { session: session.row.id })?)
        }
        Action::Remove { running } => {
            let trash = control.home().trash();
            let (session, _) = acted(control.call(act(Action::Remove { running }))?)?;
            Ok(json!(Removed::of(session, &trash)).into())
        }
        Action::Resume { prompt } => {
            let prompt = prompt.map(sayable).transpose()?;
            already(control.call(act(Action::Resume { prompt }))?)
        }
        Action::Pause { .. } | Action::CancelPause | Action::Stop | Action::Acknowledge => {
            already(control.call(act(action))?)
        }
        Action::Restore { .. } => {
            let (session, _) = acted(control.call(act(action))?)?;
            Ok(json!(Restoration::Here(Box::new(session))).into())
        }
        _ => told(control.call(act(action))?),
    }
}

/// A session, with whether it was so before.
fn already(response: Response) -> Result<Performed, Complaint> {
    let (session, already) = acted(response)?;
    Ok(json!(Acted { session, already }).into())
}

/// What is printed of a response as it is.
fn told(response: Response) -> Result<Performed, Complaint> {
    let document = match usable(response)? {
        Response::Done { session, .. } | Response::Session(session) => json!(session),
        Response::Sessions { rows, .. } => json!(rows),
        Response::Screen(screen) => json!(Screen::of(&screen, Dress::Coloured)),
        Response::Daemon(daemon) => json!(daemon),
        Response::Findings(findings) => {
            let bad = findings.iter().any(|finding| finding.health == Health::Bad);
            return Ok(Performed { document: json!(findings), exit: u8::from(bad) });
        }
        Response::Snapshots(list) => json!(list),
        Response::Compaction(view) => json!(view),
        Response::Trash(list) => json!(list),
        Response::Hits(hits) => json!(hits),
        Response::Costs(costs) => json!(costs),
        Response::Choices(choices) => json!(choices),
        Response::RestoredTo { path, snapshot, notes } => {
            json!(Restoration::Elsewhere(RestoredTo { path, snapshot, notes }))
        }
        Response::Plan(plan) => json!(plan),
        Response::PlanFile(file) => json!(plan::shown(&file)),
        Response::PlanChecked { path, faults } => {
            let exit = if faults.is_empty() { 0 } else { Kind::Failed.exit_status() };
            return Ok(Performed { document: json!(plan::Checked { path, faults }), exit });
        }
        Response::NoPlan => Value::Null,
        Response::Runs(runs) => json!(runs),
        Response::Plans(plans) => json!(plans),
        _ => return Err(unexpected()),
    };
    Ok(document.into())
}

fn streamed(control: &mut Client, request: Request) -> Result<Performed, Complaint> {
    let (mut entries, mut verdicts) = (Vec::new(), Vec::new());
    let (mut bytes, mut first, mut cut_before) = (Vec::new(), None, None);
    let end = control.call_seeing(request.clone(), |streamed| {
        match streamed {
            Streamed::Words(Response::Entry(entry)) => entries.push(entry),
            Streamed::Words(Response::Verdict(one)) => verdicts.push(verdict::judged(*one)),
            Streamed::Words(Response::Cut { oldest }) => cut_before = Some(oldest),
            Streamed::Bytes(at, part) => {
                first.get_or_insert(at);
                bytes.extend(part);
            }
            Streamed::Words(_) | Streamed::Silence(_) => {}
        }
        Ok::<(), Complaint>(())
    })?;
    let document = match (request, usable(end)?) {
        (Request::Diff { patch, .. }, Response::Diff { from, to, files }) => {
            let patch = patch.then(|| String::from_utf8_lossy(&bytes));
            json!(Diff { from, to, files, patch })
        }
        (Request::Log { from: Some(_), .. }, Response::Read { next }) => {
            json!(Log::Part { entries, next })
        }
        (Request::Log { .. }, _) => json!(Log::Whole(entries)),
        (Request::Output { from, most, .. }, _) => {
            if most.is_some_and(|most| bytes.len() as u64 >= most) {
                bytes.truncate(whole_characters(&bytes));
            }
            let (offset, text) = (first.unwrap_or(from), String::from_utf8_lossy(&bytes));
            json!(Output { offset, bytes: bytes.len(), text, cut_before })
        }
        _ => json!(verdicts),
    };
    Ok(document.into())
}

/// What came of one of several sessions.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Each {
    Acted(Box<Acted>),
    Failed(Failure),
}

/// What came of several sessions, in their order; the first failure decides the exit status.
fn each(control: &mut Client, request: Request) -> Result<Performed, Complaint> {
    let mut told = Vec::new();
    let end = control.call_seeing(request, |streamed| {
        if let Streamed::Words(Response::One(one)) = streamed {
            told.push(*one);
        }
        Ok::<(), Complaint>(())
    })?;
    let (Response::Gate { each: all, .. } | Response::Each(all)) = usable(end)? else {
        return Err(unexpected());
    };
    told.extend(all.into_iter().skip(told.len()));
    let mut exit = 0;
    let documents = told.into_iter().map(|response| match acted(response) {
        Ok((session, already)) => Each::Acted(Box::new(Acted { session, already })),
        Err(complaint) => {
            exit = if exit == 0 { complaint.kind.exit_status() } else { exit };
            Each::Failed(complaint.json())
        }
    });
    let documents: Vec<Each> = documents.collect();
    Ok(Performed { document: json!(documents), exit })
}

/// Which removed sessions were deleted for good, and how many are left.
fn emptied(control: &mut Client, request: Request) -> Result<Performed, Complaint> {
    let Response::Each(each) = control.call(request)? else { return Err(unexpected()) };
    let (deleted, failed) = deleted(each);
    if let Some(complaint) = failed {
        return Err(complaint);
    }
    let Response::Trash(left) = control.call(Request::Trash)? else { return Err(unexpected()) };
    Ok(json!(Emptied { deleted: &deleted, left: left.len() }).into())
}

/// The names of those that were deleted for good, and the first that could not be: it keeps no other from it.
pub fn deleted(each: Vec<Response>) -> (Vec<String>, Option<Complaint>) {
    let (mut names, mut failed) = (Vec::new(), None);
    for response in each {
        match acted(response) {
            Ok((session, _)) => names.push(session.row.name),
            Err(complaint) => failed = failed.or(Some(complaint)),
        }
    }
    (names, failed)
}

/// The session that a response is about, and whether it was so before.
pub fn acted(response: Response) -> Result<(SessionView, bool), Complaint> {
    let Response::Done { session, already } = usable(response)? else { return Err(unexpected()) };
    Ok((*session, already))
}

/// How many of these bytes can be told without cutting a character in two.
pub fn whole_characters(bytes: &[u8]) -> usize {
    // The last chunk ends in bytes that are no character, or not one yet.
    let open = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let may_go_on = std::str::from_utf8(open).is_err_and(|fault| fault.error_len().is_none());
    bytes.len() - if may_go_on { open.len() } else { 0 }
}
