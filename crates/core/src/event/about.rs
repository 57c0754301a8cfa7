//! What an event belongs to: an operation, a place in an agent's words, a session's card.

use super::{Event, Spot};
use crate::ids::OpId;
use crate::session::Session;

impl Event {
    /// The operation that this is a step of.
    #[expect(clippy::too_many_lines, reason = "every event is named once")]
    pub fn op(&self) -> Option<OpId> {
        match self {
            Self::SessionCreated { op, .. }
            | Self::WorktreeMade { op, .. }
            | Self::CreationFailed { op, .. }
            | Self::CreationEnded { op }
            | Self::StartBegan { op, .. }
            | Self::StartChecked { op, .. }
            | Self::ProcessStarted { op, .. }
            | Self::StartEnded { op, .. }
            | Self::StartCancelled { op }
            | Self::StartFailed { op, .. }
            | Self::RestartBegan { op, .. }
            | Self::PauseBegan { op, .. }
            | Self::PauseHastened { op, .. }
            | Self::InterruptBegan { op }
            | Self::SafeStateReached { op, .. }
            | Self::TerminalCaptured { op, .. }
            | Self::CaptureMissed { op, .. }
            | Self::LeftoversSwept { op, .. }
            | Self::SnapshotTaken { op, .. }
            | Self::EndBegan { op }
            | Self::FreezeBegan { op }
            | Self::ProcessFrozen { op }
            | Self::ThawBegan { op, .. }
            | Self::Paused { op }
            | Self::PauseCancelled { op }
            | Self::PauseRefused { op, .. }
            | Self::PauseFailed { op, .. }
            | Self::StopBegan { op, .. }
            | Self::RemovalBegan { op }
            | Self::RemovalFailed { op, .. }
            | Self::Archived { op, .. }
            | Self::ClearingBegan { op }
            | Self::WorktreeCleared { op, .. }
            | Self::WorktreeStays { op, .. }
            | Self::PauseBarred { op, .. }
            | Self::SaveBegan { op }
            | Self::CompactionBegan { op }
            | Self::RestoreBegan { op, .. }
            | Self::WorktreeRestored { op, .. }
            | Self::RestoreFailed { op, .. }
            | Self::ReturnBegan { op, .. }
            | Self::Returned { op }
            | Self::ReturnFailed { op, .. }
            | Self::EmptyingBegan { op }
            | Self::Emptied { op }
            | Self::EmptyingFailed { op, .. } => Some(*op),
            Self::Suspended { op }
            | Self::WorktreeSaved { op, .. }
            | Self::WorktreeNotSaved { op, .. }
            | Self::ConversationCompacted { op, .. }
            | Self::CompactionFailed { op, .. } => *op,
            Self::Gate(event) => event.op(),
            Self::Loop(event) => event.op(),
            Self::Plan(_)
            | Self::RefRejected { .. }
            | Self::StartRefused { .. }
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
            | Self::AskJudged { .. }
            | Self::AutoYesSet { .. }
            | Self::TypingBegan
            | Self::LimitReached { .. }
            | Self::ScreenJudged { .. }
            | Self::ProcessEnded { .. }
            | Self::FolderLost
            | Self::IdleLimitSet { .. }
            | Self::ResumeAppointed { .. }
            | Self::ResumeFellDue
            | Self::PauseTakenOver { .. }
            | Self::LimitOver { .. }
            | Self::Interrupted { .. }
            | Self::Completed
            | Self::Failed { .. }
            | Self::ProcessAdopted { .. }
            | Self::RecordDamaged { .. }
            | Self::DamageAcknowledged
            | Self::SessionRecovered { .. }
            | Self::Barred { .. }
            | Self::StartDeferred { .. }
            | Self::StartForgone
            | Self::LimitsSet(_)
            | Self::ConfigBroke { .. }
            | Self::ConfigMended
            | Self::BarLifted => None,
        }
    }

    /// Where in the agent's words this was seen.
    #[expect(clippy::too_many_lines, reason = "every event is named once")]
    pub(crate) fn spot(&self) -> Option<Spot> {
        match self {
            Self::RefRejected { spot, .. }
            | Self::StartRefused { spot, .. }
            | Self::AgentRefLearned { spot, .. }
            | Self::BecameReady { spot }
            | Self::TurnBegan { spot }
            | Self::ToolBegan { spot, .. }
            | Self::ToolEnded { spot, .. }
            | Self::BackgroundChanged { spot, .. }
            | Self::TurnEnded { spot, .. }
            | Self::Asked { spot, .. }
            | Self::LimitReached { spot, .. } => Some(*spot),
            Self::MessageTaken { spot, .. } | Self::AskGone { spot, .. } => *spot,
            Self::SessionCreated { .. }
            | Self::WorktreeMade { .. }
            | Self::CreationFailed { .. }
            | Self::CreationEnded { .. }
            | Self::StartBegan { .. }
            | Self::StartChecked { .. }
            | Self::ProcessStarted { .. }
            | Self::StartEnded { .. }
            | Self::StartCancelled { .. }
            | Self::StartFailed { .. }
            | Self::RestartBegan { .. }
            | Self::MessageQueued { .. }
            | Self::DeliveryBegan { .. }
            | Self::DeliveryRefused { .. }
            | Self::MessageRefused { .. }
            | Self::MessageDoubted { .. }
            | Self::MessageRequeued { .. }
            | Self::MessageDropped { .. }
            | Self::AnswerBegan { .. }
            | Self::AnswerFailed { .. }
            | Self::AskJudged { .. }
            | Self::AutoYesSet { .. }
            | Self::TypingBegan
            | Self::ScreenJudged { .. }
            | Self::PauseBegan { .. }
            | Self::ResumeAppointed { .. }
            | Self::ResumeFellDue
            | Self::PauseTakenOver { .. }
            | Self::LimitOver { .. }
            | Self::PauseHastened { .. }
            | Self::InterruptBegan { .. }
            | Self::SafeStateReached { .. }
            | Self::TerminalCaptured { .. }
            | Self::CaptureMissed { .. }
            | Self::SnapshotTaken { .. }
            | Self::EndBegan { .. }
            | Self::FreezeBegan { .. }
            | Self::ProcessFrozen { .. }
            | Self::ThawBegan { .. }
            | Self::ClearingBegan { .. }
            | Self::WorktreeCleared { .. }
            | Self::WorktreeStays { .. }
            | Self::PauseBarred { .. }
            | Self::Paused { .. }
            | Self::PauseCancelled { .. }
            | Self::PauseRefused { .. }
            | Self::PauseFailed { .. }
            | Self::StopBegan { .. }
            | Self::ProcessEnded { .. }
            | Self::LeftoversSwept { .. }
            | Self::FolderLost
            | Self::Suspended { .. }
            | Self::IdleLimitSet { .. }
            | Self::Interrupted { .. }
            | Self::Completed
            | Self::Failed { .. }
            | Self::RemovalBegan { .. }
            | Self::RemovalFailed { .. }
            | Self::Archived { .. }
            | Self::SaveBegan { .. }
            | Self::CompactionBegan { .. }
            | Self::ConversationCompacted { .. }
            | Self::CompactionFailed { .. }
            | Self::WorktreeSaved { .. }
            | Self::WorktreeNotSaved { .. }
            | Self::RestoreBegan { .. }
            | Self::WorktreeRestored { .. }
            | Self::RestoreFailed { .. }
            | Self::ReturnBegan { .. }
            | Self::Returned { .. }
            | Self::ReturnFailed { .. }
            | Self::EmptyingBegan { .. }
            | Self::Emptied { .. }
            | Self::EmptyingFailed { .. }
            | Self::ProcessAdopted { .. }
            | Self::RecordDamaged { .. }
            | Self::DamageAcknowledged
            | Self::SessionRecovered { .. }
            | Self::Barred { .. }
            | Self::StartDeferred { .. }
            | Self::StartForgone
            | Self::LimitsSet(_)
            | Self::ConfigBroke { .. }
            | Self::ConfigMended
            | Self::Loop(_)
            | Self::Gate(_)
            | Self::Plan(_)
            | Self::BarLifted => None,
        }
    }

    /// Whether glis did this for itself: it is no activity of the session.
    pub(crate) fn is_upkeep(&self) -> bool {
        matches!(
            self,
            Self::CompactionBegan { .. }
                | Self::ConversationCompacted { .. }
                | Self::CompactionFailed { .. }
        )
    }

    /// Whether a session's card is written anew after this. Not after every event: each card is a
    /// sync. Whatever else has happened, the agent's own words tell again.
    #[expect(clippy::too_many_lines, reason = "every event is named once")]
    pub fn is_for_the_card(&self, session: &Session) -> bool {
        match self {
            Self::WorktreeMade { .. }
            | Self::CreationEnded { .. }
            | Self::ProcessStarted { .. }
            | Self::ProcessAdopted { .. }
            | Self::StartFailed { .. }
            | Self::AgentRefLearned { .. }
            | Self::Paused { .. }
            | Self::Suspended { .. }
            | Self::IdleLimitSet { .. }
            | Self::ResumeAppointed { .. }
            | Self::ResumeFellDue
            | Self::PauseTakenOver { .. }
            | Self::LimitOver { .. }
            | Self::Loop(_)
            | Self::Interrupted { .. }
            | Self::Completed
            | Self::Failed { .. }
            | Self::Archived { .. }
            // What the user has switched off stays off.
            | Self::AutoYesSet { .. }
            | Self::Returned { .. } => true,
            // To a session that runs it is handed over soon; here it may wait for long.
            Self::MessageQueued { .. } => !session.runs(),
            Self::SessionCreated { .. }
            | Self::CreationFailed { .. }
            | Self::StartBegan { .. }
            | Self::StartChecked { .. }
            | Self::StartEnded { .. }
            | Self::RefRejected { .. }
            | Self::StartRefused { .. }
            | Self::StartCancelled { .. }
            | Self::RestartBegan { .. }
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
            | Self::TypingBegan
            | Self::AskJudged { .. }
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
            | Self::FreezeBegan { .. }
            | Self::ProcessFrozen { .. }
            | Self::ThawBegan { .. }
            | Self::ClearingBegan { .. }
            | Self::WorktreeCleared { .. }
            | Self::WorktreeStays { .. }
            | Self::PauseBarred { .. }
            | Self::PauseCancelled { .. }
            | Self::PauseRefused { .. }
            | Self::PauseFailed { .. }
            | Self::StopBegan { .. }
            | Self::ProcessEnded { .. }
            | Self::LeftoversSwept { .. }
            | Self::FolderLost
            | Self::RemovalBegan { .. }
            | Self::RemovalFailed { .. }
            | Self::SaveBegan { .. }
            | Self::CompactionBegan { .. }
            | Self::ConversationCompacted { .. }
            | Self::CompactionFailed { .. }
            | Self::WorktreeSaved { .. }
            | Self::WorktreeNotSaved { .. }
            | Self::RestoreBegan { .. }
            | Self::WorktreeRestored { .. }
            | Self::RestoreFailed { .. }
            | Self::ReturnBegan { .. }
            | Self::ReturnFailed { .. }
            | Self::EmptyingBegan { .. }
            | Self::Emptied { .. }
            | Self::EmptyingFailed { .. }
            | Self::RecordDamaged { .. }
            | Self::DamageAcknowledged
            | Self::SessionRecovered { .. }
            | Self::Barred { .. }
            | Self::StartDeferred { .. }
            | Self::StartForgone
            | Self::LimitsSet(_)
            | Self::ConfigBroke { .. }
            | Self::ConfigMended
            | Self::Gate(_)
            | Self::Plan(_)
            | Self::BarLifted => false,
        }
    }
}
