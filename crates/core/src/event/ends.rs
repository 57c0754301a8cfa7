//! Which events end an operation, and how.

use super::Event;
use crate::failure::{End, Failure};
use crate::ids::OpId;
use crate::looping::LoopEvent;
use crate::reason::{FailedStep, Why};

impl Event {
    /// The operation that this ends, and how.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the simulator finds what never ends")]
    pub fn ends(&self) -> Option<(OpId, End)> {
        let ended = |op: &OpId, failure| Some((*op, Err(failure)));
        let failed =
            |op: &OpId, step, why: &Why| ended(op, Failure::Failed { step, why: why.clone() });
        match self {
            Self::CreationEnded { op }
            | Self::StartEnded { op, .. }
            | Self::Paused { op }
            | Self::Archived { op, .. }
            | Self::WorktreeRestored { op, .. }
            | Self::Returned { op }
            | Self::Emptied { op }
            | Self::WorktreeSaved { op: Some(op), .. }
            | Self::ConversationCompacted { op: Some(op), .. }
            | Self::Suspended { op: Some(op) } => Some((*op, Ok(()))),
            Self::WorktreeNotSaved { op: Some(op), why, .. } => {
                failed(op, FailedStep::Snapshot, why)
            }
            Self::CompactionFailed { op: Some(op), why } => failed(op, FailedStep::Compact, why),
            Self::RestoreFailed { op, why } => failed(op, FailedStep::Restore, why),
            Self::ReturnFailed { op, why } => failed(op, FailedStep::Return, why),
            Self::EmptyingFailed { op, why } => failed(op, FailedStep::Empty, why),
            Self::CreationFailed { op, why } => failed(op, FailedStep::MakeWorktree, why),
            Self::PauseFailed { op, step, why } => failed(op, step.clone(), why),
            Self::RemovalFailed { op, why } => failed(op, FailedStep::PutAside, why),
            Self::PauseBarred { op, left_out } => {
                ended(op, Failure::WouldBeLost { left_out: left_out.clone() })
            }
            Self::StartFailed { op, fault } => ended(op, Failure::NotStarted(fault.clone())),
            Self::StartCancelled { op } => ended(op, Failure::Stopped),
            Self::PauseCancelled { op } | Self::Loop(LoopEvent::PauseWithdrawn { op }) => {
                ended(op, Failure::Cancelled)
            }
            Self::PauseRefused { op, doing } => {
                ended(op, Failure::NotSafe { doing: doing.clone() })
            }
            _ => None,
        }
    }
}
