//! Stopping an agent where it is, with everything it started, and letting it go on.
//!
//! A shell that sees its child stopped believes that somebody has pressed a key for it, and takes the
//! terminal back. So parents are stopped before their children, each once those above it are, and go on
//! after them. What was stopped before stays stopped afterwards: it is the user's own.

use std::time::{Duration, Instant};

use glis_wire::hold::Report;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::family::{self, Process};
use crate::frost::{Frost, State};
use crate::holder::Holder;
use crate::stage::Step;

/// A signal to stop takes effect at once, unless the process sits in the kernel.
const FREEZE_WAIT: Duration = Duration::from_secs(3);

/// Between two looks whether those that were told to stop have.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

impl Holder {
    /// Begins to stop the agent in place.
    pub(crate) fn freeze(&mut self, client: u64, order: u64) {
        if self.stage.agent_end().is_some() || !matches!(self.stage.step, Step::Running) {
            self.refuse(client, order, "the agent has ended, or is about to");
            return;
        }
        let now = Instant::now();
        self.frost.state =
            State::Spreading { client, order, until: now + FREEZE_WAIT, look_at: now };
        self.spread_frost(now);
    }

    /// Lets the agent go on.
    pub(crate) fn thaw(&mut self, client: u64, order: u64) {
        self.melt();
        self.confirm(client, order);
    }

    /// Stops whoever is due, and sees whether anybody still moves.
    pub(crate) fn spread_frost(&mut self, now: Instant) {
        if self.frost.deadline().is_none_or(|at| at > now) {
            return;
        }
        if self.stage.agent_end().is_some() {
            // What is left of it is ended, and not kept.
            self.leave_frost();
            return;
        }
        let moving = self.moving();
        match self.frost.state {
            State::None => {}
            State::Spreading { client, order, .. } if moving.is_empty() => {
                self.frost.state = State::Whole { look_at: None };
                self.confirm(client, order);
            }
            State::Whole { .. } if moving.is_empty() => {
                self.frost.state = State::Whole { look_at: None };
            }
            State::Spreading { client, order, until, .. } if now >= until => {
                let who = moving.first().map_or(0, |process| process.pid);
                let why = format!("process {who} ({}) does not stop", family::command_of(who));
                self.melt();
                self.refuse(client, order, &why);
            }
            State::Spreading { client, order, until, .. } => {
                self.stop_topmost(&moving);
                let look_at = now + LOOK_PAUSE;
                self.frost.state = State::Spreading { client, order, until, look_at };
            }
            State::Whole { .. } => {
                self.stop_topmost(&moving);
                self.frost.state = State::Whole { look_at: Some(now + LOOK_PAUSE) };
            }
        }
    }

    /// The agent is to end, or has: whoever is stopped is not kept so any longer.
    pub(crate) fn leave_frost(&mut self) {
        let former = std::mem::take(&mut self.frost.state);
        if let State::Spreading { client, order, .. } = former {
            self.refuse(client, order, "the agent ends");
        }
    }

    /// Lets everybody go on whom we have stopped, children first.
    pub(crate) fn melt(&mut self) {
        let Frost { stopped, .. } = std::mem::take(&mut self.frost);
        let members = self.killer.members();
        for (pid, start_ticks) in stopped.into_iter().rev() {
            let known = |one: &&Process| one.pid == pid && one.start_ticks == start_ticks;
            if let Some(member) = members.iter().find(known) {
                signal(member, Signal::CONT);
            }
        }
    }

    /// Lets those of the agent's group go on who are stopped: until then they take no other signal.
    /// Whoever runs is left alone, because programs draw their screen anew when they go on.
    pub(crate) fn wake_group(&self) {
        let group = self.agent.as_raw_pid();
        let members = self.killer.members();
        for member in members.iter().filter(|one| one.stopped && one.group == group) {
            signal(member, Signal::CONT);
        }
    }

    /// Who belongs to the agent and is not stopped.
    fn moving(&self) -> Vec<Process> {
        let members = self.killer.members().into_iter();
        members.filter(|member| !member.zombie && !member.stopped).collect()
    }

    /// Stops those that have nobody above them who still moves.
    fn stop_topmost(&mut self, moving: &[Process]) {
        let moves = |pid: i32| moving.iter().any(|process| process.pid == pid);
        for process in moving.iter().filter(|process| !moves(process.parent)) {
            if signal(process, Signal::STOP) {
                let mark = (process.pid, process.start_ticks);
                if !self.frost.stopped.contains(&mark) {
                    self.frost.stopped.push(mark);
                }
            }
        }
    }

    fn confirm(&mut self, id: u64, order: u64) {
        if let Some(client) = self.clients.iter_mut().find(|client| client.id == id) {
            client.tell(&Report::Wrote { order });
        }
    }
}

/// Sends a signal, unless the number belongs to another process by now.
fn signal(process: &Process, signal: Signal) -> bool {
    let handle =
        Pid::from_raw(process.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    // The handle is open: if the process is still the one that was seen, it is the right one.
    handle.is_some_and(|handle| process.is_unchanged() && pidfd_send_signal(handle, signal).is_ok())
}
