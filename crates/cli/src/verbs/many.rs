//! One verb for several sessions: begun for all, told in the order that was asked for.

use super::session::act;
use super::{Out, say};
use crate::complaint::Complaint;
use crate::control;
use crate::progress::Progress;
use crate::words;
use glis_client::{Client, PATIENCE};
use glis_wire::client::{Action, Request, Response};
use glis_wire::view::SessionView;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Instant;

/// So many at once are quick enough, and far from what the daemon can have open.
const AT_ONCE: usize = 16;

/// The session afterwards and whether it was so before, or why it was not done.
type Acted = Result<(SessionView, bool), Complaint>;

/// Which sessions are meant, and in which form that was said.
pub(super) enum Chosen {
    /// By name: one is told as a document, several as an array.
    Named(Vec<String>),
    /// By `--all`: an array, however many there are.
    All(Vec<String>),
}

impl Chosen {
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::Named(names) | Self::All(names) => names,
        }
    }

    fn is_one(&self) -> bool {
        matches!(self, Self::Named(names) if names.len() == 1)
    }
}

/// Does the same to several sessions at once. One that fails does not keep the others from it; the
/// first failure decides the exit status.
pub(super) fn each(
    control: Client,
    chosen: &Chosen,
    action: &Action,
    out: &Out,
    tell: fn(&SessionView) -> String,
) -> Result<(), Complaint> {
    let names = chosen.names();
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
                if !out.json && !chosen.is_one() {
                    out.complain(&complaint);
                }
                documents.push(complaint.json());
                first.get_or_insert(complaint);
            }
        }
        Ok(())
    };
    match names {
        [] => {}
        [only] => {
            let mut control = control;
            tell_one(act(&mut control, only, action.clone()))?;
        }
        many => {
            drop(control);
            at_once(many, action, &mut tell_one)?;
        }
    }
    if names.is_empty() && !out.json {
        say("no session to do that with")?;
    }
    match (first, documents.as_slice()) {
        (Some(complaint), _) if chosen.is_one() => Err(complaint),
        (first, documents) => {
            if out.json {
                match documents {
                    [only] if chosen.is_one() => say(&only.to_string())?,
                    all => say(&Value::from(all.to_vec()).to_string())?,
                }
            }
            // Each failure was told beside its session already.
            first.map_or(Ok(()), |complaint| Err(Complaint { told: true, ..complaint }))
        }
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

/// Asks for each session on a connection of its own. Each result is told as soon as all before it
/// are.
fn at_once(
    names: &[String],
    action: &Action,
    tell: &mut impl FnMut(Acted) -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    let taken = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..names.len().min(AT_ONCE) {
            let (sender, taken) = (sender.clone(), &taken);
            scope.spawn(move || {
                loop {
                    let at = taken.fetch_add(1, Ordering::Relaxed);
                    let Some(name) = names.get(at) else { return };
                    // Nobody listens if nobody reads what we print; what was begun is done.
                    drop(sender.send((at, alone(name, action))));
                }
            });
        }
        drop(sender);
        let begun = Instant::now();
        let mut early = BTreeMap::new();
        let mut next = 0;
        while next < names.len() {
            let mut progress = Progress::new("waiting");
            let (at, acted) = loop {
                match results.recv_timeout(PATIENCE) {
                    Ok(result) => break result,
                    Err(RecvTimeoutError::Timeout) => progress.show(begun.elapsed()),
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
            };
            drop(progress);
            early.insert(at, acted);
            while let Some(acted) = early.remove(&next) {
                tell(acted)?;
                next += 1;
            }
        }
        Ok(())
    })
}

/// Without a word about its progress: several would write over each other.
fn alone(name: &str, action: &Action) -> Acted {
    let request = Request::Act { session: name.to_owned(), action: action.clone() };
    let Response::Done { session, already } = control::connect()?.call(request)? else {
        return Err(super::unexpected());
    };
    Ok((*session, already))
}
