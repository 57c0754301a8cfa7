//! The processes of a house: who they are, and how they are killed. None is touched that does not
//! carry this very house in its environment.

use anyhow::{Context as _, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the kernel takes to end a killed process is far less; a process that takes longer hangs.
const END_SECS: i64 = 30;

/// The living processes of the house with this home: daemon, holders, agents and their tools.
pub(super) fn of_house(home: &Path) -> Vec<i32> {
    let wanted = format!("GLIS_HOME={}", home.display()).into_bytes();
    carrying(&wanted)
}

/// Living agents of a session. More than one is the worst that can happen.
pub(super) fn agents_of(session: &str) -> Vec<i32> {
    let plays = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"rehearse".as_slice())
    };
    let marked = carrying(format!("GLIS_SESSION={session}").as_bytes());
    marked.into_iter().filter(plays).collect()
}

fn carrying(variable: &[u8]) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| carries(*pid, variable) && lives(*pid)).collect()
}

fn carries(pid: i32, variable: &[u8]) -> bool {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|entry| entry == variable)
}

/// State and parent of a process, by the kernel's table.
fn stat(pid: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn lives(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// The holder of an agent: its parent.
pub(super) fn holder_of(agent: i32) -> Result<i32> {
    Ok(stat(agent).context("the agent has ended")?.1)
}

/// The gits that a process has started and that are at work; waits some time for one.
pub(super) fn gits_of(parent: i32, at_most: Duration) -> Vec<i32> {
    let began = Instant::now();
    loop {
        let found: Vec<i32> = children_of(parent).into_iter().filter(|pid| is_git(*pid)).collect();
        if !found.is_empty() || began.elapsed() > at_most {
            return found;
        }
        std::thread::yield_now();
    }
}

fn children_of(parent: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    // The kernel lists children under the thread that has started them.
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split(' ').filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

fn is_git(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("git"))
}

/// The daemons of the house with this home.
pub(super) fn daemons_of(home: &Path) -> Vec<i32> {
    let is_daemon = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"daemon".as_slice())
    };
    of_house(home).into_iter().filter(is_daemon).collect()
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
fn signal(pid: i32, home: &Path, signal: Signal) -> Option<OwnedFd> {
    let number = Pid::from_raw(pid)?;
    // First the handle, then the question whose it is: the number alone may pass to another process.
    let process = pidfd_open(number, PidfdFlags::empty()).ok()?;
    let ours = carries(pid, format!("GLIS_HOME={}", home.display()).as_bytes());
    (ours && pidfd_send_signal(&process, signal).is_ok()).then_some(process)
}

/// Kills a process of this house and returns when it is gone; says whether it was there.
pub(super) fn kill(pid: i32, home: &Path) -> Result<bool> {
    let Some(process) = signal(pid, home, Signal::KILL) else { return Ok(false) };
    let mut waits = [PollFd::new(&process, PollFlags::IN)];
    let time = Timespec { tv_sec: END_SECS, tv_nsec: 0 };
    let ended = loop {
        match poll(&mut waits, Some(&time)) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?,
        }
    };
    ensure!(ended > 0, "process {pid} lives on after SIGKILL");
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
