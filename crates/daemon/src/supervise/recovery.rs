//! After a start of the daemon: what became of a session's process, and who supervises it now.

use super::connection::{Standing, hear_the_rest, still_held};
use super::listener::Output;
use super::supervisor::Supervisor;
use super::{aftermath, faults};
use crate::holder::{find_holder, is_adoptable, remembered_env};
use crate::jobs::LISTEN;
use crate::locks::is_locked;
use crate::panics::caught;
use crate::peer::Peer;
use crate::tasks::beside;
use glis_core::event::Ending;
use glis_core::input::World;
use glis_core::leftover::Leftovers;
use glis_core::session::Session;
use glis_wire::hold::Hello;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tracing::warn;

/// Hearing again what an agent said is a matter of milliseconds, unless it said very much.
const CATCH_UP_TIME: Duration = Duration::from_secs(10);

/// After a start of the daemon: finds out what became of a session's process, through faults of ours.
pub(super) async fn recover(supervisor: &Arc<Supervisor>, session: Session) {
    let Err(why) = caught(find_out(supervisor, session.clone())).await else { return };
    warn!(session = %session.id, "{LISTEN}: {why}");
    faults::give_up(supervisor, &session.id, &why).await;
    let supervisor = Arc::clone(supervisor);
    beside(async move {
        if still_held(&supervisor, &session).await {
            faults::until_gone(&supervisor, &session).await;
        }
        if session.runs() {
            let generation = session.agent.generation;
            return faults::finish(&supervisor, session, generation).await;
        }
        let world = World::Gone { left: Leftovers::default() };
        supervisor.tell_world(session.id, world).await;
    });
}

/// After a start of the daemon: finds out what became of a session's process, and supervises it if it
/// lives.
async fn find_out(supervisor: &Arc<Supervisor>, session: Session) {
    let dir = supervisor.dir(&session.id);
    let generation = session.agent.generation;
    if !session.expects_process() {
        if is_locked(&dir)
            && let Some((peer, hello)) = find_holder(&dir, session.process()).await
            && is_adoptable(&supervisor.home, &session, &hello)
        {
            return adopt(supervisor, session, (peer, hello)).await;
        }
        // Nothing was to run yet, or any more. Should something run all the same, the next start
        // here meets it.
        let world = World::Gone { left: Leftovers::default() };
        supervisor.tell_world(session.id, world).await;
        return;
    }
    let found = find_holder(&dir, session.process()).await;
    if let Some((peer, hello)) = found {
        if hello.generation == generation {
            return stay_until_caught_up(supervisor, session, (peer, hello)).await;
        }
        if is_adoptable(&supervisor.home, &session, &hello) {
            return adopt(supervisor, session, (peer, hello)).await;
        }
    } else if session.runs() && still_held(supervisor, &session).await {
        // It lives and does not speak. What the log says of it stays true until it does.
        let commands = supervisor.links.open(&session.id);
        let standing = Standing::Unclear(None);
        beside(faults::supervise(
            Arc::clone(supervisor),
            Box::new(session),
            commands,
            None,
            standing,
        ));
        return;
    }
    let (own, known) = (Arc::clone(supervisor), session.clone());
    let world = supervisor.run_ending(move || aftermath::world(&own, &known)).await;
    let world = world.unwrap_or(World::Gone { left: Leftovers::default() });
    let output = match &world {
        World::Ended { exit, .. } if exit.ending != Ending::Reboot => Output::Whole,
        World::Ended { .. } | World::Gone { .. } | World::Alive { .. } => Output::Torn,
    };
    hear_the_rest(supervisor, &session, output).await;
    supervisor.tell_world(session.id, world).await;
}

/// No front end is let in before it is known what a process did meanwhile, or clear that hearing it takes
/// long.
async fn stay_until_caught_up(supervisor: &Arc<Supervisor>, session: Session, met: (Peer, Hello)) {
    // Before anything else is heard: its end may be what it has to tell, and a start may follow.
    if let Some((env, limits)) = remembered_env(&supervisor.dir(&session.id)).await {
        supervisor.environments.learn(&session.id, env, limits);
    }
    let commands = supervisor.links.open(&session.id);
    let (told, caught_up) = oneshot::channel();
    let standing = Standing::Unclear(Some(told));
    let supervised =
        faults::supervise(Arc::clone(supervisor), Box::new(session), commands, Some(met), standing);
    beside(supervised);
    drop(tokio::time::timeout(CATCH_UP_TIME, caught_up).await);
}

/// Takes over a process that was started later than anything on record: first it is on record,
/// then it is listened to.
async fn adopt(supervisor: &Arc<Supervisor>, session: Session, met: (Peer, Hello)) {
    let hello = &met.1;
    let (pid, start, known) = (hello.process.pid, hello.generation, session.agent.generation);
    warn!(session = %session.id, "process {pid} of start {start} is taken over, the log knows {known} starts");
    let world = World::Alive {
        generation: hello.generation,
        process: hello.process.clone(),
        began_at: hello.began_at,
        // What is on its way by the log may have been sent by a daemon that the log knows nothing of.
        untouched: false,
    };
    let id = session.id.clone();
    supervisor.tell_world(session.id, world).await;
    let now = supervisor.session(&id).await;
    if let Some(now) = now.filter(|now| now.agent.generation == hello.generation) {
        stay_until_caught_up(supervisor, now, met).await;
    }
}
