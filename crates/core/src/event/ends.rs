//! Which events end an operation, and how.

use super::Event;
use crate::ids::OpId;
use crate::reason::{FailedStep, Why};
use crate::refusal::Refusal;
use crate::session::Session;

impl Event {
    /// Whether this ends the operation `op`, and how. `session` is the session's name.
    #[expect(clippy::too_many_lines, reason = "every event is named once")]
    pub fn ends(&self, session: &Session) -> Option<(OpId, Result<(), Refusal>)> {
        let name = || session.name.clone();
        let failed = |step, why| Refusal::Failed { session: name(), step, why };
        let told = |step, why: &str| failed(step, Why::from(why.to_owned()));
        match self {
            Self::CreationEnded { op }
            | Self::StartEnded { op, .. }
            | Self::Paused { op }
            | Self::Archived { op, .. }
            | Self::WorktreeRestored { op, .. }
            | Self::Returned { op }
            | Self::Emptied { op }
            | Self::WorktreeSaved { op: Some(op), .. }
            | Self::Suspended { op: Some(op) } => Some((*op, Ok(()))),
            Self::WorktreeNotSaved { op: Some(op), why, .. } => {
                Some((*op, Err(failed(FailedStep::Snapshot, why.clone()))))
            }
            Self::RestoreFailed { op, why } => Some((*op, Err(told(FailedStep::Restore, why)))),
            Self::ReturnFailed { op, why } => Some((*op, Err(told(FailedStep::Return, why)))),
            Self::EmptyingFailed { op, why } => Some((*op, Err(told(FailedStep::Empty, why)))),
            Self::PauseBarred { op, left_out } => {
                let (session, left_out) = (name(), left_out.clone());
                Some((*op, Err(Refusal::WouldBeLost { session, left_out })))
            }
            Self::CreationFailed { op, why } => {
                Some((*op, Err(told(FailedStep::MakeWorktree, why))))
            }
            Self::StartFailed { op, fault } => Some((
                *op,
                Err(Refusal::NotResumable {
                    session: name(),
                    agent: session.spec.agent.clone(),
                    agent_ref: session.agent_ref.clone(),
                    site: session.site(),
                    why: fault.clone(),
                }),
            )),
            Self::StartCancelled { op } => Some((*op, Err(Refusal::Stopped { session: name() }))),
            Self::PauseCancelled { op } => Some((*op, Err(Refusal::Cancelled { session: name() }))),
            Self::PauseRefused { op, doing } => {
                Some((*op, Err(Refusal::NotSafe { session: name(), doing: doing.clone() })))
            }
            Self::PauseFailed { op, step, why } => Some((*op, Err(told(step.clone(), why)))),
            Self::RemovalFailed { op, why } => Some((*op, Err(told(FailedStep::PutAside, why)))),
            Self::WorktreeSaved { op: None, .. }
            | Self::Suspended { op: None }
            | Self::WorktreeNotSaved { op: None, .. }
            | Self::SessionCreated { .. }
            | Self::WorktreeMade { .. }
            | Self::StartBegan { .. }
            | Self::StartChecked { .. }
            | Self::ProcessStarted { .. }
            | Self::RefRejected { .. }
            | Self::RestartBegan { .. }
            | Self::AgentRefLearned { .. }
            | Self::MessageQueued { .. }
            | Self::DeliveryBegan { .. }
            | Self::DeliveryRefused { .. }
            | Self::MessageTaken { .. }
            | Self::MessageRefused { .. }
            | Self::MessageDoubted { .. }
            | Self::MessageRequeued { .. }
            | Self::MessageDropped { .. }
            | Self::BecameReady { .. }
            | Self::TurnBegan { .. }
            | Self::ToolBegan { .. }
            | Self::ToolEnded { .. }
            | Self::BackgroundChanged { .. }
            | Self::TurnEnded { .. }
            | Self::Asked { .. }
            | Self::AskGone { .. }
            | Self::AnswerBegan { .. }
            | Self::AnswerFailed { .. }
            | Self::LimitReached { .. }
            | Self::ScreenJudged { .. }
            | Self::PauseBegan { .. }
            | Self::PauseHastened { .. }
            | Self::InterruptBegan { .. }
            | Self::SafeStateReached { .. }
            | Self::TerminalCaptured { .. }
            | Self::CaptureMissed { .. }
            | Self::SnapshotTaken { .. }
            | Self::EndBegan { .. }
            | Self::ClearingBegan { .. }
            | Self::WorktreeCleared { .. }
            | Self::WorktreeStays { .. }
            | Self::StopBegan { .. }
            | Self::ProcessEnded { .. }
            | Self::LeftoversSwept { .. }
            | Self::FolderLost
            | Self::Interrupted { .. }
            | Self::Completed
            | Self::Failed { .. }
            | Self::RemovalBegan { .. }
            | Self::SaveBegan { .. }
            | Self::RestoreBegan { .. }
            | Self::ReturnBegan { .. }
            | Self::EmptyingBegan { .. }
            | Self::ProcessAdopted { .. }
            | Self::RecordDamaged { .. }
            | Self::DamageAcknowledged
            | Self::SessionRecovered { .. }
            | Self::Barred { .. }
            | Self::BarLifted => None,
        }
    }
}
