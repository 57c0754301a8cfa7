//! Requests about what is kept: snapshots, differences, the trash.

use super::answer::{Answer, bad, trouble};
use super::carry::{Translated, carry_out};
use super::state::ServerState;
use super::steps::Steps;
use super::together::carry_out_together;
use crate::mailbox::Query;
use crate::peer::Peer;
use crate::pools::Kind;
use crate::trees::Trees;
use crate::view;
use crate::worktrees::{missing, repository};
use glis_core::session::{Session, Trashed};
use glis_core::tree::PathList;
use glis_core::{Command, Refusal, Status};
use glis_snapshot::{Shelf, Side, SnapshotFault, Why};
use glis_wire::client::{Discard, Response, TrashAction, Trouble};
use glis_wire::view::{FileDiffView, NotCapturedView, SnapshotView, TrashView};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// What stands in the place of a snapshot's name for the worktree as it is.
const WORKTREE: &str = "worktree";
/// Parts of a patch that may wait for a slow reader.
const PARTS: usize = 4;

pub(super) fn failed(fault: &SnapshotFault) -> Response {
    match fault {
        SnapshotFault::Missing(_) | SnapshotFault::BadName(_) | SnapshotFault::InTheWay { .. } => {
            bad(fault.to_string())
        }
        SnapshotFault::DiskFull(_) => {
            Response::Trouble { kind: Trouble::Storage, message: fault.to_string() }
        }
        SnapshotFault::Unreadable { .. }
        | SnapshotFault::Broken(_)
        | SnapshotFault::GitMissing(_)
        | SnapshotFault::Incomplete { .. }
        | SnapshotFault::Gone(_)
        | SnapshotFault::File { .. }
        | SnapshotFault::Git(_) => trouble(fault),
    }
}

/// Asks git, which may hang.
async fn ask_git<T: Send + 'static>(
    state: &ServerState,
    kind: Kind,
    work: impl FnOnce() -> Result<T, SnapshotFault> + Send + 'static,
) -> Answer<T> {
    let done = state.trees.jobs.ask(kind, work).await.map_err(trouble)?;
    Ok(done.map_err(|fault| failed(&fault))?)
}

/// A session whose snapshots can be looked at.
async fn found(state: &ServerState, given: &str) -> Answer<Session> {
    let session = state.find(given).await?;
    let repo = repository(&session);
    let looked_at = repo.clone();
    let is_there = state.pools.run_blocking(Kind::Look, move || looked_at.is_dir()).await;
    if is_there.map_err(trouble)? { Ok(session) } else { Err(trouble(missing(&repo)).into()) }
}

fn shelf(session: &Session) -> Shelf {
    if session.status() == Status::Archived { Shelf::Trash } else { Shelf::Snapshots }
}

pub(super) async fn snapshots(state: &ServerState, given: &str, last: Option<u32>) -> Answer {
    let session = found(state, given).await?;
    let last = last.map(|last| usize::try_from(last).unwrap_or(usize::MAX));
    let views = ask_git(state, Kind::Ask, move || listed(&session, last)).await?;
    Ok(Response::Snapshots(views))
}

fn listed(session: &Session, last: Option<usize>) -> Result<Vec<SnapshotView>, SnapshotFault> {
    let repo = repository(session);
    let list = glis_snapshot::list_last(&repo, &session.id.0, shelf(session), last)?;
    let views = list.into_iter().map(|listed| {
        let left_out = if listed.not_captured == 0 {
            Vec::new()
        } else {
            glis_snapshot::not_captured(&repo, &listed.reference)?
        };
        Ok(SnapshotView {
            commit: listed.commit,
            at: view::time(i64::try_from(listed.taken_ms).unwrap_or_default()),
            why: listed.why,
            changed: listed.changed,
            not_captured: left_out
                .iter()
                .map(|item| NotCapturedView { path: item.shown(), why: word(&item.why).to_owned() })
                .collect(),
            since_before: listed.since_before.map(|paths| {
                PathList::of(paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()))
            }),
            name: listed.reference,
        })
    });
    views.collect()
}

fn word(why: &Why) -> &'static str {
    match why {
        Why::Ignored => "ignored",
        Why::TooLarge { .. } => "too_large",
        Why::NotAFile => "not_a_file",
        Why::EmptyFolder => "empty_folder",
        Why::Unreadable => "unreadable",
        Why::Moving => "moving",
        Why::Repository { .. } => "repository",
    }
}

/// The snapshot that a person means: by its ref, by the end of it, by its commit; else the one of
/// the worktree as the session left it, or as it last was.
pub(super) async fn chosen(
    state: &ServerState,
    session: &Session,
    given: Option<String>,
) -> Answer<String> {
    let left = session.saved.last();
    if let (None, Some(left)) = (&given, left.filter(|_| session.status() != Status::Archived)) {
        return Ok(left.name.clone());
    }
    let session = session.clone();
    let list = {
        let session = session.clone();
        ask_git(state, Kind::Look, move || {
            let repo = repository(&session);
            glis_snapshot::names(&repo, &session.id.0, shelf(&session))
        })
        .await?
    };
    let Some(given) = given else {
        let last = list.into_iter().next_back().map(|(reference, _)| reference);
        let none = || bad(format!("session `{}` has no snapshot", session.name));
        return Ok(last.ok_or_else(none)?);
    };
    let means = |reference: &str, commit: &str| {
        let id = reference.rsplit('/').next().unwrap_or_default();
        reference == given || id.starts_with(&given) || commit.starts_with(&given)
    };
    let mut like = list
        .into_iter()
        .filter(|(reference, commit)| !given.is_empty() && means(reference, commit));
    match (like.next(), like.next()) {
        (Some((reference, _)), None) => Ok(reference),
        (Some(_), Some(_)) => Err(bad(format!("more than one snapshot is like {given:?}")).into()),
        (None, _) => {
            Err(bad(format!("session `{}` has no snapshot {given:?}", session.name)).into())
        }
    }
}

/// What a session has done: everything that differs from where it began. Nothing is recorded: the
/// worktree as it is goes into a throw-away repository, and no snapshot is made of it.
pub(super) async fn diff(
    state: &ServerState,
    peer: &mut Peer,
    given: &str,
    since: Option<String>,
    patch: bool,
) -> Answer {
    let session = found(state, given).await?;
    let since = match since {
        Some(since) => Some(chosen(state, &session, Some(since)).await?),
        None => None,
    };
    let worktree = session.place.worktree.clone().map(PathBuf::from);
    let is_there = move || worktree.is_some_and(|path| path.is_dir());
    let there = state.pools.run(Kind::Look, is_there).await;
    // What is not there is compared as it was last saved.
    let kept = if session.status() == Status::Archived || !there {
        Some(chosen(state, &session, None).await?)
    } else {
        None
    };
    let sides = Sides { session, since, kept, patch };
    let trees = Arc::clone(&state.trees);
    let (parts, mut sent) = mpsc::channel(PARTS);
    let work = tokio::spawn(async move {
        let own = Arc::clone(&trees);
        trees.jobs.ask(Kind::Ask, move || differences(&own, &sides, parts)).await
    });
    let mut at = 0;
    while let Some(part) = sent.recv().await {
        peer.send_raw(at, &part).await?;
        at += part.len() as u64;
    }
    let compared = work.await.map_err(trouble)?.map_err(trouble)?;
    Ok(compared.map_err(|fault| failed(&fault))?)
}

struct Sides {
    session: Session,
    /// The snapshot to begin from; else where the session began.
    since: Option<String>,
    /// The snapshot to end at; else the worktree as it is.
    kept: Option<String>,
    patch: bool,
}

/// Compares, and hands the patch on part by part if one is wanted.
fn differences(
    trees: &Trees,
    sides: &Sides,
    parts: mpsc::Sender<Vec<u8>>,
) -> Result<Response, SnapshotFault> {
    let Sides { session, since, kept, patch } = sides;
    let (repo, base) = (repository(session), session.spec.base.as_deref());
    let glance = match kept {
        Some(_) => None,
        None => Some(trees.glance(session)?),
    };
    let (to, beneath) = match (&glance, kept) {
        (Some(glance), _) => (Side::Now(glance), Side::BeneathNow(glance)),
        (None, Some(kept)) => (Side::Snapshot(kept), Side::Beneath(kept)),
        (None, None) => return Err(SnapshotFault::Missing(session.name.clone())),
    };
    let from = match (since, base) {
        (Some(since), _) => Side::Snapshot(since),
        (None, Some(base)) => Side::Commit(base),
        (None, None) => beneath,
    };
    let files = glis_snapshot::diff_files(&repo, from, to)?;
    if *patch {
        glis_snapshot::patch(&repo, from, to, &mut Parts(parts))?;
    }
    Ok(Response::Diff {
        from: since.as_deref().or(base).unwrap_or("HEAD").to_owned(),
        to: kept.as_deref().unwrap_or(WORKTREE).to_owned(),
        files: files
            .into_iter()
            .map(|file| FileDiffView {
                path: String::from_utf8_lossy(&file.path).into_owned(),
                added: file.added,
                removed: file.removed,
            })
            .collect(),
    })
}

/// Hands on what is written, part by part.
struct Parts(mpsc::Sender<Vec<u8>>);

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A person may read slowly.
        glis_snapshot::patiently(|| self.0.blocking_send(bytes.to_vec()))
            .map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) async fn restore_to(
    state: &ServerState,
    given: &str,
    snapshot: Option<String>,
    to: String,
) -> Answer {
    let session = found(state, given).await?;
    let snapshot = chosen(state, &session, snapshot).await?;
    let path = PathBuf::from(&to);
    let looked_at = path.clone();
    let is_taken = move || looked_at.symlink_metadata().is_ok() && !is_empty_folder(&looked_at);
    if state.pools.run(Kind::Look, is_taken).await {
        return Err(bad(format!("{to} exists already")).into());
    }
    let reference = snapshot.clone();
    let restore = move || Trees::restore_elsewhere(&session, &reference, &path);
    let notes = ask_git(state, Kind::Ask, restore).await?;
    Ok(Response::RestoredTo { path: to, snapshot, notes })
}

fn is_empty_folder(path: &std::path::Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// What is in the trash, removed last first, with the time when each is due, and now.
async fn in_trash(state: &ServerState) -> (Vec<(Arc<Session>, Trashed, i64)>, i64) {
    let days = i64::from(state.settings.now().trash.days);
    let removed = state.look(Query::All).await.into_iter();
    let mut list: Vec<_> = removed
        .filter_map(|session| {
            let trashed = session.upkeep.trashed.clone()?;
            let deadline = trashed.at + days * DAY_MS;
            Some((session, trashed, deadline))
        })
        .collect();
    list.sort_by_key(|(_, trashed, _)| std::cmp::Reverse(trashed.at));
    (list, jiff::Timestamp::now().as_millisecond())
}

/// Deletes what the trash has of several, or of those past their deadline, for good.
pub(super) async fn empty_trash(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    which: Discard,
) -> Answer {
    let mut wanted = Vec::new();
    match which {
        Discard::Named(names) => {
            for name in names {
                wanted.push(translate(state, &name, TrashAction::Empty).await);
            }
        }
        Discard::Due | Discard::All => {
            let (list, now) = in_trash(state).await;
            let meant = |deadline: i64| which == Discard::All || deadline <= now;
            let meant = list.into_iter().filter(|(_, _, deadline)| meant(*deadline));
            wanted.extend(meant.map(|(session, _, _)| {
                Ok((session.id.clone(), Command::Empty { session: session.id.clone() }))
            }));
        }
    }
    carry_out_together(state, steps, wanted, None).await
}

pub(super) async fn trash(state: &ServerState) -> Response {
    let (list, now) = in_trash(state).await;
    let views = list.into_iter().map(|(session, trashed, deadline)| TrashView {
        id: session.id.0.clone(),
        name: session.name.clone(),
        agent: session.spec.agent.clone(),
        branch: session.place.branch.clone(),
        removed_at: view::time(trashed.at),
        deadline: view::time(deadline),
        due: deadline <= now,
        place: trashed.place,
    });
    Response::Trash(views.collect())
}

pub(super) async fn trash_act(
    state: &ServerState,
    steps: &mut Steps<'_>,
    given: &str,
    action: TrashAction,
) -> Answer {
    let command = translate(state, given, action).await?;
    Box::pin(carry_out(state, steps, command, None)).await
}

async fn translate(state: &ServerState, given: &str, action: TrashAction) -> Translated {
    let found = state.look(Query::Removed(given.to_owned())).await;
    let refusal = || Refusal::NotInTrash { given: given.to_owned() };
    let session = found.into_iter().next().ok_or_else(refusal)?;
    let id = session.id.clone();
    Ok(match action {
        TrashAction::Restore { name } => (id.clone(), Command::Return { session: id, name }),
        TrashAction::Empty => (id.clone(), Command::Empty { session: id }),
    })
}
