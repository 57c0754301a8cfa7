//! Merging a session's work, for a front end.

use super::carry::trouble;
use super::keep::failed;
use super::state::ServerState;
use crate::environments::Caller;
use crate::pools::Kind;
use crate::trees::NotMerged;
use glis_core::merge::Unmerged;
use glis_core::plain::in_sight;
use glis_core::reason::Verb;
use glis_core::refusal::InPlaceWish;
use glis_core::{Refusal, Session, Status};
use glis_wire::client::Response;
use glis_wire::view::MergeView;
use std::sync::Arc;

/// No file system takes a longer name.
const BRANCH_BYTES_MAX: usize = 1024;
/// So much of one that is no name is shown.
const SHOWN_CHARS: usize = 80;

/// Whether hooks of the repository are run.
pub(super) enum HookWish {
    None,
    /// In the environment of who asks; without one, in that of the session.
    Run(Option<Caller>),
}

pub(super) async fn merge(
    state: &ServerState,
    given: &str,
    into: Option<String>,
    hooks: HookWish,
) -> Response {
    let session = match state.find(given).await {
        Ok(session) => session,
        Err(refusal) => return Response::Refused(refusal),
    };
    if let Some(into) = into.as_deref().filter(|into| !may_be_branch(into)) {
        let shown: String = in_sight(into).chars().take(SHOWN_CHARS).collect();
        let message = format!("`{shown}` is no name of a branch");
        return Response::Unusable { message, hint: "name one that git would take".to_owned() };
    }
    match refused(&session, into) {
        Ok(into) => merge_into(state, session, into, hooks).await,
        Err(refusal) => Response::Refused(*refusal),
    }
}

/// What git could be asked for at all.
fn may_be_branch(name: &str) -> bool {
    !name.is_empty() && name.len() <= BRANCH_BYTES_MAX && !name.contains(char::is_control)
}

/// The branch that it goes into, unless it cannot be merged as it is.
fn refused(session: &Session, into: Option<String>) -> Result<String, Box<Refusal>> {
    let name = session.name.clone();
    if session.spec.in_place {
        return Err(Box::new(Refusal::InPlace { session: name, wish: InPlaceWish::Merge }));
    }
    let status = session.status();
    match status {
        // Half of what it is about to write would be merged.
        Status::Busy | Status::Pausing | Status::Resuming | Status::Archived => {
            Err(Box::new(Refusal::WrongStatus { session: name, status, verb: Verb::Merge }))
        }
        Status::Created
        | Status::Idle
        | Status::Waiting
        | Status::Paused
        | Status::Suspended
        | Status::Interrupted
        | Status::Completed
        | Status::Failed => into
            .or_else(|| session.spec.base_branch.clone())
            .ok_or_else(|| Box::new(not_merged(session, "", Unmerged::NoBase))),
    }
}

fn not_merged(session: &Session, into: &str, why: Unmerged) -> Refusal {
    let (name, worktree) = (session.name.clone(), session.worktree.clone());
    Refusal::NotMerged { session: name, into: into.to_owned(), worktree, why }
}

async fn merge_into(
    state: &ServerState,
    session: Session,
    into: String,
    hooks: HookWish,
) -> Response {
    let (trees, subject, branch) = (Arc::clone(&state.trees), session.clone(), into.clone());
    let env = match hooks {
        HookWish::None => None,
        HookWish::Run(Some(caller)) => Some(caller.env),
        HookWish::Run(None) => Some(state.creator.environments.of_next_start(&session).0),
    };
    let merge = move || match env {
        None => trees.merge(&subject, &branch),
        Some(env) => trees.merge_with_hooks(&subject, &branch, env),
    };
    let done = state.trees.ask(Kind::Tree, merge).await;
    let (work, merged) = match done {
        Ok(Ok(done)) => done,
        Ok(Err(NotMerged::Refused(why))) => {
            return Response::Refused(not_merged(&session, &into, why));
        }
        Ok(Err(NotMerged::Failed(fault))) => return failed(&fault),
        Err(fault) => return trouble(&fault),
    };
    Response::Merged(Box::new(MergeView {
        id: session.id.0,
        session: session.name,
        work: work.commit,
        committed: work.fresh,
        next: merged.checked_out.as_ref().map(|_| format!("git merge --ff-only {}", merged.branch)),
        into,
        branch: merged.branch,
        commit: merged.commit,
        already: merged.already,
        checked_out: merged.checked_out.map(|at| at.to_string_lossy().into_owned()),
    }))
}
