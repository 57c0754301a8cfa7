//! What every part of the supervision of holders needs.

use crate::day::{Amounts, Day};
use crate::environments::Environments;
use crate::holder::wake_if_stopped;
use crate::links::Links;
use crate::live::Live;
use crate::mailbox::{Mailbox, Query};
use crate::pools::{Kind, Pools};
use crate::settings::Settings;
use glis_agent::Places;
use glis_config::Config;
use glis_core::input::{Outcome, World};
use glis_core::session::{Process, Session};
use glis_core::{Input, SessionId};
use glis_wire::home::Home;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Handle;
use tracing::warn;

/// Supervises the holders of all sessions.
pub(crate) struct Supervisor {
    pub(crate) home: Home,
    pub(crate) settings: Arc<Settings>,
    pub(crate) mailbox: Mailbox,
    pub(crate) environments: Arc<Environments>,
    pub(crate) live: Arc<Live>,
    pub(crate) links: Arc<Links>,
    /// What agents need to know of this machine, the same for every session.
    pub(crate) agents: Places,
    /// The controller, which asks for ends, is a thread without a runtime of its own.
    pub(crate) runtime: Handle,
    pub(crate) pools: Pools,
    pub(crate) day: Arc<Day>,
}

impl Supervisor {
    /// What is configured at the moment.
    pub(super) fn config(&self) -> Arc<Config> {
        self.settings.now()
    }

    pub(super) fn dir(&self, id: &SessionId) -> PathBuf {
        self.home.session(&id.0)
    }

    /// The session as the log has it, with everything that was told before this.
    pub(super) async fn session(&self, id: &SessionId) -> Option<Session> {
        let found = self.mailbox.query(Query::One(id.0.clone())).await;
        found.into_iter().next().map(Arc::unwrap_or_clone)
    }

    /// Tells what came of an effect.
    pub(super) async fn tell(&self, session: &SessionId, outcome: Outcome) {
        self.mailbox.tell(Input::Outcome { session: session.clone(), outcome }).await;
    }

    /// Tells what an agent has used in all, and, where the day has a budget, what all have used today.
    pub(super) async fn tell_used(&self, id: &SessionId, (cost_micros, tokens): Amounts) {
        self.tell(id, Outcome::Used { cost_micros, tokens }).await;
        if self.config().budget.day.is_empty() {
            return;
        }
        let (day, name) = (Arc::clone(&self.day), id.0.clone());
        let add = move || Ok(day.after(&name, (cost_micros, tokens)));
        if let Ok((date, (cost_micros, tokens))) = self.run_blocking(add).await {
            let date = date.to_string();
            self.mailbox.tell(Input::DayUsed { date, cost_micros, tokens }).await;
        }
    }

    /// Tells how a session was found after a start of the daemon.
    pub(super) async fn tell_world(&self, session: SessionId, world: World) {
        self.mailbox.tell(Input::Observed { session, world }).await;
    }

    /// Reads what may have to wait for a disk, on a thread for listening.
    pub(super) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        self.pools.run_blocking(Kind::Listen, work).await.map_err(io::Error::other)?
    }

    /// A holder has lost its folder and made another one. It tells so for as long as it lives, and once
    /// is enough: a person may have taken note. What says that it was told goes with the folder.
    pub(super) async fn tell_folder_lost(&self, id: &SessionId) {
        let note = self.dir(id).join("loss-told");
        let known = note.clone();
        if self.run_blocking(move || Ok(known.exists())).await.unwrap_or_default() {
            return;
        }
        self.tell(id, Outcome::FolderLost).await;
        drop(self.run_blocking(move || std::fs::write(note, "")).await);
    }

    /// A holder that does not answer may have been stopped: then it goes on, and the log tells. One
    /// that waits for its agent to read is not hurt by it.
    pub(super) async fn wake_holder(&self, id: &SessionId, process: Option<Process>) {
        let dir = self.dir(id);
        let woken = self.run_blocking(move || Ok(wake_if_stopped(&dir, process.as_ref()))).await;
        if let Ok(Some(pid)) = woken {
            warn!(session = %id, "its holder (pid {pid}) was stopped and has been woken");
        }
    }

    /// Does what may take seconds when a process has ended. `None` after a panic, which is in the
    /// daemon's log.
    pub(super) async fn run_ending<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let done = self.pools.run_blocking(Kind::End, work).await;
        done.inspect_err(|fault| warn!("{fault}")).ok()
    }
}
