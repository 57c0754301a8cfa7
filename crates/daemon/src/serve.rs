//! The daemon's door: one task per front end, one petition at a time.

mod act;
mod fate;
mod inside;
mod keep;
mod new;
mod stream;

use crate::adapters::{Adapters, Caller};
use crate::closing::{Closing, Wish};
use crate::controller::Look;
use crate::peer::Peer;
use crate::view::Beside;
use crate::{diary, doctor, launch, trees, view, work};
use glis_core::session::Session;
use glis_core::{Refusal, Status};
use glis_wire::build::Build;
use glis_wire::client::{Answer, Greeting, PROTOCOL, Petition, Request, Trouble};
use glis_wire::view::{DaemonView, SessionView};
use rustix::net::sockopt::socket_peercred;
use rustix::process::getuid;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Front ends served at once. The next one waits in the socket's own queue.
const CONNECTIONS_MAX: usize = 256;
/// Whoever connects and says nothing in this time is not one of ours.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// Everything that a connection needs.
pub(crate) struct Door {
    pub(crate) hands: Arc<Adapters>,
    /// The build that this daemon is of.
    pub(crate) build: Build,
    pub(crate) since: Instant,
    pub(crate) close: mpsc::Sender<Wish>,
    /// Nothing is started any more: the daemon ends, and the agents with it.
    pub(crate) ending: AtomicBool,
}

/// Lets front ends in until the daemon ends. `fresh` brings the sockets that take the place of
/// deleted ones.
pub(crate) async fn serve(
    door: Arc<Door>,
    mut listener: UnixListener,
    mut fresh: mpsc::Receiver<UnixListener>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let came = tokio::select! {
            // Whoever stands before the deleted socket is let in before it is left.
            biased;
            came = listener.accept() => came,
            Some(next) = fresh.recv() => {
                listener = next;
                continue;
            }
        };
        match came {
            Ok((stream, _)) => {
                let door = Arc::clone(&door);
                drop(tokio::spawn(async move {
                    // A connection that breaks concerns nobody but the one who broke it.
                    drop(converse(&door, stream).await);
                    drop(place);
                }));
            }
            // Out of descriptors, most likely: others will end and give theirs back.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn converse(door: &Door, stream: UnixStream) -> io::Result<()> {
    let peer_uid = socket_peercred(&stream)?.uid;
    if peer_uid != getuid() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user"));
    }
    let mut peer = Peer::new(stream);
    let protocol = crate::failpoint::protocol().unwrap_or(PROTOCOL);
    let (build, log_id) = (door.build.clone(), Some(door.hands.line.log_id()));
    peer.send(&Greeting { protocol, build, log_id }).await?;
    let greeted = tokio::time::timeout(GREETING_TIME, peer.next()).await;
    let Ok(Ok(Some(frame))) = greeted else { return Ok(()) };
    if frame.words::<Greeting>().is_err() || protocol != PROTOCOL {
        peer.gone().await;
        return Ok(());
    }
    while let Some(frame) = peer.next().await? {
        match frame.words::<Petition>() {
            Ok(petition) => {
                // A fault in one answer is told to whoever asked; everybody else is served on.
                let answered = work::caught(answer(door, &mut peer, petition)).await;
                match answered {
                    Ok(answered) => answered?,
                    Err(message) => {
                        diary(&message);
                        let kind = Trouble::Internal;
                        peer.send(&Answer::Trouble { kind, message }).await?;
                    }
                }
            }
            Err(fault) => {
                let message = fault.to_string();
                peer.send(&Answer::Trouble { kind: Trouble::BadInput, message }).await?;
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn answer(door: &Door, peer: &mut Peer, petition: Petition) -> io::Result<()> {
    let Petition { request, env, limits } = petition;
    let env = env.map(|env| Caller { env, limits });
    // What was just changed in the configuration counts for what is asked next.
    Arc::clone(&door.hands.settings).refresh().await;
    if request.may_start() && door.ending.load(Ordering::Relaxed) {
        let message = "the daemon is ending and suspends its agents; ask again then".to_owned();
        return peer.send(&Answer::Trouble { kind: Trouble::Internal, message }).await;
    }
    let reply = match request {
        Request::List { all: true } => list(door, Look::All).await,
        Request::List { all: false } => list(door, Look::Living).await,
        Request::Show { session } => match find(door, &session).await {
            Ok(found) => {
                looked_at(door, &found);
                Answer::Session(Box::new(seen(door, &found).await))
            }
            Err(refusal) => Answer::Refused(refusal),
        },
        Request::Attach { session } => stream::attach(door, peer, &session).await?,
        Request::Screen { session } => stream::screen(door, &session).await,
        Request::Output { session, from, follow } => {
            stream::output(door, peer, &session, from, follow).await?
        }
        Request::Log { session, follow } => stream::log(door, peer, &session, follow).await?,
        Request::Events { from, follow } => stream::events(door, peer, from, follow).await?,
        Request::Wait { session, statuses, timeout_ms } => {
            wait(door, peer, &session, &statuses, timeout_ms).await?
        }
        Request::Snapshots { session, last } => keep::snapshots(door, &session, last).await,
        Request::Diff { session, since, patch } => {
            keep::diff(door, peer, &session, since, patch).await?
        }
        Request::RestoreTo { session, snapshot, to } => {
            keep::restore_to(door, &session, snapshot, to).await
        }
        Request::Search { words, most } => stream::search(door, words, most).await,
        Request::Trash => keep::trash(door).await,
        Request::TrashAct { session, action } => {
            keep::trash_act(door, peer, &session, action).await?
        }
        Request::Doctor => doctor::examine(door).await,
        Request::DaemonStatus => status(door).await,
        Request::DaemonStop { agents: true } => {
            return close(door, peer, Closing::SuspendAgents).await;
        }
        Request::DaemonStop { agents: false } => {
            return close(door, peer, Closing::LeaveAgents).await;
        }
        Request::New(wanted) => act::new(door, peer, *wanted, env).await?,
        Request::Act { session, action } => act::act(door, peer, &session, action, env).await?,
    };
    peer.send(&reply).await
}

/// Asks for the end of the daemon, and answers once what was wanted has happened.
async fn close(door: &Door, peer: &mut Peer, how: Closing) -> io::Result<()> {
    let (told, left) = oneshot::channel();
    // Dropped, and so heard, when the answer has left.
    let (_leaving, heard) = oneshot::channel();
    door.close.send(Wish { how, told, heard }).await.ok();
    // Without an answer the log has failed, and the daemon ends for that.
    let Ok(left) = left.await else { return Err(io::ErrorKind::BrokenPipe.into()) };
    if how == Closing::LeaveAgents || left.is_empty() {
        return peer.send(&Answer::End).await;
    }
    let message = format!("the daemon ends, but these agents still run: {}", left.join(", "));
    peer.send(&Answer::Trouble { kind: Trouble::TimedOut, message }).await
}

/// The session that somebody means.
async fn find(door: &Door, given: &str) -> Result<Session, Refusal> {
    let found = look(door, Look::One(given.to_owned())).await;
    if let Some(session) = found.into_iter().next() {
        return Ok(session);
    }
    let all = door.hands.line.look(Look::Living).await;
    let like = all.iter().filter(|s| !given.is_empty() && s.id.0.starts_with(given)).count();
    let given = given.to_owned();
    Err(if like > 1 { Refusal::Ambiguous { given } } else { Refusal::NoSuchSession { given } })
}

/// Notes that a person looks at a session. One that was removed is left as it is.
fn looked_at(door: &Door, session: &Session) {
    if session.status() == Status::Archived {
        return;
    }
    let (hands, id) = (&door.hands, &session.id);
    let due = hands.accesses.note(&hands.home.session(&id.0), id, crate::clock::now());
    if let Some(write) = due {
        drop(tokio::task::spawn_blocking(write));
    }
}

/// A session with what its files tell. They are read beside the runtime's one thread: a disk that
/// hangs keeps nobody else.
async fn seen(door: &Door, session: &Session) -> SessionView {
    let (hands, session) = (Arc::clone(&door.hands), session.clone());
    work::beside(move || look_at(&hands, &session)).await
}

fn look_at(hands: &Adapters, session: &Session) -> SessionView {
    crate::failpoint::reach("show", &session.name);
    let id = &session.id;
    let beside = Beside {
        audience: hands.live(id).audience,
        gap_at: hands.gap_at(id),
        env: hands.env_note(id),
        digest: hands.digest(id),
        lost: launch::lost_conversation(hands, session),
        detached: trees::detached(session),
        accessed_at: hands.accesses.last(&hands.home.session(&id.0), id),
    };
    view::session(session, beside)
}

/// The sessions that somebody wants to see. A controller that has ended takes the daemon with it in a
/// moment: until then nobody is told that there is no session, and the connection ends unanswered.
async fn look(door: &Door, which: Look) -> Vec<Session> {
    let line = &door.hands.line;
    let found = line.look(which).await;
    if found.is_empty() && line.mail.is_closed() {
        std::future::pending::<()>().await;
    }
    found
}

async fn list(door: &Door, which: Look) -> Answer {
    let mut sessions = look(door, which).await;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last_active_at));
    let hands = Arc::clone(&door.hands);
    let look = move || sessions.iter().map(|session| look_at(&hands, session)).collect();
    Answer::Sessions(work::beside(look).await)
}

async fn status(door: &Door) -> Answer {
    Answer::Daemon(DaemonView {
        pid: std::process::id(),
        build: door.build.clone(),
        home: door.hands.home.state.to_string_lossy().into_owned(),
        sessions: door.hands.line.look(Look::Living).await.len(),
        uptime_secs: door.since.elapsed().as_secs(),
        log_id: door.hands.line.log_id(),
    })
}

/// Returns when the session is in one of these states: at once, or with the event that brings it
/// there.
async fn wait(
    door: &Door,
    peer: &mut Peer,
    given: &str,
    statuses: &[Status],
    timeout_ms: Option<u64>,
) -> io::Result<Answer> {
    let mut news = door.hands.line.news.subscribe();
    let mut session = match find(door, given).await {
        Ok(session) => session,
        Err(refusal) => return Ok(Answer::Refused(refusal)),
    };
    let limit = timeout_ms.map(Duration::from_millis);
    let deadline = limit.map(|limit| tokio::time::Instant::now() + limit);
    loop {
        if statuses.contains(&session.status()) {
            return Ok(Answer::Session(Box::new(seen(door, &session).await)));
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
                return Ok(Answer::Trouble { kind: Trouble::TimedOut, message });
            }
            () = peer.gone() => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        if let Ok(found) = find(door, &session.id.0).await {
            session = found;
        }
    }
}
