//! The way down: from the first request to go, to the last process that is gone and recorded.
//!
//! Nothing here waits. Each stage knows when it is over, and the loop comes back by then.

use std::time::{Duration, Instant};

use glis_wire::hold::{End, ExitRecord, Ladder};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, waitid, waitpid,
};

use crate::holder::Holder;
use crate::stage::{Ended, FOLLOWER_WAIT, Look, Step};
use crate::{complain, sys};

/// What an agent that ended by itself has left gets this long to go in peace.
const LEFTOVERS_WAIT: Duration = Duration::from_millis(500);

/// What survives SIGKILL for so long sits in the kernel and will not go soon.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// Everybody who could write is gone, so what is left comes at once or not at all.
const DRAIN_WAIT: Duration = Duration::from_secs(1);

/// A disk that was full may have room again; the record is worth another attempt.
const KEEP_AGAIN: Duration = Duration::from_secs(5);

/// When the holder itself is told to end: a machine that shuts down does not wait much longer.
const ON_SIGNAL: Ladder = Ladder { interrupt_ms: 5_000, terminate_ms: 3_000 };

/// The same, said twice.
const ON_SIGNAL_AGAIN: Ladder = Ladder { interrupt_ms: 0, terminate_ms: 1_000 };

impl Holder {
    /// Begins the way down, or hurries on it. A later order can shorten what an earlier one has
    /// granted, and never lengthen it.
    pub(crate) fn stop(&mut self, ladder: Ladder) {
        let now = Instant::now();
        let interrupt = Duration::from_millis(ladder.interrupt_ms.into());
        let granted = Duration::from_millis(ladder.terminate_ms.into());
        self.leave_frost();
        // An agent that has ended unnoticed has ended by itself.
        self.reap();
        self.stage.ordered |= self.stage.end.is_none();
        match &mut self.stage.step {
            Step::Running if self.stage.end.is_some() => {}
            Step::Running => {
                self.killer.look();
                self.stage.told_at = Some(now);
                self.stage.step = Step::Interrupting { until: now + interrupt, terminate: granted };
                if !interrupt.is_zero() {
                    self.signal_groups(Signal::INT);
                    self.melt();
                }
            }
            Step::Interrupting { until, terminate } => {
                *until = (*until).min(now + interrupt);
                *terminate = (*terminate).min(granted);
            }
            Step::Terminating { until } | Step::Leaving { until, .. } => {
                *until = (*until).min(now + granted);
            }
            Step::Killing { .. } | Step::Draining { .. } | Step::Ended(_) => {}
        }
    }

    /// The holder itself was told to end: the agent goes first, and in order.
    pub(crate) fn stop_for(&mut self, _signal: Signal) {
        let begun = !matches!(self.stage.step, Step::Running);
        self.stop(if begun { ON_SIGNAL_AGAIN } else { ON_SIGNAL });
        self.stage.collect();
    }

    pub(crate) fn climb(&mut self, now: Instant) {
        while let Some(next) = self.next_step(now) {
            self.stage.step = next;
        }
    }

    pub(crate) fn may_leave(&self, now: Instant) -> bool {
        let Step::Ended(ended) = &self.stage.step else { return false };
        let end = self.output.end();
        let settled = self.clients.all.iter().all(|client| client.is_satisfied(end));
        (ended.kept || ended.collected) && (settled || now >= ended.progress_at + FOLLOWER_WAIT)
    }

    /// Sees who has ended. The agent is not waited for: as long as it is a zombie, its number, its
    /// group and its session cannot be given to another process.
    pub(crate) fn reap(&mut self) {
        if let Step::Leaving { look, .. } | Step::Killing { look, .. } = &mut self.stage.step {
            look.at = Instant::now();
        }
        while self.stage.end.is_none() || matches!(self.stage.step, Step::Ended(_)) {
            let Some(pid) = sys::ended_child().and_then(Pid::from_raw) else { return };
            if pid == self.agent && self.stage.end.is_none() {
                self.stage.end = agent_end(pid);
            } else {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
    }

    fn next_step(&mut self, now: Instant) -> Option<Step> {
        let agent_ended = self.stage.end.is_some();
        match &self.stage.step {
            Step::Running | Step::Interrupting { .. } | Step::Terminating { .. } if agent_ended => {
                Some(Step::Leaving { until: now + LEFTOVERS_WAIT, look: Look::now(now) })
            }
            Step::Interrupting { until, terminate } if now >= *until => {
                let until = now + *terminate;
                if !terminate.is_zero() {
                    self.close_input();
                    self.signal_groups(Signal::TERM);
                    self.melt();
                    self.wake_group();
                }
                Some(Step::Terminating { until })
            }
            Step::Terminating { until } if now >= *until => {
                self.stage.grace = self.stage.told_at.map(|told_at| now - told_at);
                Some(killing(now))
            }
            Step::Leaving { until, look } if now >= look.at.min(*until) => {
                let (until, look) = (*until, look.later(now));
                match self.killer.round(Signal::TERM) {
                    0 => Some(Step::Draining { until: now + DRAIN_WAIT }),
                    _ if now >= until => Some(killing(now)),
                    _ => self.look_again(Step::Leaving { until, look }),
                }
            }
            Step::Killing { until, look } if now >= look.at.min(*until) => {
                let (until, look) = (*until, look.later(now));
                match self.killer.round(Signal::KILL) {
                    0 if self.agent_is_gone() => Some(Step::Draining { until: now + DRAIN_WAIT }),
                    _ if now >= until => Some(Step::Draining { until: now + DRAIN_WAIT }),
                    _ => self.look_again(Step::Killing { until, look }),
                }
            }
            Step::Draining { until } => {
                let until = *until;
                self.drained_by(now, until).then(|| Step::Ended(self.finish(now)))
            }
            Step::Ended(ended) if !ended.kept && now >= ended.keep_again_at => {
                let record = ended.record.clone();
                let kept = self.write_record(&record);
                if let Step::Ended(ended) = &mut self.stage.step {
                    ended.kept = kept;
                    ended.keep_again_at = now + KEEP_AGAIN;
                }
                None
            }
            Step::Running
            | Step::Interrupting { .. }
            | Step::Terminating { .. }
            | Step::Leaving { .. }
            | Step::Killing { .. }
            | Step::Ended(_) => None,
        }
    }

    fn look_again(&mut self, step: Step) -> Option<Step> {
        self.stage.step = step;
        None
    }

    /// The signal that tells of the agent's end may still be on its way.
    fn agent_is_gone(&mut self) -> bool {
        self.reap();
        self.stage.end.is_some()
    }

    /// Sends a signal to the agent's group and, with a terminal, to whatever runs in front of it.
    fn signal_groups(&mut self, signal: Signal) {
        let terminal = self.facts.size.and(self.output.source.as_ref());
        let front = terminal.and_then(|terminal| rustix::termios::tcgetpgrp(terminal).ok());
        let front = front.filter(|group| *group != self.agent);
        let groups: Vec<Pid> = std::iter::once(self.agent).chain(front).collect();
        let numbers: Vec<i32> = groups.iter().map(|group| group.as_raw_pid()).collect();
        self.killer.note(signal, &numbers);
        for group in groups {
            let _ = kill_process_group(group, signal);
        }
    }

    fn drained_by(&mut self, now: Instant, until: Instant) -> bool {
        // With this end closed, the terminal says so when there is nothing more to read.
        self.far_end = None;
        self.take_output();
        let mut errors_open = false;
        if let Some(errors) = &mut self.errors {
            errors.drain(&self.folder);
            errors_open = errors.source.is_some();
        }
        now >= until || (self.output.source.is_none() && !errors_open)
    }

    fn finish(&mut self, now: Instant) -> Ended {
        self.close_input();
        self.output.source = None;
        let errors_began = self.errors.take().and_then(|errors| errors.began);
        let _ = waitpid(Some(self.agent), WaitOptions::NOHANG);
        if let Err(fault) = self.output.sync() {
            complain("the log is not durable", &fault);
        }
        let kept = self.killer.spared();
        let (killed, stuck) = self.killer.outcome();
        let record = ExitRecord {
            session: self.facts.session.clone(),
            generation: self.facts.generation,
            process: self.facts.process.clone(),
            // An agent that cannot even be killed was at least sent this.
            end: self.stage.end.unwrap_or(End::Signalled(Signal::KILL.as_raw())),
            ordered: self.stage.ordered,
            log_end: self.output.end(),
            killed,
            stuck,
            kept,
            log_began: Some(self.facts.began_at),
            errors_began,
            grace_ms: self
                .stage
                .grace
                .map(|grace| u64::try_from(grace.as_millis()).unwrap_or(u64::MAX)),
        };
        let kept = self.write_record(&record);
        let keep_again_at = now + KEEP_AGAIN;
        Ended { record, kept, collected: false, keep_again_at, progress_at: now }
    }

    fn write_record(&self, record: &ExitRecord) -> bool {
        let outcome = self.folder.write_exit(record);
        if let Err(fault) = &outcome {
            complain("the exit status could not be written", fault);
        }
        outcome.is_ok()
    }
}

fn killing(now: Instant) -> Step {
    Step::Killing { until: now + KILL_WAIT, look: Look::now(now) }
}

/// How the agent ended; it stays a zombie.
fn agent_end(agent: Pid) -> Option<End> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(agent), options).ok()??;
    let exited = status.exit_status().map(End::Exited);
    exited.or_else(|| status.terminating_signal().map(End::Signalled))
}
