//! The real program from end to end: real daemon, real holders, real git, real processes.
//!
//! A test lies where its subject is, and its support in `support`.
#![expect(
    clippy::print_stderr,
    reason = "a failed test shows the daemon's diary, and a random one its seed"
)]

mod support {
    pub(crate) mod bot;
    pub(crate) mod bot_time;
    pub(crate) mod browser;
    pub(crate) mod clock;
    pub(crate) mod crowd;
    pub(crate) mod described;
    pub(crate) mod dice;
    pub(crate) mod freezer;
    pub(crate) mod held;
    pub(crate) mod house;
    pub(crate) mod looped;
    pub(crate) mod planned;
    #[path = "../../../crates/prove/src/portrait.rs"]
    pub(crate) mod portrait;
    pub(crate) mod seeds;
    pub(crate) mod skip;
    mod skips;
    pub(crate) mod tmux;
    pub(crate) mod web;
    pub(crate) mod wreck;
}

/// What each verb does, and what a session begins with.
mod verbs {
    mod budget;
    mod config;
    mod cost;
    mod crowd;
    mod each;
    mod environment;
    mod gate;
    mod key;
    mod lifecycle;
    mod limits;
    mod new;
    mod output;
    mod pause;
    mod persona;
    mod plan;
    mod stop;
    mod triage;
}

/// What scripts and people are told: fields, exit codes, words, streams.
mod contract {
    mod fields;
    mod looking;
    mod steps;
    mod streams;
    mod telling;
    mod verbs;
}

/// From a person to an agent and back: messages, questions, answers.
mod messages {
    mod asks;
    mod delivery;
    mod outcomes;
    mod prompts;
    mod queue;
    mod rules;
}

/// From a phone: a bot between a real daemon and a network that enforces its rules.
mod chat {
    mod asks;
    mod faults;
    mod files;
    mod full;
    mod kills;
    mod loops;
    mod odd;
    mod order;
    mod plans;
    mod settings;
    mod stand_in;
    mod stories;
    mod storms;
    mod talk;
    mod times;
    mod topics;
}

/// A session on a real terminal.
mod terminal {
    pub(crate) mod asked;
    mod attach;
    mod attached;
    mod chaos;
    mod keys;
    mod lists;
    pub(crate) mod newcomer;
    mod overview;
    mod planned;
    mod refused;
    mod several;
    mod walked;
    mod window;
}

/// Where sessions work, and what is kept of it: worktrees, branches, snapshots, trash.
mod worktree {
    mod compared;
    mod elsewhere;
    mod keeping;
    mod merging;
    mod mishaps;
    mod places;
    mod repositories;
    mod setup;
    mod trash;
}

/// Agents that die, refuse, forget or are too old.
mod agents {
    mod misbehave;
    mod rescues;
    mod versions;
}

/// Processes of ours that are killed or panic: at any time, at every step, at each system call.
mod kill {
    pub(crate) mod calls;
    mod panics;
    mod processes;
    mod steps;
    mod storm;
}

/// Processes that are stopped, hang, or cannot be ended.
mod hung {
    mod files;
    mod git;
    mod holder;
    mod processes;
    mod set_up;
    mod strays;
}

/// Disks that are full, read-only or lose what was not synced; folders that are deleted; a system
/// without processes to give.
mod disk {
    mod folder;
    pub(crate) mod full;
    mod power;
    mod scarcity;
}

/// The event log: cut, bent, deleted, and put together again from its copies.
mod log {
    mod copies;
    mod damage;
}

/// One daemon per house: how it starts, what is done to its files, and other builds of it.
mod daemon {
    pub(crate) mod client;
    mod diagnostics;
    pub(crate) mod doors;
    mod golden;
    mod keeper;
    mod notify;
    mod origins;
    pub(crate) mod outside;
    pub(crate) mod service;
    mod tampered;
    pub(crate) mod upgrade;
}

/// Strangers at the sockets, and callers that mean harm or are clumsy.
mod intruders {
    mod enemy;
    mod sockets;
}

/// What `glis doctor` finds, and what `--prove` does.
mod doctor {
    mod findings;
    mod prove;
}

/// What glis costs, counted, also over a long time.
mod cost {
    mod counts;
    mod soak;
}

/// Plans: drafted, executed, interrupted, resumed, begun anew, and killed at every step.
mod plans {
    mod afterwards;
    mod budgets;
    mod draft;
    mod enemy;
    mod execute;
    mod identity;
    mod interrupted;
    mod judged;
    mod kill;
    mod limits;
    mod many;
    mod meanwhile;
    mod moved;
    mod names;
    mod records;
    mod refusals;
    mod stopped;
    mod walked;
}

/// Loops: paused between iterations, limited, counted, killed and gone on with.
mod loops {
    mod around;
    mod context;
    mod ends;
    mod lasting;
    mod limits;
    mod messages;
    mod mishaps;
    mod pausing;
    mod stopped;
    mod told;
}

/// The page and the API: who is let in, what is asked for, what is told.
mod web {
    mod api;
    mod browser;
    mod burdens;
    mod client;
    mod devices;
    mod events;
    mod guard;
    mod names;
    mod past;
    mod tls;
    mod unsteady;
}

/// What happens by itself: idle sessions are suspended.
mod by_itself {
    mod appointment;
    mod compaction;
    mod idle;
    mod idle_races;
    mod keep_process;
    mod memory;
    mod places;
    mod usage_limits;
}

/// The real agents, against a stub of their model.
mod real;
