//! The real program from end to end: real daemon, real holders, real git, real processes.

mod contract;
mod crash;
mod damage;
mod doors;
mod faults;
mod house;
mod lifecycle;
mod storage;
mod wreck;
