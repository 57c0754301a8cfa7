//! What each agent says and how to speak to it. Nothing here touches a process or a file.
//!
//! Adding an agent means one new file with an [`Agent`] and a [`Dialect`], and one line in
//! [`table`].
#![forbid(unsafe_code)]

mod claude;
mod codex;
mod command;
pub mod context;
mod gemini;
mod hearing;
pub mod hooks;
pub mod lines;
mod opencode;
mod rehearsal;
mod reserved;

use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::session::Session;
use glis_core::spec::{Mode, Traits};
use glis_core::talk::Ask;
pub use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, DENY};
use glis_wire::view::Voice;

/// The agents that glis knows.
pub fn table() -> &'static [(&'static str, &'static dyn Agent)] {
    &[
        ("claude", &claude::Claude),
        ("codex", &codex::Codex),
        ("command", &command::AnyCommand),
        ("gemini", &gemini::Gemini),
        ("opencode", &opencode::OpenCode),
        ("rehearsal", &rehearsal::Rehearsal),
    ]
}

/// Finds an agent by name.
pub fn find(name: &str) -> Option<&'static dyn Agent> {
    table().iter().find(|(known, _)| *known == name).map(|(_, agent)| *agent)
}

/// One kind of agent: how it is started and what it can do.
pub trait Agent: Sync {
    /// What it can do, given the mode and the arguments of a session.
    fn traits(&self, mode: Mode, argv: &[String]) -> Traits;

    /// The mode a session gets when nobody says.
    fn usual_mode(&self) -> Mode {
        Mode::Terminal
    }

    /// Says what is wrong with a session that somebody wants, before it is made.
    fn check(&self, mode: Mode, argv: &[String]) -> Result<(), String>;

    /// Whether words can be added to its own instructions. A persona that has some is refused
    /// otherwise: nobody must believe that they count.
    fn takes_instructions(&self) -> bool {
        false
    }

    /// The command line, what it adds to the environment, and the first words.
    fn launch(&self, session: &Session, how: Approach, places: &Places) -> LaunchPlan;

    /// The place where it keeps its transcripts, by the variables that it is started with.
    fn home(&self, _variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        None
    }

    /// The user's own settings for it, which are read and never written.
    fn settings(&self, _home: &str) -> Option<String> {
        None
    }

    /// Where the agent keeps its transcript of this session id.
    fn transcript(&self, agent_ref: &str, places: &Places) -> Option<Whereabouts>;

    /// Where it keeps the conversation under this session id, if it has one database for all.
    fn rows(&self, _agent_ref: &str, _places: &Places) -> Option<Rows> {
        None
    }

    /// Whether a transcript holds a message. One that does not is known to some agents, and yet
    /// nothing that they can resume.
    fn holds_messages(&self, _transcript: &[u8]) -> bool {
        true
    }

    /// The session id that a file stands for which its process has open, for an agent that does not
    /// tell it otherwise.
    fn ref_of_file(&self, _path: &str) -> Option<OpenRef> {
        None
    }

    /// The folder in which somebody began a conversation, by the first line of its transcript, for an
    /// agent whose id is found by its open files.
    fn begun_in(&self, _first_line: &[u8]) -> Option<String> {
        None
    }

    /// The folder in which each of its living processes says what it works on, in a file of its own.
    fn register(&self, _home: &str) -> Option<String> {
        None
    }

    /// What such a file says.
    fn registered(&self, _file: &[u8]) -> Option<Registered> {
        None
    }

    /// Programs that do the work where the one on the `PATH` is only a launcher, best first. A
    /// launcher that is killed leaves its agent behind.
    fn natives(&self, _program: &str) -> Vec<String> {
        Vec::new()
    }

    /// The names of the packages that its program comes in, or what these begin with before a dash.
    fn packages(&self) -> &'static [&'static str] {
        &[]
    }

    /// The versions that it is known to work with.
    fn versions(&self) -> Option<Versions> {
        None
    }

    /// A listener for one run of the process.
    fn dialect(&self, mode: Mode) -> Box<dyn Dialect>;
}

/// Folders that an agent's command line may need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The program that glis itself is.
    pub own_program: String,
    /// Where the rehearsal agent keeps its transcripts.
    pub rehearsal: String,
    /// What [`Agent::home`] said; empty if it said nothing.
    pub home: String,
    /// What stands in the file that [`Agent::settings`] named; empty if there is none.
    pub settings: String,
    /// The session's own folder.
    pub session: String,
}

/// Where a file is that only its maker knows the exact name of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whereabouts {
    /// Here.
    At(String),
    /// In a folder so many levels below this one, with a name that ends like this. An id makes the
    /// ending unique.
    Below {
        /// The folder to look in.
        folder: String,
        /// Levels of folders in between.
        levels: u8,
        /// The end of the name, or all of it.
        ending: String,
    },
}

/// A conversation that is no file, but rows of a database that the agent writes. It is read by the
/// agent's own tables and put back by the agent's own program, so nobody else ever writes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Where the rows are.
    pub database: Database,
    /// The agent's session id: the one parameter of both statements.
    pub id: String,
    /// Selects one text, or no row if there is no such conversation. Its first line is another one after
    /// every change; each further line is the id of a message. It is asked for often, so it has to be
    /// cheap.
    pub state: &'static str,
    /// Selects one text: the whole conversation, as the agent's program takes it back.
    pub text: &'static str,
    /// The arguments by which that program takes it back from the file whose name comes behind them.
    pub take_back: &'static [&'static str],
}

/// The file that a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// This one.
    At(String),
    /// Whichever in this folder holds what is looked for, of those with a name that begins and ends so.
    Among {
        /// The folder to look in.
        folder: String,
        /// The beginning of the name.
        beginning: &'static str,
        /// The end of the name.
        ending: &'static str,
    },
}

/// A session id that a process of the agent works under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRef {
    /// The id.
    pub id: String,
    /// When it was given, in milliseconds since the Unix epoch.
    pub given_ms: u64,
    /// What the file is to the conversation.
    pub file: RefFile,
}

/// A file by which a process of the agent is known to work under a session id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefFile {
    /// It keeps others from the conversation.
    Lock,
    /// It holds the conversation.
    Transcript,
}

/// A process of the agent that is in a conversation, by its own account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The conversation's id.
    pub id: String,
    /// The process.
    pub pid: i32,
    /// When it began, in the ticks of `/proc/PID/stat`: a number may be given again.
    pub start_ticks: u64,
}

/// A version, as in `1.2.3`.
pub type Version = (u32, u32, u32);

/// The versions of an agent that it is known to work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// Older ones lack something that is needed.
    pub oldest: Version,
    /// The newest one that was tried. A newer one is told of, not refused.
    pub tried: Version,
    /// Known not to work.
    pub bad: &'static [Version],
}

/// How a process is to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// A conversation that does not exist yet.
    Fresh,
    /// The conversation under the session's `agent_ref`.
    Resume,
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchPlan {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables added to the caller's environment.
    pub env: Vec<(String, String)>,
    /// Variables of the caller's that would mislead the agent.
    pub without: Vec<&'static str>,
    /// Variables that get a value which nobody can guess, unless the caller has set them.
    pub secrets: Vec<&'static str>,
    /// What its holder writes to it right after it was started.
    pub first_words: String,
    /// How its hooks tell what it does.
    pub hooks: Hooks,
    /// For an agent that lives for one message only.
    pub relay: Option<Relay>,
}

/// How an agent's hooks tell what it does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hooks {
    /// It has none of ours.
    #[default]
    None,
    /// By lines in the session's file for them ([`hooks`]).
    File,
}

impl LaunchPlan {
    /// The agent's program.
    pub fn program(&self) -> &str {
        let later = self.relay.as_ref().and_then(|relay| relay.later.first());
        self.argv.first().or(later).map(String::as_str).unwrap_or_default()
    }

    /// Puts the place where the program was found in the place of its name.
    pub fn set_program(&mut self, program: &str) {
        let later = self.relay.as_mut().and_then(|relay| relay.later.first_mut());
        for name in self.argv.first_mut().into_iter().chain(later) {
            program.clone_into(name);
        }
    }
}

/// How an agent that lives for one message is started anew for each. The plan's own command line is
/// that of the first message; empty if there was one already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relay {
    /// Its id of the conversation.
    pub id: String,
    /// The command line of every later message.
    pub later: Vec<String>,
    /// The file that holds the conversation once it has begun.
    pub kept: Whereabouts,
}

/// One thing that an agent was heard to say or do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Offset just behind it, unique among all signs, and among all words, from one source.
    pub at: u64,
    /// What it means for the lifecycle.
    pub sign: Option<Sign>,
    /// What it adds to the conversation.
    pub said: Option<Said>,
}

/// Something worth keeping in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who says it.
    pub voice: Voice,
    /// What is said.
    pub content: String,
    /// The tool, where one was used.
    pub tool: Option<String>,
    /// Tasks that are still to do, where the agent keeps a list.
    pub pending: Option<Vec<String>>,
    /// What became of one task, where it keeps them by number.
    pub task: Option<TaskChange>,
    /// What the agent has used so far, where it says.
    pub usage: Option<Usage>,
    /// How the tool, or the turn that this tells of, came to an end that it was not to have.
    pub outcome: Option<Outcome>,
}

/// An end that a tool or a turn was not to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A tool was not allowed: it did not run.
    Denied,
    /// A turn was broken off. What it was doing may have had its effect.
    Interrupted,
}

impl Outcome {
    /// The word for it in a conversation.
    pub fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What becomes of one task on an agent's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskChange {
    /// It is to do, and called this.
    Opened {
        /// The agent's number for it.
        id: String,
        /// What is to do.
        subject: String,
    },
    /// It is done, or no longer wanted.
    Closed {
        /// The agent's number for it.
        id: String,
    },
}

/// What an agent has used: of one turn, or since its conversation began, as it tells it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of this turn that went in.
    pub tokens_in: u64,
    /// Tokens of this turn that came out.
    pub tokens_out: u64,
    /// Millionths of a dollar that the whole conversation has cost, by the agent's own count.
    pub cost_micros: Option<u64>,
}

impl Said {
    /// Words without anything else to them.
    pub fn new(voice: Voice, content: impl Into<String>) -> Self {
        Self {
            voice,
            content: content.into(),
            tool: None,
            pending: None,
            task: None,
            usage: None,
            outcome: None,
        }
    }

    /// That a tool was not allowed, in the words by which it was told before.
    pub fn denied(name: &str, content: impl Into<String>) -> Self {
        Self { outcome: Some(Outcome::Denied), ..Self::tool(name, content) }
    }

    /// The use of a tool.
    pub fn tool(name: &str, content: impl Into<String>) -> Self {
        Self { tool: Some(name.to_owned()), ..Self::new(Voice::Tool, content) }
    }
}

/// How an agent is told to stop its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interrupt {
    /// By these bytes on its input.
    Bytes(Vec<u8>),
    /// By this signal to its process group.
    Signal(i32),
}

/// What the screen of an agent shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// That it takes messages.
    Prompt,
    /// That nothing runs, and that something stands in the prompt that nobody has sent.
    Draft,
    /// That it asks for leave to do something.
    Asking(Leave),
    /// A question of the program itself, which only somebody at its terminal can answer: whether a
    /// folder is trusted, who is logged in.
    Dialog(String),
    /// Neither.
    Other,
}

/// What an agent asks leave for on its screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leave {
    /// The name of the question, if what the agent has written elsewhere gives it one.
    pub id: Option<AskId>,
    /// What is to be allowed.
    pub text: String,
    /// What can be answered.
    pub choices: &'static [&'static str],
}

/// The words of one agent in one mode: what it says is fed in, what it is told comes out.
pub trait Dialect: Send + Sync {
    /// Takes output bytes that begin at `offset`. After a restart of the daemon everything since
    /// the start of the process comes again: what is said to an agent may depend on what was heard
    /// long before. What only paints a screen says nothing there.
    fn hear(&mut self, _offset: u64, _bytes: &[u8]) -> Vec<Heard> {
        Vec::new()
    }

    /// Takes bytes that begin at `offset` of the file that hooks of the agent write to, if it has
    /// any ([`hooks`]).
    fn overhear(&mut self, _offset: u64, _bytes: &[u8]) -> Vec<Heard> {
        Vec::new()
    }

    /// Takes bytes of the transcript that begin at `offset`. Of whoever says everything in its output
    /// it is read from its beginning when the end of that was lost.
    fn read(&mut self, _offset: u64, _bytes: &[u8]) -> Vec<Heard> {
        Vec::new()
    }

    /// What to write so that the agent takes a message.
    fn say(&self, text: &str) -> Vec<u8>;

    /// How to stop its turn.
    fn interrupt(&self) -> Interrupt;

    /// What to write so that a question is answered, or why nothing would answer it.
    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String>;

    /// Takes note of an answer that is given to a question. Some agents tell a tool that was denied
    /// and one that was interrupted in the same words.
    fn answered(&mut self, _ask: &Ask, _answer: &str) {}

    /// What the screen of an agent in a terminal shows.
    fn shows(&self, lines: &[String]) -> Shown;

    /// Whether the screen shows this question, for an agent that asks on its screen.
    fn shows_ask(&self, _ask: &Ask, _lines: &[String]) -> Option<bool> {
        None
    }

    /// What a screen that has come to rest means, where nothing better was heard.
    fn at_rest(&mut self, _shown: &Shown) -> Option<Sign> {
        None
    }

    /// Where its signs come from.
    fn source(&self) -> Source;
}

/// Where an agent's signs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Its output, line by line.
    Stream,
    /// Its transcript, looked at whenever its output moves.
    Transcript,
    /// Its screen, looked at when it is quiet.
    Screen,
}

/// Why an answer is not given to what nobody asks.
const GONE: &str = "it does not ask this any more";
/// Why an answer is not given that a dialog does not have.
const NO_SUCH_CHOICE: &str = "it has no such choice";

/// Keys for a terminal: pasted, so that a program that knows pasting takes newlines as text, and
/// freed from everything that could close the paste, be a key of its own, or turn the direction of
/// writing, which nobody sees and about which some programs ask.
pub fn typed(text: &str) -> Vec<u8> {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}'];
    let turns = |c: char| {
        turns.contains(&c) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let clean: String = text
        .chars()
        .map(|c| if c == '\n' { '\r' } else { c })
        .filter(|c| (!c.is_control() || matches!(c, '\t' | '\r')) && !turns(*c))
        .collect();
    let mut keys = Vec::with_capacity(clean.len() + 16);
    keys.extend_from_slice(b"\x1b[200~");
    keys.extend_from_slice(clean.as_bytes());
    keys.extend_from_slice(b"\x1b[201~\r");
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_cannot_leave_its_paste() {
        let keys = typed("a\x1b[201~\x03b\nc\td\u{9b}\u{202e}");
        assert_eq!(keys, b"\x1b[200~a[201~b\rc\td\x1b[201~\r".to_vec());
    }

    #[test]
    fn every_agent_of_the_table_is_found_by_its_name() {
        for (name, _) in table() {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("nobody").is_none());
    }
}
