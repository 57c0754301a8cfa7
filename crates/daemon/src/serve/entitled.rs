//! What a caller may ask for.

use super::state::ServerState;
use glis_core::spec::SignSource;
use glis_core::talk::{ALLOW, DENY};
use glis_wire::call::{Face, Origin, Scope};
use glis_wire::client::{Action, Request, Response, Trouble};

/// Why this is not done for this caller; `None` if it is.
pub(super) fn refuse(request: &Request, from: &Origin, scope: Scope) -> Option<Response> {
    let needed = request.scope();
    if scope < needed {
        let (has, needed) = (scope.word(), needed.word());
        let message = format!("the caller may `{has}`; this needs `{needed}`");
        return Some(Response::Trouble { kind: Trouble::NotAllowed, message });
    }
    let unnamed = matches!(
        request,
        Request::Act { action: Action::Answer { ask: None, .. }, .. }
            | Request::ActEach { action: Action::Answer { ask: None, .. }, .. }
    );
    // A person at the command line answers what was just read there. A button may be pressed late,
    // when another question stands in its place.
    if unnamed && from.face != Face::Cli {
        let message = "the answer does not say which request it is for".to_owned();
        return Some(Response::Trouble { kind: Trouble::BadInput, message });
    }
    None
}

/// Why a message is not sent for this caller, nor an answer other than a yes or a no. To a plain program it is typing:
/// a shell runs it, and a question on the screen is answered by it.
pub(super) async fn refuse_typing(
    state: &ServerState,
    request: &Request,
    scope: Scope,
) -> Option<Response> {
    let Request::Act { session, action } = request else { return None };
    let is_typing = if let Action::Answer { answer, .. } = action {
        ![ALLOW, DENY].contains(&answer.as_str())
    } else {
        matches!(action, Action::Send { .. })
    };
    if !is_typing || scope == Scope::Manage {
        return None;
    }
    // Who is not found is told so by the call itself.
    let session = state.find(session).await.ok()?;
    (session.spec.traits.signs == SignSource::Screen).then(|| {
        let (has, name) = (scope.word(), &session.name);
        let message = format!(
            "the caller may `{has}`; `{name}` is a plain program, other words than a yes or a no to it \
             are typing, and that needs `manage`"
        );
        Response::Trouble { kind: Trouble::NotAllowed, message }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(action: Action) -> Request {
        Request::Act { session: "x".to_owned(), action }
    }

    fn answer(ask: Option<&str>) -> Request {
        act(Action::Answer {
            ask: ask.map(ToOwned::to_owned),
            answer: "allow".to_owned(),
            reason: None,
        })
    }

    #[test]
    fn each_scope_includes_those_before_it() {
        let scopes = [Scope::Watch, Scope::Send, Scope::Answer, Scope::Manage];
        let requests = [
            Request::List { all: true },
            act(Action::Send { text: String::new(), files: Vec::new() }),
            answer(Some("1")),
            act(Action::Stop),
        ];
        for (has, scope) in scopes.into_iter().enumerate() {
            for (needs, request) in requests.iter().enumerate() {
                let refused = refuse(request, &Origin::default(), scope).is_some();
                assert_eq!(refused, needs > has, "{scope:?} {request:?}");
            }
        }
    }

    #[test]
    fn only_the_command_line_answers_whatever_is_asked() {
        let from = |face| Origin::new(face, "");
        assert!(refuse(&answer(None), &from(Face::Cli), Scope::Manage).is_none());
        for face in [Face::Tui, Face::Web, Face::Chat] {
            assert!(refuse(&answer(None), &from(face), Scope::Manage).is_some());
            assert!(refuse(&answer(Some("1")), &from(face), Scope::Manage).is_none());
        }
    }
}
