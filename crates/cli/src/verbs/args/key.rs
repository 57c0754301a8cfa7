//! Which verbs a key can name.

use super::{AutoYes, TrashVerb, Verb};

impl Verb {
    /// Whether it is one change, which a key can name.
    pub(crate) fn takes_key(&self) -> bool {
        match self {
            Self::New(_)
            | Self::Loop(_)
            | Self::Send { .. }
            | Self::Pause(_)
            | Self::Resume(_)
            | Self::Restart(_)
            | Self::Stop { .. }
            | Self::Timeout { minutes: Some(_), .. }
            | Self::Rm(_)
            | Self::Answer(_)
            | Self::AutoYes(AutoYes { verb: None, .. })
            | Self::Acknowledge { .. }
            | Self::Snapshot { .. }
            | Self::Compact { .. }
            | Self::Restore(_)
            | Self::Merge(_)
            | Self::Trash { verb: TrashVerb::Restore { .. } | TrashVerb::Empty(_) } => true,
            Self::Trash { verb: TrashVerb::List }
            | Self::AutoYes(AutoYes { verb: Some(_), .. })
            | Self::Demo
            | Self::Ls { .. }
            | Self::Show { .. }
            | Self::Attach { .. }
            | Self::Wait(_)
            | Self::Log { .. }
            | Self::Timeout { minutes: None, .. }
            | Self::Search { .. }
            | Self::Screen { .. }
            | Self::Output { .. }
            | Self::Events { .. }
            | Self::Snapshots { .. }
            | Self::Diff(_)
            | Self::Doctor(_)
            | Self::Plan { .. }
            | Self::Execute(_)
            | Self::Runs { .. }
            | Self::Accept(_)
            | Self::Judge(_)
            | Self::Reject(_)
            | Self::Skip(_)
            | Self::Config { .. }
            | Self::Chat
            | Self::Web(_)
            | Self::Daemon { .. }
            | Self::Completions { .. }
            | Self::Man => false,
        }
    }
}
