//! Looks at sessions that an event was about, one batch after the other, on a connection of its own.

use super::post::Post;
use super::{Setup, deliver};
use crate::message::{Msg, Seen};
use glis_client::{Client, Connector, Fault};
use glis_core::Refusal;
use glis_wire::client::{Request, Response};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The way to the thread that looks. The model asks for one batch at a time: there is room for it, and nothing is lost.
pub(super) struct Looks(SyncSender<Vec<String>>);

impl Looks {
    pub(super) fn start(setup: &Setup, post: Post) -> io::Result<Self> {
        let (send, wanted) = sync_channel(1);
        let connector = setup.connector.clone();
        let serve = move || serve(&connector, &wanted, &post);
        std::thread::Builder::new().name("looks".to_owned()).spawn(serve)?;
        Ok(Self(send))
    }

    pub(super) fn look(&self, ids: Vec<String>) {
        // The thread lives as long as the program.
        drop(self.0.send(ids));
    }
}

fn serve(connector: &Connector, wanted: &Receiver<Vec<String>>, post: &Post) {
    let mut client = None;
    while let Ok(ids) = wanted.recv() {
        let seen = ids.into_iter().filter_map(|id| look(connector, &mut client, id));
        let seen = seen.collect();
        deliver(post, Msg::Seen(seen));
    }
}

/// Looks at one, over a new connection if the former is lost. What cannot be seen stays as it was known:
/// the next event tells again.
fn look(connector: &Connector, client: &mut Option<Client>, id: String) -> Option<Seen> {
    for _ in 0..2 {
        if client.is_none() {
            *client = connector.look().ok();
        }
        match client.as_mut()?.call(Request::glance(&id)) {
            Ok(Response::Session(session)) => return Some(Seen::There(Box::new(session.row))),
            Err(Fault::Refused(Refusal::NoSuchSession { .. })) => return Some(Seen::Gone(id)),
            Ok(_) => return None,
            Err(fault) => {
                *client = None;
                if !matches!(fault, Fault::Lost(_)) {
                    return None;
                }
            }
        }
    }
    None
}
