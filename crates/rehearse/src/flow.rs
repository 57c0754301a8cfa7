//! Whether a turn goes on after a step.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::record::Outcome;

/// Whether the turn goes on after a step, or how it ends.
pub(crate) type Flow = io::Result<ControlFlow<Outcome>>;

pub(crate) const GO_ON: Flow = Ok(ControlFlow::Continue(()));

/// Goes on, unless the turn was interrupted.
pub(crate) fn unless_interrupted(agent: &Agent) -> Flow {
    if agent.is_interrupted() { Ok(ControlFlow::Break(Outcome::Interrupted)) } else { GO_ON }
}

pub(crate) fn work(agent: &mut Agent, time: Duration) -> Flow {
    agent.work_until(Instant::now() + time)?;
    unless_interrupted(agent)
}
