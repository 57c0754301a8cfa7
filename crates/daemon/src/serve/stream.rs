//! Requests that are answered by a stream: output, conversation, events, and the way to a screen.

use super::answer::{Answer, bad, gone, trouble};
use super::state::ServerState;
use crate::mailbox::Query;
use crate::peer::Peer;
use crate::pools::Kind;
use crate::screens::Picture;
use crate::view;
use glis_core::session::Session;
use glis_core::{Refusal, Status};
use glis_record::conversation;
use glis_record::output::OutputLog;
use glis_record::search::{self, Source};
use glis_screen::Output as _;
use glis_wire::client::{Response, ScreenView};
use glis_wire::hold::{Order, Report, place};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

const CHUNK_BYTES: usize = 256 * 1024;
const EVENTS_READ: u32 = 500;

pub(super) async fn attach(state: &ServerState, peer: &mut Peer, given: &str) -> Answer {
    let session = state.find(given).await?;
    begin_watch(state, peer, &session).await?;
    state.views.looked_at(&session);
    let picture = state.views.screen(&session).await.map_err(trouble)?;
    peer.send_raw(picture.offset, &picture.paint).await?;
    // What a pause has stopped in place shows nothing new and takes no keys.
    let lives = session.runs() && !session.is_frozen();
    let dir = state.home.session(&session.id.0);
    Ok(Response::Attached {
        session: Box::new(state.one(&session).await),
        from: picture.offset,
        size: picture.size,
        holder_dir: lives.then(|| dir.to_string_lossy().into_owned()),
    })
}

/// Notes who shows a session as it goes on, unless what is shown would come back to the session itself.
async fn begin_watch(state: &ServerState, peer: &Peer, session: &Session) -> Result<(), Refusal> {
    let Some(pid) = peer.pid() else { return Ok(()) };
    let sessions = state.look(Query::Living).await;
    let (watches, target) = (Arc::clone(&state.daemon.watches), session.clone());
    let begin = move || watches.begin(&sessions, &target, pid);
    state.pools.run(Kind::Look, begin).await
}

/// Notes that the events are followed. Whether from inside a session.
async fn is_inside(state: &ServerState, peer: &Peer) -> bool {
    let Some(pid) = peer.pid() else { return false };
    let sessions = state.look(Query::Living).await;
    let watches = Arc::clone(&state.daemon.watches);
    state.pools.run(Kind::Look, move || watches.begin_events(&sessions, pid)).await
}

pub(super) async fn screen(state: &ServerState, given: &str, at: Option<u64>) -> Answer {
    let session = state.find(given).await?;
    let log = OutputLog::new(state.views.folder_of(&session));
    let (oldest, end) = state.pools.run(Kind::Look, move || (log.oldest(), log.end())).await;
    let picture = match at {
        Some(at) => state.views.past_screen(&session, at).await,
        None => state.views.screen(&session).await,
    };
    let Picture { lines, ansi, cursor, size, offset, .. } = picture.map_err(trouble)?;
    // It may have grown meanwhile.
    let end = end.max(offset);
    let screen = ScreenView { lines, ansi, cursor, size, offset, oldest, end };
    Ok(Response::Screen(Box::new(screen)))
}

/// Looks for words in every conversation, also of sessions that were removed.
pub(super) async fn search(state: &ServerState, words: String, most: u32) -> Answer {
    let sessions = state.look(Query::All).await;
    let sources: Vec<_> = sessions
        .iter()
        .map(|session| Source {
            id: session.id.0.clone(),
            name: session.name.clone(),
            file: conversation::file_of(&state.views.folder_of(session)),
        })
        .collect();
    let folder = state.home.state.clone();
    let search = move || search::search(&folder, &sources, &words, most);
    let found = state.pools.run_blocking(Kind::Ask, search).await.map_err(trouble)?;
    Ok(Response::Hits(found.map_err(bad)?))
}

pub(super) async fn output(
    state: &ServerState,
    peer: &mut Peer,
    given: &str,
    (from, most): (u64, Option<u64>),
    follow: bool,
) -> Answer {
    let session = state.find(given).await?;
    if follow {
        begin_watch(state, peer, &session).await?;
    }
    let dir = state.views.folder_of(&session);
    let log = OutputLog::new(&dir);
    let mut at = from;
    let asked = log.clone();
    let (oldest, end) = state.pools.run(Kind::Look, move || (asked.oldest(), asked.end())).await;
    // What a command inside the session prints is output again: without an end it would never come
    // to one.
    let end = if follow { u64::MAX } else { end };
    let end = end.min(most.map_or(u64::MAX, |most| from.max(oldest).saturating_add(most)));
    if oldest > from {
        peer.send(&Response::Cut { oldest }).await?;
    }
    // The holder tells when there is more; without one there will not be any.
    let mut holder = if follow { Peer::connect(&dir, place::SOCKET).await.ok() } else { None };
    loop {
        loop {
            let asked = log.clone();
            let most = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
            let most = most.min(CHUNK_BYTES);
            let chunk = state.pools.run(Kind::Look, move || asked.read(at, most)).await?;
            if chunk.bytes.is_empty() {
                break;
            }
            at = chunk.at + chunk.bytes.len() as u64;
            peer.send_raw(chunk.at, &chunk.bytes).await?;
        }
        let Some(live) = &mut holder else { return Ok(Response::End) };
        live.send(&Order::Watch { beyond: at }).await.ok();
        tokio::select! {
            moved = next_output(live) => if !moved { holder = None; },
            () = peer.gone() => return gone(),
        }
    }
}

/// Waits for more output; false when there will be none.
async fn next_output(holder: &mut Peer) -> bool {
    loop {
        match holder.next().await {
            Ok(Some(frame)) => match Report::read(&frame) {
                Ok(Report::Output { .. }) => return true,
                Ok(Report::Ended(_)) => return false,
                Ok(_) | Err(_) => {}
            },
            Ok(None) | Err(_) => return false,
        }
    }
}

pub(super) async fn log(
    state: &ServerState,
    peer: &mut Peer,
    given: &str,
    from: u64,
    follow: bool,
) -> Answer {
    let session = state.find(given).await?;
    state.views.looked_at(&session);
    let path = conversation::file_of(&state.views.folder_of(&session));
    // Nothing is ever said again in a session that was put aside.
    let follow = follow && session.status() != Status::Archived;
    let mut growth = state.views.live.growth();
    let mut at = from;
    loop {
        let next = loop {
            let asked = path.clone();
            let read = move || conversation::read_on(&asked, at, CHUNK_BYTES as u64);
            let (entries, to) = state.pools.run(Kind::Look, read).await?;
            if to <= at {
                break to;
            }
            at = to;
            for entry in entries {
                peer.send(&Response::Entry(entry)).await?;
            }
        };
        if !follow {
            return Ok(Response::Read { next });
        }
        tokio::select! {
            grown = growth.changed() => if grown.is_err() { return Ok(Response::Read { next }); },
            () = peer.gone() => return gone(),
        }
    }
}

pub(super) async fn events(
    state: &ServerState,
    peer: &mut Peer,
    from: u64,
    follow: bool,
) -> Answer {
    let mut news = state.mailbox.news.subscribe();
    let mut next = from.max(1);
    let inside = follow && is_inside(state, peer).await;
    loop {
        // The log itself is read until its end; the news only say when there is more.
        loop {
            let batch = state.mailbox.read(next, EVENTS_READ).await;
            let Some(last) = batch.last() else { break };
            // Printed, they would be the cause of the next ones: they wait for something else.
            let full = batch.len() as u64 >= u64::from(EVENTS_READ);
            if inside && !full && batch.iter().all(|event| state.daemon.watches.is_echo(event)) {
                break;
            }
            next = last.seq + 1;
            for recorded in &batch {
                peer.send(&Response::Event(view::event(recorded))).await?;
            }
        }
        if !follow {
            return Ok(Response::End);
        }
        tokio::select! {
            published = news.recv() => if matches!(published, Err(RecvError::Closed)) {
                return Ok(Response::End);
            },
            () = peer.gone() => return gone(),
        }
    }
}
