//! The sessions of runs, paused with their plan or without it.

use crate::decide::{pause, usage_limit};
use crate::draft::Draft;
use crate::ids::SessionId;
use crate::pause::PauseMode;
use crate::session::{Phase, Rest, Session, StartCause};

/// Pauses the sessions of runs.
pub(super) fn pause_each(
    draft: &mut Draft<'_>,
    sessions: impl IntoIterator<Item = SessionId>,
    mode: PauseMode,
) {
    for session in sessions {
        if draft.turn_to(&session).is_err() {
            continue;
        }
        if let Some(mode) = how_to_pause(&draft.session, mode) {
            usage_limit::take_over(draft);
            // One that cannot be paused runs on, and the window says so.
            pause::begin(draft, super::work::wish(mode)).ok();
            draft.follow();
        }
    }
}

/// How the session of a run is paused with its plan, if it has to be.
fn how_to_pause(session: &Session, mode: PauseMode) -> Option<PauseMode> {
    match &session.phase {
        Phase::Live | Phase::Pausing(_) => Some(mode),
        // One that is only just made is paused when it runs (`work.rs`); one that comes back has
        // nothing to lose, and would run on.
        Phase::Starting(start) if start.cause == StartCause::New => {
            (mode == PauseMode::Force).then_some(mode)
        }
        Phase::Starting(_) => Some(PauseMode::Force),
        // It would come back by itself.
        Phase::Rest(Rest::Paused(_)) => {
            (session.starts.deferred.is_some() || session.parked().is_some()).then_some(mode)
        }
        Phase::Rest(_) | Phase::Stopping { .. } | Phase::Chore { .. } => None,
    }
}
