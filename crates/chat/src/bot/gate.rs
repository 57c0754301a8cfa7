//! Everything, paused and resumed as one.

use super::{Asked, Bot, Dealt, unfit};
use crate::text::clean;
use crate::words::{self, About, Gate, in_chat};
use glis_client::usable;
use glis_core::Status;
use glis_verbs::Complaint;
use glis_wire::client::{Request, Response};

impl Bot {
    /// Whether everything is paused, or is about to be.
    pub(super) fn gate_now(&self) -> Gate {
        match self.look(Request::DaemonStatus) {
            Ok(Response::Daemon(daemon)) if daemon.gate.state != "running" => Gate::Shut,
            Ok(_) | Err(_) => Gate::Open,
        }
    }

    pub(super) fn gate(&self, asked: &Asked, request: Request) -> Dealt {
        let Response::Gate { gate, already, each } = self.call(asked, request)? else {
            return Err(unfit());
        };
        match (gate.state.as_str(), already) {
            ("running", true) => self.reply(asked, words::NOT_ALL_PAUSED),
            ("running", false) => self.tell_resumed(asked, each),
            _ => self.reply(asked, words::gate(&gate)),
        }
    }

    /// Tells what goes on now that everything may, and what does not.
    fn tell_resumed(&self, asked: &Asked, each: Vec<Response>) -> Dealt {
        let Response::Sessions { rows: all, .. } = self.look(Request::List { all: false })? else {
            return Err(unfit());
        };
        let paused = all.iter().filter(|session| session.status == Status::Paused);
        let paused: Vec<&str> = paused.map(|session| session.name.as_str()).collect();
        let (mut resumed, mut failed) = (Vec::new(), Vec::new());
        for response in each {
            match usable(response) {
                Ok(Response::Done { session, .. }) => resumed.push(session.row.name),
                Ok(_) => {}
                Err(fault) => {
                    let message = clean(&Complaint::from(fault).message);
                    failed.push(in_chat(&message, About::Session(None)));
                }
            }
        }
        self.reply(asked, words::all_resumed(&resumed, &paused, &failed))
    }
}
