//! Ending processes without ever hitting a stranger: each is held by a handle that was opened
//! before its identity was looked at again.

use glis_os::Handle;
use glis_os::process::{self, Stat};
use glis_wire::hold::{Children, Killed, Process};
use rustix::process::{Pid, Signal};

use crate::family::{self, Family};

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
    None,
    /// Those in another session than this one.
    Outside(i32),
    /// These, which an earlier round has spared.
    These(Vec<Process>),
}

impl Spared {
    fn covers(&self, process: &Stat) -> bool {
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
    handle: Option<Handle>,
    alive: bool,
    killed: Killed,
}

impl Killer {
    pub(crate) fn new(family: Family, agent: Option<i32>) -> Self {
        Self { family, agent, known: Vec::new(), spared: Spared::None }
    }

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
    pub(crate) fn members(&self) -> Vec<Stat> {
        let members = self.family.members().into_iter();
        members.filter(|member| !self.spared.covers(member)).collect()
    }

    /// The processes that were left alone and still run.
    pub(crate) fn spared(&self) -> Vec<Killed> {
        if matches!(self.spared, Spared::None) {
            return Vec::new();
        }
        let members = self.family.members().into_iter();
        let kept = members.filter(|member| !member.is_over() && self.spared.covers(member));
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
            let member = members.iter().find(|member| !member.is_over() && known.is(member));
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
            handle.signal(signal);
            if member.is_stopped() {
                // Until it goes on, it takes no other signal.
                handle.signal(Signal::CONT);
            }
        }
        reap(&members, self.agent);
        members.iter().filter(|member| !member.is_over()).count()
    }

    /// Handles on those that still live, to wait for.
    pub(crate) fn handles(&self) -> impl Iterator<Item = &Handle> {
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

    fn meet(&mut self, members: &[Stat]) {
        for member in members.iter().filter(|member| !member.is_over()) {
            let handle = || Handle::open(member.pid).ok();
            match self.known.iter_mut().find(|known| known.is(member)) {
                Some(known) => known.handle = known.handle.take().or_else(handle),
                None => self.known.push(Known::new(member, handle())),
            }
        }
    }
}

impl Known {
    fn new(process: &Stat, handle: Option<Handle>) -> Self {
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
                self.killed.command = process::name_of(self.killed.pid);
            }
            return;
        }
        let cwd = process::folder_of(self.killed.pid).ok();
        let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
        self.killed.command = command;
        self.killed.cwd = cwd.or(self.killed.cwd.take());
        self.killed.ports = process::ports_of(self.killed.pid);
    }

    fn is(&self, process: &Stat) -> bool {
        self.killed.pid == process.pid && self.killed.start_ticks == process.start_ticks
    }
}

/// Whether a process was left running on purpose, or belongs to one that was.
pub(crate) fn is_kept(marks: &[Process], process: &Stat) -> bool {
    marks.iter().any(|mark| {
        let same = mark.pid == process.pid && mark.start_ticks == process.start_ticks;
        same || mark.pid == process.session
    })
}

/// Waits for the zombies that were handed to this process, except the agent: as long as it is
/// not waited for, its number cannot belong to anybody else.
fn reap(members: &[Stat], agent: Option<i32>) {
    let own = process::own_pid();
    for member in members.iter().filter(|one| one.is_over() && one.parent == own) {
        if Some(member.pid) != agent
            && let Some(pid) = Pid::from_raw(member.pid)
        {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}
