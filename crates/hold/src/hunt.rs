//! Ending processes without ever hitting a stranger: each is held by a handle that was opened
//! before its identity was looked at again.

use std::os::fd::OwnedFd;

use glis_wire::hold::Killed;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::kin::{self, Family, Process};

/// A session that leaves more than this behind is listed in part; all of it is ended.
const LISTED_MAX: usize = 256;

/// The processes of one family that were signalled, and what came of it.
#[derive(Debug)]
pub(crate) struct Hunt {
    family: Family,
    /// The agent itself, which is ended as well but not listed.
    agent: Option<i32>,
    known: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    start_ticks: u64,
    /// `None` once the process is gone, or if there was no handle to be had.
    handle: Option<OwnedFd>,
    alive: bool,
    killed: Killed,
}

impl Hunt {
    /// Nobody is known yet.
    pub(crate) fn new(family: Family, agent: Option<i32>) -> Self {
        Self { family, agent, known: Vec::new() }
    }

    /// Notes who is there now and is reached by a signal to these process groups.
    pub(crate) fn note(&mut self, signal: Signal, groups: &[i32]) {
        let members = self.family.members();
        self.meet(&members);
        let reached = members.iter().filter(|member| groups.contains(&member.group));
        for member in reached {
            if let Some(known) = self.known.iter_mut().find(|known| known.is(member)) {
                known.killed.signal = signal.as_raw();
            }
        }
    }

    /// Sends the signals to everyone who belongs to the family and has not had the first of them
    /// yet. Returns how many live.
    pub(crate) fn round(&mut self, signals: &[Signal]) -> usize {
        let members = self.family.members();
        self.meet(&members);
        let first = signals.first().map_or(0, |signal| signal.as_raw());
        for known in &mut self.known {
            let member = members.iter().find(|member| !member.zombie && known.is(member));
            known.alive = member.is_some();
            let Some(member) = member else {
                known.handle = None;
                continue;
            };
            // The handle is open: whoever is still the one that was seen is the right one.
            if known.handle.is_none() || known.killed.signal == first || !member.is_unchanged() {
                continue;
            }
            known.killed.signal = first;
            known.describe();
            for (signal, handle) in signals.iter().zip(known.handle.iter().cycle()) {
                // It may be gone in this instant, which is what was wanted.
                let _ = pidfd_send_signal(handle, *signal);
            }
        }
        reap(&members, self.agent);
        members.iter().filter(|member| !member.zombie).count()
    }

    /// Handles on those that still live, to wait for.
    pub(crate) fn handles(&self) -> impl Iterator<Item = &OwnedFd> {
        self.known.iter().filter_map(|known| known.handle.as_ref())
    }

    /// Who was ended and who could not be.
    pub(crate) fn outcome(&mut self) -> (Vec<Killed>, Vec<Killed>) {
        let agent = self.agent.unwrap_or(0);
        let others =
            std::mem::take(&mut self.known).into_iter().filter(|known| known.killed.pid != agent);
        let (stuck, ended): (Vec<Known>, Vec<Known>) = others.partition(|known| known.alive);
        let listed = |known: Vec<Known>| {
            known.into_iter().take(LISTED_MAX).map(|known| known.killed).collect()
        };
        (listed(ended), listed(stuck))
    }

    fn meet(&mut self, members: &[Process]) {
        for member in members.iter().filter(|member| !member.zombie) {
            let handle = || {
                Pid::from_raw(member.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            };
            if let Some(known) = self.known.iter_mut().find(|known| known.is(member)) {
                if known.handle.is_none() {
                    known.handle = handle();
                }
                continue;
            }
            let handle = handle();
            let killed = Killed { pid: member.pid, command: String::new(), cwd: None, signal: 0 };
            let start_ticks = member.start_ticks;
            let mut known = Known { start_ticks, handle, alive: true, killed };
            known.describe();
            self.known.push(known);
        }
    }
}

impl Known {
    /// What it is may have changed since it was met: between its fork and its exec a process
    /// looks like its parent.
    fn describe(&mut self) {
        self.killed.command = kin::command_of(self.killed.pid);
        self.killed.cwd = kin::cwd_of(self.killed.pid);
    }

    fn is(&self, process: &Process) -> bool {
        self.killed.pid == process.pid && self.start_ticks == process.start_ticks
    }
}

/// Waits for the zombies that were handed to this process, except the agent: as long as it is
/// not waited for, its number cannot belong to anybody else.
fn reap(members: &[Process], agent: Option<i32>) {
    let own = kin::own_pid();
    for member in members.iter().filter(|one| one.zombie && one.parent == own) {
        if Some(member.pid) != agent
            && let Some(pid) = Pid::from_raw(member.pid)
        {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}
