//! What is printed with `--json`, where that is not simply what the daemon said.

use crate::{Complaint, unexpected};
use glis_client::labels::unstarted;
use glis_client::{Client, Fault};
use glis_core::{Refusal, Status};
use glis_wire::client::{Request, Response, ScreenView};
use glis_wire::view::{FileDiffView, MergeView, SessionView};
use serde_json::{Value, json};
use std::path::Path;

/// A conversation from an offset on, and where the next read begins; all of it as an array.
pub fn log(entries: Vec<Value>, from: Option<u64>, next: u64) -> Value {
    if from.is_some() { json!({"entries": entries, "next": next}) } else { entries.into() }
}

/// A session that was made.
pub fn made(session: &SessionView, notes: &[String]) -> Value {
    with(session, "notes", json!(notes))
}

/// A message that was stored: its number, how many are before it, what the session was.
pub fn queued(
    session: &SessionView,
    (message, before, status): (u64, usize, Status),
    warning: Option<&str>,
) -> Value {
    json!({
        "session": session.name, "message": message, "before": before,
        "status": status, "queued": session.queued, "not_started": unstarted(session),
        "waits_for": session.waiting_for, "warning": warning,
    })
}

/// A session that was removed.
pub fn removed(session: &SessionView, place: &Path) -> Value {
    json!({"session": session, "place": place, "worktree_stays": staying(session)})
}

/// A worktree on another filesystem cannot be moved.
pub fn staying(session: &SessionView) -> Option<String> {
    let worktree = session.worktree.clone();
    worktree.filter(|path| !session.in_place && Path::new(path).exists())
}

/// How a screen is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dress {
    Plain,
    Coloured,
}

pub fn screen(screen: &ScreenView, dress: Dress) -> Value {
    let ScreenView { lines, ansi, cursor, size, offset, oldest, end } = screen;
    let mut document = json!({
        "lines": lines, "cursor": {"x": cursor.0, "y": cursor.1},
        "columns": size.columns, "rows": size.rows,
        "offset": offset, "oldest": oldest, "end": end,
    });
    if dress == Dress::Coloured {
        document["ansi"] = json!(ansi);
    }
    document
}

pub fn output(offset: u64, bytes: &[u8], cut_before: Option<u64>) -> Value {
    let text = String::from_utf8_lossy(bytes);
    json!({"offset": offset, "bytes": bytes.len(), "text": text, "cut_before": cut_before})
}

pub fn diff(from: &str, to: &str, files: &[FileDiffView], patch: Option<&[u8]>) -> Value {
    let patch = patch.map(String::from_utf8_lossy);
    json!({"from": from, "to": to, "files": files, "patch": patch})
}

/// A snapshot at another place.
pub fn restored_to(path: &str, snapshot: &str, notes: &[String]) -> Value {
    json!({"path": path, "snapshot": snapshot, "notes": notes})
}

pub fn merged(merged: &MergeView, files: &[FileDiffView]) -> Value {
    let mut document = json!(merged);
    document["files"] = json!(files);
    document
}

/// What differs in a session that is to be merged. A plan has no diff of its own.
pub fn to_merge(control: &mut Client, name: &str) -> Result<Vec<FileDiffView>, Complaint> {
    match control.call(Request::Diff { session: name.to_owned(), since: None, patch: false }) {
        Ok(Response::Diff { files, .. }) => Ok(files),
        Ok(_) => Err(unexpected()),
        Err(Fault::Refused(Refusal::NoSuchSession { .. })) => Ok(Vec::new()),
        Err(fault) => Err(fault.into()),
    }
}

/// A session's document with one field more.
pub fn with(session: &SessionView, name: &str, value: Value) -> Value {
    let mut document = serde_json::to_value(session).unwrap_or_default();
    if let Some(fields) = document.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    document
}
