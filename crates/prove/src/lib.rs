//! Shows that the promise holds: the demo plays it in a minute, the proof breaks a throw-away house on
//! purpose. Both use the program as a person would, by its command line.
#![forbid(unsafe_code)]

mod demo;
mod expected;
mod portrait;
mod prove;
mod stage;

pub use demo::run as demo;
pub use prove::run as prove;
pub use stage::Voice;
