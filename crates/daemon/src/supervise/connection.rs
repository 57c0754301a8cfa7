//! The connection with a holder: met when it is started or found, met again as often as the connection
//! breaks, given up only when the holder is gone.

use super::aftermath::{tell_end, what_is_left};
use super::link::{Link, complain};
use super::listener::{Listener, Output};
use super::supervisor::Supervisor;
use crate::holder::{is_held, meet};
use crate::links::{Commands, HolderCommand};
use crate::peer::Peer;
use glis_core::SessionId;
use glis_core::event::Ending;
use glis_core::input::Outcome;
use glis_core::session::Session;
use glis_record::output::OutputLog;
use glis_wire::hold::Hello;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Between two attempts to meet a holder again: soon at first, seldom if that does not help.
pub(super) const AGAIN_FIRST: Duration = Duration::from_millis(10);
pub(super) const AGAIN_LAST: Duration = Duration::from_secs(1);

/// What is known of everything that was on its way to an agent.
#[derive(Debug)]
pub(super) enum Standing {
    /// The outcome of each will be told.
    Known,
    /// The daemon was started anew, or a connection broke at the wrong moment: the world has to be
    /// looked at first, and this is told once that is done.
    Unclear(Option<oneshot::Sender<()>>),
}

/// Supervises a holder over as many connections as its life takes. A connection that breaks says
/// nothing about the agent: only the holder's lock does.
pub(super) async fn stay(
    supervisor: Arc<Supervisor>,
    mut session: Box<Session>,
    mut commands: Commands,
    mut met: Option<(Peer, Hello)>,
    mut standing: Standing,
) {
    let dir = supervisor.dir(&session.id);
    let generation = session.agent.generation;
    let mut pause = AGAIN_FIRST;
    loop {
        if let Some((peer, hello)) = met.take() {
            if hello.generation != generation {
                break;
            }
            let is_unclear = matches!(standing, Standing::Unclear(_));
            match Box::pin(link(&supervisor, &session, (peer, &hello), is_unclear)).await {
                Ok(mut link) => {
                    if hello.folder_lost {
                        supervisor.tell_folder_lost(&session.id).await;
                    }
                    if let Standing::Unclear(waits) = standing {
                        link.catching_up = Some(hello);
                        link.caught_up = waits;
                    }
                    let parting = link.serve(&mut commands).await;
                    if parting.in_peace {
                        pause = AGAIN_FIRST;
                    }
                    standing = if parting.owes { Standing::Unclear(None) } else { Standing::Known };
                }
                Err(fault) => {
                    complain(&session.id, &fault);
                    // A start does not wait for what cannot be heard.
                    if let Standing::Unclear(waits) = &mut standing {
                        *waits = None;
                    }
                }
            }
        }
        if !Box::pin(still_held(&supervisor, &session)).await {
            break;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN_LAST);
        met = Box::pin(meet(&dir)).await.ok();
        if met.is_none() && pause == AGAIN_LAST {
            Box::pin(supervisor.wake_holder(&session.id, session.process().cloned())).await;
        }
        if let Some(now) = supervisor.session(&session.id).await {
            // Another process is supervised by another task.
            if now.agent.generation != generation {
                break;
            }
            *session = now;
        }
    }
    give_back(&supervisor, &session.id, commands).await;
    Box::pin(finish(&supervisor, *session, generation)).await;
}

/// Commands that cannot be carried out any more are told as refused.
async fn give_back(supervisor: &Supervisor, id: &SessionId, mut commands: Commands) {
    commands.close();
    supervisor.links.close(id);
    let why = || "its process is gone".to_owned();
    while let Ok(command) = commands.try_recv() {
        match *command {
            HolderCommand::Deliver { message, .. } => {
                let outcome = Outcome::NotDelivered { message, why: why() };
                supervisor.tell(id, outcome).await;
            }
            HolderCommand::Answer { ask, .. } => {
                let outcome = Outcome::AnswerNotGiven { ask: ask.id, why: why().into() };
                supervisor.tell(id, outcome).await;
            }
            // Who waits for a look is told by its end.
            HolderCommand::Interrupt
            | HolderCommand::Freeze(_)
            | HolderCommand::Thaw(_)
            | HolderCommand::Stop { .. }
            | HolderCommand::CheckIdle(..) => {}
        }
    }
}

/// The holder is gone: so is the agent, or what it left is ended now.
pub(super) async fn finish(supervisor: &Arc<Supervisor>, session: Session, generation: u32) {
    let id = session.id.clone();
    supervisor.live.set_audience(&id, 0);
    let Some(exit) = what_is_left(supervisor, &session, generation).await else { return };
    let now = supervisor.session(&id).await;
    let session = now.filter(|now| now.agent.generation == generation).unwrap_or(session);
    let output = if exit.ending == Ending::Unknown { Output::Torn } else { Output::Whole };
    hear_the_rest(supervisor, &session, output).await;
    tell_end(supervisor, &id, generation, exit).await;
}

/// The last words of an agent that came after the connection ended are on disk.
pub(super) async fn hear_the_rest(supervisor: &Arc<Supervisor>, session: &Session, output: Output) {
    if !session.runs() {
        return;
    }
    let (own, known) = (Arc::clone(supervisor), session.clone());
    let opened = supervisor.run_blocking(move || Listener::new(&own, &known, None)).await;
    let heard = match opened {
        Ok(mut listener) => listener.hear_the_rest(output).await,
        Err(fault) => Err(fault),
    };
    if let Err(fault) = heard {
        complain(&session.id, &fault);
    }
}

/// Whether the holder still lives.
pub(super) async fn still_held(supervisor: &Supervisor, session: &Session) -> bool {
    let (dir, session) = (supervisor.dir(&session.id), session.clone());
    // A disk that cannot be asked is no reason to believe that it is gone.
    supervisor.run_blocking(move || Ok(is_held(&dir, &session))).await.unwrap_or(true)
}

/// A link over this connection. What a holder told while no daemon listened is to be seen on disk: it
/// writes what it reads before it counts it, unless the disk does not take it.
async fn link(
    supervisor: &Arc<Supervisor>,
    session: &Session,
    (peer, hello): (Peer, &Hello),
    is_unclear: bool,
) -> io::Result<Box<Link>> {
    let (own, known, greeting) = (Arc::clone(supervisor), session.clone(), hello.clone());
    let listener = supervisor.run_blocking(move || {
        if is_unclear && let Some(at) = OutputLog::new(own.dir(&known.id)).gap(greeting.end) {
            own.live.note_gap(&known.id, at);
        }
        let mut listener = Listener::new(&own, &known, Some(greeting.began_at))?;
        listener.trace_by(&known, &greeting.process);
        Ok(listener)
    });
    Ok(Box::new(Link::new(listener.await?, session, peer, hello)))
}
