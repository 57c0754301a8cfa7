//! What reaches the model, and what it wants done: everything outside lies between these two.

use crate::input::Input;
use crate::patch::FilePatch;
use glis_client::Fault;
use glis_client::labels::Tone;
use glis_core::Status;
use glis_screen::Run;
use glis_verbs::Complaint;
use glis_wire::client::{Request, Response};
use glis_wire::hold::Size;
use glis_wire::plan::{PlanFile, PlanRow, RunView};
use glis_wire::view::{AgentView, ChoicesView, Entry, Hit, SessionRow, SnapshotView, TrashView};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Something that went wrong, in the words of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub message: String,
    pub hint: Option<String>,
}

impl From<Complaint> for Told {
    fn from(Complaint { message, hint, .. }: Complaint) -> Self {
        Self { message, hint }
    }
}

impl From<Fault> for Told {
    fn from(fault: Fault) -> Self {
        Complaint::from(fault).into()
    }
}

/// The time, handed in with every message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Now {
    /// For spans: milliseconds since the program began.
    pub(crate) ms: u64,
    /// For ages: seconds since 1970.
    pub(crate) wall_secs: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Msg {
    /// A key, a paste, the mouse, an answer of the terminal.
    Input(Input),
    /// The terminal has this size.
    Resized { columns: u16, rows: u16 },
    /// A time that was asked for has come.
    Time,
    /// The sessions of the list.
    Listed(Listed),
    /// Some of them, looked at again.
    Seen(Vec<Seen>),
    /// The one in hand, once it is known that a person has seen it.
    LookedAt(Box<SessionRow>),
    /// An event, as the contract describes it.
    Event(Box<News>),
    /// The daemon cannot be reached; it is tried again.
    Lost(Told),
    /// The daemon was stopped; it is not started again without a wish.
    Stopped,
    /// Something that was asked for has ended.
    Ended { ticket: u64, result: Result<Box<Response>, Told> },
    /// A session's screen, and what follows it.
    Preview { session: String, news: PreviewNews },
    /// What has scrolled out of a session's terminal.
    Past { session: String, result: Result<Vec<Vec<Run>>, Told> },
    /// What a view of a session shows.
    Fetched { session: String, result: Result<Fetched, Told> },
    /// What was found of these words in all conversations.
    Found { words: String, result: Result<Vec<Hit>, Told> },
    /// What led to the question in hand.
    Led(Lead),
    /// What was removed.
    Trash(Result<Vec<TrashView>, Told>),
    /// What the rules have said, newest first.
    Judged(Result<Vec<Judged>, Told>),
    /// How far the plans of some repositories are, and their runs.
    Plans(Result<(Vec<PlanRow>, Vec<RunView>), Told>),
    /// A plan was read from this file of a repository.
    Plan { repo: String, file: String, result: Result<Box<PlanFile>, Told> },
    /// The agents that there are.
    Choices(Box<ChoicesView>),
    /// The user is back from an editor, with this text.
    Edited(Result<String, Told>),
    /// The user is back from a session's own terminal.
    Returned(Result<(), Told>),
    /// So many files has a session changed, as of its last snapshot.
    Changes { session: String, files: usize },
    /// The branch that the work of a session goes into.
    Base { session: String, branch: String },
    /// Another overview has changed this draft, which was so before.
    Draft { id: String, before: String, text: String },
    /// Something that was wanted could not be done.
    Failed(Told),
}

/// The sessions that live and the latest of those at rest, as of an event or a later one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) sessions: Vec<SessionRow>,
    /// So many rest for longer.
    pub(crate) more: usize,
    pub(crate) last_seq: u64,
    pub(crate) gate: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    There(Box<SessionRow>),
    /// It is not listed any more.
    Gone(String),
}

/// What of an event is used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct News {
    pub(crate) seq: u64,
    pub(crate) session: Option<String>,
    pub(crate) name: String,
    pub(crate) status: Option<Status>,
    /// What is being done after it, for a person who waits.
    pub(crate) step: Option<&'static str>,
    /// The request that it is about, and how that is answered, where it is.
    pub(crate) answer: Option<(String, Option<String>)>,
}

impl News {
    pub(crate) fn read(seq: u64, event: &Value) -> Self {
        let text = |key: &str| event.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let status = event.get("status").cloned();
        Self {
            seq,
            session: text("session"),
            name: text("event").unwrap_or_default(),
            status: status.and_then(|status| serde_json::from_value(status).ok()),
            step: glis_client::labels::step(event),
            answer: text("ask").map(|request| (request, text("answer"))),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PreviewNews {
    /// The whole screen as of an offset.
    Painted { bytes: Vec<u8>, from: u64, size: Size },
    /// Output that follows.
    Output { at: u64, bytes: Vec<u8> },
    /// Another size from here on.
    Resized(Size),
    /// The process has ended; the last screen stays.
    Ended,
    /// It cannot be shown.
    Refused(Told),
}

/// What a view of a session shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fetched {
    Conversation(Said),
    Diff(Vec<FilePatch>),
    Snapshots(Vec<SnapshotView>),
    Runs(Vec<RunView>),
    Events(Vec<Value>),
}

/// Entries of a conversation, from a place of its file to its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) entries: Vec<Entry>,
    /// Where they begin. What was said before was not read, unless this is 0.
    pub(crate) from: u64,
    /// Where the next read begins.
    pub(crate) next: u64,
}

/// What of a conversation is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Its end.
    End,
    /// From here on.
    From(u64),
}

/// Agents that are installed, and which of them a session has that names none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Agents {
    pub(crate) installed: Vec<String>,
    pub(crate) usual: Option<String>,
}

impl Agents {
    pub(crate) fn of(choices: &ChoicesView) -> Self {
        let named = |which: fn(&AgentView) -> bool| {
            choices.agents.iter().filter(move |one| which(one)).map(|one| one.name.clone())
        };
        let usual = named(|one| one.usual).next();
        Self { installed: named(|one| one.installed).collect(), usual }
    }
}

/// What led to the question in hand: the last that was said before it, or the end of its screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lead {
    /// Whose it is, and which of its requests.
    of: (String, String),
    pub(crate) said: Vec<Entry>,
    /// The last rows of a terminal whose conversation is not known.
    pub(crate) screen: Vec<String>,
}

impl Lead {
    /// Nothing is known of it yet.
    pub(crate) fn of(session: &str, request: &str) -> Self {
        Self { of: (session.to_owned(), request.to_owned()), ..Self::default() }
    }

    pub(crate) fn is_of(&self, session: &str, request: &str) -> bool {
        (self.of.0.as_str(), self.of.1.as_str()) == (session, request)
    }
}

/// What the rules have said of something that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    /// When, RFC 3339.
    pub(crate) at: String,
    pub(crate) session: String,
    pub(crate) name: String,
    pub(crate) text: String,
    /// The verdict and its reason, in words.
    pub(crate) says: String,
    pub(crate) tone: Tone,
}

/// Where a session's runs are: the repository, and the task if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskPlace {
    pub(crate) repo: String,
    pub(crate) task: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tab {
    #[default]
    Terminal,
    Conversation,
    Diff,
    Snapshots,
    Runs,
    Events,
}

impl Tab {
    pub(crate) const ALL: [Self; 6] =
        [Self::Terminal, Self::Conversation, Self::Diff, Self::Snapshots, Self::Runs, Self::Events];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Conversation => "conversation",
            Self::Diff => "diff",
            Self::Snapshots => "snapshots",
            Self::Runs => "runs",
            Self::Events => "events",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Leave. Agents run on.
    Quit,
    /// Back to the shell, until it continues us.
    Suspend,
    /// Draw everything, whatever is on the screen.
    Redraw,
    /// Start the daemon, which was stopped.
    StartDaemon,
    /// Show this session on the whole terminal.
    Attach { id: String },
    /// Make a call; its end comes back under the ticket.
    Call { ticket: u64, request: Box<Request> },
    /// Look at these sessions again.
    Look(Vec<String>),
    /// Look at the one in hand: a person has seen it.
    LookAt(String),
    /// Follow the terminal of this session, and of no other.
    Follow(Option<String>),
    /// Give the terminal that is followed this size.
    Fit { session: String, size: Size },
    /// Get what a view shows.
    Fetch { session: String, tab: Tab, last_seq: u64, task: Option<TaskPlace>, said: Wish },
    /// Find out where the work of this session goes.
    FindBase { session: String },
    /// Count the files that this session has changed, as of its last snapshot.
    CountChanges { session: String },
    /// Get what has scrolled out of a terminal of this size before this offset.
    FetchPast { session: String, upto: u64, size: Size },
    /// Type this into the terminal that is followed.
    Type { session: String, bytes: Vec<u8> },
    /// Find out what led to this question.
    FindLead { session: String, request: String },
    /// Look for words in all conversations.
    Search { words: String },
    /// Get the list of what was removed.
    FetchTrash,
    /// Get what the rules have said.
    FetchJudged,
    /// Find out which agents and filters there are.
    FindChoices,
    /// Have the daemon keep a filter, or forget it.
    KeepFilter { words: String, keep: bool },
    /// See how far the plans of these repositories are.
    LookAtPlans(BTreeSet<String>),
    /// Read a plan of a repository, and how far it is; without a file the repository's own.
    ReadPlan { repo: String, file: String },
    /// Have the user's own editor change a text.
    Edit { text: String },
    /// Hand this to the clipboard of the user's terminal.
    Copy(String),
    /// Keep what was typed and not sent.
    KeepDrafts(BTreeMap<String, String>),
    /// Read this draft again: another overview may have sent it.
    ReadDraft { id: String },
    /// Tell the user by the terminal's own means.
    Notify { text: String, ring: bool },
}
