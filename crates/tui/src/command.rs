//! What a key does, and what it is called in the configuration.

use glis_core::plan::Ruling;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Down,
    Up,
    Top,
    Bottom,
    ScrollDown,
    ScrollUp,
    NextWaiting,
    Asks,
    Attach,
    Inline,
    Copy,
    NextFound,
    FormerFound,
    Send,
    SendFile,
    New,
    NewLoop,
    Execute,
    Pause,
    TogglePause,
    Resume,
    Stop,
    Restart,
    Rule(Ruling),
    Remove,
    Snapshot,
    Compact,
    Acknowledge,
    Merge,
    AutoYes,
    Timeout,
    ResumeWith,
    MergeInto,
    Restore,
    PauseFor,
    PauseIn(Way),
    LoopMax,
    MoreIterations,
    FewerIterations,
    DenyBecause,
    Search,
    Trash,
    Judged,
    PauseAll,
    ResumeAll,
    ResumeAllFromLog,
    Allow,
    AllowForSession,
    Deny,
    Mark,
    MarkRange,
    NextTab,
    FormerTab,
    Tab(u8),
    Filter,
    Palette,
    Undo,
    History,
    Help,
    Redraw,
    Close,
    Interrupt,
    Suspend,
    Quit,
}

/// In what a pause is not the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It waits for the end of the turn.
    AfterTurn,
    /// It frees the disk space of the worktree, if a snapshot has all of it.
    Removing,
    /// It frees that whatever is in no snapshot.
    Clearing,
    /// It keeps the worktree, whatever is configured.
    Keeping,
    /// It ends an agent that does not come to rest in time.
    OrForce,
    /// It leaves such an agent running.
    OrLeave,
}

/// The name of each in the configuration.
const NAMES: &[(Command, &str)] = &[
    (Command::Down, "down"),
    (Command::Up, "up"),
    (Command::Top, "top"),
    (Command::Bottom, "bottom"),
    (Command::ScrollDown, "scroll-down"),
    (Command::ScrollUp, "scroll-up"),
    (Command::NextWaiting, "next-waiting"),
    (Command::Asks, "questions"),
    (Command::Attach, "attach"),
    (Command::Inline, "type"),
    (Command::Copy, "copy"),
    (Command::NextFound, "next-match"),
    (Command::FormerFound, "match-before"),
    (Command::Send, "send"),
    (Command::SendFile, "send-file"),
    (Command::New, "new"),
    (Command::NewLoop, "new-loop"),
    (Command::Execute, "execute"),
    (Command::Pause, "pause"),
    (Command::TogglePause, "toggle-pause"),
    (Command::Resume, "resume"),
    (Command::Stop, "stop"),
    (Command::Restart, "restart"),
    (Command::Rule(Ruling::Accept), "accept-task"),
    (Command::Rule(Ruling::Judge), "judge-task"),
    (Command::Rule(Ruling::Reject), "reject-task"),
    (Command::Rule(Ruling::Skip), "skip-task"),
    (Command::Remove, "remove"),
    (Command::Snapshot, "snapshot"),
    (Command::Compact, "compact"),
    (Command::Acknowledge, "acknowledge"),
    (Command::Merge, "merge"),
    (Command::AutoYes, "auto-yes"),
    (Command::Timeout, "timeout"),
    (Command::ResumeWith, "resume-with"),
    (Command::MergeInto, "merge-into"),
    (Command::Restore, "restore"),
    (Command::PauseFor, "pause-for"),
    (Command::PauseIn(Way::AfterTurn), "pause-after-turn"),
    (Command::PauseIn(Way::Removing), "pause-remove-worktree"),
    (Command::PauseIn(Way::Clearing), "pause-clear-worktree"),
    (Command::PauseIn(Way::Keeping), "pause-keep-worktree"),
    (Command::PauseIn(Way::OrForce), "pause-or-force"),
    (Command::PauseIn(Way::OrLeave), "pause-or-leave"),
    (Command::LoopMax, "iterations"),
    (Command::MoreIterations, "more-iterations"),
    (Command::FewerIterations, "fewer-iterations"),
    (Command::DenyBecause, "deny-because"),
    (Command::Search, "search"),
    (Command::Trash, "trash"),
    (Command::Judged, "auto-yes-log"),
    (Command::PauseAll, "pause-all"),
    (Command::ResumeAll, "resume-all"),
    (Command::ResumeAllFromLog, "resume-all-from-log"),
    (Command::Allow, "allow"),
    (Command::AllowForSession, "allow-for-session"),
    (Command::Deny, "deny"),
    (Command::Mark, "mark"),
    (Command::MarkRange, "mark-range"),
    (Command::NextTab, "next-view"),
    (Command::FormerTab, "view-before"),
    (Command::Tab(0), "view-1"),
    (Command::Tab(1), "view-2"),
    (Command::Tab(2), "view-3"),
    (Command::Tab(3), "view-4"),
    (Command::Tab(4), "view-5"),
    (Command::Tab(5), "view-6"),
    (Command::Filter, "filter"),
    (Command::Palette, "palette"),
    (Command::Undo, "undo"),
    (Command::History, "history"),
    (Command::Help, "help"),
    (Command::Redraw, "redraw"),
    (Command::Close, "close"),
    (Command::Interrupt, "interrupt"),
    (Command::Suspend, "suspend"),
    (Command::Quit, "quit"),
];

impl Command {
    /// Its name in the configuration.
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(known, _)| *known == self).map_or("", |(_, name)| name)
    }

    /// Whether words are typed behind it.
    pub(crate) fn takes_words(self) -> bool {
        let all = [
            Self::Inline,
            Self::Send,
            Self::SendFile,
            Self::New,
            Self::NewLoop,
            Self::Execute,
            Self::Timeout,
            Self::ResumeWith,
            Self::MergeInto,
            Self::PauseFor,
            Self::LoopMax,
            Self::DenyBecause,
        ];
        all.contains(&self)
    }

    /// Whether it is about one session, or several that are marked.
    pub(crate) fn is_about_a_session(self) -> bool {
        match self {
            Self::Attach
            | Self::Inline
            | Self::Copy
            | Self::Send
            | Self::SendFile
            | Self::Pause
            | Self::TogglePause
            | Self::Resume
            | Self::Stop
            | Self::Restart
            | Self::Rule(_)
            | Self::Remove
            | Self::Snapshot
            | Self::Compact
            | Self::Acknowledge
            | Self::Merge
            | Self::AutoYes
            | Self::Timeout
            | Self::ResumeWith
            | Self::MergeInto
            | Self::Restore
            | Self::PauseFor
            | Self::PauseIn(_)
            | Self::LoopMax
            | Self::MoreIterations
            | Self::FewerIterations
            | Self::Tab(_) => true,
            Self::Down
            | Self::Up
            | Self::Top
            | Self::Bottom
            | Self::ScrollDown
            | Self::ScrollUp
            | Self::NextWaiting
            | Self::Asks
            | Self::NextFound
            | Self::FormerFound
            | Self::New
            | Self::NewLoop
            | Self::Execute
            | Self::DenyBecause
            | Self::Search
            | Self::Trash
            | Self::Judged
            | Self::PauseAll
            | Self::ResumeAll
            | Self::ResumeAllFromLog
            | Self::Allow
            | Self::AllowForSession
            | Self::Deny
            | Self::Mark
            | Self::MarkRange
            | Self::NextTab
            | Self::FormerTab
            | Self::Filter
            | Self::Palette
            | Self::Undo
            | Self::History
            | Self::Help
            | Self::Redraw
            | Self::Close
            | Self::Interrupt
            | Self::Suspend
            | Self::Quit => false,
        }
    }
}
