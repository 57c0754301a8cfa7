//! The real program from end to end: real daemon, real holders, real git, real processes.

mod house;
mod lifecycle;
