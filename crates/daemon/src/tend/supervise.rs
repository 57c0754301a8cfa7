//! A fault of ours in listening to one agent: tried again a few times, then given up and told. The
//! agent runs on, and its end is noticed all the same.

use super::bond::{self, AGAIN_LAST, Standing, meet};
use super::rouse::is_held;
use crate::adapters::{Adapters, Errand};
use crate::controller::{Look, Published};
use crate::peer::Peer;
use crate::work::{LISTEN, caught};
use glis_core::event::Event;
use glis_core::input::World;
use glis_core::leftover::Leftovers;
use glis_core::session::Session;
use glis_core::{Input, SessionId};
use glis_wire::hold::{Hello, Order, Report};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc};

/// What an agent says is heard again from where the log's knowledge ends, so the same words may be
/// what we fail at each time.
const TRIES: u32 = 3;

/// Tends a holder for as long as it lives, through faults of ours.
pub(super) async fn supervise(
    hands: Arc<Adapters>,
    session: Box<Session>,
    errands: mpsc::Receiver<Errand>,
    met: Option<(Peer, Hello)>,
    standing: Standing,
) {
    let (id, generation) = (session.id.clone(), session.generation);
    let first = caught(bond::stay(Arc::clone(&hands), session, errands, met, standing));
    if let Err(why) = first.await {
        // On the heap, since it is seldom needed, and there is a task for each session.
        Box::pin(go_on(hands, id, generation, why)).await;
    }
}

/// Tends a holder after a fault of ours.
async fn go_on(hands: Arc<Adapters>, id: SessionId, generation: u32, mut why: String) {
    let mut news = hands.line.news.subscribe();
    let mut tries = 1;
    loop {
        crate::diary(&format!("session {id}: {LISTEN}: {why}"));
        let now = hands.line.look(Look::One(id.0.clone())).await.into_iter().next();
        let Some(session) = now.filter(|now| now.generation == generation) else { return };
        let session = Box::new(session);
        if tries == TRIES {
            give_up(&hands, &id, &why).await;
            tokio::select! {
                () = until_gone(&hands, &session) => {
                    return finish(&hands, *session, generation).await;
                }
                () = until_lifted(&mut news, &id) => tries = 0,
            }
        }
        tries += 1;
        tokio::time::sleep(AGAIN_LAST).await;
        // Whatever was on its way when we failed is looked at first.
        let errands = hands.open_errands(&id);
        let met = meet(&hands.home.session(&id.0)).await.ok();
        let unclear = Standing::Unclear(None);
        let again = caught(bond::stay(Arc::clone(&hands), session, errands, met, unclear));
        match again.await {
            Ok(()) => return,
            Err(fault) => why = fault,
        }
    }
}

/// As [`bond::recover`], through faults of ours.
pub(crate) async fn recover(hands: &Arc<Adapters>, session: Session) {
    let Err(why) = caught(bond::recover(hands, session.clone())).await else { return };
    crate::diary(&format!("session {}: {LISTEN}: {why}", session.id));
    give_up(hands, &session.id, &why).await;
    let hands = Arc::clone(hands);
    drop(tokio::spawn(async move {
        if is_held(&hands.home.session(&session.id.0), &session) {
            until_gone(&hands, &session).await;
        }
        if session.process.is_some() {
            let generation = session.generation;
            return finish(&hands, session, generation).await;
        }
        let world = World::Gone { left: Leftovers::default() };
        hands.line.tell(Input::Observed { session: session.id, world }).await;
    }));
}

async fn give_up(hands: &Adapters, id: &SessionId, why: &str) {
    hands.close_errands(id);
    let (what, why) = (LISTEN.to_owned(), why.to_owned());
    hands.line.tell(Input::Broke { session: id.clone(), what, why }).await;
}

/// Waits for the end of a holder, without a word about what its agent says.
async fn until_gone(hands: &Adapters, session: &Session) {
    let dir = hands.home.session(&session.id.0);
    while is_held(&dir, session) {
        if let Ok((mut peer, hello)) = meet(&dir).await {
            if hello.generation != session.generation {
                return;
            }
            while let Ok(Some(frame)) = peer.next().await {
                if matches!(frame.words::<Report>(), Ok(Report::Ended(_))) {
                    peer.send(&Order::Collected).await.ok();
                }
            }
        }
        tokio::time::sleep(AGAIN_LAST).await;
    }
}

async fn finish(hands: &Arc<Adapters>, session: Session, generation: u32) {
    if caught(bond::finish(hands, session.clone(), generation)).await.is_err() {
        // Its last words are what we fail at. How it ended is known without them.
        bond::tell_what_is_left(hands, session, generation).await;
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
