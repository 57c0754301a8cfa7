//! The bond with a holder: met when it is started or found, met again as often as the connection
//! breaks, given up only when the holder is gone.

use super::ear::{Ear, Output};
use super::left::{self, is_locked};
use super::rouse::{is_held, unreached};
use super::supervise::supervise;
use super::{Tender, complain};
use crate::adapters::{Adapters, Errand};
use crate::controller::Look;
use crate::launch::Env;
use crate::output::OutputLog;
use crate::peer::Peer;
use glis_core::event::Ending;
use glis_core::input::{Exit, Outcome, World};
use glis_core::leftover::Leftovers;
use glis_core::session::Session;
use glis_core::{Input, SessionId};
use glis_wire::hold::{Children, Hello, Ladder, Limit, Order, Report, place};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// A holder greets at once, unless it is stopped or the machine is drowning.
const GREETING_TIME: Duration = Duration::from_secs(2);
/// Hearing again what an agent said is a matter of milliseconds, unless it said very much.
const CATCH_UP_TIME: Duration = Duration::from_secs(10);
/// Between two attempts to meet a holder again: soon at first, seldom if that does not help.
const AGAIN_FIRST: Duration = Duration::from_millis(10);
pub(super) const AGAIN_LAST: Duration = Duration::from_secs(1);

/// What is known of everything that was on its way to an agent.
#[derive(Debug)]
pub(super) enum Standing {
    /// Whoever waits for something will be told.
    Known,
    /// The daemon was started anew, or a connection broke at the wrong moment: the world has to be
    /// looked at first. Somebody may wait for that.
    Unclear(Option<oneshot::Sender<()>>),
}

/// Connects to a holder that has just been started, and tends it.
pub(crate) fn begin(
    hands: &Arc<Adapters>,
    session: Box<Session>,
    errands: mpsc::Receiver<Errand>,
    runtime: &Handle,
) {
    let hands = Arc::clone(hands);
    drop(runtime.spawn(async move {
        // On the heap: the task of a session is as large as the largest that it ever waits for.
        let met = Box::pin(meet(&hands.home.session(&session.id.0))).await;
        supervise(hands, session, errands, met.ok(), Standing::Known).await;
    }));
}

/// After a start of the daemon: finds out what became of a session's process, and tends it if it
/// lives.
pub(super) async fn recover(hands: &Arc<Adapters>, session: Session) {
    let dir = hands.home.session(&session.id.0);
    let generation = session.generation;
    if !session.expects_process() {
        if is_locked(&dir)
            && let Some((peer, hello)) = left::find_holder(&dir, session.process.as_ref()).await
            && left::is_adoptable(hands, &session, &hello)
        {
            return adopt(hands, session, (peer, hello)).await;
        }
        // Nothing was to run yet, or any more. Should something run all the same, whoever starts
        // a process here will meet it.
        let world = World::Gone { left: Leftovers::default() };
        hands.line.tell(Input::Observed { session: session.id, world }).await;
        return;
    }
    let found = left::find_holder(&dir, session.process.as_ref()).await;
    if let Some((peer, hello)) = found {
        if hello.generation == generation {
            return stay_until_caught_up(hands, session, (peer, hello)).await;
        }
        if left::is_adoptable(hands, &session, &hello) {
            return adopt(hands, session, (peer, hello)).await;
        }
    } else if is_held(&dir, &session) && session.process.is_some() {
        // It lives and does not speak. What the log says of it stays true until it does.
        let errands = hands.open_errands(&session.id);
        let standing = Standing::Unclear(None);
        drop(tokio::spawn(supervise(
            Arc::clone(hands),
            Box::new(session),
            errands,
            None,
            standing,
        )));
        return;
    }
    let (own, known) = (Arc::clone(hands), session.clone());
    let world = tokio::task::spawn_blocking(move || left::world(&own, &known)).await;
    let world = world.unwrap_or(World::Gone { left: Leftovers::default() });
    let output = match &world {
        World::Ended { .. } => Output::Whole,
        World::Gone { .. } | World::Alive { .. } => Output::Torn,
    };
    hear_the_rest(hands, &session, output).await;
    hands.line.tell(Input::Observed { session: session.id, world }).await;
}

/// Nobody is let in before it is known what a process did meanwhile, or clear that hearing it takes
/// long.
async fn stay_until_caught_up(hands: &Arc<Adapters>, session: Session, met: (Peer, Hello)) {
    // Before anything else is heard: its end may be what it has to tell, and a start may follow.
    if let Some((env, limits)) = remembered_env(&hands.home.session(&session.id.0)).await {
        hands.learn_env(&session.id, env, limits);
    }
    let errands = hands.open_errands(&session.id);
    let (told, caught_up) = oneshot::channel();
    let standing = Standing::Unclear(Some(told));
    let supervised = supervise(Arc::clone(hands), Box::new(session), errands, Some(met), standing);
    drop(tokio::spawn(supervised));
    drop(tokio::time::timeout(CATCH_UP_TIME, caught_up).await);
}

/// Takes over a process that was started later than anything on record: first it is on record,
/// then it is listened to.
async fn adopt(hands: &Arc<Adapters>, session: Session, met: (Peer, Hello)) {
    let hello = &met.1;
    crate::diary(&format!(
        "session {}: process {} of start {} is taken over, the log knows {} starts",
        session.id, hello.process.pid, hello.generation, session.generation
    ));
    let world = World::Alive {
        generation: hello.generation,
        process: crate::adapters::process_of(&hello.process),
        began_at: hello.began_at,
    };
    let id = session.id.clone();
    hands.line.tell(Input::Observed { session: session.id, world }).await;
    let now = hands.line.look(Look::One(id.0)).await.into_iter().next();
    if let Some(now) = now.filter(|now| now.generation == hello.generation) {
        stay_until_caught_up(hands, now, met).await;
    }
}

/// Tends a holder over as many connections as its life takes. A connection that breaks says
/// nothing about the agent: only the holder's lock does.
pub(super) async fn stay(
    hands: Arc<Adapters>,
    mut session: Box<Session>,
    mut errands: mpsc::Receiver<Errand>,
    mut met: Option<(Peer, Hello)>,
    mut standing: Standing,
) {
    let dir = hands.home.session(&session.id.0);
    let generation = session.generation;
    let mut pause = AGAIN_FIRST;
    loop {
        if let Some((peer, hello)) = met.take() {
            if hello.generation != generation {
                break;
            }
            if matches!(standing, Standing::Unclear(_)) {
                look_for_gap(&hands, &session.id, hello.end);
            }
            match Tender::new(&hands, &session, peer, &hello).map(Box::new) {
                Ok(mut tender) => {
                    if hello.folder_lost {
                        hands.report(session.id.clone(), Outcome::FolderLost);
                    }
                    if let Standing::Unclear(waits) = standing {
                        tender.catching_up = Some(hello);
                        tender.caught_up = waits;
                    }
                    let parting = tender.tend(&mut errands).await;
                    if parting.in_peace {
                        pause = AGAIN_FIRST;
                    }
                    standing = if parting.owes { Standing::Unclear(None) } else { Standing::Known };
                }
                Err(fault) => complain(&session.id, &fault),
            }
        }
        if !is_held(&dir, &session) {
            break;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN_LAST);
        met = Box::pin(meet(&dir)).await.ok();
        let known = hands.line.look(Look::One(session.id.0.clone())).await;
        if let Some(now) = known.into_iter().next() {
            // Whoever has another process by now is tended by somebody else.
            if now.generation != generation {
                break;
            }
            *session = now;
        }
    }
    give_back(&hands, &session.id, errands);
    Box::pin(finish(&hands, *session, generation)).await;
}

/// What a holder told while nobody listened is to be seen on disk: it writes what it reads before
/// it counts it, unless the disk does not take it.
fn look_for_gap(hands: &Adapters, id: &SessionId, end: u64) {
    if let Some(at) = OutputLog::new(hands.home.session(&id.0)).gap(end) {
        hands.note_gap(id, at);
    }
}

/// What nobody can carry out any more is told to whoever waits for it.
fn give_back(hands: &Adapters, id: &SessionId, mut errands: mpsc::Receiver<Errand>) {
    errands.close();
    hands.close_errands(id);
    let why = || "its process is gone".to_owned();
    while let Ok(errand) = errands.try_recv() {
        match errand {
            Errand::Deliver { message, .. } => {
                hands.report(id.clone(), Outcome::NotDelivered { message, why: why() });
            }
            Errand::Answer { ask, .. } => {
                hands.report(id.clone(), Outcome::AnswerNotGiven { ask: ask.id, why: why() });
            }
            Errand::Interrupt | Errand::Stop { .. } => {}
        }
    }
}

/// The holder is gone: so is the agent, or what it left is ended now.
pub(super) async fn finish(hands: &Arc<Adapters>, session: Session, generation: u32) {
    let id = session.id.clone();
    hands.change_live(&id, |live| live.audience = 0);
    let Some(exit) = what_is_left(hands, &session, generation).await else { return };
    let now = hands.line.look(Look::One(id.0.clone())).await.into_iter().next();
    let session = now.filter(|now| now.generation == generation).unwrap_or(session);
    let output = if exit.ending == Ending::Unknown { Output::Torn } else { Output::Whole };
    hear_the_rest(hands, &session, output).await;
    tell_end(hands, id, generation, exit).await;
}

/// The last words of an agent that nobody listened to any more are on disk.
async fn hear_the_rest(hands: &Arc<Adapters>, session: &Session, output: Output) {
    if session.process.is_none() {
        return;
    }
    let heard = match Ear::new(hands, session, None) {
        Ok(mut ear) => ear.hear_the_rest(output).await,
        Err(fault) => Err(fault),
    };
    if let Err(fault) = heard {
        complain(&session.id, &fault);
    }
}

/// Ends a process whose holder nobody tends, and tells when it is gone. Never before.
pub(crate) async fn end_untended(
    hands: Arc<Adapters>,
    session: Session,
    generation: u32,
    ladder: Ladder,
    children: Children,
) {
    let dir = hands.home.session(&session.id.0);
    let mut pause = AGAIN_FIRST;
    while is_locked(&dir) {
        match meet(&dir).await {
            Ok((_, hello)) if hello.generation != generation => break,
            Ok((peer, _)) => drop(order_end(peer, ladder, children).await),
            Err(_) => {}
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN_LAST);
    }
    tell_what_is_left(&hands, session, generation).await;
}

/// Ends what a process left running, and tells how it ended itself.
pub(super) async fn tell_what_is_left(hands: &Arc<Adapters>, session: Session, generation: u32) {
    if let Some(exit) = what_is_left(hands, &session, generation).await {
        tell_end(hands, session.id, generation, exit).await;
    }
}

/// Tells the end of a process whose holder could not be brought to tell it, and what became of the
/// rest as far as it is known.
pub(super) async fn finish_by_force(
    hands: &Arc<Adapters>,
    session: &Session,
    generation: u32,
    why: String,
) {
    let (own, known) = (Arc::clone(hands), session.clone());
    let swept = tokio::task::spawn_blocking(move || unreached(&own, &known, &why)).await;
    let Ok(left) = swept else { return };
    tell_end(hands, session.id.clone(), generation, Exit::unseen(left)).await;
}

/// Ends what a process left running. How it ended itself is known afterwards.
async fn what_is_left(hands: &Arc<Adapters>, session: &Session, generation: u32) -> Option<Exit> {
    let (own, known) = (Arc::clone(hands), session.clone());
    tokio::task::spawn_blocking(move || left::what_is_left(&own, &known, generation)).await.ok()
}

async fn tell_end(hands: &Adapters, id: SessionId, generation: u32, exit: Exit) {
    let outcome = Outcome::ProcessEnded { generation, exit };
    hands.line.tell(Input::Outcome { session: id, outcome }).await;
}

/// Tells a holder to end its agent, and stays until the connection ends.
pub(super) async fn order_end(
    mut peer: Peer,
    ladder: Ladder,
    children: Children,
) -> io::Result<()> {
    peer.send(&Order::Children(children)).await?;
    peer.send(&Order::Stop(ladder)).await?;
    while let Some(frame) = peer.next().await? {
        if matches!(frame.words::<Report>(), Ok(Report::Ended(_))) {
            peer.send(&Order::Collected).await?;
        }
    }
    Ok(())
}

/// What a holder's agent was started with, over a connection of its own. A holder of an earlier
/// version does not know.
async fn remembered_env(dir: &Path) -> Option<(Env, Vec<Limit>)> {
    let ask = async {
        let (mut peer, _) = meet(dir).await.ok()?;
        peer.send(&Order::Environment).await.ok()?;
        loop {
            match peer.next().await.ok()??.words::<Report>().ok()? {
                Report::Environment { env, limits } => return Some((env, limits)),
                Report::Refused { .. } => return None,
                Report::Hello(_)
                | Report::Output { .. }
                | Report::Wrote { .. }
                | Report::Ended(_)
                | Report::Audience { .. }
                | Report::Resized { .. }
                | Report::FolderLost { .. }
                | Report::Gap { .. } => {}
            }
        }
    };
    tokio::time::timeout(GREETING_TIME, ask).await.ok().flatten()
}

/// Connects to a holder and hears who it is.
pub(super) async fn meet(dir: &Path) -> io::Result<(Peer, Hello)> {
    let mut peer = Peer::connect(dir, place::SOCKET).await?;
    let first = tokio::time::timeout(GREETING_TIME, peer.next()).await;
    let first = first.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    match first.and_then(|frame| frame.words::<Report>().ok()) {
        Some(Report::Hello(hello)) => Ok((peer, hello)),
        Some(_) | None => Err(io::Error::other("the holder did not greet")),
    }
}
