//! One kind of agent: how it is started, and where it keeps its conversations.

use crate::dialect::Dialect;
use crate::launch::{Approach, LaunchPlan, Places};
use crate::login::{Ability, Login, LoginFacts};
use crate::storage::{FileLocation, OpenRef, Registered, Rows, Segments};
use glis_core::session::Session;
use glis_core::spec::{Mode, Traits};

/// One kind of agent: how it is started and what it can do.
pub trait Agent: Sync {
    /// What it can do, given the mode and the arguments of a session.
    fn traits(&self, mode: Mode, argv: &[String]) -> Traits;

    /// The mode of a session that was not given one.
    fn usual_mode(&self) -> Mode {
        Mode::Terminal
    }

    /// Says what is wrong with a session, before it is made.
    fn check(&self, mode: Mode, argv: &[String]) -> Result<(), String>;

    /// Whether words can be added to its own instructions. A persona that has some is refused
    /// otherwise, because they would be ignored.
    fn takes_instructions(&self) -> bool {
        false
    }

    /// Whether it tells what it costs. What may cost only so much is refused otherwise.
    fn tells_cost(&self, _mode: Mode) -> bool {
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
    fn transcript(&self, agent_ref: &str, places: &Places) -> Option<FileLocation>;

    /// Where the conversation goes on after something in it was undone, beside its transcript.
    fn segments(&self, _agent_ref: &str, _places: &Places) -> Option<Segments> {
        None
    }

    /// The file that this one goes on from, by its first line. An agent that keeps each message once
    /// cannot resume without it.
    fn base(&self, _first_line: &[u8], _places: &Places) -> Option<FileLocation> {
        None
    }

    /// Where it keeps the conversation under this session id, if it has one database for all.
    fn rows(&self, _agent_ref: &str, _places: &Places) -> Option<Rows> {
        None
    }

    /// Whether a transcript holds a message. One that does not is known to some agents, and yet
    /// nothing that they can resume.
    fn holds_messages(&self, _transcript: &[u8]) -> bool {
        true
    }

    /// Whether a line of its transcript is part of the conversation that it goes on with, and no note of
    /// its own about what it was about to do.
    fn goes_on_with(&self, _line: &[u8]) -> bool {
        true
    }

    /// The end of its transcript that counts, where it writes down anew what it goes on with.
    fn standing<'t>(&self, transcript: &'t [u8]) -> &'t [u8] {
        transcript
    }

    /// The session id that a file stands for which its process has open, for an agent that does not
    /// tell it otherwise.
    fn ref_of_file(&self, _path: &str) -> Option<OpenRef> {
        None
    }

    /// The folder in which a conversation began, by the first line of its transcript, for an
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

    /// What tells whether it is logged in.
    fn login(&self) -> Login {
        Login::Untold
    }

    /// Whether it can work, by what was told.
    fn ability(&self, _facts: &LoginFacts<'_>) -> Ability {
        Ability::Unknown
    }

    /// A listener for one run of the process.
    fn dialect(&self, mode: Mode) -> Box<dyn Dialect>;
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
