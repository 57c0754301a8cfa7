//! Something done with one session, and what the session is afterwards.

use super::{ask, unexpected};
use crate::complaint::Complaint;
use glis_client::{Client, usable};
use glis_wire::client::{Action, Request, Response};
use glis_wire::view::SessionView;

/// The session afterwards, and whether it was so before.
pub(super) type Acted = Result<(SessionView, bool), Complaint>;

/// Does something with one session.
pub(super) fn act(control: &mut Client, name: &str, action: Action) -> Acted {
    done(control, Request::Act { session: name.to_owned(), action })
}

/// Makes a call that ends in a session.
pub(super) fn done(control: &mut Client, request: Request) -> Acted {
    acted(ask(control, request)?)
}

/// What a response says of a session.
pub(super) fn acted(response: Response) -> Acted {
    let Response::Done { session, already } = usable(response)? else { return Err(unexpected()) };
    Ok((*session, already))
}
