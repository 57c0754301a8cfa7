//! A pause that is not the usual one.

use glis_core::pause::{OnTimeout, PauseMode};
use glis_core::tree::Clearing;
use glis_wire::client::Action;

/// A pause that is not the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PauseWith {
    pub(crate) mode: PauseMode,
    pub(crate) on_timeout: Option<OnTimeout>,
    pub(crate) for_secs: Option<u64>,
    pub(crate) clearing: Option<Clearing>,
}

impl PauseWith {
    /// The usual one after all: what differs is said beside it.
    pub(crate) const USUAL: Self =
        Self { mode: PauseMode::Interrupt, on_timeout: None, for_secs: None, clearing: None };

    pub(super) fn action(self) -> Action {
        let Self { mode, on_timeout, for_secs, clearing } = self;
        Action::Pause { mode: Some(mode), on_timeout, clearing, for_secs }
    }

    /// Its options, as they are typed.
    pub(super) fn typed(self) -> String {
        let mode = match self.mode {
            PauseMode::Boundary => " --mode boundary",
            PauseMode::Force => " --mode force",
            PauseMode::Interrupt => "",
        };
        let late = match self.on_timeout {
            Some(OnTimeout::Refuse) => " --on-timeout refuse",
            Some(OnTimeout::Force) => " --on-timeout force",
            None => "",
        };
        let clearing = match self.clearing {
            Some(Clearing::Always) => " --remove-worktree --force",
            Some(Clearing::IfAllIsSaved | Clearing::IfPossible) => " --remove-worktree",
            Some(Clearing::Keep) => " --keep-worktree",
            None => "",
        };
        let until = self.for_secs.map_or_else(String::new, |secs| format!(" --for {secs}s"));
        format!("{mode}{late}{clearing}{until}")
    }

    /// What no snapshot has is gone with the worktree: that is asked before.
    pub(super) fn question(self, name: &str) -> Option<String> {
        (self.clearing == Some(Clearing::Always)).then(|| {
            format!("Remove `{name}`'s worktree, ignored files too? No snapshot has those.")
        })
    }
}
