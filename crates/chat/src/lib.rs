//! A chat as a face: sessions, questions and answers from a phone.
#![forbid(unsafe_code)]

pub mod bot;
pub mod button;
pub mod channel;
pub mod command;
pub mod desk;
mod home;
pub mod inbox;
mod listen;
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
pub mod voice;
mod wakeup;
pub mod words;

#[cfg(test)]
mod tests;

pub use listen::ANEW;
pub use run::{Start, run};
