//! The one way to talk to the daemon: connect, call, subscribe to events, follow a holder; and short
//! labels that every face shares.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod connect;
mod connection;
mod edits;
mod events;
mod fault;
mod forms;
mod holder;
mod home;
mod incoming;
mod keep;
pub mod labels;
mod painted;
mod replace;
mod room;
mod start;
mod surroundings;
mod wake;
mod watcher;

pub use connect::Connector;
pub use connection::{Client, Streamed, usable};
pub use edits::{Edit, behind_tool, edits, edits_and_rest, said_beside};
pub use events::{News, Subscription};
pub use fault::{Fault, HomeFault, Stuck};
pub use forms::{Listed, Offered, questions};
pub use holder::{Heard, Holder};
pub use home::find_home;
pub use keep::keep;
pub use painted::Painted;
pub use start::Starter;
pub use watcher::{PATIENCE, Quiet, Waiting, Watcher};
