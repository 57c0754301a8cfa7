//! A call that a daemon died over, repeated to the next one: the log tells by its key whether anything came of it.

use super::state::ServerState;
use glis_core::{Recorded, Status};
use glis_wire::client::{Action, Request, Response, Trouble};
use glis_wire::plan::PlanRequest;

/// So many events are read at once.
const EVENTS_READ: u32 = 256;

/// Whether a call may be carried out again of which something was begun.
enum Again {
    /// It does no harm.
    Yes,
    /// What was begun goes on by itself.
    No,
    /// Only if its session is not in the trash by now.
    UntilArchived,
    /// It leaves nothing in the log that has its key.
    Unclear,
}

/// What a call has come to that was first made when the log ended at `last`; `None` if it is to be carried out.
pub(super) async fn came_of(
    state: &ServerState,
    key: &str,
    last: u64,
    request: &Request,
) -> Option<Response> {
    let again = again(request);
    if let Again::Unclear = again {
        let message = "the daemon ended while it carried this call out; it is not done again";
        return Some(Response::Trouble { kind: Trouble::Unknown, message: message.to_owned() });
    }
    let begun = first_of(state, key, last + 1).await?;
    // What is harmless to a plan, or to the house, is about no session.
    let session = state.session(begun.subject.session()?).await?;
    let session = Box::new(state.one(&session).await);
    let status = session.status;
    match (again, request) {
        (Again::UntilArchived, _) if status == Status::Archived => {
            Some(Response::Done { session, already: true })
        }
        (Again::Yes | Again::UntilArchived | Again::Unclear, _) => None,
        (Again::No, Request::New(_)) => Some(Response::Made { session, notes: Vec::new() }),
        (Again::No, Request::Act { action: Action::Send { .. }, .. }) => {
            Some(Response::Queued { session, message: 0, before: 0, status, idle_secs: None })
        }
        (Again::No, _) => Some(Response::Done { session, already: false }),
    }
}

/// The first event that a call with this key has led to.
async fn first_of(state: &ServerState, key: &str, from: u64) -> Option<Recorded> {
    let mut next = from;
    loop {
        let batch = state.mailbox.read(next, EVENTS_READ).await;
        next = batch.last()?.seq + 1;
        let is_its = |event: &Recorded| {
            event.from.as_ref().is_some_and(|from| from.key.as_deref() == Some(key))
        };
        if let Some(found) = batch.into_iter().find(is_its) {
            return Some(found);
        }
    }
}

fn again(request: &Request) -> Again {
    if let Request::New(_) = request {
        return Again::No;
    }
    let is_harmless = matches!(
        request,
        Request::PauseAll(_)
            | Request::ResumeAll { .. }
            | Request::Plan(
                PlanRequest::Execute(_)
                    | PlanRequest::Pause { .. }
                    | PlanRequest::Resume { .. }
                    | PlanRequest::Restart { .. }
                    | PlanRequest::Rule { .. }
            )
    );
    let Request::Act { action, .. } = request else {
        return if is_harmless { Again::Yes } else { Again::Unclear };
    };
    match action {
        Action::Send { .. }
        | Action::Answer { .. }
        | Action::Restart { .. }
        | Action::Resume { prompt: Some(_) } => Again::No,
        Action::Remove { .. } => Again::UntilArchived,
        Action::Pause { .. }
        | Action::CancelPause
        | Action::Resume { prompt: None }
        | Action::Stop
        | Action::Acknowledge
        | Action::LimitIdle { .. }
        | Action::AutoYes { .. }
        | Action::Label { .. }
        | Action::Pin { .. }
        | Action::Snooze { .. }
        | Action::Budget { .. }
        | Action::BeginTyping
        | Action::SetLoop { .. }
        | Action::Snapshot
        | Action::Compact => Again::Yes,
        // It would undo what an agent has done since.
        Action::Restore { .. } => Again::Unclear,
    }
}
