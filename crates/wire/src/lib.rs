//! The words that glis' processes exchange, and how they are framed. Nothing here does I/O.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod build;
pub mod call;
pub mod client;
pub mod frame;
pub mod hold;
pub mod home;
pub mod need;
pub mod plan;
mod read;
mod response;
mod row;
pub mod size;
pub mod view;

/// Text without what only a terminal understands, for those that know no more of `core`.
pub use glis_core::plain;
