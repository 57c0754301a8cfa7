//! Requests that are answered by a stream: output, conversation, events, and the way to a screen.

use super::{Door, find, inside, looked_at, seen};
use crate::controller::Look;
use crate::output::OutputLog;
use crate::peer::Peer;
use crate::search::{self, Source};
use crate::{conversation, view, work};
use glis_core::session::Session;
use glis_core::{Refusal, Status};
use glis_screen::Output as _;
use glis_wire::client::{Answer, Trouble};
use glis_wire::hold::{Order, Report, place};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

const CHUNK_BYTES: usize = 256 * 1024;
const EVENTS_READ: u32 = 500;

pub(super) async fn attach(door: &Door, peer: &mut Peer, given: &str) -> io::Result<Answer> {
    let session = match find(door, given).await {
        Ok(session) => session,
        Err(refusal) => return Ok(Answer::Refused(refusal)),
    };
    if peer.pid().is_some_and(|pid| inside::is_inside(&session, pid)) {
        let name = session.name.clone();
        return Ok(Answer::Refused(Refusal::AttachedToItself { session: name }));
    }
    looked_at(door, &session);
    let picture = match look(door, &session).await {
        Ok(picture) => picture,
        Err(fault) => return Ok(trouble(&fault)),
    };
    peer.send_raw(picture.offset, &picture.paint).await?;
    let lives = session.process.is_some();
    let dir = door.hands.home.session(&session.id.0);
    Ok(Answer::Attached {
        session: Box::new(seen(door, &session).await),
        from: picture.offset,
        size: picture.size,
        holder_dir: lives.then(|| dir.to_string_lossy().into_owned()),
    })
}

pub(super) async fn screen(door: &Door, given: &str) -> Answer {
    match find(door, given).await {
        Ok(session) => match look(door, &session).await {
            Ok(picture) => Answer::Screen {
                lines: picture.lines,
                ansi: picture.ansi,
                cursor: picture.cursor,
                size: picture.size,
                offset: picture.offset,
            },
            Err(fault) => trouble(&fault),
        },
        Err(refusal) => Answer::Refused(refusal),
    }
}

async fn look(door: &Door, session: &Session) -> io::Result<crate::screens::Picture> {
    let (hands, id) = (Arc::clone(&door.hands), session.id.clone());
    let dir = folder_of(door, session);
    tokio::task::spawn_blocking(move || hands.screens.look(&dir, &id))
        .await
        .map_err(io::Error::other)?
}

/// Looks for words in every conversation, also of sessions that were removed.
pub(super) async fn search(door: &Door, words: String, most: u32) -> Answer {
    let sessions = door.hands.line.look(Look::All).await;
    let sources: Vec<_> = sessions
        .iter()
        .map(|session| Source {
            id: session.id.0.clone(),
            name: session.name.clone(),
            file: conversation::file_of(&folder_of(door, session)),
        })
        .collect();
    let state = door.hands.home.state.clone();
    let found = tokio::task::spawn_blocking(move || search::search(&state, &sources, &words, most));
    match found.await {
        Ok(Ok(hits)) => Answer::Hits(hits),
        Ok(Err(message)) => Answer::Trouble { kind: Trouble::BadInput, message },
        Err(panic) => trouble(&io::Error::other(panic)),
    }
}

/// Where a session's files are. One that was put aside is read where it was put.
fn folder_of(door: &Door, session: &Session) -> PathBuf {
    let (home, id) = (&door.hands.home, session.id.0.as_str());
    let is_aside = session.status() == Status::Archived;
    if is_aside { home.trash().join(id).join("session") } else { home.session(id) }
}

fn trouble(fault: &io::Error) -> Answer {
    Answer::Trouble { kind: Trouble::Internal, message: fault.to_string() }
}

pub(super) async fn output(
    door: &Door,
    peer: &mut Peer,
    given: &str,
    from: u64,
    follow: bool,
) -> io::Result<Answer> {
    let session = match find(door, given).await {
        Ok(session) => session,
        Err(refusal) => return Ok(Answer::Refused(refusal)),
    };
    let dir = folder_of(door, &session);
    let log = OutputLog::new(&dir);
    let mut at = from;
    let asked = log.clone();
    let oldest = work::beside(move || asked.oldest()).await;
    if oldest > from {
        peer.send(&Answer::Cut { oldest }).await?;
    }
    // The holder tells when there is more; without one there will not be any.
    let mut holder = if follow { Peer::connect(&dir, place::SOCKET).await.ok() } else { None };
    loop {
        loop {
            let asked = log.clone();
            let chunk = work::beside(move || asked.read(at, CHUNK_BYTES)).await?;
            if chunk.bytes.is_empty() {
                break;
            }
            at = chunk.at + chunk.bytes.len() as u64;
            peer.send_raw(chunk.at, &chunk.bytes).await?;
        }
        let Some(live) = &mut holder else { return Ok(Answer::End) };
        live.send(&Order::Watch { beyond: at }).await.ok();
        tokio::select! {
            moved = next_output(live) => if !moved { holder = None; },
            () = peer.gone() => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// Waits for more output; false when there will be none.
async fn next_output(holder: &mut Peer) -> bool {
    loop {
        match holder.next().await {
            Ok(Some(frame)) => match frame.words::<Report>() {
                Ok(Report::Output { .. }) => return true,
                Ok(Report::Ended(_)) => return false,
                Ok(_) | Err(_) => {}
            },
            Ok(None) | Err(_) => return false,
        }
    }
}

pub(super) async fn log(
    door: &Door,
    peer: &mut Peer,
    given: &str,
    follow: bool,
) -> io::Result<Answer> {
    let session = match find(door, given).await {
        Ok(session) => session,
        Err(refusal) => return Ok(Answer::Refused(refusal)),
    };
    looked_at(door, &session);
    let path = conversation::file_of(&folder_of(door, &session));
    // Nothing is ever said again in a session that was put aside.
    let follow = follow && session.status() != Status::Archived;
    let mut growth = door.hands.talk.subscribe();
    let mut at = 0;
    loop {
        loop {
            let asked = path.clone();
            let read = move || conversation::read_on(&asked, at, CHUNK_BYTES as u64);
            let (entries, read) = work::beside(read).await?;
            if read == 0 {
                break;
            }
            at += read;
            for entry in entries {
                peer.send(&Answer::Entry(entry)).await?;
            }
        }
        if !follow {
            return Ok(Answer::End);
        }
        tokio::select! {
            grown = growth.changed() => if grown.is_err() { return Ok(Answer::End); },
            () = peer.gone() => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

pub(super) async fn events(
    door: &Door,
    peer: &mut Peer,
    from: u64,
    follow: bool,
) -> io::Result<Answer> {
    let mut news = door.hands.line.news.subscribe();
    let mut next = from.max(1);
    loop {
        // The log itself is read until its end; the news only say when there is more.
        loop {
            let batch = door.hands.line.read(next, EVENTS_READ).await;
            let Some(last) = batch.last() else { break };
            next = last.seq + 1;
            for recorded in &batch {
                peer.send(&Answer::Event(view::event(recorded))).await?;
            }
        }
        if !follow {
            return Ok(Answer::End);
        }
        tokio::select! {
            published = news.recv() => if matches!(published, Err(RecvError::Closed)) {
                return Ok(Answer::End);
            },
            () = peer.gone() => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}
