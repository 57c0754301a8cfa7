//! Where an agent keeps a conversation, and how to find out which of its processes works on it.

/// Where a file is that only its maker knows the exact name of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileLocation {
    At(String),
    /// In a folder so many levels below this one, with a name that ends like this. An id makes the
    /// ending unique.
    Below {
        folder: String,
        /// Levels of folders in between.
        levels: u8,
        /// The end of the name, or all of it.
        ending: String,
    },
}

/// Further files of a conversation: an agent that lets its user undo turns goes on in another file after
/// that. Their names sort in the order in which they were begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    pub folder: String,
    /// Levels of folders in between.
    pub levels: u8,
    /// What their names hold. An id makes it unique.
    pub mark: String,
}

/// A conversation that is no file, but rows of a database that the agent writes. It is read by the
/// agent's own tables and put back by the agent's own program, so glis never writes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    pub database: Database,
    /// The agent's session id: the one parameter of all statements.
    pub id: String,
    /// Selects one text, or no row if there is no such conversation. Its first line is another one after
    /// every change; each further line is the id of a message. It is asked for often, so it has to be
    /// cheap.
    pub state: &'static str,
    /// Selects one text: the whole conversation, as the agent's program takes it back.
    pub text: &'static str,
    /// Selects one text if the last turn came to an end that only the database tells: [`Rows::LIMIT`] or
    /// [`Rows::LENGTH`].
    pub ending: &'static str,
    /// The arguments by which that program takes it back from the file whose name comes behind them.
    pub take_back: &'static [&'static str],
}

impl Rows {
    /// The turn ended at a usage limit.
    pub const LIMIT: &'static str = "limit";
    /// The turn ended in the middle of an answer that was too long.
    pub const LENGTH: &'static str = "length";
}

/// The file that a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    At(String),
    /// Whichever in this folder holds what is looked for, of those with a name that begins and ends so.
    Among {
        folder: String,
        beginning: &'static str,
        ending: &'static str,
    },
}

/// A session id that a process of the agent works under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRef {
    pub id: String,
    /// When it was given, in milliseconds since the Unix epoch.
    pub given_ms: u64,
    pub file: RefFile,
}

/// A file by which a process of the agent is known to work under a session id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefFile {
    /// It keeps others from the conversation.
    Lock,
    Transcript,
}

/// A process of the agent that is in a conversation, by its own account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    pub id: String,
    pub pid: i32,
    /// When it began, in ticks since the machine did: a number may be given again.
    pub start_ticks: u64,
}
