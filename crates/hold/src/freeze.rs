//! Stopping an agent where it is, with everything it started, and letting it go on.
//!
//! A shell that sees its child stopped believes that somebody has pressed a key for it, and takes the
//! terminal back. So parents are stopped before their children, each once those above it are, and go on
//! after them. What was stopped before stays stopped afterwards: it is the user's own.

use std::time::{Duration, Instant};

use glis_os::Handle;
use glis_os::process::Stat;
use glis_wire::hold::Report;
use rustix::process::Signal;

use crate::family;
use crate::frost::{Frost, State};
use crate::holder::Holder;
use crate::stage::Step;

/// A signal to stop takes effect at once, unless the process sits in the kernel.
const FREEZE_WAIT: Duration = Duration::from_secs(3);

/// Between two looks whether those that were told to stop have.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

impl Holder {
    pub(crate) fn freeze(&mut self, client: u64, order: u64) {
        if self.stage.end.is_some() || !matches!(self.stage.step, Step::Running) {
            self.clients.refuse(client, order, "the agent has ended, or is about to");
            return;
        }
        let now = Instant::now();
        self.frost.state =
            State::Spreading { client, order, until: now + FREEZE_WAIT, look_at: now };
        self.spread_frost(now);
    }

    pub(crate) fn thaw(&mut self, client: u64, order: u64) {
        self.melt();
        self.clients.tell(client, &Report::Wrote { order });
    }

    /// Stops whoever is due, and sees whether anybody still moves.
    pub(crate) fn spread_frost(&mut self, now: Instant) {
        if self.frost.deadline().is_none_or(|at| at > now) {
            return;
        }
        if self.stage.end.is_some() {
            // What is left of it is ended, and not kept.
            self.leave_frost();
            return;
        }
        let moving = self.moving();
        match self.frost.state {
            State::None => {}
            State::Spreading { client, order, .. } if moving.is_empty() => {
                self.frost.state = State::Whole { look_at: None };
                self.clients.tell(client, &Report::Wrote { order });
            }
            State::Whole { .. } if moving.is_empty() => {
                self.frost.state = State::Whole { look_at: None };
            }
            State::Spreading { client, order, until, .. } if now >= until => {
                let who = moving.first().map_or(0, |process| process.pid);
                let why = format!("process {who} ({}) does not stop", family::command_of(who));
                self.melt();
                self.clients.refuse(client, order, &why);
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
            self.clients.refuse(client, order, "the agent ends");
        }
    }

    /// Lets everybody go on whom we have stopped, children first.
    pub(crate) fn melt(&mut self) {
        let Frost { stopped, .. } = std::mem::take(&mut self.frost);
        let members = self.killer.members();
        for (pid, start_ticks) in stopped.into_iter().rev() {
            let known = |one: &&Stat| one.pid == pid && one.start_ticks == start_ticks;
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
        for member in members.iter().filter(|one| one.is_stopped() && one.group == group) {
            signal(member, Signal::CONT);
        }
    }

    fn moving(&self) -> Vec<Stat> {
        let members = self.killer.members().into_iter();
        members.filter(|member| !member.is_over() && !member.is_stopped()).collect()
    }

    /// Stops those that have nobody above them who still moves.
    fn stop_topmost(&mut self, moving: &[Stat]) {
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
}

/// Sends a signal, unless the number belongs to another process by now.
fn signal(process: &Stat, signal: Signal) -> bool {
    // The handle is open: if the process is still the one that was seen, it is the right one.
    Handle::open(process.pid).is_ok_and(|handle| process.is_unchanged() && handle.signal(signal))
}
