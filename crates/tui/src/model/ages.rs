//! How long ago something was, and how long it lasts.

use super::Model;
use crate::message::Now;
use glis_client::labels::span;
use glis_core::Status;
use glis_wire::view::SessionRow;

fn age_secs(session: &SessionRow, now: Now) -> Option<i64> {
    secs_since(&session.last_active_at, now)
}

/// How long a session has been at it: until now while it runs, else until it was last active.
pub(crate) fn running_secs(session: &SessionRow, now: Now) -> i64 {
    let since = |time: &str| secs_since(time, now).unwrap_or(0);
    let rests = match session.status {
        Status::Busy | Status::Idle | Status::Waiting | Status::Pausing | Status::Resuming => None,
        Status::Paused => session.paused_at.as_deref().or(Some(&session.last_active_at)),
        _ => Some(session.last_active_at.as_str()),
    };
    (since(&session.created_at) - rests.map_or(0, since)).max(0)
}

/// How long ago a time of ours was.
pub(crate) fn since(time: &str, now: Now) -> String {
    secs_since(time, now).map_or_else(|| "-".to_owned(), age)
}

impl Model {
    /// When the next age that is shown changes: they are told in minutes at least.
    pub(super) fn next_age(&self) -> Option<u64> {
        let ages = self.rows.all.values().filter_map(|session| age_secs(session, self.now));
        let left = ages.map(|age| match age {
            0..3600 => 60 - age % 60,
            3600..86_400 => 3600 - age % 3600,
            _ => 86_400 - age % 86_400,
        });
        left.min().map(|secs| self.now.ms + u64::try_from(secs).unwrap_or(60) * 1000)
    }

    /// How long ago a session was last active; of one that works, how long its turn lasts.
    pub(crate) fn age_of(&self, session: &SessionRow) -> String {
        let begun = self.rows.turns.get(&session.id).filter(|_| session.status == Status::Busy);
        match begun {
            Some(begun) => age((self.now.wall_secs - begun).max(0)),
            None => since(&session.last_active_at, self.now),
        }
    }
}

/// Nothing ticks: what is younger than a minute is just that.
fn age(secs: i64) -> String {
    if secs < 60 { "now".to_owned() } else { span(secs) }
}

fn secs_since(time: &str, now: Now) -> Option<i64> {
    let then = time.parse::<jiff::Timestamp>().ok()?;
    Some((now.wall_secs - then.as_second()).max(0))
}
