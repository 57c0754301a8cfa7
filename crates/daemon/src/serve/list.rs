//! Lists of sessions: what lives, and the latest of what rests, told in parts.

use super::answer::Answer;
use super::state::ServerState;
use crate::mailbox::Query;
use crate::peer::Peer;
use glis_core::session::{Session, WallMs};
use glis_wire::client::Response;
use std::cmp::Reverse;
use std::sync::Arc;

/// What has rested for longer is looked for by those who know of it.
const RECENT_MS: WallMs = 7 * 24 * 60 * 60 * 1000;
/// More of it is no list that anybody reads to its end.
const RESTING_MAX: usize = 200;
/// Rows are looked at and sent so many at a time: however many there are, neither a frame nor the daemon holds all of
/// them. A row is some hundred bytes, and with all that an agent may ask some ten thousand.
const PART: usize = 100;

/// Sessions, latest activity first.
pub(super) async fn list(state: &ServerState, peer: &mut Peer, all: bool) -> Answer {
    let mut sessions = state.look(if all { Query::All } else { Query::Living }).await;
    sessions.sort_by_key(|session| Reverse(session.times.last_active_at));
    let known = sessions.len();
    if !all {
        let since = crate::clock::now().as_millisecond() - RECENT_MS;
        keep_latest(&mut sessions, since, RESTING_MAX);
    }
    for part in sessions.chunks(PART) {
        peer.send(&Response::Rows(state.rows(part.to_vec()).await)).await?;
    }
    Ok(Response::Sessions { rows: Vec::new(), more: known - sessions.len() })
}

/// Leaves out what rests, but for so many at most that have come to rest since this time.
fn keep_latest(sessions: &mut Vec<Arc<Session>>, since: WallMs, most: usize) {
    let mut resting = 0;
    sessions.retain(|session| {
        let stays = session.triage.pinned || session.ahead.resume_at.is_some();
        let rests = !session.stirs() && !session.runs() && !stays;
        resting += usize::from(rests);
        !rests || (session.times.last_active_at >= since && resting <= most)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::session::{Phase, Rest, Times};

    fn session(last_active_at: WallMs, phase: Phase) -> Arc<Session> {
        let times = Times { last_active_at, ..Times::default() };
        Arc::new(Session { times, phase, run: None, ..crate::fill::session() })
    }

    #[test]
    fn what_lives_is_shown_however_old_and_of_what_rests_the_latest() {
        let rests = |at| session(at, Phase::Rest(Rest::Suspended));
        let mut sessions = vec![rests(9), rests(8), rests(7), session(1, Phase::Live), rests(1)];
        keep_latest(&mut sessions, 5, 2);
        assert_eq!(sessions.iter().map(|s| s.times.last_active_at).collect::<Vec<_>>(), [9, 8, 1]);
        let mut sessions = vec![rests(9), rests(4)];
        keep_latest(&mut sessions, 5, 2);
        assert_eq!(sessions.len(), 1, "too long ago");
        let mut pinned = (*rests(4)).clone();
        pinned.triage.pinned = true;
        let mut sessions = vec![Arc::new(pinned)];
        keep_latest(&mut sessions, 5, 0);
        assert_eq!(sessions.len(), 1, "it is pinned");
    }
}
