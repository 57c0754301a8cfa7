//! How far the way down has come.

use std::time::{Duration, Instant};

use glis_wire::hold::{End, ExitRecord};

/// A follower that takes nothing for so long will not take the rest.
pub(crate) const FOLLOWER_WAIT: Duration = Duration::from_secs(5);

/// The first and the longest time between two looks at who is left. A look reads all of `/proc`,
/// and most deaths are told by a signal anyway.
const LOOK_FIRST: Duration = Duration::from_millis(10);
const LOOK_LAST: Duration = Duration::from_millis(160);

/// How far the agent's life has come.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pub(crate) step: Step,
    /// How the agent ended, once it has. It is not waited for before everything else is gone.
    pub(crate) end: Option<End>,
    pub(crate) ordered: bool,
    /// When it was first told to.
    pub(crate) told_at: Option<Instant>,
    /// How long it was given before SIGKILL, if it was sent that.
    pub(crate) grace: Option<Duration>,
}

#[derive(Debug, Default)]
pub(crate) enum Step {
    #[default]
    Running,
    /// SIGINT was sent; then this long for SIGTERM.
    Interrupting { until: Instant, terminate: Duration },
    /// SIGTERM was sent.
    Terminating { until: Instant },
    /// The agent is gone; what it left was asked to go.
    Leaving { until: Instant, look: Look },
    /// SIGKILL was sent, to all that is left.
    Killing { until: Instant, look: Look },
    /// No process is left; the last of the output is read.
    Draining { until: Instant },
    /// All of it is over.
    Ended(Ended),
}

/// When to look again at who is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) at: Instant,
    pub(crate) pause: Duration,
}

impl Look {
    pub(crate) fn now(now: Instant) -> Self {
        Self { at: now, pause: LOOK_FIRST }
    }

    pub(crate) fn later(self, now: Instant) -> Self {
        Self { at: now + self.pause, pause: (self.pause * 2).min(LOOK_LAST) }
    }
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) record: ExitRecord,
    pub(crate) kept: bool,
    pub(crate) collected: bool,
    pub(crate) keep_again_at: Instant,
    pub(crate) progress_at: Instant,
}

impl Stage {
    /// The record, from the moment that everything is over.
    pub(crate) fn record(&self) -> Option<&ExitRecord> {
        match &self.step {
            Step::Ended(ended) => Some(&ended.record),
            Step::Running
            | Step::Interrupting { .. }
            | Step::Terminating { .. }
            | Step::Leaving { .. }
            | Step::Killing { .. }
            | Step::Draining { .. } => None,
        }
    }

    /// When something is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.step {
            Step::Running => None,
            Step::Interrupting { until, .. }
            | Step::Terminating { until }
            | Step::Draining { until } => Some(*until),
            Step::Leaving { until, look } | Step::Killing { until, look } => {
                Some(look.at.min(*until))
            }
            Step::Ended(ended) if ended.kept || ended.collected => {
                Some(ended.progress_at + FOLLOWER_WAIT)
            }
            Step::Ended(ended) => Some(ended.keep_again_at),
        }
    }

    pub(crate) fn progressed(&mut self, now: Instant) {
        if let Step::Ended(ended) = &mut self.step {
            ended.progress_at = now;
        }
    }

    /// Notes that the record is safe elsewhere. Says whether there is one.
    pub(crate) fn collect(&mut self) -> bool {
        if let Step::Ended(ended) = &mut self.step {
            ended.collected = true;
            return true;
        }
        false
    }
}
