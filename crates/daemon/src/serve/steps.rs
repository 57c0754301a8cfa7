//! Who sees the steps of an operation while it runs.

use crate::peer::Peer;
use glis_wire::client::Response;
use std::io;

/// Who sees the steps of an operation.
pub(super) enum Steps<'p> {
    /// The caller, whose going away ends the wait for the operation, though not the operation.
    To(&'p mut Peer),
    /// None: what came of it is kept for the caller, who may come back for it.
    Unseen,
}

impl Steps<'_> {
    pub(super) async fn send(&mut self, step: &Response) -> io::Result<()> {
        match self {
            Self::To(peer) => peer.send(step).await,
            Self::Unseen => Ok(()),
        }
    }

    /// Returns when there is none left to see them.
    pub(super) async fn gone(&mut self) {
        match self {
            Self::To(peer) => peer.gone().await,
            Self::Unseen => std::future::pending().await,
        }
    }
}
