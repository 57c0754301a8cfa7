//! What an operation ended in, where it did not come to what was asked for. A refusal is something
//! else: it comes before anything has begun, and nothing has changed.

use crate::reason::{FailedStep, Why};
use crate::refusal::{Refusal, ResumeFault};
use crate::session::Session;
use crate::tree::PathList;

pub type End = Result<(), Failure>;

/// Why an operation did not come to what was asked for. The session is what its events say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A stop called the start off.
    Stopped,
    /// The pause was called off before it took effect.
    Cancelled,
    /// The agent did not come to a safe state, and goes on with what it was seen doing.
    NotSafe { doing: String },
    /// The worktree was to be removed, but this is in no snapshot of it.
    WouldBeLost { left_out: PathList },
    /// The process was not brought up, and nothing else is tried instead.
    NotStarted(ResumeFault),
    /// A step of it did, for this reason as it was given.
    Failed { step: FailedStep, why: Why },
}

impl Failure {
    /// What a caller is told. In the protocol an operation that failed is told like a request that
    /// was refused, and both go by the same names.
    pub fn told(self, session: &Session) -> Refusal {
        let name = session.name.clone();
        match self {
            Self::Stopped => Refusal::Stopped { session: name },
            Self::Cancelled => Refusal::Cancelled { session: name },
            Self::NotSafe { doing } => Refusal::NotSafe { session: name, doing },
            Self::WouldBeLost { left_out } => Refusal::WouldBeLost { session: name, left_out },
            Self::NotStarted(why) => Refusal::NotResumable {
                session: name,
                agent: session.spec.agent.clone(),
                agent_ref: session.agent.agent_ref.clone(),
                site: session.site(),
                why,
            },
            Self::Failed { step, why } => {
                // Nothing else tells them: a session whose worktree was never made is gone.
                let gone = step == FailedStep::MakeWorktree;
                let unsent = session.talk.queue.iter().filter(|_| gone).map(|m| m.text.clone());
                Refusal::Failed { session: name, step, why, unsent: unsent.collect() }
            }
        }
    }
}
