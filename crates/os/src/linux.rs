//! Linux.

#[cfg(feature = "async")]
pub(crate) mod clock;
pub mod descriptors;
pub(crate) mod handle;
pub mod memory;
#[cfg(feature = "async")]
mod polled;
pub mod process;
pub(crate) mod sys;
pub mod terminal;
#[cfg(feature = "async")]
pub mod watch;
