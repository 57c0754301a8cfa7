//! One verb for several sessions: begun for all, told in the order that was asked for.

use super::act::{Acted, act};
use super::limits::tell_limits;
use super::{Out, say};
use crate::control;
use crate::progress::Progress;
use crate::words;
use glis_client::{Client, Streamed, usable};
use glis_verbs::{Complaint, Each, Kind, acted, documents, unexpected};
use glis_wire::client::{Action, Request, Response, Which};
use glis_wire::view::{GateView, SessionView};
use serde_json::json;

/// Has the daemon do the same with several sessions. One that fails does not keep the others from it;
/// the first failure decides the exit status. One that is named is told as a document, several or
/// `--all` as an array.
pub(super) fn each(
    mut control: Client,
    which: &Which,
    action: &Action,
    out: &Out,
    tell: fn(&SessionView) -> String,
) -> Result<(), Complaint> {
    let alone = if let Which::Named(names) = which { names.as_slice() } else { &[] };
    let [name] = alone else { return together(control, which, action, out, tell) };
    let mut told = Told::new(out, tell);
    told.alone = true;
    told.take(act_on_one(&mut control, name, action))?;
    told.end_with(&mut control)
}

/// The same, and told as an array however many they are.
pub(super) fn together(
    mut control: Client,
    which: &Which,
    action: &Action,
    out: &Out,
    tell: fn(&SessionView) -> String,
) -> Result<(), Complaint> {
    let mut told = Told::new(out, tell);
    let request = Request::ActEach { which: which.clone(), action: action.clone() };
    at_once(&mut control, request, &mut told)?;
    if told.documents.is_empty() && !out.json {
        say("no matching sessions")?;
    }
    told.end_with(&mut control)
}

/// Has the daemon do something with the whole house. What came of each session is told, and then how
/// the gate is.
pub(super) fn everything(
    mut control: Client,
    request: Request,
    out: &Out,
    tell: fn(&SessionView) -> String,
    of_the_gate: fn(&GateView) -> Option<String>,
) -> Result<(), Complaint> {
    let mut told = Told::new(out, tell);
    let gate = at_once(&mut control, request, &mut told)?;
    let last = gate.as_ref().and_then(|(gate, _)| of_the_gate(gate));
    if let Some(last) = last.filter(|_| !out.json) {
        say(&last)?;
    } else if told.documents.is_empty() && !out.json {
        let already = gate.is_some_and(|(_, already)| already);
        say(if already { words::gate::NOTHING_STOPPED } else { words::gate::OPENED })?;
    }
    told.end_with(&mut control)
}

/// What came of several sessions, as it is told.
struct Told<'o> {
    out: &'o Out,
    tell: fn(&SessionView) -> String,
    /// One that was named alone is one document, and its failure the command's own.
    alone: bool,
    documents: Vec<Each>,
    first: Option<Complaint>,
    /// One of them waits for a place.
    waits: bool,
}

impl<'o> Told<'o> {
    fn new(out: &'o Out, tell: fn(&SessionView) -> String) -> Self {
        Self { out, tell, alone: false, documents: Vec::new(), first: None, waits: false }
    }

    fn take(&mut self, result: Acted) -> Result<(), Complaint> {
        match result {
            Ok((session, already)) => {
                self.waits |= words::limits::waits(&session);
                if !self.out.json {
                    let told =
                        if already { words::already(&session) } else { (self.tell)(&session) };
                    say(&told)?;
                }
                self.documents.push(Each::Acted(Box::new(documents::Acted { session, already })));
            }
            Err(complaint) => {
                if !self.out.json && !self.alone {
                    self.out.complain(&complaint);
                }
                self.documents.push(Each::Failed(complaint.json()));
                self.first.get_or_insert(complaint);
            }
        }
        Ok(())
    }

    fn end_with(self, control: &mut Client) -> Result<(), Complaint> {
        if self.waits {
            tell_limits(control, words::limits::full);
        }
        let Self { out, alone, documents, first, .. } = self;
        match (first, documents.as_slice()) {
            (Some(complaint), _) if alone => Err(complaint),
            (first, documents) => {
                if out.json {
                    match documents {
                        [document] if alone => say(&json!(document).to_string())?,
                        all => say(&json!(all).to_string())?,
                    }
                }
                // Each failure was told beside its session already.
                first.map_or(Ok(()), |complaint| Err(Complaint { told: true, ..complaint }))
            }
        }
    }
}

/// Does something with one session. A stop that the daemon did not live to answer is asked for again: it
/// may be asked for as often as one likes.
fn act_on_one(control: &mut Client, name: &str, action: &Action) -> Acted {
    let acted = act(control, name, action.clone());
    let lost = |complaint: &Complaint| complaint.kind == Kind::NoDaemon;
    match acted {
        Err(complaint) if *action == Action::Stop && lost(&complaint) => {
            act(&mut control::connect()?, name, action.clone())
        }
        acted => acted,
    }
}

/// Tells what came of each session as soon as all before it are told. The gate, if the response tells
/// of it.
fn at_once(
    control: &mut Client,
    request: Request,
    told: &mut Told<'_>,
) -> Result<Option<(GateView, bool)>, Complaint> {
    let mut progress = Some(Progress::new("waiting"));
    let mut count = 0;
    let response = control.call_seeing(request, |streamed| match streamed {
        Streamed::Words(Response::One(response)) => {
            // The line that told what was waited for goes before what came of it.
            progress = None;
            count += 1;
            told.take(acted(*response))
        }
        Streamed::Silence(since) => {
            progress.get_or_insert_with(|| Progress::new("waiting")).show(since);
            Ok(())
        }
        Streamed::Words(_) | Streamed::Bytes(..) => Ok(()),
    })?;
    drop(progress);
    let response = usable(response)?;
    let (all, gate) = if let Response::Gate { gate, each, already } = response {
        (each, Some((*gate, already)))
    } else if let Response::Each(all) = response {
        (all, None)
    } else {
        return Err(unexpected());
    };
    all.into_iter().skip(count).try_for_each(|response| told.take(acted(response)))?;
    Ok(gate)
}
