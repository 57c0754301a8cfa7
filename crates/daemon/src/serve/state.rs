//! Everything that a connection needs.

use super::answer::{Answer, storage};
use super::inside::Watches;
use super::keys::Keys;
use super::owed::Owed;
use crate::create::Creator;
use crate::doctor::Doctor;
use crate::gate::GateStore;
use crate::mailbox::{Mailbox, Query};
use crate::places::Places;
use crate::plan_view;
use crate::plans::Plans;
use crate::pools::Pools;
use crate::settings::Settings;
use crate::shutdown::ShutdownRequest;
use crate::strays::Strays;
use crate::trees::Trees;
use crate::views::Views;
use glis_core::session::{Deferral, Session};
use glis_core::{House, Refusal, SessionId};
use glis_wire::build::Build;
use glis_wire::client::Response;
use glis_wire::home::Home;
use glis_wire::view::{SessionRow, SessionView};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tokio::sync::{Notify, mpsc};

pub(crate) struct ServerState {
    pub(crate) home: Home,
    pub(crate) settings: Arc<Settings>,
    pub(crate) places: Arc<Places>,
    pub(crate) mailbox: Mailbox,
    pub(crate) pools: Pools,
    pub(crate) views: Arc<Views>,
    pub(crate) trees: Arc<Trees>,
    pub(crate) creator: Arc<Creator>,
    pub(crate) plans: Arc<Plans>,
    pub(crate) gate: Arc<GateStore>,
    pub(crate) doctor: Doctor,
    pub(crate) daemon: Daemon,
}

pub(crate) struct Daemon {
    pub(crate) build: Build,
    pub(crate) since: Instant,
    pub(crate) shutdown: mpsc::Sender<ShutdownRequest>,
    /// Nothing is started any more: the daemon ends, and the agents with it.
    pub(crate) ending: AtomicBool,
    /// What was called under which key.
    pub(crate) keys: Keys,
    /// What callers are owed if the log fails.
    pub(crate) owed: Owed,
    /// Which processes inside sessions show which others.
    pub(crate) watches: Arc<Watches>,
    /// Agents that run and are on no record.
    pub(crate) strays: Arc<Strays>,
    pub(crate) called: Arc<Notify>,
}

impl ServerState {
    /// The session of this name, or whose id begins so.
    pub(super) async fn find(&self, given: &str) -> Result<Session, Refusal> {
        let given = given.to_owned();
        match self.mailbox.house(move |house| house.find(&given).cloned()).await {
            Some(found) => found,
            None => unanswered().await,
        }
    }

    pub(super) async fn session(&self, id: &SessionId) -> Option<Session> {
        let found = self.mailbox.query(Query::One(id.0.clone())).await;
        found.into_iter().next().map(Arc::unwrap_or_clone)
    }

    /// The same, where it has to be there.
    pub(super) async fn known(&self, id: &SessionId) -> Answer<Session> {
        Ok(self.session(id).await.ok_or_else(storage)?)
    }

    /// What is seen in the house.
    pub(super) async fn house<T: Send + 'static>(
        &self,
        look: impl FnOnce(&House) -> T + Send + 'static,
    ) -> Answer<T> {
        Ok(self.mailbox.house(look).await.ok_or_else(storage)?)
    }

    /// What was asked of this session is so, or was already.
    pub(super) async fn done(&self, session: &Session, already: bool) -> Response {
        Response::Done { session: Box::new(self.one(session).await), already }
    }

    /// A session as a front end is shown it.
    pub(super) async fn one(&self, session: &Session) -> SessionView {
        let mut view = self.views.one(session).await;
        self.in_house(std::slice::from_mut(&mut view.row)).await;
        view
    }

    /// What a list shows of sessions.
    pub(super) async fn rows(&self, sessions: Vec<Arc<Session>>) -> Vec<SessionRow> {
        let mut rows = self.views.rows(sessions).await;
        self.in_house(&mut rows).await;
        rows
    }

    /// These sessions as a whole list.
    pub(super) async fn listed(&self, ids: Vec<SessionId>) -> Response {
        let mut sessions = Vec::new();
        for id in ids {
            sessions.extend(self.look(Query::One(id.0)).await);
        }
        Response::Sessions { rows: self.rows(sessions).await, more: 0 }
    }

    /// What only the house knows of them. While the gate is shut, none of them is resumed alone, and what it
    /// has stopped comes back with it.
    async fn in_house(&self, rows: &mut [SessionRow]) {
        let look = |house: &House| (house.gate().clone(), judged(house));
        let (gate, judged) = self.mailbox.house(look).await.unwrap_or_default();
        for row in rows {
            row.judging = judged.iter().any(|id| id.0 == row.id);
            if let Some(shut) = gate.shut() {
                row.can_resume = false;
                let stopped = shut.set.iter().any(|id| id.0 == row.id);
                row.waits_to_start = row.waits_to_start.or(stopped.then_some(Deferral::Gate));
            }
            row.need = row.needs();
        }
    }

    /// The sessions that a query finds.
    pub(super) async fn look(&self, which: Query) -> Vec<Arc<Session>> {
        match self.mailbox.answer(which).await {
            Some(found) => found,
            None => unanswered().await,
        }
    }
}

/// A controller that has ended takes the daemon with it in a moment: until then no front end is told that there is no
/// session, and the connection ends unanswered.
async fn unanswered<T>() -> T {
    std::future::pending().await
}

/// The sessions whose work for a task is being judged and merged.
fn judged(house: &House) -> Vec<SessionId> {
    let active = house.plans().flat_map(|plan| plan.active.iter().filter_map(|run| plan.run(run)));
    let finishing = active.filter(|run| plan_view::is_finishing(run));
    finishing.filter_map(|run| run.session.clone()).collect()
}
