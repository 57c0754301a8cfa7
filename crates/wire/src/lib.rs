//! The words that glis' processes exchange, and how they are framed. Nothing here does I/O.
#![forbid(unsafe_code)]

pub mod build;
pub mod call;
pub mod client;
mod finding;
pub mod frame;
mod gate_view;
pub mod hold;
pub mod home;
pub mod locks;
mod loop_view;
pub mod plan;
mod response;
pub mod size;
pub mod stat;
pub mod view;

/// Text without what only a terminal understands, for those that know no more of `core`.
pub use glis_core::plain;
