//! Supervising holders: each process has a task that keeps the connection to its holder and translates
//! both ways, from its start or its discovery to its end.

mod aftermath;
mod backfill;
mod by_rule;
mod connection;
mod ending;
mod faults;
mod idle;
mod link;
mod listener;
mod meaning;
mod moving;
mod orders;
mod pending;
mod rate;
mod recovery;
mod sent;
mod supervisor;
mod trace;
mod typing;

pub(crate) use supervisor::Supervisor;

use crate::holder::meet;
use crate::links::{Commands, HolderCommand};
use crate::tasks::beside_on;
use connection::Standing;
use glis_core::session::Session;
use glis_wire::hold::{Children, Ladder};
use std::sync::Arc;

impl Supervisor {
    /// Connects to a holder that has just been started, and supervises it.
    pub(crate) fn begin(self: &Arc<Self>, session: Box<Session>, commands: Commands) {
        let supervisor = Arc::clone(self);
        beside_on(&self.runtime, async move {
            // On the heap: the task of a session is as large as the largest that it ever waits for.
            let met = Box::pin(meet(&supervisor.dir(&session.id))).await;
            faults::supervise(supervisor, session, commands, met.ok(), Standing::Known).await;
        });
    }

    /// After a start of the daemon: finds out what became of a session's process, and supervises it if
    /// it lives.
    pub(crate) async fn recover(self: &Arc<Self>, session: Session) {
        recovery::recover(self, session).await;
    }

    /// Ends a session's process, and sees to it that it does end.
    pub(crate) fn stop(
        self: &Arc<Self>,
        session: &Session,
        generation: u32,
        ladder: Ladder,
        children: Children,
    ) {
        let copy = || (Arc::clone(self), session.clone());
        if self.links.send(&session.id, HolderCommand::Stop { ladder, children }).is_err() {
            let (own, session) = copy();
            let end = ending::end_untended(own, session, generation, ladder, children);
            beside_on(&self.runtime, end);
        }
        let (own, session) = copy();
        beside_on(&self.runtime, ending::see_to_end(own, session, generation, ladder, children));
    }
}
