//! A pause, and how it may differ from the usual one.

use glis_core::pause::{OnTimeout, PauseMode};
use glis_core::tree::Clearing;
use glis_wire::client::Action;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PauseWith {
    /// None: as it is configured.
    pub(crate) mode: Option<PauseMode>,
    pub(crate) on_timeout: Option<OnTimeout>,
    pub(crate) for_secs: Option<u64>,
    pub(crate) clearing: Option<Clearing>,
}

impl PauseWith {
    /// Without a word about how.
    pub(crate) const PLAIN: Self =
        Self { mode: None, on_timeout: None, for_secs: None, clearing: None };
    /// The usual one after all: what differs is said beside it.
    pub(crate) const USUAL: Self = Self { mode: Some(PauseMode::Interrupt), ..Self::PLAIN };
    pub(crate) const FORCED: Self = Self { mode: Some(PauseMode::Force), ..Self::PLAIN };

    pub(super) fn action(self) -> Action {
        let Self { mode, on_timeout, for_secs, clearing } = self;
        Action::Pause { mode, on_timeout, clearing, for_secs }
    }

    /// Its options, as they are typed.
    pub(super) fn typed(self) -> String {
        let mode = match self.mode {
            Some(PauseMode::Boundary) => " --mode boundary",
            Some(PauseMode::Force) => " --mode force",
            Some(PauseMode::Interrupt) | None => "",
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

    /// A turn may be cut off by force, and what no snapshot has is gone with the worktree: that is asked before.
    pub(super) fn question(self, name: &str) -> Option<String> {
        if self == Self::FORCED {
            return Some(format!("Stop `{name}` now, whatever it is doing?"));
        }
        (self.clearing == Some(Clearing::Always)).then(|| {
            format!("Remove `{name}`'s worktree, ignored files too? No snapshot has those.")
        })
    }
}
