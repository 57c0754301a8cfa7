//! Everything, paused and resumed as one.

use super::asks::bot_itself;
use super::{Asked, Bot};
use crate::store::StoreFault;
use crate::text::clean;
use crate::words::{self, About, Gate, in_chat};
use glis_client::{Fault, usable};
use glis_core::Status;
use glis_wire::client::{Request, Response};

impl Bot {
    /// Whether everything is paused, or is about to be.
    pub(super) fn gate_now(&self) -> Gate {
        match self.desk.call(&bot_itself(), Request::DaemonStatus) {
            Ok(Response::Daemon(daemon)) if daemon.gate.state != "running" => Gate::Shut,
            Ok(_) | Err(_) => Gate::Open,
        }
    }

    pub(super) fn gate(&self, asked: &Asked, request: &Request) -> Result<(), StoreFault> {
        match self.carry(asked, request)? {
            Ok(Response::Gate { gate, already: true, .. }) if gate.state == "running" => {
                self.reply(asked, words::NOT_ALL_PAUSED)
            }
            Ok(Response::Gate { gate, each, .. }) if gate.state == "running" => {
                self.tell_resumed(asked, each)
            }
            Ok(Response::Gate { gate, .. }) => self.reply(asked, words::gate(&gate)),
            Ok(_) => self.complain(asked, Fault::unfit()),
            Err(fault) => self.complain(asked, fault),
        }
    }

    /// Tells what goes on now that everything may, and what does not.
    fn tell_resumed(&self, asked: &Asked, each: Vec<Response>) -> Result<(), StoreFault> {
        let all = match self.desk.call(&bot_itself(), Request::List { all: false }) {
            Ok(Response::Sessions(all)) => all,
            Ok(_) => return self.complain(asked, Fault::unfit()),
            Err(fault) => return self.complain(asked, fault),
        };
        let paused = all.iter().filter(|session| session.status == Status::Paused);
        let paused: Vec<&str> = paused.map(|session| session.name.as_str()).collect();
        let (mut resumed, mut failed) = (Vec::new(), Vec::new());
        for response in each {
            match usable(response) {
                Ok(Response::Done { session, .. }) => resumed.push(session.name),
                Ok(_) => {}
                Err(fault) => {
                    let message = clean(&(self.explain)(fault).message);
                    failed.push(in_chat(&message, About::Session(None)));
                }
            }
        }
        self.reply(asked, words::all_resumed(&resumed, &paused, &failed))
    }
}
