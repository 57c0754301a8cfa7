//! What a key does, and what it is called in the configuration.

use self::About::{House, Session, WordsForHouse, WordsForSession};
use glis_core::plan::Ruling;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Down,
    Up,
    Top,
    Bottom,
    ScrollDown,
    ScrollUp,
    HalfDown,
    HalfUp,
    NextWaiting,
    Asks,
    Attach,
    Inline,
    Copy,
    NextFound,
    FormerFound,
    NextPart,
    FormerPart,
    Read,
    Open,
    Remark,
    Zoom,
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
    Pin,
    Label,
    Snooze,
    Budget,
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
    Order,
    Fold,
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
pub enum Way {
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

/// What it is done with.
#[derive(Clone, Copy)]
enum About {
    House,
    /// One session, or several that are marked.
    Session,
    /// The same with words that are typed behind it.
    WordsForHouse,
    WordsForSession,
}

/// The name of each in the configuration, and what it is about.
const TABLE: &[(Command, &str, About)] = &[
    (Command::Down, "down", House),
    (Command::Up, "up", House),
    (Command::Top, "top", House),
    (Command::Bottom, "bottom", House),
    (Command::ScrollDown, "scroll-down", House),
    (Command::ScrollUp, "scroll-up", House),
    (Command::HalfDown, "half-down", House),
    (Command::HalfUp, "half-up", House),
    (Command::NextWaiting, "next-waiting", House),
    (Command::Asks, "questions", House),
    (Command::Attach, "attach", Session),
    (Command::Inline, "type", WordsForSession),
    (Command::Copy, "copy", Session),
    (Command::NextFound, "next-match", House),
    (Command::FormerFound, "match-before", House),
    (Command::NextPart, "next-part", Session),
    (Command::FormerPart, "part-before", Session),
    (Command::Read, "read", Session),
    (Command::Open, "open", Session),
    (Command::Remark, "comment", WordsForSession),
    (Command::Zoom, "zoom", House),
    (Command::Send, "send", WordsForSession),
    (Command::SendFile, "send-file", WordsForSession),
    (Command::New, "new", WordsForHouse),
    (Command::NewLoop, "new-loop", WordsForHouse),
    (Command::Execute, "execute", WordsForHouse),
    (Command::Pause, "pause", Session),
    (Command::TogglePause, "toggle-pause", Session),
    (Command::Resume, "resume", Session),
    (Command::Stop, "stop", Session),
    (Command::Restart, "restart", Session),
    (Command::Rule(Ruling::Accept), "accept-task", Session),
    (Command::Rule(Ruling::Judge), "judge-task", Session),
    (Command::Rule(Ruling::Reject), "reject-task", Session),
    (Command::Rule(Ruling::Skip), "skip-task", Session),
    (Command::Remove, "remove", Session),
    (Command::Snapshot, "snapshot", Session),
    (Command::Compact, "compact", Session),
    (Command::Acknowledge, "acknowledge", Session),
    (Command::Merge, "merge", Session),
    (Command::AutoYes, "auto-yes", Session),
    (Command::Timeout, "timeout", WordsForSession),
    (Command::Pin, "pin", Session),
    (Command::Label, "label", WordsForSession),
    (Command::Snooze, "snooze", WordsForSession),
    (Command::Budget, "budget", WordsForSession),
    (Command::ResumeWith, "resume-with", WordsForSession),
    (Command::MergeInto, "merge-into", WordsForSession),
    (Command::Restore, "restore", Session),
    (Command::PauseFor, "pause-for", WordsForSession),
    (Command::PauseIn(Way::AfterTurn), "pause-after-turn", Session),
    (Command::PauseIn(Way::Removing), "pause-remove-worktree", Session),
    (Command::PauseIn(Way::Clearing), "pause-clear-worktree", Session),
    (Command::PauseIn(Way::Keeping), "pause-keep-worktree", Session),
    (Command::PauseIn(Way::OrForce), "pause-or-force", Session),
    (Command::PauseIn(Way::OrLeave), "pause-or-leave", Session),
    (Command::LoopMax, "iterations", WordsForSession),
    (Command::MoreIterations, "more-iterations", Session),
    (Command::FewerIterations, "fewer-iterations", Session),
    (Command::DenyBecause, "deny-because", WordsForHouse),
    (Command::Search, "search", House),
    (Command::Trash, "trash", House),
    (Command::Judged, "auto-yes-log", House),
    (Command::PauseAll, "pause-all", House),
    (Command::ResumeAll, "resume-all", House),
    (Command::ResumeAllFromLog, "resume-all-from-log", House),
    (Command::Allow, "allow", House),
    (Command::AllowForSession, "allow-for-session", House),
    (Command::Deny, "deny", House),
    (Command::Mark, "mark", House),
    (Command::MarkRange, "mark-range", House),
    (Command::NextTab, "next-view", House),
    (Command::FormerTab, "view-before", House),
    (Command::Tab(0), "view-1", Session),
    (Command::Tab(1), "view-2", Session),
    (Command::Tab(2), "view-3", Session),
    (Command::Tab(3), "view-4", Session),
    (Command::Tab(4), "view-5", Session),
    (Command::Tab(5), "view-6", Session),
    (Command::Filter, "filter", House),
    (Command::Order, "order", House),
    (Command::Fold, "fold", House),
    (Command::Palette, "palette", House),
    (Command::Undo, "undo", House),
    (Command::History, "history", House),
    (Command::Help, "help", House),
    (Command::Redraw, "redraw", House),
    (Command::Close, "close", House),
    (Command::Interrupt, "interrupt", House),
    (Command::Suspend, "suspend", House),
    (Command::Quit, "quit", House),
];

impl Command {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|(known, ..)| *known == self).map_or("", |(_, name, _)| name)
    }

    fn about(self) -> Option<About> {
        TABLE.iter().find(|(known, ..)| *known == self).map(|(.., about)| *about)
    }

    /// Whether words are typed behind it.
    pub fn takes_words(self) -> bool {
        matches!(self.about(), Some(WordsForHouse | WordsForSession))
    }

    /// Whether it is about one session, or several that are marked.
    pub fn is_about_a_session(self) -> bool {
        matches!(self.about(), Some(Session | WordsForSession))
    }
}
