//! The call that an operation is carried out for: who it is from, and who sees the steps.

use super::answer::{Answer, trouble};
use crate::peer::Peer;
use glis_wire::call::Origin;
use glis_wire::client::Response;
use std::io;

/// The call that an operation is carried out for.
pub(super) enum Steps<'p> {
    /// The caller sees the steps. Its going away ends the wait for the operation, though not the
    /// operation.
    To(&'p mut Peer, Origin),
    /// What came of it is kept for the caller, who may come back for it.
    Unseen(Origin),
}

impl Steps<'_> {
    /// Who the call is from.
    pub(super) fn from(&self) -> &Origin {
        match self {
            Self::To(_, from) | Self::Unseen(from) => from,
        }
    }

    /// Who is answered by more than one word, and so has to be there.
    pub(super) fn peer(&mut self) -> Answer<&mut Peer> {
        match self {
            Self::To(peer, _) => Ok(peer),
            Self::Unseen(_) => Err(trouble("this has no response that could be kept").into()),
        }
    }

    pub(super) async fn send(&mut self, step: &Response) -> io::Result<()> {
        match self {
            Self::To(peer, _) => peer.send(step).await,
            Self::Unseen(_) => Ok(()),
        }
    }

    /// Returns when there is none left to see them.
    pub(super) async fn gone(&mut self) {
        match self {
            Self::To(peer, _) => peer.gone().await,
            Self::Unseen(_) => std::future::pending().await,
        }
    }
}
