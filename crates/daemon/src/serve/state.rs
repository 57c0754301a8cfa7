//! Everything that a connection needs.

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
use glis_wire::home::Home;
use glis_wire::view::SessionView;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tokio::sync::{Notify, mpsc};

/// What all connections share.
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

/// The daemon itself.
pub(crate) struct Daemon {
    /// The build that it is of.
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
    /// Told of each call.
    pub(crate) called: Arc<Notify>,
}

impl ServerState {
    /// The session of this name, or whose id begins so.
    pub(super) async fn find(&self, given: &str) -> Result<Session, Refusal> {
        let found = self.look(Query::One(given.to_owned())).await;
        if let Some(session) = found.into_iter().next() {
            return Ok(Arc::unwrap_or_clone(session));
        }
        let wanted = given.to_owned();
        let refusal = self.mailbox.house(move |house| house.find(&wanted).err()).await.flatten();
        Err(refusal.unwrap_or_else(|| Refusal::NoSuchSession { given: given.to_owned() }))
    }

    /// The session with this id, as it is now.
    pub(super) async fn session(&self, id: &SessionId) -> Option<Session> {
        let found = self.mailbox.query(Query::One(id.0.clone())).await;
        found.into_iter().next().map(Arc::unwrap_or_clone)
    }

    /// A session as a front end is shown it.
    pub(super) async fn one(&self, session: &Session) -> SessionView {
        let view = self.views.one(session).await;
        self.in_house(vec![view]).await.remove(0)
    }

    /// Sessions as a front end is shown them.
    pub(super) async fn all(&self, sessions: Vec<Arc<Session>>) -> Vec<SessionView> {
        let views = self.views.all(sessions).await;
        self.in_house(views).await
    }

    /// What only the house knows of them. While the gate is shut, none of them is resumed alone, and what it
    /// has stopped comes back with it.
    async fn in_house(&self, mut views: Vec<SessionView>) -> Vec<SessionView> {
        let look = |house: &House| (house.gate().clone(), judged(house));
        let Some((gate, judged)) = self.mailbox.house(look).await else { return views };
        for view in &mut views {
            view.judging = judged.iter().any(|id| id.0 == view.id);
            if let Some(shut) = gate.shut() {
                view.can_resume = false;
                let stopped = shut.set.iter().any(|id| id.0 == view.id);
                view.waits_to_start = view.waits_to_start.or(stopped.then_some(Deferral::Gate));
            }
        }
        views
    }

    /// The sessions that a query finds. A controller that has ended takes the daemon with it in a
    /// moment: until then no front end is told that there is no session, and the connection ends
    /// unanswered.
    pub(super) async fn look(&self, which: Query) -> Vec<Arc<Session>> {
        let found = self.mailbox.query(which).await;
        if found.is_empty() && self.mailbox.mail.is_closed() {
            std::future::pending::<()>().await;
        }
        found
    }
}

/// The sessions whose work for a task is being judged and merged.
fn judged(house: &House) -> Vec<SessionId> {
    let active = house.plans().flat_map(|plan| plan.active.iter().filter_map(|run| plan.run(run)));
    let finishing = active.filter(|run| plan_view::is_finishing(run));
    finishing.filter_map(|run| run.session.clone()).collect()
}
