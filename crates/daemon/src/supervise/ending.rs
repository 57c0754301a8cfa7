//! Ending a process that was told to end: through its holder, and without it where that hangs.

use super::aftermath::{finish_by_force, tell_what_is_left};
use super::connection::{AGAIN_FIRST, AGAIN_LAST};
use super::supervisor::Supervisor;
use crate::holder::{AT_ONCE, Holder, is_held, meet, order_end};
use crate::mailbox::Published;
use crate::tasks::beside;
use glis_core::session::Session;
use glis_core::{Event, SessionId};
use glis_wire::hold::{Children, Ladder};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::{Instant, timeout_at};
use tracing::warn;

/// What a holder needs beside its ladder: to hear of it, to see who is left after SIGKILL, to read the
/// last output and to tell.
const BESIDE_LADDER: Duration = Duration::from_secs(6);
/// How long the supervising task may take to notice that a holder is gone, and to sweep what it left.
const NOTICE_TIME: Duration = Duration::from_secs(12);

/// Sees to it that a process which was told to end does end, also if its holder hangs.
pub(super) async fn see_to_end(
    supervisor: Arc<Supervisor>,
    session: Session,
    generation: u32,
    ladder: Ladder,
    children: Children,
) {
    let mut news = supervisor.mailbox.news.subscribe();
    let (id, dir) = (session.id.clone(), supervisor.dir(&session.id));
    let granted =
        Duration::from_millis(u64::from(ladder.interrupt_ms) + u64::from(ladder.terminate_ms));
    let watch = Watch { supervisor: &supervisor, id: &id, generation };
    if watch.ended_within(&mut news, granted + BESIDE_LADDER).await {
        return;
    }
    let process = session.process().cloned();
    let at = dir.clone();
    let found = supervisor.run_ending(move || Holder::find(&at, process.as_ref())).await;
    let holder = found.flatten();
    if let Some(holder) = &holder {
        supervisor
            .live
            .note_end(&id, format!("its holder (pid {}) did not answer and was woken", holder.pid));
        holder.wake();
    }
    if let Ok((peer, hello)) = meet(&dir).await
        && hello.generation == generation
    {
        beside(order_end(peer, AT_ONCE, children));
    }
    if watch.ended_within(&mut news, BESIDE_LADDER).await {
        return;
    }
    let mut left = String::from("its holder could not be found");
    if let Some(holder) = holder {
        let pid = holder.pid;
        let gone = supervisor.run_ending(move || holder.end()).await.unwrap_or_default();
        left = format!("its holder (pid {pid}) did not answer and could not be ended");
        if gone {
            left = format!("its holder (pid {pid}) did not answer and was ended");
        }
    }
    warn!(session = %id, "{left}");
    supervisor.live.note_end(&id, left.clone());
    // The task that supervises it notices, and sweeps; where there is none, it is done here.
    if watch.ended_within(&mut news, NOTICE_TIME).await {
        return;
    }
    finish_by_force(&supervisor, &session, generation, left).await;
}

/// A process whose end is waited for.
struct Watch<'a> {
    supervisor: &'a Supervisor,
    id: &'a SessionId,
    generation: u32,
}

impl Watch<'_> {
    async fn ended_within(
        &self,
        news: &mut broadcast::Receiver<Arc<Published>>,
        time: Duration,
    ) -> bool {
        let until = Instant::now() + time;
        loop {
            let now = self.supervisor.session(self.id).await;
            let runs = |now: &Session| now.agent.generation == self.generation && now.runs();
            if !now.as_ref().is_some_and(runs) {
                return true;
            }
            let ended = async {
                loop {
                    match news.recv().await {
                        Ok(told) if !told.recorded.subject.is(self.id) => {}
                        Ok(told) if !matches!(told.recorded.event, Event::ProcessEnded { .. }) => {}
                        // After a gap in the news the session is looked at again.
                        Ok(_) | Err(_) => return,
                    }
                }
            };
            if timeout_at(until, ended).await.is_err() {
                return false;
            }
        }
    }
}

/// Ends a process whose holder is not supervised, and tells when it is gone. Never before.
pub(super) async fn end_untended(
    supervisor: Arc<Supervisor>,
    session: Session,
    generation: u32,
    ladder: Ladder,
    children: Children,
) {
    let dir = supervisor.dir(&session.id);
    let mut pause = AGAIN_FIRST;
    while is_held(&dir, &session) {
        match meet(&dir).await {
            Ok((_, hello)) if hello.generation != generation => break,
            Ok((peer, _)) => drop(order_end(peer, ladder, children).await),
            Err(_) => {}
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN_LAST);
    }
    tell_what_is_left(&supervisor, session, generation).await;
}
