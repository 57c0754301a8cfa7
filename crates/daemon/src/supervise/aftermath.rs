//! What a process leaves behind when its holder is gone: its end as it was recorded, or a sweep.

use super::supervisor::Supervisor;
use crate::exit;
use crate::process::{is_of_another_boot, stranger};
use crate::sweep::sweep;
use glis_core::SessionId;
use glis_core::input::{Exit, Outcome, World};
use glis_core::leftover::Leftovers;
use glis_core::session::Session;
use std::sync::Arc;
use tracing::info;

/// What became of a process whose holder is not there.
pub(super) fn world(supervisor: &Supervisor, session: &Session) -> World {
    let (dir, generation) = (supervisor.dir(&session.id), session.agent.generation);
    note_stranger(session);
    match exit::record(&dir, generation) {
        Some(record) => {
            exit::note(&record);
            World::Ended { generation, exit: exit::describe(&dir, &record) }
        }
        None if session.process().is_some_and(is_of_another_boot) => {
            World::Ended { generation, exit: Exit::with_the_machine() }
        }
        None => World::Gone { left: sweep(&dir, session) },
    }
}

/// Notes who has the number of the session's process by now, if that is another one: it is left alone.
fn note_stranger(session: &Session) {
    let Some(process) = session.process() else { return };
    if let Some(command) = stranger(process) {
        info!("PID {} is not ours: {command}", process.pid);
    }
}

/// How the process ended, as the holder recorded it or as far as it can be known. What it left
/// running is ended first. `None` after a fault of ours, which is in the daemon's log.
pub(super) async fn what_is_left(
    supervisor: &Arc<Supervisor>,
    session: &Session,
    generation: u32,
) -> Option<Exit> {
    let (own, session) = (Arc::clone(supervisor), session.clone());
    let now = supervisor.session(&session.id).await;
    let is_news = now.is_some_and(|now| now.agent.generation == generation && now.runs());
    let look = move || {
        let dir = own.dir(&session.id);
        note_stranger(&session);
        let mut exit = match exit::record(&dir, generation) {
            Some(record) => {
                if is_news {
                    exit::note(&record);
                }
                exit::describe(&dir, &record)
            }
            None => Exit::unseen(sweep(&dir, &session)),
        };
        exit.left.notes = own.live.take_end_notes(&session.id);
        exit
    };
    supervisor.run_ending(look).await
}

/// Ends what a process left running, and tells how it ended itself.
pub(super) async fn tell_what_is_left(
    supervisor: &Arc<Supervisor>,
    session: Session,
    generation: u32,
) {
    if let Some(exit) = what_is_left(supervisor, &session, generation).await {
        tell_end(supervisor, &session.id, generation, exit).await;
    }
}

/// Tells the end of a process whose holder could not be brought to tell it, and what became of the
/// rest as far as it is known.
pub(super) async fn finish_by_force(
    supervisor: &Arc<Supervisor>,
    session: &Session,
    generation: u32,
    why: String,
) {
    let (own, known) = (Arc::clone(supervisor), session.clone());
    let swept = supervisor.run_ending(move || unreached(&own, &known, &why)).await;
    let Some(left) = swept else { return };
    tell_end(supervisor, &session.id, generation, Exit::unseen(left)).await;
}

/// What was done about a process whose holder could not be reached.
fn unreached(supervisor: &Supervisor, session: &Session, why: &str) -> Leftovers {
    let mut left = sweep(&supervisor.dir(&session.id), session);
    if let Some(unclear) = &mut left.unclear {
        *unclear = format!("{why}; {unclear}");
    }
    left.notes = supervisor.live.take_end_notes(&session.id);
    left
}

pub(super) async fn tell_end(supervisor: &Supervisor, id: &SessionId, generation: u32, exit: Exit) {
    supervisor.tell(id, Outcome::ProcessEnded { generation, exit }).await;
}
