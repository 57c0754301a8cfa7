//! Pausing and resuming everything: asked of the gate, waited for until it is so or its time is over.

use super::act::on_full_disks;
use super::answer::{Answer, Ended, gone, storage, told};
use super::carry::{Asked, failed};
use super::state::ServerState;
use super::steps::Steps;
use super::together::settle_each;
use crate::environments::Caller;
use crate::gate::Loaded;
use crate::mailbox::{Published, Query};
use crate::pools::Kind;
use crate::view;
use glis_core::gate::{GateWish, Kept};
use glis_core::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::reason::Why;
use glis_core::session::Phase;
use glis_core::tree::Clearing;
use glis_core::{
    Command, Event, Failure, Gate, GateCommand, GateEvent, Input, OpId, Refusal, Reply, Session,
    SessionId,
};
use glis_wire::client::{PauseAll, Response, Trouble};
use glis_wire::view::GateView;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// The gate as a front end is shown it.
pub(super) async fn seen(state: &ServerState) -> Box<GateView> {
    let gate = state.mailbox.gate().await.unwrap_or_default();
    let sessions = state.look(Query::Living).await;
    let names = |meant: &dyn Fn(&Session) -> bool| -> Vec<String> {
        sessions.iter().filter(|s| meant(s)).map(|s| s.name.clone()).collect()
    };
    let shut = gate.shut();
    Box::new(GateView {
        state: gate.word().to_owned(),
        since: shut.map(|shut| view::time(shut.since)),
        stopped: names(&|session| shut.is_some() && gate.holds(&session.id)),
        waits_for: names(&|session| shut.is_some() && session.is_at_work()),
        note: None,
    })
}

/// Those that come back when the gate is opened.
pub(super) async fn stopped(state: &ServerState) -> Vec<SessionId> {
    let gate = state.mailbox.gate().await.unwrap_or_default();
    gate.shut().map(|shut| shut.set.iter().cloned().collect()).unwrap_or_default()
}

/// Pauses everything. What does not stop in time is named, and stops later.
pub(super) async fn pause_all(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    wanted: PauseAll,
) -> Answer {
    let PauseAll { mode, on_timeout, clearing, reason } = wanted;
    let config = state.settings.now();
    let on_timeout = on_timeout.unwrap_or(config.pause.on_timeout);
    let removes = config.pause.remove_worktree;
    let before = state.look(Query::Living).await;
    let full =
        on_full_disks(state, before.iter().map(Arc::as_ref), config.pause.remove_below_percent)
            .await;
    let wish = GateWish { mode, reason, on_timeout, clearing, removes, full };
    let mut news = state.mailbox.news.subscribe();
    let by_force = forced(state, &before, mode).await;
    let from = Some(steps.from().clone());
    let replied = state.mailbox.ask(Input::Gate(GateCommand::Shut(wish)), from).await;
    let Some(Ok(Reply::Gate { op, already, each })) = replied else {
        return unwritten(state, steps, by_force).await;
    };
    let mut heard = Told::default();
    while !already && !heard.is_over(state, op).await {
        tokio::select! {
            published = news.recv() => match published {
                Ok(published) => {
                    heard.take(op, &published);
                    if published.recorded.subject.session().is_some() {
                        steps.send(&Response::Step(view::event(&published.recorded))).await?;
                    }
                }
                // Whatever was missed is in the gate by now.
                Err(RecvError::Lagged(_)) => heard.look = true,
                Err(RecvError::Closed) => return gone(),
            },
            () = steps.gone() => return gone(),
            () = state.daemon.owed.log_failed() => {
                return unwritten(state, steps, by_force).await;
            }
        }
    }
    if let Some(why) = heard.not_kept {
        let message = format!("everything is paused, but that cannot be written down: {why}");
        return Ok(Response::Trouble { kind: Trouble::Storage, message });
    }
    let ids = latest_first(before, each.into_iter().map(|(id, _)| id));
    let mut responses = Vec::new();
    for id in ids {
        let failure = heard.failures.remove(&id);
        responses.push(told(came_of(state, &id, failure, already).await)?);
    }
    Ok(Response::Gate { gate: seen(state).await, already, each: responses })
}

/// What is known of how everything is paused.
#[derive(Default)]
struct Told {
    over: bool,
    /// Something was missed: the gate itself has to be looked at.
    look: bool,
    not_kept: Option<Why>,
    failures: BTreeMap<SessionId, Failure>,
}

impl Told {
    fn take(&mut self, op: OpId, published: &Published) {
        let recorded = &published.recorded;
        if let (Some(id), Some((_, Err(failure)))) = (recorded.subject.session(), &published.ended)
        {
            self.failures.insert(id.clone(), failure.clone());
        }
        let Event::Gate(event) = &recorded.event else { return };
        match event {
            GateEvent::Paused { op: of, .. } | GateEvent::Overdue { op: of, .. } => {
                self.over |= *of == op;
            }
            // It was opened again before everything had stopped.
            GateEvent::Opened { .. } => self.over = true,
            GateEvent::NotKept { op: of, why } if *of == op => self.not_kept = Some(why.clone()),
            GateEvent::NotKept { .. }
            | GateEvent::Shut { .. }
            | GateEvent::Hastened { .. }
            | GateEvent::Joined { .. }
            | GateEvent::Released { .. }
            | GateEvent::Stopped { .. }
            | GateEvent::Resumed { .. } => {}
        }
    }

    async fn is_over(&mut self, state: &ServerState, op: OpId) -> bool {
        if std::mem::take(&mut self.look) {
            let gate = state.mailbox.gate().await;
            let waits =
                |gate: Gate| matches!(gate, Gate::Pausing(shut) if shut.op == op && !shut.overdue);
            self.over |= !gate.is_some_and(waits);
        }
        self.over || self.not_kept.is_some()
    }
}

/// What has become of one session that was to be paused.
async fn came_of(
    state: &ServerState,
    id: &SessionId,
    failure: Option<Failure>,
    already: bool,
) -> Answer {
    let session = state.known(id).await?;
    let gone_on = session.phase == Phase::Live;
    match failure {
        Some(failure) if gone_on => failed(state, id, failure).await,
        Some(_) | None if session.is_at_work() => {
            let (name, doing) = (session.name.clone(), session.doing().to_string());
            Err(Refusal::StillAtWork { session: name, doing }.into())
        }
        Some(_) | None => Ok(state.done(&session, already).await),
    }
}

/// What is needed to end every agent by force, should the log fail: then no session can be asked about.
async fn forced(state: &ServerState, sessions: &[Arc<Session>], mode: PauseMode) -> Vec<Asked> {
    let (reason, clearing, on_timeout) = (PauseReason::User, Clearing::Keep, OnTimeout::Force);
    let wish = PauseWish { mode, reason, on_timeout, clearing };
    let mut asked = Vec::new();
    for session in sessions.iter().filter(|s| s.runs() && mode == PauseMode::Force) {
        let session = session.id.clone();
        let pause = Command::Pause { session: session.clone(), wish, until: None };
        asked.push(Asked::new(state, session, &pause, None).await);
    }
    asked
}

/// Where nothing can be written down, agents are ended all the same if that was asked for by force.
async fn unwritten(state: &Arc<ServerState>, steps: &mut Steps<'_>, asked: Vec<Asked>) -> Answer {
    if asked.is_empty() {
        return Ok(storage());
    }
    let asked = asked.into_iter().map(|asked| (Ok(asked), None));
    Ok(Response::Each(settle_each(state, steps, asked.collect()).await?))
}

/// Lets what was stopped come back; with an open gate that is nothing.
pub(super) async fn resume_all(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    from_log: bool,
    env: Option<Caller>,
) -> Answer {
    let gate = state.mailbox.gate().await.ok_or_else(storage)?;
    let kept = match &gate {
        Gate::Paused(shut) if !from_log => {
            let store = Arc::clone(&state.gate);
            let loaded = state.pools.run_blocking(Kind::Look, move || store.load()).await;
            let loaded = loaded.unwrap_or_else(Loaded::Damaged);
            match loaded {
                Loaded::Missing => Kept::Missing,
                Loaded::Damaged(why) => return Err(damaged(state, why)),
                Loaded::Kept(file) => match file.fault(shut) {
                    Some(why) => return Err(damaged(state, why)),
                    None => Kept::Set(file.set()),
                },
            }
        }
        Gate::Paused(_) | Gate::Pausing(_) | Gate::Open { .. } => Kept::FromLog,
    };
    let missing = kept == Kept::Missing;
    let sessions = state.look(Query::Living).await;
    let meant =
        |session: &&Arc<Session>| gate.shut().is_some_and(|shut| shut.set.contains(&session.id));
    let ids = sessions.iter().filter(meant).map(|session| session.id.clone()).collect::<Vec<_>>();
    let mut waiting = BTreeMap::new();
    for id in latest_first(sessions, ids.into_iter()) {
        let command = Command::Resume { session: id.clone(), prompt: None };
        let at = waiting.len();
        waiting.insert(id.clone(), (at, Asked::new(state, id, &command, env.clone()).await));
    }
    let from = Some(steps.from().clone());
    let replied = state.mailbox.ask(Input::Gate(GateCommand::Open(kept)), from).await;
    let Some(Ok(Reply::Gate { already, each, .. })) = replied else { return Ok(storage()) };
    let mut told: Vec<_> =
        each.into_iter().filter_map(|(id, reply)| Some((waiting.remove(&id)?, reply))).collect();
    told.sort_by_key(|((at, _), _)| *at);
    let told = told.into_iter().map(|((_, asked), reply)| (Ok(asked), Some(reply)));
    let each = settle_each(state, steps, told.collect()).await?;
    let mut gate = seen(state).await;
    gate.note = missing
        .then(|| format!("{} is not there; resumed by the event log", state.gate.path().display()));
    Ok(Response::Gate { gate, already, each })
}

fn damaged(state: &ServerState, why: String) -> Ended {
    Refusal::GateDamaged { path: state.gate.path().display().to_string(), why }.into()
}

/// These sessions, latest activity first.
fn latest_first(
    mut sessions: Vec<Arc<Session>>,
    ids: impl Iterator<Item = SessionId>,
) -> Vec<SessionId> {
    sessions.sort_by_key(|session| session.times.last_active_at);
    let at = |id: &SessionId| sessions.iter().position(|session| session.id == *id);
    let mut ids: Vec<_> = ids.collect();
    ids.sort_by_key(|id| std::cmp::Reverse(at(id)));
    ids
}
