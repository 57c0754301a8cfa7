//! The terminal UI: every session at a glance, the one in hand live, every question answered by a key.
//!
//! A message leads to a changed model and to effects (`update`), the model to a picture (`view`), both
//! without a clock or a file; `runtime` alone talks to the terminal, the daemon and the clock.
#![forbid(unsafe_code)]

mod deed;
mod editor;
mod fits;
mod input;
mod keyed;
mod message;
mod model;
mod palette;
mod patch;
mod remarks;
mod runtime;
mod theme;
mod typed;
mod update;
mod view;
mod wanted;

#[cfg(test)]
mod tests;

pub use message::Told;
pub use runtime::{Setup, run};

use glis_verbs::{chord, command, keymap};
