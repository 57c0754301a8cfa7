//! What is answered, with the headers that every answer has.

use crate::body::Body;
use crate::devices::StoreFault;
use crate::guard::Refused;
use glis_verbs::complaint::{Failure, Wrong};
use glis_verbs::{Complaint, Kind};
use hyper::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

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

pub(crate) fn document(status: StatusCode, document: &impl Serialize) -> Reply {
    let mut reply = Response::new(Body::of(json!(document).to_string()));
    *reply.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, json);
    reply
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
pub(crate) fn wrong(status: StatusCode, kind: &'static str, message: &str, hint: &str) -> Reply {
    let (message, hint) = (message.to_owned(), Some(hint.to_owned()));
    document(status, &Failure { error: Wrong { kind, message, hint } })
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
fn unknown(kind: &'static str, message: &str, hint: &str) -> Reply {
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
        (VARY, "accept-encoding"),
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
