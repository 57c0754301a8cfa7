//! The page and the HTTP API: a process of its own, a client of the daemon as the command line is. It owns
//! the file of its devices and nothing else; killing it harms nothing.
#![forbid(unsafe_code)]

mod answer;
mod asks;
mod body;
mod call;
mod connection;
mod connections;
mod devices;
mod events;
mod given;
mod guard;
mod hint;
mod hosts;
mod hub;
mod listeners;
mod openapi;
mod packed;
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
