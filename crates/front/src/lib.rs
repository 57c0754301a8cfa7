//! The front ends: everything a person or a script uses. They know the daemon's words, nothing
//! else of it.

pub mod attach;
mod cli;
pub mod complaint;
pub mod control;
mod progress;
mod streams;
pub mod tty;
mod words;

pub use cli::{Next, run};
pub use control::find_home;
