//! What is answered, with the headers that every answer has.

use crate::devices::StoreFault;
use crate::guard::Refused;
use crate::places::Place;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use glis_verbs::{Complaint, Kind};
use hyper::body::{Frame, SizeHint};
use serde_json::{Value, json};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// So much of a body is handed to a connection at once.
const PIECE_BYTES: usize = 64 * 1024;

pub(crate) type Reply = Response<Body>;

/// A request that comes to nothing, as it is answered.
pub(crate) struct Failed(pub(crate) Box<Reply>);

impl From<Reply> for Failed {
    fn from(reply: Reply) -> Self {
        Self(Box::new(reply))
    }
}

impl From<Complaint> for Failed {
    fn from(told: Complaint) -> Self {
        failure(&told).into()
    }
}

impl From<StoreFault> for Failed {
    fn from(fault: StoreFault) -> Self {
        Complaint::from(fault).into()
    }
}

impl From<Refused> for Failed {
    fn from(why: Refused) -> Self {
        refused(why).into()
    }
}

/// Nothing but our own files, no frame around us, no text that becomes a script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
require-trusted-types-for 'script'; trusted-types 'none'";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

pub(crate) fn document(status: StatusCode, document: &Value) -> Reply {
    let mut reply = Response::new(Body::from(document.to_string()));
    *reply.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, json);
    reply
}

/// The same, whose place is kept until it is taken: what nobody reads takes no more memory than there are places.
pub(crate) fn held(reply: Reply, place: Place) -> Reply {
    reply.map(|body| Body::new(Held { body, rest: Bytes::new(), _place: place }))
}

/// A body in pieces: a connection that is not read asks for no more of them.
struct Held {
    body: Body,
    rest: Bytes,
    _place: Place,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.rest = bytes,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        let piece = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // Asked for before anything was taken.
        self.body.size_hint()
    }
}

/// A failure, as the command line prints it.
pub(crate) fn failure(told: &Complaint) -> Reply {
    let status = if told.kind == Kind::NotAllowed {
        StatusCode::FORBIDDEN
    } else if told.kind == Kind::Crowded {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        status_of(told.kind.exit_status())
    };
    failure_as(status, told)
}

pub(crate) fn failure_as(status: StatusCode, told: &Complaint) -> Reply {
    document(status, &told.json())
}

/// The status for an exit status of the command line.
pub(crate) fn status_of(exit: u8) -> StatusCode {
    match exit {
        0 => StatusCode::OK,
        2 => StatusCode::BAD_REQUEST,
        3 => StatusCode::NOT_FOUND,
        4..=7 => StatusCode::CONFLICT,
        8 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// A failure of the request itself.
pub(crate) fn wrong(status: StatusCode, kind: &str, message: &str, hint: &str) -> Reply {
    let error = json!({"kind": kind, "message": message, "hint": hint});
    document(status, &json!({"error": error}))
}

/// What who was not let in is told: no more than is needed to come rightly.
fn refused(why: Refused) -> Reply {
    match why {
        Refused::Host => wrong(
            StatusCode::MISDIRECTED_REQUEST,
            "wrong_host",
            "this server does not answer to that name",
            "use the address that `glis web` prints",
        ),
        Refused::Origin => wrong(
            StatusCode::FORBIDDEN,
            "wrong_origin",
            "another page asked for this",
            "open the page at the address that `glis web` prints",
        ),
        Refused::Door => wrong(
            StatusCode::FORBIDDEN,
            "wrong_name",
            "the page has a name of its own, and devices come by that alone",
            "open the address that `glis web` prints, or a link of `glis web pair`",
        ),
        Refused::Expired => unknown(
            "expired",
            "this device was not used for 30 days",
            "`glis web pair` lets it in again",
        ),
        Refused::Credential => unknown(
            "no_credential",
            "this device is not known here, or not any more",
            "`glis web pair` lets a device in, `glis web token` a script",
        ),
        Refused::Scope { has, needs } => {
            let (has, needs) = (has.word(), needs.word());
            wrong(
                StatusCode::FORBIDDEN,
                Kind::NotAllowed.word(),
                &format!("this device may `{has}`; this needs `{needs}`"),
                "pair it with that scope",
            )
        }
        Refused::NotMeant => wrong(
            StatusCode::FORBIDDEN,
            "not_meant",
            "state-changing requests must send `X-Glis: 1`",
            "add it",
        ),
    }
}

/// Who is not known is told how to come.
fn unknown(kind: &str, message: &str, hint: &str) -> Reply {
    let mut reply = wrong(StatusCode::UNAUTHORIZED, kind, message, hint);
    reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    reply
}

/// Adds what every answer has.
pub(crate) fn dress(mut reply: Reply) -> Reply {
    let headers = reply.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE_POLICY, "same-origin"),
        (OPENER_POLICY, "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_daemon_refuses_for_the_scope_is_forbidden_with_its_words() {
        let refused = failure(&Complaint::new(Kind::NotAllowed, "the caller may `send`"));
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    }

    #[test]
    fn exit_statuses_have_the_statuses_of_the_contract() {
        let all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 130].map(|exit| status_of(exit).as_u16());
        assert_eq!(all, [200, 500, 400, 404, 409, 409, 409, 409, 503, 500]);
    }
}
