//! A fault of ours in listening to one agent: tried again a few times, then given up and told. The
//! agent runs on, and its end is noticed all the same.

use super::aftermath::tell_what_is_left;
use super::connection::{self, AGAIN_LAST, Standing, still_held};
use super::supervisor::Supervisor;
use crate::holder::meet;
use crate::jobs::LISTEN;
use crate::links::Commands;
use crate::mailbox::Published;
use crate::panics::caught;
use crate::peer::Peer;
use glis_core::event::Event;
use glis_core::session::Session;
use glis_core::{Input, SessionId};
use glis_wire::hold::{Hello, Order, Report};
use std::sync::Arc;
use tokio::sync::broadcast;
use tracing::warn;

/// What an agent says is heard again from where the log's knowledge ends, so the same words may be
/// what we fail at each time.
const TRIES: u32 = 3;

/// Supervises a holder for as long as it lives, through faults of ours.
pub(super) async fn supervise(
    supervisor: Arc<Supervisor>,
    session: Box<Session>,
    commands: Commands,
    met: Option<(Peer, Hello)>,
    standing: Standing,
) {
    let (id, generation) = (session.id.clone(), session.agent.generation);
    let first = caught(connection::stay(Arc::clone(&supervisor), session, commands, met, standing));
    if let Err(why) = first.await {
        // On the heap, since it is seldom needed, and there is a task for each session.
        Box::pin(go_on(supervisor, id, generation, why)).await;
    }
}

/// Supervises a holder after a fault of ours.
async fn go_on(supervisor: Arc<Supervisor>, id: SessionId, generation: u32, mut why: String) {
    let mut news = supervisor.mailbox.news.subscribe();
    let mut tries = 1;
    loop {
        warn!(session = %id, "{LISTEN}: {why}");
        let now = supervisor.session(&id).await;
        let Some(session) = now.filter(|now| now.agent.generation == generation) else { return };
        let session = Box::new(session);
        if tries == TRIES {
            give_up(&supervisor, &id, &why).await;
            tokio::select! {
                () = until_gone(&supervisor, &session) => {
                    return finish(&supervisor, *session, generation).await;
                }
                () = until_lifted(&mut news, &id) => tries = 0,
            }
        }
        tries += 1;
        tokio::time::sleep(AGAIN_LAST).await;
        // Whatever was on its way when we failed is looked at first.
        let commands = supervisor.links.open(&id);
        let met = meet(&supervisor.dir(&id)).await.ok();
        let unclear = Standing::Unclear(None);
        let again =
            caught(connection::stay(Arc::clone(&supervisor), session, commands, met, unclear));
        match again.await {
            Ok(()) => return,
            Err(fault) => why = fault,
        }
    }
}

pub(super) async fn give_up(supervisor: &Supervisor, id: &SessionId, why: &str) {
    supervisor.links.close(id);
    let (what, why) = (LISTEN.to_owned(), why.to_owned());
    supervisor.mailbox.tell(Input::Broke { session: id.clone(), what, why }).await;
}

/// Waits for the end of a holder, without a word about what its agent says.
pub(super) async fn until_gone(supervisor: &Supervisor, session: &Session) {
    let dir = supervisor.dir(&session.id);
    while still_held(supervisor, session).await {
        if let Ok((mut peer, hello)) = meet(&dir).await {
            if hello.generation != session.agent.generation {
                return;
            }
            while let Ok(Some(frame)) = peer.next().await {
                if matches!(Report::read(&frame), Ok(Report::Ended(_))) {
                    peer.send(&Order::Collected).await.ok();
                }
            }
        }
        tokio::time::sleep(AGAIN_LAST).await;
    }
}

pub(super) async fn finish(supervisor: &Arc<Supervisor>, session: Session, generation: u32) {
    if caught(connection::finish(supervisor, session.clone(), generation)).await.is_err() {
        // Its last words are what we fail at. How it ended is known without them.
        tell_what_is_left(supervisor, session, generation).await;
    }
}

/// Waits until a person has taken note.
async fn until_lifted(news: &mut broadcast::Receiver<Arc<Published>>, id: &SessionId) {
    loop {
        match news.recv().await {
            Ok(told) if told.recorded.subject.is(id) => {
                if told.recorded.event == Event::BarLifted {
                    return;
                }
            }
            // What was missed may have been it: listening once more does no harm.
            Err(broadcast::error::RecvError::Lagged(_)) => return,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            Ok(_) => {}
        }
    }
}
