//! The rehearsal agent as the outside sees it: real processes, waited for by what they say.

mod headless;
mod rehearsal;
mod terminal;
