//! Something done with one session, and what the session is afterwards.

use super::ask;
use glis_client::Client;
use glis_verbs::{Complaint, acted, unexpected};
use glis_wire::client::{Action, Request, Response};
use glis_wire::view::SessionView;

/// The session afterwards, and whether it was so before.
pub(super) type Acted = Result<(SessionView, bool), Complaint>;

/// Does something with one session.
pub(super) fn act(control: &mut Client, name: &str, action: Action) -> Acted {
    acted(ask(control, Request::Act { session: name.to_owned(), action })?)
}

/// Looks at one session.
pub(super) fn show(control: &mut Client, name: &str) -> Result<Box<SessionView>, Complaint> {
    let request = Request::Show { session: name.to_owned() };
    let Response::Session(session) = ask(control, request)? else { return Err(unexpected()) };
    Ok(session)
}
