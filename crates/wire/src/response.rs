//! What the daemon answers.

use crate::hold::Size;
use crate::plan::{PlanFile, PlanRow, PlanView, RunView};
use crate::view::{
    ChoicesView, CompactionView, CostView, DaemonView, Entry, FileDiffView, Finding, GateView, Hit,
    MergeView, SessionRow, SessionView, SnapshotView, TrashView, VerdictView,
};
use glis_core::refusal::LineFault;
use glis_core::{Refusal, Status};
use serde::{Deserialize, Serialize};

/// What the daemon says. All but the streamed ones end the exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are named like what the contract prints")]
pub enum Response {
    /// It is done; this is the session afterwards.
    Done {
        session: Box<SessionView>,
        already: bool,
    },
    /// A session was made; what was chosen for the caller is in the notes.
    Made {
        session: Box<SessionView>,
        notes: Vec<String>,
    },
    /// The message is stored.
    Queued {
        session: Box<SessionView>,
        message: u64,
        before: usize,
        status: Status,
        /// How long nothing had happened in the session before this message.
        idle_secs: Option<u64>,
    },
    /// What came of each, in the order that was asked for.
    Each(Vec<Self>),
    /// Everything is paused or resumed, as far as it is: what came of each that is concerned.
    Gate {
        gate: Box<GateView>,
        already: bool,
        each: Vec<Self>,
    },
    /// One session, whole.
    Session(Box<SessionView>),
    /// A list, whose first rows have come before, in parts.
    Sessions {
        rows: Vec<SessionRow>,
        /// So many rest for longer, and are not in it.
        more: usize,
    },
    /// Paint this (the raw frame before), then follow the holder in this folder from `from`.
    Attached {
        session: Box<SessionView>,
        from: u64,
        size: Size,
        holder_dir: Option<String>,
    },
    /// A screen.
    Screen(Box<ScreenView>),
    /// How the daemon is.
    Daemon(DaemonView),
    /// What is wrong.
    Findings(Vec<Finding>),
    /// What was saved.
    Snapshots(Vec<SnapshotView>),
    /// What a conversation comes down to.
    Compaction(Box<CompactionView>),
    /// What was removed.
    Trash(Vec<TrashView>),
    /// What was found.
    Hits(Vec<Hit>),
    /// What was used.
    Costs(Vec<CostView>),
    Choices(Box<ChoicesView>),
    /// What differs; the patch itself came before, in raw frames.
    Diff {
        from: String,
        to: String,
        files: Vec<FileDiffView>,
    },
    /// A snapshot is at this place.
    RestoredTo {
        path: String,
        snapshot: String,
        notes: Vec<String>,
    },
    /// A session's work is in a branch.
    Merged(Box<MergeView>),
    /// A plan, as far as it is.
    Plan(Box<PlanView>),
    /// No plan of this file was ever executed.
    NoPlan,
    /// A plan as its file has it.
    PlanFile(Box<PlanFile>),
    /// What is wrong with the file of a plan.
    PlanChecked {
        path: String,
        faults: Vec<LineFault>,
    },
    /// Attempts at tasks.
    Runs(Vec<RunView>),
    /// Plans that were executed.
    Plans(Vec<PlanRow>),
    /// A conversation was told to this offset.
    Read {
        next: u64,
    },
    /// The stream has come to its end.
    End,
    /// Not in this state.
    Refused(Refusal),
    /// What was asked for cannot be: a wrong base, folder or agent. The hint is the way out.
    Unusable {
        message: String,
        hint: String,
    },
    /// Something else went wrong.
    Trouble {
        kind: Trouble,
        message: String,
    },
    /// Streamed: a part of a list.
    Rows(Vec<SessionRow>),
    /// Streamed: what came of one of several; those before it were told.
    One(Box<Self>),
    /// Streamed: a step of the operation that the caller waits for, as an event's JSON.
    Step(serde_json::Value),
    /// Streamed: an event's JSON.
    Event(serde_json::Value),
    /// Streamed: a run of the plan has become this.
    Run(Box<RunView>),
    /// Streamed: what the rules have said of one request.
    Verdict(Box<VerdictView>),
    /// Streamed: a line of a conversation.
    Entry(Entry),
    /// Streamed: output before this offset is no longer there.
    Cut {
        oldest: u64,
    },
}

/// What kind of trouble it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words explain themselves")]
pub enum Trouble {
    BadInput,
    /// The caller's scope does not include it.
    NotAllowed,
    /// Whether it was done is not known: the daemon or the caller went away in the middle.
    Unknown,
    TimedOut,
    Storage,
    Internal,
}

impl Response {
    /// With the parts of a list that came before it.
    #[must_use]
    pub fn after(mut self, mut parts: Vec<SessionRow>) -> Self {
        if let Self::Sessions { rows, .. } = &mut self {
            parts.append(rows);
            *rows = parts;
        }
        self
    }

    /// Whether the exchange is over with this.
    pub fn is_final(&self) -> bool {
        let goes_on = matches!(
            self,
            Self::Rows(_)
                | Self::One(_)
                | Self::Step(_)
                | Self::Event(_)
                | Self::Verdict(_)
                | Self::Run(_)
                | Self::Entry(_)
                | Self::Cut { .. }
        );
        !goes_on
    }
}

/// A screen as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenView {
    /// Every row, without spaces at its end.
    pub lines: Vec<String>,
    /// The same with colours and styles, and with no other control sequence.
    pub ansi: Vec<String>,
    /// Column and row, counted from 0.
    pub cursor: (u16, u16),
    /// How large it was.
    pub size: Size,
    /// The offset of the output that it is as of.
    pub offset: u64,
    /// The first offset that there still is.
    #[serde(default)]
    pub oldest: u64,
    /// The offset after the last byte.
    #[serde(default)]
    pub end: u64,
}
