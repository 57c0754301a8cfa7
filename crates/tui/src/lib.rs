//! The terminal UI: every session at a glance, the one in hand live, every question answered by a key.
//!
//! A message leads to a changed model and to effects (`update`), the model to a picture (`view`), both
//! without a clock or a file; `runtime` alone talks to the terminal, the daemon and the clock.
#![forbid(unsafe_code)]

mod chord;
mod command;
mod deed;
mod editor;
mod input;
mod keymap;
mod message;
mod model;
mod palette;
mod rank;
mod runtime;
mod theme;
mod typed;
mod update;
mod view;
mod wanted;

#[cfg(test)]
mod tests;

pub use keymap::{KeyFault, Keys};
pub use message::Told;
pub use runtime::{Setup, run};

/// What is wrong with keys that the user has chosen: none of them, if it is nothing.
pub fn key_faults(chosen: &Keys) -> Vec<KeyFault> {
    keymap::KeyMap::with(chosen).err().unwrap_or_default()
}
