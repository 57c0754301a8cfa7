//! The holder: owns one terminal (or a pair of pipes) and one agent, drains it to disk at full
//! speed, serves the output from any offset, and ends the agent and all it started when told to.
//!
//! One process per running session, without threads, configuration or opinion. It outlives the
//! daemon that started it and every upgrade.

mod birth;
mod client;
mod clients;
mod environment;
mod errors;
mod family;
mod folder;
mod freeze;
mod frost;
mod holder;
mod input;
mod kill;
mod ladder;
mod limits;
mod log;
mod mend;
mod mending;
mod nursery;
mod orders;
mod output;
mod program;
mod ring;
mod run;
mod sizes;
mod socket;
mod spawn;
mod stage;
mod sweep;
mod sys;

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use glis_wire::hold::{Birth, Launch, Process};

pub use nursery::run_nursery;
pub use sweep::{SweepFault, sweep};
pub use sys::{close_inherited, give_back_memory, mark_death};

/// Becomes the holder of the session whose [`glis_wire::hold::Launch`] is read from standard
/// input, and returns when its work is done. One [`Birth`] is printed as a line when the agent
/// runs or could not be started.
pub fn run() -> ExitCode {
    sys::close_inherited();
    match birth::read_launch() {
        Ok(launch) => hold(launch),
        Err(fault) => {
            announce(&Birth::Failed { kind: fault.kind, message: fault.message });
            ExitCode::FAILURE
        }
    }
}

/// Carries a launch out, says how it went, and holds until there is nothing left to hold.
fn hold(launch: Launch) -> ExitCode {
    let begun = birth::begin(&launch);
    // It holds the whole environment of the agent, which is not needed again.
    drop(launch);
    match begun {
        Ok(holder) => {
            announce(&Birth::Ready(holder.hello()));
            if let Err(fault) = holder.detach() {
                complain("the standard streams could not be closed", &fault);
            }
            sys::give_back_heap();
            holder.hold();
            ExitCode::SUCCESS
        }
        Err(fault) => {
            announce(&Birth::Failed { kind: fault.kind, message: fault.message });
            ExitCode::FAILURE
        }
    }
}

/// [`sweep`] as a verb: prints what was found as one line of JSON. `kept` is a list of
/// [`Process`]es as JSON.
pub fn run_sweep(session: &str, dir: &Path, kept: &str) -> ExitCode {
    let kept: Vec<Process> = serde_json::from_str(kept).unwrap_or_default();
    match sweep(session, dir, &kept) {
        Ok(swept) => {
            say(&serde_json::to_string(&swept).unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(fault) => {
            complain("the session was not swept", &fault);
            ExitCode::FAILURE
        }
    }
}

fn announce(birth: &Birth) {
    say(&serde_json::to_string(birth).unwrap_or_default());
}

/// The daemon may be gone; that is no reason for a holder to go as well. The line goes straight
/// to the descriptor, because the buffer of standard output would never be given back.
fn say(line: &str) {
    let line = format!("{line}\n");
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), rest) {
            Ok(len) => rest = rest.get(len..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Says on standard error, which is the session's file of complaints, what went wrong.
fn complain(what: &str, why: &dyn std::error::Error) {
    drop(writeln!(io::stderr(), "{what}: {why}"));
}
