//! The page and the HTTP API: a process of its own, a client of the daemon as the command line is. It owns
//! the file of its devices and nothing else; killing it harms nothing.
#![forbid(unsafe_code)]

mod answer;
mod asks;
mod call;
mod connection;
mod connections;
mod devices;
mod events;
mod given;
mod guard;
mod hosts;
mod hub;
mod listeners;
mod openapi;
mod page;
mod pair;
mod places;
mod proof;
mod reply;
mod secret;
mod serve;
mod shared;
mod signpost;
mod table;
mod terminal;
mod ticket;
mod tls;
mod verbs;

pub use hosts::{Front, USUAL as USUAL_PLACE};
pub use serve::{Place, serve};
pub use tls::Pair;
pub use verbs::{Said, devices, pair, revoke, token};

use glis_client::{Client, Connector, Fault};
use glis_wire::client::Request;
use glis_wire::plan::DraftWork;
use serde_json::Value;
use std::path::Path;

/// What the program hands over.
pub struct Setup {
    /// The way to the daemon. What a call may do is what its device may.
    pub connector: Connector,
    /// Carries out a request, and gives what the command line prints of it as JSON.
    pub perform: fn(&mut Client, Request) -> Result<Performed, Told>,
    /// Does something with the file of a plan, of the repository that a folder is in.
    pub work_on_draft: fn(&mut Client, &Path, DraftWork) -> Result<Performed, Told>,
    /// The words for a fault.
    pub explain: fn(Fault) -> Told,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Performed {
    /// What is printed.
    pub document: Value,
    /// The exit status: of several sessions one may have failed.
    pub exit: u8,
}

/// A failure, as the command line tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The exit status.
    pub exit: u8,
    /// The word for it.
    pub kind: String,
    /// What happened, to what.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
}
