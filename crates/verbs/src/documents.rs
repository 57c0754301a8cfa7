//! What is printed with `--json` and answered over HTTP, where that is not simply what the daemon said.

use crate::{Complaint, unexpected};
use glis_client::labels::unstarted;
use glis_client::{Client, Fault};
use glis_core::{Refusal, Status};
use glis_wire::client::{Request, Response, ScreenView};
use glis_wire::view::{Entry, FileDiffView, MergeView, SessionView, WaitingFor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A conversation.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Log {
    /// All of it.
    Whole(Vec<Entry>),
    /// What came after an offset.
    Part {
        entries: Vec<Entry>,
        /// Where the next read begins.
        next: u64,
    },
}

/// A session with which something was done.
#[derive(Serialize, JsonSchema)]
pub struct Acted {
    #[serde(flatten)]
    pub session: SessionView,
    /// It was so before.
    pub already: bool,
}

/// A session that was made.
#[derive(Serialize, JsonSchema)]
pub struct Made<'a> {
    #[serde(flatten)]
    pub session: &'a SessionView,
    /// What was chosen for the caller.
    pub notes: &'a [String],
}

/// A message that was stored.
#[derive(Serialize, JsonSchema)]
pub struct StoredMessage<'a> {
    session: &'a str,
    /// Its number.
    message: u64,
    /// How many are delivered before it.
    before: usize,
    /// What the session was.
    status: Status,
    queued: usize,
    /// Why its process has not started, where it should have.
    not_started: Option<&'a str>,
    waits_for: Option<&'a WaitingFor>,
    warning: Option<&'a str>,
}

/// A message that was stored: its number, how many are before it, what the session was.
pub fn queued<'a>(
    session: &'a SessionView,
    (message, before, status): (u64, usize, Status),
    warning: Option<&'a str>,
) -> StoredMessage<'a> {
    let (not_started, waits_for) = (unstarted(session), session.waiting_for.as_ref());
    let (session, queued) = (&session.name, session.queued);
    StoredMessage { session, message, before, status, queued, not_started, waits_for, warning }
}

/// A session that was removed.
#[derive(Serialize, JsonSchema)]
pub struct Removed {
    pub session: SessionView,
    /// Where it is in the trash.
    pub place: PathBuf,
    /// Its worktree, if that could not be moved: it is on another filesystem.
    pub worktree_stays: Option<String>,
}

impl Removed {
    pub fn of(session: SessionView, trash: &Path) -> Self {
        let worktree = session.worktree.clone();
        let worktree_stays = worktree.filter(|path| !session.in_place && Path::new(path).exists());
        Self { place: trash.join(&session.id), worktree_stays, session }
    }
}

/// How a screen is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dress {
    Plain,
    Coloured,
}

/// A terminal's screen as text.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Screen {
    pub lines: Vec<String>,
    pub cursor: Cursor,
    pub columns: u16,
    pub rows: u16,
    /// The offset of the output that it is as of.
    pub offset: u64,
    /// The first offset that there still is.
    pub oldest: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The lines with colours and styles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ansi: Option<Vec<String>>,
}

/// Column and row, counted from 0.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    pub x: u16,
    pub y: u16,
}

impl Screen {
    pub fn of(screen: &ScreenView, dress: Dress) -> Self {
        let ScreenView { lines, ansi, cursor: (x, y), size, offset, oldest, end } = screen.clone();
        let ansi = (dress == Dress::Coloured).then_some(ansi);
        let (columns, rows, cursor) = (size.columns, size.rows, Cursor { x, y });
        Self { lines, cursor, columns, rows, offset, oldest, end, ansi }
    }
}

/// What an agent wrote to its terminal.
#[derive(Serialize, JsonSchema)]
pub struct Output<'a> {
    pub offset: u64,
    pub bytes: usize,
    pub text: Cow<'a, str>,
    /// What was before this offset is no longer there.
    pub cut_before: Option<u64>,
}

/// What a session has changed.
#[derive(Serialize, JsonSchema)]
pub struct Diff<'a> {
    pub from: String,
    pub to: String,
    pub files: Vec<FileDiffView>,
    pub patch: Option<Cow<'a, str>>,
}

/// What a snapshot was restored to.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Restoration {
    Here(Box<SessionView>),
    Elsewhere(RestoredTo),
}

/// A snapshot at another place.
#[derive(Serialize, JsonSchema)]
pub struct RestoredTo {
    pub path: String,
    pub snapshot: String,
    /// What could not be as it was.
    pub notes: Vec<String>,
}

/// A session's work in a branch.
#[derive(Serialize, JsonSchema)]
pub struct Merged<'a> {
    #[serde(flatten)]
    pub merge: &'a MergeView,
    pub files: &'a [FileDiffView],
}

/// What was deleted for good.
#[derive(Serialize, JsonSchema)]
pub struct Emptied<'a> {
    /// Names.
    pub deleted: &'a [String],
    /// How many are left in the trash.
    pub left: usize,
}

/// What differs in a session that is to be merged. A plan has no diff of its own.
pub fn to_merge(control: &mut Client, name: &str) -> Result<Vec<FileDiffView>, Complaint> {
    match control.call(Request::Diff { session: name.to_owned(), since: None, patch: false }) {
        Ok(Response::Diff { files, .. }) => Ok(files),
        Ok(_) => Err(unexpected()),
        Err(Fault::Refused(Refusal::NoSuchSession { .. })) => Ok(Vec::new()),
        Err(fault) => Err(fault.into()),
    }
}
