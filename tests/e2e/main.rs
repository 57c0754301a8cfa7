//! The real program from end to end: real daemon, real holders, real git, real processes.
#![expect(
    clippy::print_stderr,
    reason = "a failed test shows the daemon's diary, and a random one its seed"
)]

mod agents_misbehave;
mod asks;
mod attached;
mod choices;
mod contract;
mod copies;
mod cost;
mod crash;
mod damage;
mod delivery;
mod doctor;
mod doors;
mod enemy;
mod environment;
mod faults;
mod faulty;
#[path = "../support/freezer.rs"]
mod freezer;
mod house;
mod intruders;
mod keeping;
mod lifecycle;
mod looking;
mod messages;
mod mishaps;
mod outcomes;
mod outside;
mod pauses;
mod personas;
mod power;
mod prove;
mod real;
mod repositories;
mod rescues;
mod scarcity;
#[path = "../support/seeds.rs"]
mod seeds;
#[path = "../support/skip.rs"]
mod skip;
mod skips;
mod soak;
mod steps;
mod stops;
mod storage;
mod strace;
mod streams;
mod stuck;
mod tampered;
mod telling;
mod terminal;
mod tmux;
mod upgrade;
mod verbs;
mod versions;
mod worktrees;
mod wreck;
