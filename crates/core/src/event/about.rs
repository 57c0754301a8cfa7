//! What an event belongs to: an operation, a place in an agent's words, a session's card. That none is forgotten where it
//! has an operation or a place, the golden events tell.

use super::{Event, Spot};
use crate::ids::OpId;
use crate::session::Session;

impl Event {
    /// The operation that this is a step of.
    pub fn op(&self) -> Option<OpId> {
        if let Self::SessionCreated { op, .. }
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
        | Self::EmptyingFailed { op, .. } = self
        {
            return Some(*op);
        }
        if let Self::Suspended { op }
        | Self::WorktreeSaved { op, .. }
        | Self::WorktreeNotSaved { op, .. }
        | Self::ConversationCompacted { op, .. }
        | Self::CompactionFailed { op, .. } = self
        {
            return *op;
        }
        if let Self::Gate(event) = self {
            return event.op();
        }
        if let Self::Loop(event) = self { event.op() } else { None }
    }

    /// Where in the agent's words this was seen.
    pub fn spot(&self) -> Option<Spot> {
        if let Self::RefRejected { spot, .. }
        | Self::StartRefused { spot, .. }
        | Self::AgentRefLearned { spot, .. }
        | Self::BecameReady { spot }
        | Self::TurnBegan { spot }
        | Self::ToolBegan { spot, .. }
        | Self::ToolEnded { spot, .. }
        | Self::BackgroundChanged { spot, .. }
        | Self::TurnEnded { spot, .. }
        | Self::Asked { spot, .. }
        | Self::LimitReached { spot, .. } = self
        {
            return Some(*spot);
        }
        if let Self::MessageTaken { spot, .. } | Self::AskGone { spot, .. } = self {
            *spot
        } else {
            None
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
    pub fn is_for_the_card(&self, session: &Session) -> bool {
        // To a session that runs a message is handed over soon, and what it has changed is saved again; one at rest
        // may stay as it is for long.
        let stays = matches!(self, Self::MessageQueued { .. } | Self::WorktreeSaved { .. });
        (stays && !session.runs())
            || matches!(
                self,
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
                    | Self::AutoYesSet { .. }
                    | Self::Triaged(_)
                    | Self::Spending(_)
                    | Self::Returned { .. }
            )
    }
}
