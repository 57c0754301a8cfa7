//! One verb for several sessions: one decision for all of them, told in the order that was asked for.

use super::act;
use super::answer::Answer;
use super::gate;
use super::state::ServerState;
use super::steps::Steps;
use super::together::carry_out_together;
use crate::environments::Caller;
use crate::mailbox::Query;
use glis_core::pause::{PauseMode, PauseReason};
use glis_core::session::Session;
use glis_core::{Command, Status};
use glis_wire::client::{Action, PauseAll, Response, Which};
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
) -> Answer {
    let names = match which {
        Which::Named(names) => names,
        Which::All => match of_the_gate(state, steps, &action, env.clone()).await? {
            Some(response) => return Ok(response),
            None => all(state, |session| is_meant(session, &action)).await,
        },
        Which::Interrupted => all(state, |session| session.status() == Status::Interrupted).await,
    };
    let translate = |state: Arc<ServerState>, name: String| {
        let action = action.clone();
        async move { Box::pin(act::translate(&state, &name, action)).await }
    };
    let wanted = side_by_side(state, names, translate).await?;
    carry_out_together(state, steps, wanted, env).await
}

/// What the gate does, if this is something for the gate: pausing everything, and taking that back.
async fn of_the_gate(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    action: &Action,
    env: Option<Caller>,
) -> Answer<Option<Response>> {
    let shut = || async { state.mailbox.gate().await.is_some_and(|gate| gate.shut().is_some()) };
    // One for a time is of each: it has a time of its own then.
    let response = if let Action::Pause { mode, on_timeout, clearing, for_secs: None } = action {
        let (on_timeout, clearing) = (*on_timeout, *clearing);
        let mode = mode.unwrap_or(PauseMode::Boundary);
        let wanted = PauseAll { mode, on_timeout, clearing, reason: PauseReason::User };
        gate::pause_all(state, steps, wanted).await?
    } else if let Action::Resume { prompt } = action {
        if let Some(text) = prompt {
            let sends = gate::stopped(state).await.into_iter().map(|session| {
                Ok((session.clone(), Command::Send { session, text: text.clone() }))
            });
            // Stored first: it is handed over to each as soon as that one is back.
            let mut unseen = Steps::Unseen(steps.from().clone());
            carry_out_together(state, &mut unseen, sends.collect(), None).await?;
        }
        gate::resume_all(state, steps, false, env).await?
    } else if matches!(action, Action::CancelPause) && shut().await {
        gate::resume_all(state, steps, false, env).await?
    } else {
        return Ok(None);
    };
    Ok(Some(if let Response::Gate { each, .. } = response {
        Response::Each(each)
    } else {
        response
    }))
}

/// Looks at several things at once, as many as leave places for other callers.
async fn side_by_side<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    state: &Arc<ServerState>,
    names: Vec<String>,
    look: impl Fn(Arc<ServerState>, String) -> F,
) -> io::Result<Vec<T>> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut under_way = JoinSet::new();
    for (at, name) in names.into_iter().enumerate() {
        let (looking, places) = (look(Arc::clone(state), name), Arc::clone(&places));
        under_way.spawn(async move {
            // Never closed, so there is a place for each in the end.
            let _place = places.acquire().await;
            (at, looking.await)
        });
    }
    let mut seen = BTreeMap::new();
    while let Some(looked) = under_way.join_next().await {
        let (at, found) = looked.map_err(io::Error::other)?;
        seen.insert(at, found);
    }
    Ok(seen.into_values().collect())
}

/// The sessions that are meant, latest activity first.
async fn all(state: &ServerState, is_meant: impl Fn(&Session) -> bool) -> Vec<String> {
    let mut sessions = state.look(Query::Living).await;
    sessions.retain(|session| is_meant(session));
    sessions.sort_by_key(|session| std::cmp::Reverse(session.times.last_active_at));
    sessions.iter().map(|session| session.id.0.clone()).collect()
}

/// Whether a session is one of all those with which this is to be done.
fn is_meant(session: &Session, action: &Action) -> bool {
    match action {
        Action::Pause { .. } => session.can_pause() && session.status() != Status::Created,
        Action::CancelPause => session.status() == Status::Pausing,
        Action::Stop => session.runs(),
        Action::Acknowledge => {
            let lost = session.upkeep.folder_lost;
            lost || session.upkeep.damage.is_some() || session.upkeep.barred.is_some()
        }
        Action::Send { .. }
        | Action::LimitIdle { .. }
        | Action::Resume { .. }
        | Action::Restart { .. }
        | Action::Remove { .. }
        | Action::Answer { .. }
        | Action::AutoYes { .. }
        | Action::Label { .. }
        | Action::Pin { .. }
        | Action::Snooze { .. }
        | Action::Budget { .. }
        | Action::BeginTyping
        | Action::SetLoop { .. }
        | Action::Snapshot
        | Action::Compact
        | Action::Restore { .. } => true,
    }
}
