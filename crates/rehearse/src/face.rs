//! A face: how the outside speaks to the agent and sees it. Faces turn bytes into inputs and
//! happenings into bytes; reading, writing and waiting are the agent's.

mod headless;
mod keys;
mod terminal;

use std::time::Instant;

use serde_json::Value;

use crate::record::{Notice, Record};

pub(crate) use headless::Headless;
pub(crate) use terminal::Terminal;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Message(Message),
    Interrupt,
    /// An answer; without an id it is for whatever is being asked.
    Answer {
        id: Option<String>,
        answer: String,
    },
    Leave(Goodbye),
    /// Words that make no sense; the complaint is for the sender.
    Unreadable(String),
}

/// How the user asked the agent to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goodbye {
    Politely,
    /// By interrupting an idle agent, to which it may be deaf.
    ByInterrupt,
}

/// Something the user says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) id: Option<Value>,
}

/// What the agent is up to, as a face shows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mode {
    Idle,
    Working,
    /// Waits for a yes or no to this text.
    Approval(String),
    Question,
}

/// The seam between the agent and who it talks to; `out` collects bytes for stdout.
pub(crate) trait Face {
    /// Introduces the session; `last` is how a resumed conversation ended.
    fn greet(&mut self, session: &Notice, last: &[Record], out: &mut Vec<u8>);
    /// Shows that the id is being kept back.
    fn greet_without_id(&mut self, out: &mut Vec<u8>);
    fn record(&mut self, record: &Record, out: &mut Vec<u8>);
    fn notice(&mut self, notice: &Notice, out: &mut Vec<u8>);
    fn mode(&mut self, mode: Mode, out: &mut Vec<u8>);
    /// Reads bytes from stdin; what is incomplete is kept.
    fn take(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<u8>) -> Vec<Input>;
    /// Reads what is left when stdin has ended.
    fn ended(&mut self) -> Vec<Input>;
    /// Says what an interrupt from outside, by signal, amounts to.
    fn interrupted(&mut self, out: &mut Vec<u8>) -> Option<Input>;
    /// When the face wants `tick` called.
    fn deadline(&self) -> Option<Instant>;
    fn tick(&mut self, out: &mut Vec<u8>) -> Vec<Input>;
    fn resize(&mut self, columns: usize, out: &mut Vec<u8>);
    /// Prints what looks like the idle prompt in the middle of work.
    fn noise(&mut self, out: &mut Vec<u8>);
    /// Prints one coloured line, as cheaply as it can.
    fn flood_line(&mut self, line: &str, out: &mut Vec<u8>);
    /// Brings the output back to sense after raw bytes.
    fn recover(&mut self, out: &mut Vec<u8>);
    fn farewell(&mut self, out: &mut Vec<u8>);
}
