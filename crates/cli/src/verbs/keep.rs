//! Verbs about what is kept: snapshots, differences, merging, the trash.

use super::act::act;
use super::args::{Diff, Empty, Merge, Restore, TrashVerb};
use super::session::confirm;
use super::task::path_text;
use super::{Out, ask, document_of, say};
use crate::control;
use crate::streams::write_out;
use crate::words::keep as words;
use glis_client::{Client, Streamed};
use glis_verbs::documents::{Emptied, Merged, RestoredTo, to_merge};
use glis_verbs::{Complaint, acted, deleted, unexpected};
use glis_wire::client::{Action, Discard, Request, Response, TrashAction};
use glis_wire::view::{SnapshotView, TrashView};

fn listed(
    control: &mut Client,
    session: &str,
    last: Option<u32>,
) -> Result<Vec<SnapshotView>, Complaint> {
    let request = Request::Snapshots { session: session.to_owned(), last };
    let Response::Snapshots(list) = ask(control, request)? else { return Err(unexpected()) };
    Ok(list)
}

pub(super) fn snapshot(name: &str, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let (session, _) = act(&mut control, name, Action::Snapshot)?;
    let last = listed(&mut control, &session.id, Some(1))?.pop().ok_or_else(unexpected)?;
    out.document(&last, || words::taken(&session, &last))
}

pub(super) fn compact(name: &str, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let (session, already) = act(&mut control, name, Action::Compact)?;
    let request = Request::Compaction { session: session.id.clone() };
    let Response::Compaction(view) = ask(&mut control, request)? else { return Err(unexpected()) };
    out.document(&view, || words::compacted(&session, &view, already))
}

pub(super) fn snapshots(name: &str, out: &Out) -> Result<(), Complaint> {
    let list = listed(&mut control::connect()?, name, None)?;
    out.document(&list, || words::snapshots(name, &list))
}

pub(super) fn diff(diff: Diff, out: &Out) -> Result<(), Complaint> {
    let (session, since) = (diff.name, diff.since);
    let request = Request::Diff { session, since, patch: !diff.stat };
    let mut control = control::connect()?;
    if out.json {
        return document_of(&mut control, request);
    }
    let answer = control.call_seeing(request, |streamed| match streamed {
        Streamed::Bytes(_, part) => write_out(&part),
        Streamed::Words(_) | Streamed::Silence(_) => Ok(()),
    })?;
    let Response::Diff { files, .. } = answer else { return Err(unexpected()) };
    if diff.stat { say(&words::stat(&files)) } else { Ok(()) }
}

pub(super) fn restore(restore: Restore, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let Some(to) = restore.to else {
        let action = Action::Restore { snapshot: restore.snapshot };
        let (session, _) = act(&mut control, &restore.name, action)?;
        return out.document(&session, || words::restored(&session));
    };
    let to = path_text(std::path::absolute(to), "the path")?;
    let (session, snapshot) = (restore.name, restore.snapshot);
    let answer = ask(&mut control, Request::RestoreTo { session, snapshot, to })?;
    let Response::RestoredTo { path, snapshot, notes } = answer else { return Err(unexpected()) };
    let document = RestoredTo { path, snapshot, notes };
    out.document(&document, || {
        words::copied_to(&document.path, &document.snapshot, &document.notes)
    })
}

/// Shows what differs, and merges it.
pub(super) fn merge(merge: Merge, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let Merge { name: session, into, hooks } = merge;
    let files = to_merge(&mut control, &session)?;
    let place = super::task::here().ok();
    let request = Request::Merge { session, into, hooks, place };
    let Response::Merged(merged) = ask(&mut control, request)? else { return Err(unexpected()) };
    out.document(&Merged { merge: &merged, files: &files }, || {
        // Of what was there already, nothing is merged now.
        let stat = (!merged.already).then(|| words::stat(&files));
        let lines: Vec<_> = stat.into_iter().chain([words::merged(&merged)]).collect();
        lines.join("\n")
    })
}

pub(super) fn trash(verb: TrashVerb, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    match verb {
        TrashVerb::List => {
            let removed = removed(&mut control)?;
            out.document(&removed, || words::trash(&removed))
        }
        TrashVerb::Restore { name, rename } => {
            let action = TrashAction::Restore { name: rename };
            let request = Request::TrashAct { session: name, action };
            let (session, _) = acted(ask(&mut control, request)?)?;
            out.document(&session, || words::returned(&session))
        }
        TrashVerb::Empty(wish) => empty(&mut control, &wish, out),
    }
}

fn removed(control: &mut Client) -> Result<Vec<TrashView>, Complaint> {
    let Response::Trash(removed) = ask(control, Request::Trash)? else { return Err(unexpected()) };
    Ok(removed)
}

/// Deletes what is past its deadline, or what is named, for good.
fn empty(control: &mut Client, wish: &Empty, out: &Out) -> Result<(), Complaint> {
    let Empty { names, all, yes } = wish;
    let which = match (names.as_slice(), *all) {
        ([], true) => Discard::All,
        ([], false) => Discard::Due,
        (names, _) => Discard::Named(names.to_vec()),
    };
    if !*yes {
        let what = match &which {
            Discard::Due => Vec::new(),
            Discard::All => removed(control)?.into_iter().map(|item| item.name).collect(),
            Discard::Named(names) => names.clone(),
        };
        let question = format!("Delete {} for good, before the deadline?", what.join(", "));
        let reason = "deleting before the deadline has to be confirmed";
        if !what.is_empty() {
            confirm(&question, reason, "nothing was deleted")?;
        }
    }
    let Response::Each(each) = ask(control, Request::TrashEmpty { which })? else {
        return Err(unexpected());
    };
    let (deleted, failed) = deleted(each);
    if let Some(complaint) = failed {
        if !deleted.is_empty() && !out.json {
            say(&words::emptied(&deleted, 0))?;
        }
        return Err(complaint);
    }
    let left = removed(control)?.len();
    out.document(&Emptied { deleted: &deleted, left }, || words::emptied(&deleted, left))
}
