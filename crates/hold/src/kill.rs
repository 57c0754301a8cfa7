//! Ending processes without ever hitting a stranger: each is held by a handle that was opened
//! before its identity was looked at again.

use std::os::fd::OwnedFd;

use glis_wire::hold::{Children, Killed, ProcessMark};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::family::{self, Family, Process};

/// A session that leaves more than this behind is listed in part; all of it is ended.
const LISTED_MAX: usize = 256;

/// The processes of one family that were signalled, and what came of it.
#[derive(Debug)]
pub(crate) struct Killer {
    family: Family,
    /// The agent itself, which is ended as well but not listed.
    agent: Option<i32>,
    known: Vec<Known>,
    spared: Spared,
}

/// Which processes of the family are left alone.
#[derive(Debug)]
pub(crate) enum Spared {
    /// None of them.
    None,
    /// Those in another session than this one.
    Outside(i32),
    /// These, which an earlier round has spared.
    These(Vec<ProcessMark>),
}

impl Spared {
    fn covers(&self, process: &Process) -> bool {
        match self {
            Self::None => false,
            Self::Outside(session) => process.session != *session,
            Self::These(marks) => is_kept(marks, process),
        }
    }
}

#[derive(Debug)]
struct Known {
    /// `None` once the process is gone, or if there was no handle to be had.
    handle: Option<OwnedFd>,
    alive: bool,
    killed: Killed,
}

impl Killer {
    /// No process is known yet.
    pub(crate) fn new(family: Family, agent: Option<i32>) -> Self {
        Self { family, agent, known: Vec::new(), spared: Spared::None }
    }

    /// Leaves these alone from now on.
    pub(crate) fn spare(&mut self, spared: Spared) {
        self.spared = spared;
    }

    /// Spares what the agent's children are to be spared.
    pub(crate) fn spare_children(&mut self, children: Children) {
        self.spared = match (children, self.agent) {
            (Children::KeepDetached, Some(agent)) => Spared::Outside(agent),
            (Children::KeepDetached | Children::StopAll, _) => Spared::None,
        };
    }

    /// Everybody who is to be ended, or stopped.
    pub(crate) fn members(&self) -> Vec<Process> {
        let members = self.family.members().into_iter();
        members.filter(|member| !self.spared.covers(member)).collect()
    }

    /// The processes that were left alone and still run.
    pub(crate) fn spared(&self) -> Vec<Killed> {
        if matches!(self.spared, Spared::None) {
            return Vec::new();
        }
        let members = self.family.members().into_iter();
        let kept = members.filter(|member| !member.zombie && self.spared.covers(member));
        kept.take(LISTED_MAX).map(|member| Known::new(&member, None).killed).collect()
    }

    /// Notes who is there now. What ends by itself, once its agent is told to, has no command line to be
    /// named by any more.
    pub(crate) fn look(&mut self) {
        let members = self.members();
        self.meet(&members);
    }

    /// Notes who is there now and is reached by a signal to these process groups.
    pub(crate) fn note(&mut self, signal: Signal, groups: &[i32]) {
        let members = self.members();
        self.meet(&members);
        let reached = members.iter().filter(|member| groups.contains(&member.group));
        for member in reached {
            if let Some(known) = self.known.iter_mut().find(|known| known.is(member)) {
                known.killed.signal = signal.as_raw();
            }
        }
    }

    /// Sends the signal to everyone who belongs to the family and has not had it yet. Returns how
    /// many live.
    pub(crate) fn round(&mut self, signal: Signal) -> usize {
        let members = self.members();
        self.meet(&members);
        for known in &mut self.known {
            let member = members.iter().find(|member| !member.zombie && known.is(member));
            known.alive = member.is_some();
            let Some(member) = member else {
                known.handle = None;
                continue;
            };
            let had = known.killed.signal == signal.as_raw();
            // The handle is open: if the process is still the one that was seen, it is the right one.
            if known.handle.is_none() || had || !member.is_unchanged() {
                continue;
            }
            known.killed.signal = signal.as_raw();
            known.describe();
            let Some(handle) = &known.handle else { continue };
            // It may be gone in this instant, which is what was wanted.
            let _ = pidfd_send_signal(handle, signal);
            if member.stopped {
                // Until it goes on, it takes no other signal.
                let _ = pidfd_send_signal(handle, Signal::CONT);
            }
        }
        reap(&members, self.agent);
        members.iter().filter(|member| !member.zombie).count()
    }

    /// Handles on those that still live, to wait for.
    pub(crate) fn handles(&self) -> impl Iterator<Item = &OwnedFd> {
        self.known.iter().filter_map(|known| known.handle.as_ref())
    }

    /// Who was ended and who could not be. The agent's own end is told elsewhere, unless it has
    /// none.
    pub(crate) fn outcome(&mut self) -> (Vec<Killed>, Vec<Killed>) {
        let agent = self.agent.unwrap_or(0);
        let others = std::mem::take(&mut self.known).into_iter();
        let others = others.filter(|known| known.alive || known.killed.pid != agent);
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
            self.known.push(Known::new(member, handle));
        }
    }
}

impl Known {
    fn new(process: &Process, handle: Option<OwnedFd>) -> Self {
        let killed = Killed {
            pid: process.pid,
            command: String::new(),
            cwd: None,
            signal: 0,
            start_ticks: process.start_ticks,
            ports: Vec::new(),
        };
        let mut known = Self { handle, alive: true, killed };
        known.describe();
        known
    }

    /// What it is may have changed since it was met: between its fork and its exec a process
    /// looks like its parent. One that has died meanwhile says nothing any more but its name, and
    /// what was known of it stays.
    fn describe(&mut self) {
        let command = family::command_of(self.killed.pid);
        if command.is_empty() {
            if self.killed.command.is_empty() {
                self.killed.command = family::name_of(self.killed.pid);
            }
            return;
        }
        self.killed.command = command;
        self.killed.cwd = family::cwd_of(self.killed.pid).or(self.killed.cwd.take());
        self.killed.ports = family::ports_of(self.killed.pid);
    }

    fn is(&self, process: &Process) -> bool {
        self.killed.pid == process.pid && self.killed.start_ticks == process.start_ticks
    }
}

/// Whether a process was left running on purpose, or belongs to one that was.
pub(crate) fn is_kept(marks: &[ProcessMark], process: &Process) -> bool {
    marks.iter().any(|mark| {
        let same = mark.pid == process.pid && mark.start_ticks == process.start_ticks;
        same || mark.pid == process.session
    })
}

/// Waits for the zombies that were handed to this process, except the agent: as long as it is
/// not waited for, its number cannot belong to anybody else.
fn reap(members: &[Process], agent: Option<i32>) {
    let own = family::own_pid();
    for member in members.iter().filter(|one| one.zombie && one.parent == own) {
        if Some(member.pid) != agent
            && let Some(pid) = Pid::from_raw(member.pid)
        {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}
