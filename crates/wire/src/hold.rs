//! What is said to a holder and by it. Holders outlive upgrades, so this stays small: new fields
//! need a default, and no word changes its meaning.
//!
//! Both the daemon and an attached terminal are clients of the same socket. A client's raw frame
//! is input for the agent; its tag is an order number that is confirmed by [`Report::Wrote`], or
//! 0 if no client waits for it, as with keys, which an agent on pipes does not get. A holder's raw
//! frame is output; its tag is the offset of its first byte in the session's log.

pub use glis_core::session::Process;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of this protocol. Goes up only when an old peer would misunderstand.
pub const PROTOCOL: u32 = 1;

/// In the number of an order that hands a message over, beside the number of the message.
pub const MESSAGE: u64 = 1 << 63;

/// File names inside a session's folder, which both sides must agree on.
pub mod place {
    /// The holder's socket.
    pub const SOCKET: &str = "hold.sock";
    /// Locked as long as a holder lives for this session. It says who: one [`super::Process`] as
    /// JSON.
    pub const LOCK: &str = "hold.lock";
    /// The folder with the raw output, one file per stretch, named by its first offset
    /// (16 hexadecimal digits).
    pub const OUTPUT: &str = "output";
    /// The terminal's size over time: lines `OFFSET COLUMNS ROWS`.
    pub const SIZES: &str = "sizes";
    /// How the process ended: one [`super::ExitRecord`] as JSON.
    pub const EXIT: &str = "exit.json";
    /// Standard error of an agent on pipes, capped like the output.
    pub const ERRORS: &str = "errors";
    /// What the holder itself has to complain about.
    pub const COMPLAINTS: &str = "hold.err";
    /// Says that the holder has made the folder again: what else was in it is gone.
    pub const REMADE: &str = "remade";
}

/// Environment variable that marks every process of a session with the session's id.
pub const MARK: &str = "GLIS_SESSION";
/// Environment variable with the generation that a process belongs to.
pub const MARK_GENERATION: &str = "GLIS_GENERATION";

/// Everything a holder needs, handed to it on standard input and never written to disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The session's id, which becomes the mark.
    pub session: String,
    /// Which start of the session's process this is.
    pub generation: u32,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// Working directory; `PWD` is set to it as well.
    pub cwd: String,
    /// Terminal or pipes.
    pub face: Face,
    /// The session's folder, with the files of [`place`].
    pub dir: String,
    /// A lock file for the agent's own session id, where it is known beforehand.
    pub ref_lock: Option<String>,
    /// Bytes of output kept on disk; the oldest are cut.
    pub log_bytes_max: u64,
    /// File mode mask for the agent.
    pub umask: u32,
    /// Written into the log before the agent's first byte, if the log holds an earlier run: what
    /// brings a terminal back to its usual modes, below everything that is on it.
    pub seam: Option<String>,
    /// Written to the agent right after its start, before anything that a client sends: the
    /// daemon may die in between.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub first_words: String,
    /// Processes of an earlier start that a pause has left running on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Process>,
    /// The output goes on here, or later: the log's offsets up to this one are used up, also where
    /// the folder with the output was deleted.
    #[serde(default, skip_serializing_if = "is_beginning")]
    pub output_from: u64,
    /// Limits for the agent; whatever is not named is inherited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a field over like this")]
fn is_beginning(offset: &u64) -> bool {
    *offset == 0
}

/// Every limit of the system by the name that a shell has for it, as an array of pairs. `Resource` is
/// the type of the caller's library for system calls: this crate makes none.
#[macro_export]
macro_rules! every_limit {
    ($resource:ident) => {
        [
            ("cpu", $resource::Cpu),
            ("fsize", $resource::Fsize),
            ("data", $resource::Data),
            ("stack", $resource::Stack),
            ("core", $resource::Core),
            ("rss", $resource::Rss),
            ("nproc", $resource::Nproc),
            ("nofile", $resource::Nofile),
            ("memlock", $resource::Memlock),
            ("as", $resource::As),
            ("locks", $resource::Locks),
            ("sigpending", $resource::Sigpending),
            ("msgqueue", $resource::Msgqueue),
            ("nice", $resource::Nice),
            ("rtprio", $resource::Rtprio),
            ("rttime", $resource::Rttime),
        ]
    };
}

/// A limit that the system sets on a process, as in `ulimit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The name as in `ulimit` and `prlimit`, in one word: `nofile`, `core`.
    pub name: String,
    /// The limit in force; none means unlimited.
    pub soft: Option<u64>,
    /// The highest that the process may set itself; none means unlimited.
    pub hard: Option<u64>,
}

/// What becomes of the processes that an agent has started, when it is ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Children {
    /// All of them are ended.
    #[default]
    StopAll,
    /// Those that have a session of their own stay.
    KeepDetached,
}

/// What the agent's standard streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// A terminal of this size.
    Terminal(Size),
    /// Pipes: input, and output with errors on a pipe of their own that is logged apart.
    Pipes,
}

/// A terminal's size in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// The size of a terminal that was not looked at yet.
    pub const USUAL: Self = Self { columns: 120, rows: 40 };

    /// The nearest size that programs survive: no emptiness, nothing that costs gigabytes.
    #[must_use]
    pub fn clamped(self) -> Self {
        Self { columns: self.columns.clamp(2, 1000), rows: self.rows.clamp(1, 1000) }
    }
}

/// What a client asks of a holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "what is said of a word is said of its fields")]
pub enum Order {
    /// Send every byte of output from this offset on, live. What was cut already is skipped, and the frames' tags tell.
    Follow { from: u64 },
    /// Send one [`Report::Output`] once the log is longer than this; then forget it.
    Watch { beyond: u64 },
    /// This client's terminal has this size. The last active client's size is applied.
    Resize(Size),
    /// Send this signal (by number) to the agent's process group.
    Signal { number: i32 },
    /// End the agent and everything it started, step by step, in bounded time.
    Stop(Ladder),
    /// Take this lock file of the agent's own session id as well, or report that it is taken.
    Lock { path: String },
    /// What becomes of the agent's children at the next [`Order::Stop`]. A holder of an earlier
    /// version refuses, and ends all of them.
    Children(Children),
    /// The exit status was recorded durably elsewhere: the holder may go.
    Collected,
    /// Tell what the agent was started with, in one [`Report::Environment`]. A holder of an earlier
    /// version refuses.
    Environment,
    /// Stop the agent and everything it started where they are, and keep them so. Confirmed by
    /// [`Report::Wrote`] once nothing of it moves, or refused, and then all of it goes on.
    Freeze { order: u64 },
    /// Let go on what was stopped by [`Order::Freeze`]. Confirmed by [`Report::Wrote`].
    Thaw { order: u64 },
    /// Tell whether the program in the foreground waits for input, in one [`Report::Reading`]. A holder
    /// of an earlier version refuses.
    Reading,
}

/// How an agent is brought to an end. A step with no time is left out; killing never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    /// SIGINT to the group, then this long.
    pub interrupt_ms: u32,
    /// Standard input closed, SIGTERM to the group (and SIGCONT to whoever is stopped), then this long.
    pub terminate_ms: u32,
}

/// What a holder says to its clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "what is said of a word is said of its fields")]
pub enum Report {
    /// The first word on every connection.
    Hello(Hello),
    /// The log is now this long (the answer to [`Order::Watch`]).
    Output { end: u64 },
    /// All bytes of the raw frame with this tag were handed to the agent's terminal or pipe, or the
    /// order of this number was carried out.
    Wrote { order: u64 },
    /// An order could not be carried out.
    Refused {
        /// The tag of the raw frame, the order's number, or 0.
        order: u64,
        /// Why, for a log or a person.
        why: String,
        /// It would be refused at any other time as well.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_good: bool,
    },
    /// The session's folder was deleted. The holder has made another one, where output is kept again from this offset
    /// on.
    FolderLost { at: u64 },
    /// The agent and everything it started are gone.
    Ended(ExitRecord),
    /// The number of clients that follow the output has changed.
    Audience {
        /// How many follow.
        clients: u32,
        /// How many of them have told the size of a terminal: they are attached, and do not only
        /// look on. A holder of an earlier version does not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attached: Option<u32>,
    },
    /// The terminal has another size from this offset on.
    Resized { at: u64, size: Size },
    /// The agent's environment, as the launch had it. It is told and never written down.
    Environment {
        /// Names and values.
        env: Vec<(String, String)>,
        /// The limits that came with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        limits: Vec<Limit>,
    },
    /// Whether exactly one process in the foreground is blocked in a read from the terminal. What the kernel does not
    /// show is not so.
    Reading { reads: bool },
    /// From this offset on output could not be written to disk, for the operating system's reason: what is in between
    /// is lost to the log.
    Gap { at: u64, why: String },
}

/// Who a holder is and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Hello {
    /// [`PROTOCOL`] of the holder.
    pub protocol: u32,
    /// Version of the program that the holder was started from.
    pub version: String,
    pub session: String,
    pub generation: u32,
    pub holder_pid: i32,
    pub process: Process,
    /// Length of the log.
    pub end: u64,
    /// Offset where this generation's output begins.
    pub began_at: u64,
    /// Oldest offset that is still on disk.
    pub oldest: u64,
    /// The terminal's size; `None` with pipes.
    pub size: Option<Size>,
    /// Clients that follow the output.
    pub clients: u32,
    /// Those of them that are attached, as in [`Report::Audience`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<u32>,
    /// The last order with [`MESSAGE`] in its number that the agent was sent or is about to be, by everything
    /// that was said to the holder before this connection; 0 before the first. A holder of an earlier version
    /// does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<u64>,
    /// Set once the agent has ended.
    pub ended: Option<ExitRecord>,
    /// The session's folder was deleted since, and made anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folder_lost: bool,
}

/// How a session's process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ExitRecord {
    pub session: String,
    pub generation: u32,
    /// The process that was the agent.
    pub process: Process,
    pub end: End,
    /// Whether we ended it ([`Order::Stop`]) or it ended by itself.
    pub ordered: bool,
    /// Length of the log at the end.
    pub log_end: u64,
    /// Processes that had to be ended with it.
    pub killed: Vec<Killed>,
    /// Processes that could not be ended in time.
    #[serde(default)]
    pub stuck: Vec<Killed>,
    /// Processes that were left running on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Killed>,
    /// Where its output begins in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_began: Option<u64>,
    /// Where its errors begin in their file, if it has written any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors_began: Option<u64>,
    /// How long it was given to go before it was sent SIGKILL, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
}

/// The way a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// It was killed by this signal.
    Signalled(i32),
}

/// A process that was ended along with the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Killed {
    /// Process id.
    pub pid: i32,
    /// Its command line, cut to a readable length.
    pub command: String,
    /// Its working directory, where it could be read.
    pub cwd: Option<String>,
    /// The last signal that was needed.
    pub signal: i32,
    /// Start time in clock ticks since boot; 0 if it is not known.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub start_ticks: u64,
    /// TCP ports that it listened on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_unknown(ticks: &u64) -> bool {
    *ticks == 0
}

/// What a sweep has found: printed as one line of JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// Processes that were ended.
    pub killed: Vec<Killed>,
    /// Processes that could not be ended in time.
    #[serde(default)]
    pub stuck: Vec<Killed>,
    /// Processes that were to stay, and are there.
    #[serde(default)]
    pub kept: Vec<Killed>,
}

/// What a holder prints on standard output once, when it is ready or has failed to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one is made per process, and printed at once")]
#[expect(missing_docs, reason = "what is said of a word is said of its fields")]
pub enum Birth {
    /// The agent runs and the socket listens.
    Ready(Hello),
    /// Nothing runs: what kind of failure it is, and for a person.
    Failed { kind: BirthFault, message: String },
}

/// Why a holder could not start its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BirthFault {
    /// Another holder has the session, or another process the agent's session id.
    Locked,
    /// The program does not exist or may not be executed.
    NoProgram,
    /// The working directory is not there.
    NoDirectory,
    /// Anything else.
    System,
}
