//! Whether an idle session is used all the same: by a user at its terminal, by text that was typed and
//! not sent, by what its program does beside its prompt. What cannot be known counts as use.

use super::link::Link;
use super::supervisor::Supervisor;
use crate::links::HolderCommand;
use crate::screens;
use crate::tasks::beside_on;
use glis_agent::{Shown, Source};
use glis_core::SessionId;
use glis_core::input::{Outcome, Use};
use glis_core::safe::ScreenState;
use glis_core::session::StopCause;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Whoever holds less gives nothing back that would be felt where memory runs short: the smallest of the
/// real agents holds ten times as much.
const LEAST_BYTES: u64 = 4 << 20;

impl Supervisor {
    /// Looks whether a session is in use, and tells.
    pub(crate) fn check_idle(self: &Arc<Self>, id: SessionId, spell: u64, cause: StopCause) {
        let supervisor = Arc::clone(self);
        beside_on(&self.runtime, async move {
            let usage = supervisor.look_for_use(&id, cause).await;
            supervisor.tell(&id, Outcome::UseChecked { spell, cause, usage }).await;
        });
    }

    /// Asks the task that supervises its holder. One that ends meanwhile gives no answer.
    async fn look_for_use(&self, id: &SessionId, cause: StopCause) -> Use {
        let (answer, told) = oneshot::channel();
        let config = self.config();
        let wanted = match cause {
            StopCause::Idle => config.idle.enabled,
            StopCause::Memory => config.memory.enabled,
            StopCause::Asked | StopCause::Shutdown => true,
        };
        if !wanted || self.links.send(id, HolderCommand::CheckIdle(cause, answer)).is_err() {
            return Use::InUse;
        }
        told.await.unwrap_or(Use::InUse)
    }
}

impl Link {
    /// Looks at what the holder and the terminal tell.
    pub(super) async fn look_for_use(&mut self, cause: StopCause) -> Use {
        let attached = self.listener.supervisor.live.audience(&self.listener.id) > 0;
        let owes = self.owed.has_orders() || self.waits_for_screen() || self.catching_up.is_some();
        if attached || owes {
            return Use::InUse;
        }
        let free = match self.listener.dialect.source() {
            Source::Stream => true,
            Source::Transcript => self.shows_empty_prompt().await,
            Source::Screen => self.rests_at_prompt().await,
        };
        if !free {
            return Use::InUse;
        }
        let pid = self.process.pid;
        let held =
            self.listener.supervisor.run_blocking(move || Ok(glis_os::memory::of_tree(pid))).await;
        let held = held.unwrap_or_default();
        if cause == StopCause::Memory && held < LEAST_BYTES {
            return Use::InUse;
        }
        self.listener.supervisor.live.note_held(&self.listener.id, held);
        Use::Free
    }

    /// Whether an agent shows a prompt with nothing typed into it.
    async fn shows_empty_prompt(&self) -> bool {
        let look = self.look(screens::glance).await;
        look.is_ok_and(|lines| self.listener.dialect.shows(&lines) == Shown::Prompt)
    }

    /// Whether a program that says nothing about itself has shown nothing but its empty prompt since the
    /// last look, and has started nothing that still runs.
    async fn rests_at_prompt(&mut self) -> bool {
        let stirred = std::mem::take(&mut self.flow.stirred);
        let at_prompt = matches!(self.look_at_screen().await, ScreenState::AtPrompt { .. });
        let pid = self.process.pid;
        let look = move || Ok(glis_os::process::has_children(pid));
        let alone = self.listener.supervisor.run_blocking(look).await.is_ok_and(|has| !has);
        !stirred && !self.flow.moves && at_prompt && alone
    }
}
