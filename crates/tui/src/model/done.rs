//! What was asked for here: under way, or done.

use crate::deed::Deed;
use glis_wire::view::SessionView;

/// Something that was asked for and has not ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnderWay {
    /// The session; none if it concerns all.
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) deed: Option<Deed>,
    pub(crate) label: &'static str,
    /// What a new session is to be told.
    pub(crate) prompt: Option<String>,
}

/// Something that was done here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    pub(crate) ticket: u64,
    pub(crate) id: Option<String>,
    /// What the session was called.
    pub(crate) name: String,
    pub(crate) deed: Option<Deed>,
    /// What would be typed to do the same.
    pub(crate) line: String,
    pub(crate) end: End,
    /// When it was asked for.
    pub(crate) at: u64,
    /// When its session was last paused and resumed, as the end of it told.
    pub(crate) left: Option<Pauses>,
}

/// When a session was last paused, if it is, and resumed.
type Pauses = (Option<String>, Option<String>);

/// Both of them.
pub(crate) fn pauses_of(session: &SessionView) -> Pauses {
    (session.paused_at.clone(), session.resumed_at.clone())
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    NotYet,
    Well,
    Badly,
    Undone,
}
