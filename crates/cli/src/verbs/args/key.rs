//! Which verbs a key can name.

use super::{AutoYes, TrashVerb, Verb};

impl Verb {
    /// Whether it is one change, which a key can name.
    pub(crate) fn takes_key(&self) -> bool {
        matches!(
            self,
            Self::New(_)
                | Self::Loop(_)
                | Self::Send { .. }
                | Self::Pause(_)
                | Self::Resume(_)
                | Self::Restart(_)
                | Self::Stop(_)
                | Self::Timeout { minutes: Some(_), .. }
                | Self::Label { .. }
                | Self::Pin { .. }
                | Self::Snooze { .. }
                | Self::Budget { .. }
                | Self::Rm(_)
                | Self::Answer(_)
                | Self::AutoYes(AutoYes { verb: None, .. })
                | Self::Acknowledge { .. }
                | Self::Snapshot(_)
                | Self::Compact(_)
                | Self::Restore(_)
                | Self::Merge(_)
                | Self::Trash { verb: TrashVerb::Restore { .. } | TrashVerb::Empty(_) }
        )
    }
}
