//! Everybody who is connected, and the way in.

use std::os::fd::OwnedFd;
use std::time::Instant;

use glis_wire::hold::Report;

use crate::client::Client;

#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) all: Vec<Client>,
    pub(crate) listener: OwnedFd,
    /// The number of the next one.
    pub(crate) next: u64,
    /// How many follow the output, and how many of them are attached.
    pub(crate) audience: (u32, u32),
    /// When the next is let in, where descriptors were short.
    pub(crate) accept_again_at: Option<Instant>,
}

impl Clients {
    pub(crate) fn find(&mut self, id: u64) -> Option<&mut Client> {
        self.all.iter_mut().find(|client| client.id == id)
    }

    /// Queues a report for one that may have left.
    pub(crate) fn tell(&mut self, id: u64, report: &Report) {
        if let Some(client) = self.find(id) {
            client.tell(report);
        }
    }

    pub(crate) fn tell_all(&mut self, report: &Report) {
        self.all.iter_mut().for_each(|client| client.tell(report));
    }

    pub(crate) fn refuse(&mut self, id: u64, order: u64, why: &str) {
        self.tell(id, &Report::Refused { order, why: why.to_owned(), for_good: false });
    }
}
