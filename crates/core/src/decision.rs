//! What a decision comes to: events to record, effects to carry out, and what the caller is told.

use crate::effect::Effect;
use crate::event::Event;
use crate::ids::{MessageId, OpId, SessionId};
use crate::refusal::Refusal;
use crate::status::Status;
use crate::subject::Subject;

/// What an input leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// To be recorded and applied, in this order.
    pub events: Vec<(Subject, Event)>,
    /// To be carried out once the events are durable.
    pub effects: Vec<(Subject, Effect)>,
    /// What the caller is told.
    pub reply: Reply,
}

/// What the caller is told once the events are durable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reply {
    /// It is done, or there is no caller.
    #[default]
    Done,
    Already,
    /// The operation is under way; its end is an event.
    Pending(OpId),
    /// The message has this number, so many are before it, and its session was this when it arrived.
    Queued {
        message: MessageId,
        before: usize,
        status: Status,
    },
    /// It starts by itself as soon as it may.
    Deferred,
    /// The gate is being shut or opened, of which the end is an event; what that means for each session.
    Gate {
        op: OpId,
        already: bool,
        each: Vec<(SessionId, Result<Self, Refusal>)>,
    },
}
