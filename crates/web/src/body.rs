//! What an answer is made of.

use crate::places::Place;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc;

/// So much is handed to a connection at once: one that is not read asks for no more.
const PIECE_BYTES: usize = 64 * 1024;

pub(crate) enum Body {
    Whole { rest: Bytes, _place: Option<Place> },
    Events(Received),
}

/// What comes piece by piece, until the page's task ends or its device is not let in any more: then not even what
/// waits to be sent is.
pub(crate) struct Received {
    pub(crate) events: mpsc::Receiver<Bytes>,
    pub(crate) gone: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Received {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.gone.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        self.events.poll_recv(context)
    }
}

impl Body {
    pub(crate) fn of(whole: impl Into<Bytes>) -> Self {
        Self::Whole { rest: whole.into(), _place: None }
    }

    /// The same, whose place is kept until it is taken: what nobody reads takes no more memory than there are places.
    pub(crate) fn held(self, kept: Place) -> Self {
        match self {
            Self::Whole { rest, .. } => Self::Whole { rest, _place: Some(kept) },
            Self::Events(events) => Self::Events(events),
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.get_mut() {
            Self::Whole { rest, .. } if rest.is_empty() => None,
            Self::Whole { rest, .. } => Some(rest.split_to(rest.len().min(PIECE_BYTES))),
            Self::Events(events) => ready!(events.poll_next(context)),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole { rest, .. } if rest.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole { rest, .. } => SizeHint::with_exact(rest.len() as u64),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[tokio::test]
    async fn what_waits_for_a_device_that_was_revoked_is_not_sent() {
        let (send, events) = mpsc::channel(2);
        send.send(Bytes::from_static(b"an event")).await.unwrap();
        let mut known = Received { events, gone: Box::pin(pending()) };
        let next = std::future::poll_fn(|context| known.poll_next(context)).await;
        assert_eq!(next, Some(Bytes::from_static(b"an event")));
        send.send(Bytes::from_static(b"another")).await.unwrap();
        let mut revoked = Received { events: known.events, gone: Box::pin(ready(())) };
        let next = std::future::poll_fn(|context| revoked.poll_next(context)).await;
        assert_eq!(next, None);
    }
}
