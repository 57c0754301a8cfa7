//! How one agent speaks in one mode.

use crate::heard::Heard;
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::plain::{is_seen, without_escapes};
use glis_core::talk::{Ask, DENY};
use glis_core::verdict::Want;

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
    /// That nothing runs, and that the prompt holds text which was not sent.
    Draft,
    /// That it asks for permission to do something.
    Asking(ScreenPrompt),
    /// A question of the program itself, which only the user can answer at its terminal: whether a
    /// folder is trusted, who is logged in.
    Dialog(String),
    /// Neither.
    Other,
}

/// What an agent asks permission for on its screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenPrompt {
    /// The name of the question, if what the agent has written elsewhere gives it one.
    pub id: Option<AskId>,
    /// What is to be allowed.
    pub text: String,
    /// What can be answered.
    pub choices: &'static [&'static str],
    /// What it wants to do, where the screen shows exactly what the agent has written elsewhere.
    pub wants: Option<Want>,
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

    /// Takes bytes of the transcript that begin at `offset`. Where everything is in the output, the
    /// transcript is read, from its beginning, only when the end of the output was lost.
    fn read(&mut self, _offset: u64, _bytes: &[u8]) -> Vec<Heard> {
        Vec::new()
    }

    /// What the agent is in the middle of saying, as far as it was heard: words come in pieces, and are heard
    /// as a whole when they are complete.
    fn saying(&self) -> Option<&str> {
        None
    }

    /// What to write so that the agent takes a message. In the terminal of an agent that writes a
    /// transcript it is pasted, and [`ENTER`] follows as a write of its own.
    fn say(&self, text: &str) -> Vec<u8>;

    /// How to stop its turn.
    fn interrupt(&self) -> Interrupt;

    /// What to write so that a question is answered, or why nothing would answer it.
    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String>;

    /// The same with a no and its reason, for a question that takes one.
    fn deny_because(&self, ask: &Ask, _reason: &str) -> Result<Vec<u8>, String> {
        self.answer(ask, DENY)
    }

    /// Takes note of an answer that is given to a question. Some agents tell a tool that was denied
    /// and one that was interrupted in the same words.
    fn answered(&mut self, _ask: &Ask, _answer: &str) {}

    /// The folder that the agent has last told to work in, for one that tells it as it goes.
    fn folder(&self) -> Option<&str> {
        None
    }

    /// The names that commands have called since the agent told where it runs them, for one that does not
    /// tell again. The folder it told counts while each is a program, and no function that may move its shell.
    fn called(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the screen of an agent in a terminal shows.
    fn shows(&self, lines: &[String]) -> Shown;

    /// Whether the prompt on the screen holds exactly what [`Dialect::say`] pastes for this text.
    fn holds(&self, _text: &str, _lines: &[String]) -> bool {
        false
    }

    /// Whether the screen shows this question, for an agent that asks on its screen.
    fn shows_ask(&self, _ask: &Ask, _lines: &[String]) -> Option<bool> {
        None
    }

    /// Whether the screen shows exactly what rules have judged of a question that it shows. A person has
    /// read what they answer; a rule has not.
    fn shows_exactly(&self, _ask: &Ask, _lines: &[String]) -> bool {
        false
    }

    /// Whether the screen shows that a turn runs which its keys would stop, for an agent that takes no
    /// notice of them until it has painted that.
    fn shows_work(&self, _lines: &[String]) -> Option<bool> {
        None
    }

    /// What a screen that has come to rest means, where nothing better was heard.
    fn at_rest(&mut self, _shown: &Shown) -> Option<Sign> {
        None
    }

    /// Where in its transcript the process begins that is listened to.
    fn begin_at(&mut self, _transcript: u64) {}

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

/// Why an answer is not given to a question that is gone.
pub(crate) const GONE: &str = "it does not ask this any more";
/// Why an answer is not given to something that is not what was asked.
pub(crate) const CHANGED: &str = "it asks something else by now";
/// Why an answer is not given that a dialog does not have.
pub(crate) const NO_SUCH_CHOICE: &str = "it has no such choice";

/// A text freed from everything that could close a paste, be a key of its own, or turn the direction of
/// writing, which is invisible and about which some programs ask. An escape sequence goes whole: what
/// is left of half of one is letters that were never meant to be read.
pub(crate) fn pastable(text: &str) -> String {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}'];
    let turns = |c: char| {
        turns.contains(&c) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let keeps = |c: &char| (!c.is_control() || matches!(c, '\t' | '\r')) && !turns(*c);
    let letters = without_escapes(text);
    letters.chars().map(|c| if c == '\n' { '\r' } else { c }).filter(keeps).collect()
}

/// The key that sends what stands at a prompt.
pub const ENTER: &[u8] = b"\r";

/// Keys for a terminal: pasted, so that a program that knows pasting takes newlines as text.
pub(crate) fn pasted(text: &str) -> Vec<u8> {
    format!("\x1b[200~{}\x1b[201~", pastable(text)).into_bytes()
}

/// Whether two texts read alike. Blanks and what is not seen do not count: the edge of a screen, and the
/// program on it, change them.
pub(crate) fn reads_alike(one: &str, other: &str) -> bool {
    let seen = |c: &char| is_seen(*c);
    one.chars().filter(seen).eq(other.chars().filter(seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_text_cannot_leave_its_paste() {
        let keys = pasted("a\x1b[201~\x03b\nc\td\u{9b}\u{202e}");
        assert_eq!(keys, b"\x1b[200~ab\rc\td\x1b[201~".to_vec());
    }

    #[test]
    fn escape_sequences_are_left_out_whole() {
        let keys = pasted("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 a[0m");
        assert_eq!(keys, b"\x1b[200~red link a[0m\x1b[201~".to_vec());
    }
}
