//! The front ends: everything a person or a script uses. They know the daemon's words, nothing
//! else of it.

pub mod attach;
pub mod complaint;
pub mod control;
mod progress;
mod streams;
pub mod tty;
mod verbs;
mod width;
mod words;

pub use control::find_home;
pub use verbs::{Next, run};
