//! Looks at sessions that an event was about, one batch after the other, on a connection of its own.

use super::post::Post;
use super::{Setup, deliver};
use crate::message::{Msg, Seen};
use glis_client::{Client, Connector, Fault, Quiet};
use glis_core::{Refusal, Status};
use glis_wire::client::{Request, Response};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The way to the thread that looks. The model asks for one batch at a time, which bounds the queue.
pub(super) struct Looks(Sender<Vec<String>>);

impl Looks {
    pub(super) fn start(setup: &Setup, post: Post) -> io::Result<Self> {
        let (send, wanted) = channel();
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
        let connected = match client.take() {
            Some(connected) => Ok(connected),
            None => connector.connect(&mut Quiet),
        };
        let Ok(mut connected) = connected else { return None };
        match connected.call(a_look_at(&id)) {
            Ok(response) => {
                *client = Some(connected);
                let Response::Session(session) = response else { return None };
                return Some(Seen::There(session));
            }
            Err(Fault::Refused(Refusal::NoSuchSession { .. })) => {
                *client = Some(connected);
                return Some(Seen::Gone(id));
            }
            Err(Fault::Lost(_)) => {}
            Err(_) => return None,
        }
    }
    None
}

/// A wait that is over at once. `show` would count as a person's look.
fn a_look_at(id: &str) -> Request {
    let statuses = Status::ALL.to_vec();
    Request::Wait { session: id.to_owned(), statuses, timeout_ms: Some(0) }
}
