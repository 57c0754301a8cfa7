//! A model server on loopback that says what the prompt tells it to, and where the real agents that
//! talk to it are installed.
//!
//! A prompt carries its own script between two pairs of `@`:
//!
//! ```text
//! Tidy up. @@{"steps":[{"tool":"Bash","input":{"command":"ls"}},{"text":"done"}]}@@
//! ```
//!
//! For prompts that a person could have written, the model learns scripts by heart
//! ([`Model::learn`]).
//!
//! The agent asks the model once a step: the number of answers that already follow the prompt says
//! which step is due. So the server keeps no state about a conversation, and a conversation that
//! was resumed from a transcript goes on exactly where its history ends. See [`Step`] for all that
//! a step can do.
#![forbid(unsafe_code)]

pub mod browser;
mod control;
mod gates;
mod http;
pub mod installed;
mod ledger;
mod perform;
mod protocol;
mod script;
pub mod seed;
mod server;

pub use ledger::{Outcome, Received};
pub use protocol::{Protocol, Purpose, Turn, Voice};
pub use script::{AFTER_THE_SCRIPT, End, NO_SCRIPT, NOT_FOR_THE_SCRIPT, Step, prompt};
pub use server::Model;
