//! What is kept of a session beside the event log: output, key frames, conversation, vault, search, durable files.
#![forbid(unsafe_code)]

pub mod conversation;
pub mod durable;
pub mod frames;
pub mod location;
pub mod output;
pub mod rows;
pub mod search;
pub mod vault;
