//! What only one session at a time may have: a name, and a folder to work in.

use crate::ids::SessionId;
use crate::refusal::Refusal;
use crate::session::{Phase, Session};
use crate::status::Status;

/// Refuses a folder that a process of another session than `own` is at work in, or about to be:
/// two that write to one worktree undo each other's work.
pub(crate) fn check_place<'s>(
    mut sessions: impl Iterator<Item = &'s Session>,
    place: &str,
    own: &SessionId,
) -> Result<(), Refusal> {
    let at_work = |session: &Session| match &session.phase {
        Phase::Starting(_) | Phase::Live | Phase::Stopping { .. } => true,
        Phase::Pausing(_) => session.runs(),
        Phase::Rest(_) | Phase::Chore { .. } => false,
    };
    let stands = |session: &Session| match &session.place.worktree {
        Some(worktree) => worktree == place,
        // Not made yet, which takes a moment even where there is nothing to make.
        None => session.spec.in_place && session.spec.repo_root == place,
    };
    let is_other = |session: &Session| session.id != *own;
    match sessions.find(|session| is_other(session) && stands(session) && at_work(session)) {
        Some(other) => {
            let (place, by) = (place.to_owned(), other.name.clone());
            Err(Refusal::PlaceTaken { place, by })
        }
        None => Ok(()),
    }
}

/// Whether another session than `own` has this name, or is about to have it.
pub(crate) fn is_taken<'s>(
    mut sessions: impl Iterator<Item = &'s Session>,
    name: &str,
    own: &SessionId,
) -> bool {
    sessions.any(|session| {
        let has = session.status() != Status::Archived && session.name == name;
        session.id != *own && (has || session.returns_as().is_some_and(|known| known == name))
    })
}
