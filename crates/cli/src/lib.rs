//! The front ends: everything a person or a script uses. They know the daemon's words, nothing
//! else of it.

pub mod attach;
pub mod control;
mod progress;
mod streams;
mod verbs;
mod width;
mod words;

pub use control::{connector, find_home, keep};
pub use glis_tty as tty;
pub use verbs::{Next, Web, WebVerb, chosen_keys, run, show_session, tell};
