//! The sessions, as they are known here.

use super::Plans;
use glis_core::Status;
use glis_wire::view::{SessionRow, WaitingFor};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) all: BTreeMap<String, SessionRow>,
    /// So many rest for longer than the list goes back.
    pub(crate) more: usize,
    /// What those were called that went away while this showed them, by id.
    pub(crate) gone: BTreeMap<String, String>,
    /// How many files each session has changed, as of its last snapshot.
    pub(crate) changes: BTreeMap<String, usize>,
    /// When the turn of each session that works began, in seconds since 1970.
    pub(crate) turns: BTreeMap<String, i64>,
    pub(crate) plans: Plans,
    /// The branch that the work of each goes into, as far as that was looked up.
    pub(crate) bases: BTreeMap<String, String>,
}

impl Rows {
    pub(crate) fn any(&self, is_one: impl Fn(&SessionRow) -> bool) -> bool {
        self.all.values().any(is_one)
    }

    /// Everything that is asked, what has waited longest first.
    pub(crate) fn asks(&self) -> Vec<(&SessionRow, &WaitingFor)> {
        let waiting = self.all.values().filter(|s| s.asks_a_person());
        let all = waiting.flat_map(|session| {
            let only = session.waiting_for.iter().filter(|_| session.asks.is_empty());
            session.asks.iter().chain(only).map(move |ask| (session, ask))
        });
        let mut all: Vec<_> = all.collect();
        // What one agent asks at once stays in the agent's own order.
        all.sort_by_key(|(session, ask)| {
            (ask.since.as_ref().unwrap_or(&session.last_active_at), &session.id)
        });
        all
    }

    /// Whether a session waits of which it is not known yet what it asks: its status came with an event, and
    /// the look that tells the rest is on its way.
    pub(crate) fn asks_are_coming(&self) -> bool {
        let unknown = |s: &SessionRow| s.waiting_for.is_none() && s.asks.is_empty();
        self.any(|s| s.status == Status::Waiting && unknown(s))
    }

    /// An open question, by session and request.
    pub(crate) fn open_ask(&self, id: &str, request: &str) -> Option<(&SessionRow, &WaitingFor)> {
        self.asks().into_iter().find(|(s, ask)| s.id == id && ask.request == request)
    }
}

/// What is known to have changed, and is looked at again.
#[derive(Default)]
pub(crate) struct Looking {
    pub(crate) stale: BTreeSet<String>,
    pub(crate) under_way: bool,
    /// No look begins before this.
    pub(crate) not_before: u64,
    /// When the sessions that work are looked at again.
    pub(crate) busy_at: u64,
    /// What a person was last noted to see: a session, and when something of it had last happened.
    pub(crate) noted: Option<(String, String)>,
}

impl Looking {
    /// Whether something has changed that was not looked at yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.under_way || !self.stale.is_empty()
    }

    /// When the next look begins, if there is a reason for one.
    pub(crate) fn due(&self) -> Option<u64> {
        (!self.under_way && !self.stale.is_empty()).then_some(self.not_before)
    }
}

/// What was asked when a session was paused, which its agent has not heard an answer to.
pub(crate) fn was_asking(session: &SessionRow) -> Option<String> {
    let asked = session.was_asking.iter().map(|ask| ask.text.as_str()).collect::<Vec<_>>();
    (!asked.is_empty()).then(|| asked.join("; "))
}
