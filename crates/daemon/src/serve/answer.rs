//! What a call comes to: what was asked for, what is told in its place, or a caller that has gone.

use glis_core::Refusal;
use glis_wire::client::{Response, Trouble};
use std::error::Error;
use std::io;

/// Why a call comes to nothing of what was asked for.
pub(super) enum Ended {
    Told(Box<Response>),
    /// There is nobody to tell.
    Gone(io::Error),
}

pub(super) type Answer<T = Response> = Result<T, Ended>;

impl From<Response> for Ended {
    fn from(response: Response) -> Self {
        Self::Told(Box::new(response))
    }
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Self {
        Response::Refused(refusal).into()
    }
}

impl From<io::Error> for Ended {
    fn from(fault: io::Error) -> Self {
        Self::Gone(fault)
    }
}

/// What the caller is told, if it is still there.
pub(super) fn told(answer: Answer) -> io::Result<Response> {
    match answer {
        Ok(response) => Ok(response),
        Err(Ended::Told(response)) => Ok(*response),
        Err(Ended::Gone(fault)) => Err(fault),
    }
}

pub(super) fn gone<T>() -> Answer<T> {
    Err(Ended::Gone(io::ErrorKind::BrokenPipe.into()))
}

/// Something went wrong that is neither the caller's doing nor the log's.
pub(super) fn trouble<'w>(why: impl Into<Box<dyn Error + 'w>>) -> Response {
    Response::Trouble { kind: Trouble::Internal, message: why.into().to_string() }
}

/// The caller has asked for what cannot be.
pub(super) fn bad(message: impl Into<String>) -> Response {
    Response::Trouble { kind: Trouble::BadInput, message: message.into() }
}

/// It cannot be done so, but in another way.
pub(super) fn unusable(message: impl Into<String>, hint: impl Into<String>) -> Response {
    Response::Unusable { message: message.into(), hint: hint.into() }
}

/// The controller has ended, or the session is on no record: its log has failed.
pub(super) fn storage() -> Response {
    let message =
        "the event log cannot be written; nothing was changed, running agents are not affected";
    Response::Trouble { kind: Trouble::Storage, message: message.to_owned() }
}
