//! The processes of a house: who they are, and how they are killed. None is touched that does not
//! carry this very house in its environment.

use anyhow::{Context as _, Result, ensure};
use glis_os::Handle;
use glis_os::process::{all, carries, children_of, living, name_of, parent_of, words_of};
use rustix::process::Signal;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the kernel takes to end a killed process is far less; a process that takes longer hangs.
const END_TIME: Duration = Duration::from_secs(30);

/// The living processes of the house with this home: daemon, holders, agents and their tools.
pub(super) fn of_house(home: &Path) -> Vec<i32> {
    carrying(&mark_of(home))
}

/// What each of them has in its environment.
fn mark_of(home: &Path) -> String {
    format!("GLIS_HOME={}", home.display())
}

/// Living agents of a session. More than one is the worst that can happen.
pub(super) fn agents_of(session: &str) -> Vec<i32> {
    let mut marked = carrying(&format!("GLIS_SESSION={session}"));
    marked.retain(|pid| does(*pid, "rehearse"));
    marked
}

fn carrying(variable: &str) -> Vec<i32> {
    all().filter(|pid| carries(*pid, variable) && living(*pid).is_some()).collect()
}

/// Whether a process was started with this verb.
fn does(pid: i32, verb: &str) -> bool {
    words_of(pid).get(1).is_some_and(|word| word == verb)
}

pub(super) fn holder_of(agent: i32) -> Result<i32> {
    parent_of(agent).context("the agent has ended")
}

/// The gits that a process has started and that are at work; waits some time for one.
pub(super) fn gits_of(parent: i32, at_most: Duration) -> Vec<i32> {
    let began = Instant::now();
    loop {
        let mut found = children_of(parent).unwrap_or_default();
        found.retain(|pid| name_of(*pid).starts_with("git"));
        if !found.is_empty() || began.elapsed() > at_most {
            return found;
        }
        std::thread::yield_now();
    }
}

pub(super) fn daemons_of(home: &Path) -> Vec<i32> {
    of_house(home).into_iter().filter(|pid| does(*pid, "daemon")).collect()
}

/// Stops a process of this house as it stands; says whether it was there.
pub(super) fn stop(pid: i32, home: &Path) -> bool {
    signal(pid, home, Signal::STOP).is_some()
}

/// Lets a process of this house go on, if it still stands.
pub(super) fn go_on(pid: i32, home: &Path) {
    drop(signal(pid, home, Signal::CONT));
}

/// Signals a process of this house; `None` if there is none.
fn signal(pid: i32, home: &Path, signal: Signal) -> Option<Handle> {
    // First the handle, then the question whose it is: the number alone may pass to another process.
    let process = Handle::open(pid).ok()?;
    (carries(pid, &mark_of(home)) && process.signal(signal)).then_some(process)
}

/// Kills a process of this house and returns when it is gone; says whether it was there.
pub(crate) fn kill(pid: i32, home: &Path) -> Result<bool> {
    let Some(process) = signal(pid, home, Signal::KILL) else { return Ok(false) };
    ensure!(process.ends_within(END_TIME), "process {pid} lives on after SIGKILL");
    Ok(true)
}

/// Kills everything that is left of a house. Several rounds: a holder that sees its agent die may
/// be at work itself.
pub(super) fn kill_all(home: &Path) {
    for _ in 0..5 {
        for pid in of_house(home) {
            drop(kill(pid, home));
        }
    }
}
