//! A chat as a face: sessions, questions and answers from a phone.
#![forbid(unsafe_code)]

mod bell;
pub mod bot;
pub mod button;
pub mod channel;
pub mod command;
pub mod desk;
mod home;
pub mod inbox;
mod listen;
mod on_the_way;
pub mod outbox;
pub mod policy;
mod run;
pub mod send;
mod settings;
pub mod status;
pub mod store;
pub mod telegram;
pub mod text;
mod thread;
mod time;
mod told;
pub mod voice;
pub mod words;

#[cfg(test)]
mod simulator;

pub use listen::{ANEW, Ended};
pub use run::{Start, run};
pub use told::Told;
