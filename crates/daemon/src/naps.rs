//! How often idle sessions were suspended and woken, as the log tells it: whether the time they may be idle fits.

use crate::mailbox::Mailbox;
use glis_core::phase::StopCause;
use glis_core::session::WallMs;
use glis_core::{Event, SessionId};
use std::collections::HashMap;

/// Events that are looked through at once.
const EVENTS_READ: u32 = 500;

/// A session was suspended because it was idle, or memory ran short.
pub(crate) struct Nap {
    pub(crate) session: SessionId,
    pub(crate) from: WallMs,
    /// When it was started again.
    pub(crate) to: Option<WallMs>,
}

/// All that have begun since then.
pub(crate) async fn since(mailbox: &Mailbox, since: WallMs) -> Vec<Nap> {
    let mut naps: Vec<Nap> = Vec::new();
    let mut asleep = HashMap::new();
    let mut next = first_since(mailbox, since).await;
    loop {
        let batch = mailbox.read(next, EVENTS_READ).await;
        let Some(end) = batch.last() else { return naps };
        next = end.seq + 1;
        for recorded in &batch {
            let Some(session) = recorded.subject.session() else { continue };
            if let Event::StopBegan { cause: StopCause::Idle | StopCause::Memory, .. } =
                recorded.event
            {
                asleep.insert(session.clone(), naps.len());
                naps.push(Nap { session: session.clone(), from: recorded.at, to: None });
            } else if let Event::StartBegan { .. } = recorded.event
                && let Some(nap) = asleep.remove(session).and_then(|at| naps.get_mut(at))
            {
                nap.to = Some(recorded.at);
            }
        }
    }
}

/// The first event from then on: times in the log go up, but for clocks that are set back.
async fn first_since(mailbox: &Mailbox, since: WallMs) -> u64 {
    let (mut low, mut high) = (1, mailbox.last_seq() + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if mailbox.read(middle, 1).await.first().is_some_and(|record| record.at < since) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
