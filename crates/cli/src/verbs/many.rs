//! One verb for several sessions: begun for all, told in the order that was asked for.

use super::act::{Acted, act, acted};
use super::{Out, say, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::progress::Progress;
use crate::words;
use glis_client::{Client, Streamed};
use glis_wire::client::{Action, Request, Response, Which};
use glis_wire::view::SessionView;
use serde_json::{Value, json};

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
    let only = match which {
        Which::Named(names) if names.len() == 1 => names.first(),
        Which::Named(_) | Which::All | Which::Interrupted => None,
    };
    let mut documents = Vec::new();
    let mut first = None;
    let mut tell_one = |result: Acted| {
        match result {
            Ok((session, already)) => {
                if !out.json {
                    say(&if already { words::already(&session) } else { tell(&session) })?;
                }
                documents.push(with(&session, "already", json!(already)));
            }
            Err(complaint) => {
                if !out.json && only.is_none() {
                    out.complain(&complaint);
                }
                documents.push(complaint.json());
                first.get_or_insert(complaint);
            }
        }
        Ok(())
    };
    match only {
        Some(name) => tell_one(act_on_one(&mut control, name, action))?,
        None => at_once(&mut control, which, action, &mut tell_one)?,
    }
    if documents.is_empty() && !out.json {
        say("no session to do that with")?;
    }
    match (first, documents.as_slice()) {
        (Some(complaint), _) if only.is_some() => Err(complaint),
        (first, documents) => {
            if out.json {
                match documents {
                    [document] if only.is_some() => say(&document.to_string())?,
                    all => say(&Value::from(all.to_vec()).to_string())?,
                }
            }
            // Each failure was told beside its session already.
            first.map_or(Ok(()), |complaint| Err(Complaint { told: true, ..complaint }))
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

/// A session's document with one field more.
pub(super) fn with(session: &SessionView, name: &str, value: Value) -> Value {
    let mut document = serde_json::to_value(session).unwrap_or_default();
    if let Some(fields) = document.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    document
}

/// Tells what came of each session as soon as all before it are told.
fn at_once(
    control: &mut Client,
    which: &Which,
    action: &Action,
    tell: &mut impl FnMut(Acted) -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    let mut progress = Some(Progress::new("waiting"));
    let mut told = 0;
    let request = Request::ActEach { which: which.clone(), action: action.clone() };
    let response = control.call_seeing(request, |streamed| match streamed {
        Streamed::Words(Response::One(response)) => {
            // The line that told what was waited for goes before what came of it.
            progress = None;
            told += 1;
            tell(acted(*response))
        }
        Streamed::Silence(since) => {
            progress.get_or_insert_with(|| Progress::new("waiting")).show(since);
            Ok(())
        }
        Streamed::Words(_) | Streamed::Bytes(..) => Ok(()),
    })?;
    drop(progress);
    let Response::Each(all) = response else { return Err(unexpected()) };
    all.into_iter().skip(told).try_for_each(|response| tell(acted(response)))
}
