//! The daemon's socket: one task per front end, one call at a time.

mod act;
mod answer;
mod carry;
mod choices;
mod compact;
mod cost;
mod cut_short;
mod each;
mod entitled;
mod files;
mod gate;
mod inside;
mod keep;
mod keys;
mod list;
mod merge;
mod moved;
mod owed;
mod plans;
mod state;
mod steps;
mod stream;
mod together;
mod triage;
mod unwritten;
mod verdicts;
mod wait;

pub(crate) use keys::Keys;
pub(crate) use owed::Owed;
pub(crate) use state::{Daemon, ServerState};

use self::answer::{Answer, bad, gone, told, trouble};
use self::keys::Known;
use self::merge::HookWish;
use self::steps::Steps;
use crate::environments::Caller;
use crate::mailbox::Query;
use crate::panics::caught;
use crate::peer::Peer;
use crate::shutdown::{Shutdown, ShutdownRequest};
use crate::tasks::beside;
use glis_core::Status;
use glis_wire::call::{Origin, Scope};
use glis_wire::client::{Call, Greeting, PROTOCOL, Request, Response, Trouble};
use glis_wire::frame::{Frame, FrameFault};
use glis_wire::size;
use glis_wire::view::DaemonView;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tracing::warn;

/// Front ends served at once. The next one waits in the socket's own queue.
const CONNECTIONS_MAX: usize = 256;
/// A process that connects and says nothing in this time is not one of ours.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// Lets front ends in until the daemon ends. `fresh` brings the sockets that take the place of
/// deleted ones.
pub(crate) async fn serve(
    state: Arc<ServerState>,
    mut listener: UnixListener,
    mut fresh: mpsc::Receiver<UnixListener>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let came = tokio::select! {
            // What waits at the deleted socket is let in before it is left.
            biased;
            came = listener.accept() => came,
            Some(next) = fresh.recv() => {
                listener = next;
                continue;
            }
        };
        match came {
            Ok((stream, _)) => {
                let state = Arc::clone(&state);
                beside(async move {
                    // A connection that breaks concerns the front end that broke it and no other.
                    drop(converse(&state, stream).await);
                    drop(place);
                });
            }
            // Out of descriptors, most likely: others will end and give theirs back.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn converse(state: &Arc<ServerState>, stream: UnixStream) -> io::Result<()> {
    if !glis_os::descriptors::peer(&stream)?.is_own_user {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user"));
    }
    let mut peer = Peer::new(stream);
    let protocol = crate::failpoint::protocol().unwrap_or(PROTOCOL);
    let (build, log_id) = (state.daemon.build.clone(), Some(state.mailbox.log_id()));
    peer.send(&Greeting { protocol, build, log_id }).await?;
    let greeted = tokio::time::timeout(GREETING_TIME, peer.next()).await;
    let Ok(Ok(Some(frame))) = greeted else { return Ok(()) };
    if frame.words::<Greeting>().is_err() || protocol != PROTOCOL {
        peer.gone().await;
        return Ok(());
    }
    while let Some(frame) = next_call(&mut peer).await? {
        state.daemon.called.notify_one();
        if let Frame::Words(json) = &frame
            && let Some(refused) = size::refuse(json)
        {
            peer.send(&refused).await?;
            continue;
        }
        match Call::read(&frame) {
            Ok(call) => {
                // A fault in one answer is told to the front end that asked; the others are served on.
                let answered = caught(answer(state, &mut peer, call)).await;
                match answered {
                    Ok(answered) => answered?,
                    Err(message) => {
                        warn!("{message}");
                        peer.send(&trouble(message)).await?;
                    }
                }
            }
            Err(fault) => {
                peer.send(&bad(fault.to_string())).await?;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The next call. One that is too large is refused unread, and ends the connection.
async fn next_call(peer: &mut Peer) -> io::Result<Option<Frame>> {
    let next = peer.next().await;
    let why = next.as_ref().err().and_then(io::Error::get_ref);
    if let Some(FrameFault::TooLong(length)) = why.and_then(|why| why.downcast_ref()) {
        let length = usize::try_from(*length).unwrap_or(usize::MAX);
        peer.send(&size::refuse_whole(length)).await?;
    }
    next
}

async fn answer(state: &Arc<ServerState>, peer: &mut Peer, call: Call) -> io::Result<()> {
    let Call { request, env, limits, key, from, scope } = call;
    if let Some(refused) = entitled::refuse(&request, &from, scope) {
        return peer.send(&refused).await;
    }
    if let Some(refused) = entitled::refuse_typing(state, &request, scope).await {
        return peer.send(&refused).await;
    }
    // Held until the response has left.
    let _debt = state.daemon.owed.note(&request);
    // A service has an environment for itself, and none for those whom it serves.
    let env = env.filter(|_| !from.face.is_service()).map(|env| Caller { env, limits });
    // What was just changed in the configuration counts for what is asked next.
    state.places.refresh().await;
    if request.may_start() && state.daemon.ending.load(Ordering::Relaxed) {
        let message = "the daemon is shutting down and suspends its agents; retry when it is done";
        return peer.send(&trouble(message)).await;
    }
    if let Some(key) = key.filter(|_| is_kept(&request)) {
        let response = once(state, &key, (request, from), env).await;
        return peer.send(&response).await;
    }
    if let Request::DaemonStop { agents } = request {
        let how = if agents { Shutdown::SuspendAgents } else { Shutdown::LeaveAgents };
        return close(state, peer, how).await;
    }
    let mut steps = Steps::To(peer, from);
    let reply = told(Box::pin(carry_out(state, &mut steps, request, env)).await)?;
    steps.send(&reply).await
}

/// Whether the response is kept under the call's key. What only looks may be repeated as it is, and
/// with the daemon's end there is nothing to come back to.
fn is_kept(request: &Request) -> bool {
    request.scope() > Scope::Watch && !matches!(request, Request::DaemonStop { .. })
}

/// Carries out a call unless its key is known. A caller that goes away comes back for the response, so
/// nothing is broken off.
async fn once(
    state: &Arc<ServerState>,
    key: &str,
    (request, from): (Request, Origin),
    env: Option<Caller>,
) -> Response {
    let last = state.mailbox.last_seq();
    let known = match state.daemon.keys.begin(key, &request, last).await {
        Known::Said(response) => return *response,
        Known::CutShort(since) => cut_short::came_of(state, key, since, &request).await,
        Known::First => None,
    };
    if let Some(response) = known {
        state.daemon.keys.end(key, &response).await;
        return response;
    }
    let from = Origin { key: Some(key.to_owned()), ..from };
    let changed = caught(Box::pin(carry_out(state, &mut Steps::Unseen(from), request, env))).await;
    let response = match changed.map(told) {
        Ok(Ok(response)) => response,
        Ok(Err(fault)) => Response::Trouble { kind: Trouble::Unknown, message: fault.to_string() },
        Err(message) => {
            warn!("{message}");
            trouble(message)
        }
    };
    state.daemon.keys.end(key, &response).await;
    response
}

/// Carries out what is asked for.
async fn carry_out(
    state: &Arc<ServerState>,
    steps: &mut Steps<'_>,
    request: Request,
    env: Option<Caller>,
) -> Answer {
    match request {
        Request::List { all } => list::list(state, steps.peer()?, all).await,
        Request::Show { session } => show(state, &session).await,
        Request::Attach { session } => stream::attach(state, steps.peer()?, &session).await,
        Request::Screen { session, at } => stream::screen(state, &session, at).await,
        Request::Output { session, from, follow, most } => {
            stream::output(state, steps.peer()?, &session, (from, most), follow).await
        }
        Request::Log { session, follow, from } => {
            stream::log(state, steps.peer()?, &session, from.unwrap_or_default(), follow).await
        }
        Request::Events { from, follow } => {
            stream::events(state, steps.peer()?, from, follow).await
        }
        Request::Verdicts { session, fresh } => {
            let by = steps.from().face;
            verdicts::tell(state, steps.peer()?, session.as_deref(), fresh, by).await
        }
        Request::Wait { session, statuses, timeout_ms } => {
            wait(state, steps.peer()?, &session, &statuses, timeout_ms).await
        }
        Request::Compaction { session } => compact::show(state, &session).await,
        Request::Snapshots { session, last } => keep::snapshots(state, &session, last).await,
        Request::Diff { session, since, patch } => {
            Box::pin(keep::diff(state, steps.peer()?, &session, since, patch)).await
        }
        Request::Search { words, most } => stream::search(state, words, most).await,
        Request::Cost { by, since } => cost::cost(state, by, since).await,
        Request::Choices { repo } => choices::tell(state, repo, env).await,
        Request::Filter { words, keep } => choices::filter(state, words, keep, env).await,
        Request::Trash => Ok(keep::trash(state).await),
        Request::Doctor => Ok(Response::Findings(state.doctor.examine().await)),
        Request::DaemonStatus => Ok(status(state).await),
        Request::DaemonStop { .. } => Ok(trouble("the daemon ends for nobody who is not there")),
        Request::Plan(request) => Box::pin(plans::answer(state, steps, request, env)).await,
        Request::New(wanted) => act::new(state, steps, *wanted, env).await,
        Request::Act { session, action } => {
            Box::pin(act::act(state, steps, &session, action, env)).await
        }
        Request::ActEach { which, action } => {
            each::act_each(state, steps, (which, action), env).await
        }
        Request::TrashAct { session, action } => {
            keep::trash_act(state, steps, &session, action).await
        }
        Request::PauseAll(wanted) => gate::pause_all(state, steps, wanted).await,
        Request::ResumeAll { from_log } => gate::resume_all(state, steps, from_log, env).await,
        Request::TrashEmpty { which } => keep::empty_trash(state, steps, which).await,
        Request::Merge { session, into, hooks, place } => {
            let hooks = if hooks { HookWish::Run(env) } else { HookWish::None };
            Box::pin(merge::merge(state, &session, merge::Wish { into, place, hooks })).await
        }
        Request::RepoMoved { from, to } => moved::told(state, from, &to).await,
        Request::RestoreTo { session, snapshot, to } => {
            Box::pin(keep::restore_to(state, &session, snapshot, to)).await
        }
    }
}

/// Asks for the end of the daemon, and answers once what was wanted has happened.
async fn close(state: &ServerState, peer: &mut Peer, how: Shutdown) -> io::Result<()> {
    let (told, left) = oneshot::channel();
    // Dropped, and so heard, when the answer has left.
    let (_leaving, heard) = oneshot::channel();
    state.daemon.shutdown.send(ShutdownRequest { how, told, heard }).await.ok();
    // Without an answer the log has failed, and the daemon ends for that.
    let Ok(left) = left.await else { return Err(io::ErrorKind::BrokenPipe.into()) };
    if how == Shutdown::LeaveAgents || left.is_empty() {
        return peer.send(&Response::End).await;
    }
    let message = format!("the daemon ends, but these agents still run: {}", left.join(", "));
    peer.send(&Response::Trouble { kind: Trouble::TimedOut, message }).await
}

async fn show(state: &ServerState, session: &str) -> Answer {
    let found = state.find(session).await?;
    state.views.looked_at(&found);
    Ok(Response::Session(Box::new(state.one(&found).await)))
}

async fn status(state: &ServerState) -> Response {
    // Before anything is looked at: what is told is at least as new as this number.
    let last_seq = state.mailbox.last_seq();
    let sessions = state.look(Query::Living).await;
    Response::Daemon(DaemonView {
        pid: std::process::id(),
        build: state.daemon.build.clone(),
        home: state.home.state.to_string_lossy().into_owned(),
        limits: Box::new(crate::view::limits(&sessions, &state.settings.now().concurrency)),
        sessions: sessions.len(),
        uptime_secs: state.daemon.since.elapsed().as_secs(),
        log_id: state.mailbox.log_id(),
        last_seq,
        memory_given_back_bytes: state.views.live.given_back(),
        unregistered: state.daemon.strays.pids(),
        config_fault: state.settings.fault(),
        day: state.mailbox.house(crate::view::day).await.flatten().map(Box::new),
        gate: gate::seen(state).await,
    })
}

/// Returns when the session is in one of these states: at once, or with the event that brings it
/// there.
async fn wait(
    state: &ServerState,
    peer: &mut Peer,
    given: &str,
    statuses: &[Status],
    timeout_ms: Option<u64>,
) -> Answer {
    let mut news = state.mailbox.news.subscribe();
    let mut session = state.find(given).await?;
    let limit = timeout_ms.map(Duration::from_millis);
    let deadline = limit.map(|limit| tokio::time::Instant::now() + limit);
    loop {
        if statuses.contains(&session.status()) {
            return Ok(Response::Session(Box::new(state.one(&session).await)));
        }
        let timed_out = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            published = news.recv() => {
                // A listener that was left behind looks at the session all the same.
                if published.is_ok_and(|p| !p.recorded.subject.is(&session.id)) {
                    continue;
                }
            }
            () = timed_out => {
                let message = format!("session `{}` is {}", session.name, session.status().word());
                return Ok(Response::Trouble { kind: Trouble::TimedOut, message });
            }
            () = peer.gone() => return gone(),
        }
        if let Ok(found) = state.find(&session.id.0).await {
            session = found;
        }
    }
}
