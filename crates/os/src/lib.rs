//! The machine: what the rest of the project asks of the operating system beyond files, streams and time.
//!
//! A process is a number here, and numbers are given again. Who is meant beyond that is known by the tick at which it
//! began and the boot that this belongs to; it is only ever signalled through a [`Handle`] that was opened before these
//! were compared.
//!
//! Another system has a folder beside `linux`, with the same names.

#[cfg(not(target_os = "linux"))]
compile_error!("only Linux is known: another system needs a folder of its own beside `linux`");

mod linux;

#[cfg(feature = "async")]
pub use linux::{clock::Clock, watch};
pub use linux::{
    descriptors,
    handle::{Handle, ends_within},
    memory, process,
    sys::{Signals, exit_now, in_own_session},
    terminal,
};
