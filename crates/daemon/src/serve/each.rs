//! One verb for several sessions: begun for all at once, told in the order that was asked for.

use super::act;
use super::state::ServerState;
use super::steps::Steps;
use crate::environments::Caller;
use crate::mailbox::Query;
use glis_core::Status;
use glis_core::session::{FolderState, Session};
use glis_wire::client::{Action, Response, Trouble, Which};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// So many at once are quick enough, and leave places for other callers.
const AT_ONCE: usize = 16;

/// Does the same with several sessions. One with which it fails does not keep the others from it.
pub(super) async fn act_each(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    (which, action): (Which, Action),
    env: Option<Caller>,
) -> io::Result<Response> {
    let names = match which {
        Which::Named(names) => names,
        Which::All => all(state, &action).await,
    };
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut under_way = JoinSet::new();
    for (at, name) in names.into_iter().enumerate() {
        let (state, places) = (Arc::clone(state), Arc::clone(&places));
        let (action, env, from) = (action.clone(), env.clone(), steps.from().clone());
        under_way.spawn(async move {
            // Never closed, so there is a place for each in the end.
            let _place = places.acquire().await;
            (at, act::act(&state, &mut Steps::Unseen(from), &name, action, env).await)
        });
    }
    let (mut early, mut told) = (BTreeMap::new(), Vec::new());
    loop {
        let ended = tokio::select! {
            ended = under_way.join_next() => ended,
            () = steps.gone() => {
                // What was begun is done, whether or not its caller waits.
                under_way.detach_all();
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        };
        let Some(ended) = ended else { break };
        let (at, response) = ended.map_err(io::Error::other)?;
        early.insert(at, response.unwrap_or_else(|fault| trouble(&fault)));
        while let Some(response) = early.remove(&told.len()) {
            steps.send(&Response::One(Box::new(response.clone()))).await?;
            told.push(response);
        }
    }
    Ok(Response::Each(told))
}

fn trouble(fault: &io::Error) -> Response {
    Response::Trouble { kind: Trouble::Internal, message: fault.to_string() }
}

/// The sessions with which it can be done, latest activity first.
async fn all(state: &ServerState, action: &Action) -> Vec<String> {
    let mut sessions = state.mailbox.query(Query::Living).await;
    sessions.retain(|session| is_meant(session, action));
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last_active_at));
    sessions.into_iter().map(|session| session.id.0).collect()
}

/// Whether a session is one of all those with which this is to be done.
fn is_meant(session: &Session, action: &Action) -> bool {
    match action {
        Action::Pause { .. } => session.can_pause() && session.status() != Status::Created,
        Action::CancelPause => session.status() == Status::Pausing,
        Action::Resume { .. } => session.status() == Status::Paused,
        Action::Stop => session.runs(),
        Action::Acknowledge => {
            let lost = session.folder == FolderState::Lost;
            lost || session.damage.is_some() || session.barred.is_some()
        }
        Action::Send { .. }
        | Action::Restart { .. }
        | Action::Remove { .. }
        | Action::Answer { .. }
        | Action::Snapshot
        | Action::Restore { .. } => true,
    }
}
