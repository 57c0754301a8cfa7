//! Time limits by name: what is waited for, how long, and what is told when that time is over.
//!
//! The core has no clock. It sets a timer under a key; the daemon tells once when its time has come.
//! The same key set again takes the place of the former timer. A timer that nothing waits for any
//! more fires all the same and means nothing. None of them is stored: a daemon that begins sets
//! those again that the log gives a reason for.

use crate::ids::{MessageId, OpId};
use crate::spec::{IdleLimit, Spec};
use std::time::Duration;

/// Milliseconds since the Unix epoch.
pub type WallMs = i64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKey {
    /// How long a pause waits for the agent to come to a safe state.
    SafeState(OpId),
    /// How long a start waits for the agent to show that it is ready.
    Ready(OpId),
    /// How long the present step of a pause may take.
    Step(OpId),
    /// When a message that was refused is handed over again.
    Retry(MessageId),
    /// When a pause ends by itself.
    ResumeAt(WallMs),
    /// When a snooze is over.
    Snooze(WallMs),
    /// How long an agent is idle before it is suspended, in the spell of this number.
    Idle(u64),
    /// How long everything may take to stop when the gate is shut.
    Gate(OpId),
    /// How long the rules may take for what a session asks.
    Verdict,
    /// When the conversation of a session at rest may be made short.
    Compact,
    /// How long a task or a plan may take.
    Budget,
    /// How long a session may be at work, up to the warning or, where that was given, up to the end.
    Work { warned: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// After a span, whatever the clock on the wall says meanwhile.
    After(Span),
    /// When the clock on the wall shows this time.
    At(WallMs),
}

/// How long a timer waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    Exactly(Duration),
    /// What the configuration gives an agent to come to a safe state.
    SafeState,
    /// What it gives a step of a pause.
    Step,
    /// What it gives a step of a forced pause.
    ForcedStep,
    /// What it lets a session be idle.
    Idle,
    /// What it lets the session of a task be idle.
    TaskIdle,
    /// What it gives everything to stop when the gate is shut.
    Gate,
    /// What it gives the rules for a verdict that reaches the agent.
    Verdict,
}

/// How long a resumed agent may take until it shows that it is ready; then it counts as running.
const READY_TIME: Duration = Duration::from_secs(60);
/// Before a refused message is tried again for the first time: about what a person takes for at once.
const RETRY_TIME: Duration = Duration::from_millis(250);
/// Before a resume is tried again whose time has come, and which something is in the way of.
const APPOINTMENT_TIME: Duration = Duration::from_secs(60);

/// A session that nothing was done with for so long is not used.
pub const UNUSED_TIME: Duration = Duration::from_secs(30 * 60);

impl When {
    /// It was not used for a while.
    pub(crate) fn unused() -> Self {
        Self::After(Span::Exactly(UNUSED_TIME))
    }

    /// After so long.
    pub(crate) fn after(span: Duration) -> Self {
        Self::After(Span::Exactly(span))
    }

    /// A resumed agent has had its time to get ready.
    pub(crate) fn ready() -> Self {
        Self::After(Span::Exactly(READY_TIME))
    }

    /// What is in the way of a resume may have gone.
    pub(crate) fn appointment_again() -> Self {
        Self::After(Span::Exactly(APPOINTMENT_TIME))
    }

    /// A session has been idle for as long as it may be; nothing if it may be so for ever.
    pub(crate) fn idle(spec: &Spec) -> Option<Self> {
        match spec.idle_limit() {
            IdleLimit::Usual if spec.task.is_some() => Some(Self::After(Span::TaskIdle)),
            IdleLimit::Usual => Some(Self::After(Span::Idle)),
            IdleLimit::Secs(secs) => Some(Self::After(Span::Exactly(Duration::from_secs(secs)))),
            IdleLimit::Never => None,
        }
    }

    /// A message that was refused so often may be tried again: twice as long each time, from 250 ms
    /// up to half a minute.
    pub(crate) fn retry(refused: u32) -> Self {
        let doubled = refused.clamp(1, 8).saturating_sub(1);
        Self::After(Span::Exactly(RETRY_TIME.saturating_mul(1 << doubled)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_twice_as_long_each_time_up_to_half_a_minute() {
        let after = |refused| match When::retry(refused) {
            When::After(Span::Exactly(time)) => time.as_millis(),
            When::After(
                Span::SafeState
                | Span::Step
                | Span::ForcedStep
                | Span::Idle
                | Span::TaskIdle
                | Span::Gate
                | Span::Verdict,
            )
            | When::At(_) => 0,
        };
        assert_eq!([1, 2, 3, 8, 9].map(after), [250, 500, 1000, 32_000, 32_000]);
    }
}
