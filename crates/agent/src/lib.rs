//! What each agent says and how to speak to it. Nothing here touches a process or a file.
//!
//! Adding an agent means one new file with a [`Dialect`] and one line in [`table`].
#![forbid(unsafe_code)]

mod command;
pub mod context;
pub mod lines;
mod rehearsal;

use glis_core::input::Sign;
use glis_core::session::Session;
use glis_core::spec::{Mode, Traits};
use glis_core::talk::Ask;
use glis_wire::view::Voice;

/// The agents that glis knows.
pub fn table() -> &'static [(&'static str, &'static dyn Agent)] {
    &[("command", &command::AnyCommand), ("rehearsal", &rehearsal::Rehearsal)]
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
    fn check(&self, argv: &[String]) -> Result<(), String>;

    /// The command line and what it adds to the environment.
    fn launch(&self, session: &Session, how: Approach, places: &Places) -> LaunchPlan;

    /// Where the agent keeps its transcript of this session id.
    fn transcript(&self, agent_ref: &str, places: &Places) -> Option<String>;

    /// A listener for one run of the process.
    fn dialect(&self, mode: Mode) -> Box<dyn Dialect>;
}

/// Folders that an agent's command line may need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The program that glis itself is.
    pub own_program: String,
    /// Where the rehearsal agent keeps its transcripts.
    pub rehearsal: String,
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
}

/// One thing that an agent was heard to say or do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Offset just behind it, unique among all that was heard from one source.
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
}

/// How an agent is told to stop its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interrupt {
    /// By these bytes on its input.
    Bytes(Vec<u8>),
    /// By this signal to its process group.
    Signal(i32),
}

/// The words of one agent in one mode: what it says is fed in, what it is told comes out.
pub trait Dialect: Send + Sync {
    /// Takes output bytes that begin at `offset`.
    fn hear(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard>;

    /// Takes bytes of the transcript that begin at `offset`.
    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard>;

    /// What to write so that the agent takes a message.
    fn say(&self, text: &str) -> Vec<u8>;

    /// How to stop its turn.
    fn interrupt(&self) -> Interrupt;

    /// What to write so that a question is answered.
    fn answer(&self, ask: &Ask, answer: &str) -> Vec<u8>;

    /// Whether the screen of an agent that has just started shows that it takes messages.
    fn shows_ready(&self, lines: &[String]) -> bool;

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

/// Keys for a terminal: pasted, so that a program that knows pasting takes newlines as text, and
/// freed from everything that could close the paste or be a key of its own.
pub fn typed(text: &str) -> Vec<u8> {
    let clean: String = text
        .chars()
        .map(|c| if c == '\n' { '\r' } else { c })
        .filter(|c| !c.is_control() || matches!(c, '\t' | '\r'))
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
        let keys = typed("a\x1b[201~\x03b\nc\td\u{9b}");
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
