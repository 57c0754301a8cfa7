//! Which rule decided the last change of a session's status, and what keeps an agent from being in a
//! safe state. Their texts are made here and nowhere else.

use crate::reason::{SafeRule, Why};
use crate::refusal::ResumeFault;
use crate::safe::ScreenState;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which rule decided the last change of status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Nothing has happened yet.
    #[default]
    New,
    /// The log has lost it; its card is all there is.
    Recovered,
    /// A process was found that the log knows nothing of.
    Adopted,
    Started,
    /// What a pause had stopped in place goes on.
    WentOn,
    StartFailed(ResumeFault),
    /// A message is being handed over.
    Delivering,
    /// A message was not taken for now.
    MessageWaits(String),
    /// A message can never be handed over as it is.
    MessageRefused(String),
    Ready,
    TurnBegan,
    /// The agent is done with its turn.
    TurnEnded,
    /// The same, and work goes on beside it.
    WorksInBackground,
    /// An error has ended the agent's turn.
    TurnFailed,
    /// The agent's allowance is used up.
    LimitReached,
    AgentAsks,
    /// The agent's program asks something, which only its terminal can answer.
    ProgramAsks,
    /// Everything it asked is answered or void.
    AsksNoMore,
    /// The screen tells, where that is all there is.
    Screen(ScreenState),
    Paused(SafeRule),
    Stopped,
    /// It was ended with the daemon.
    ShutDown,
    /// It was stopped because it was idle.
    Idled,
    /// It was stopped because it was idle and memory ran short.
    MadeRoom,
    /// It came to its end by itself, and nothing was under way.
    EndedByItself,
    Died(Why),
    Completed,
    CommandFailed,
    /// Its agent failed before it was ready.
    AgentFailed(Why),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "it is new",
            Self::Recovered => "it was known by its own folder alone",
            Self::Adopted => "it was found running, of a start that is not on record",
            Self::Started => "its process was started",
            Self::WentOn => "its process goes on where it was stopped",
            Self::StartFailed(fault) => return write!(f, "its last start failed: {fault}"),
            Self::Delivering => "a message is on its way to it",
            Self::MessageWaits(why) => return write!(f, "a message waits: {why}"),
            Self::MessageRefused(why) => return write!(f, "a message was not handed over: {why}"),
            Self::Ready => "the agent is ready",
            Self::TurnBegan => "the agent began a turn",
            Self::TurnEnded => "the agent ended its turn",
            Self::TurnFailed => "an error has ended the agent's turn",
            Self::WorksInBackground => "the agent ended its turn and has work in the background",
            Self::LimitReached => "the agent's usage limit is reached",
            Self::AgentAsks => "the agent asks something",
            Self::ProgramAsks => "its program itself asks something",
            Self::AsksNoMore => "the agent asks no more",
            Self::Screen(ScreenState::Flowing) => "its output flows",
            Self::Screen(ScreenState::Silent) => "no output for 5 s, no prompt in the last line",
            Self::Screen(ScreenState::AtPrompt { pattern }) => {
                return write!(f, "quiet, and the last line ends in {pattern:?}");
            }
            Self::Screen(ScreenState::Asking { pattern, .. }) => {
                return write!(f, "quiet, and the last line asks with {pattern:?}");
            }
            Self::Paused(rule) => return write!(f, "{rule}"),
            Self::Stopped => "it was stopped",
            Self::ShutDown => "it was stopped with the daemon",
            Self::Idled => "it was idle; the next message resumes it",
            Self::MadeRoom => "it was idle and memory ran short; the next message resumes it",
            Self::EndedByItself => "it ended by itself",
            Self::Died(why) => return write!(f, "its process died: {why}"),
            Self::Completed => "its command ended well",
            Self::CommandFailed => "the command failed",
            Self::AgentFailed(why) => return write!(f, "{why}"),
        })
    }
}

/// What keeps an agent from being in a safe state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    Tool(String),
    /// Work goes on beside its turn.
    Background,
    /// It was handed a message, and has not shown yet that it took it.
    Receiving,
    TurnOpen,
    Printing,
    /// It is quiet, and it is unknown what for.
    Silent,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool(what) => return write!(f, "it runs {what}"),
            Self::Background => "it has work in the background",
            Self::Receiving => "a message is on its way to it",
            Self::TurnOpen => "its turn is still open",
            Self::Printing => "it still prints",
            Self::Silent => "it is silent, but shows no prompt",
        })
    }
}

/// Why a pause was refused, and the agent goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSafe {
    /// It did not come to a safe state in time.
    TimedOut(Doing),
    /// It has come to its own end before anything disturbed it, in this way.
    Ended(Why),
}

impl fmt::Display for NotSafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut(doing) => write!(f, "timeout waiting for safe state, {doing}"),
            Self::Ended(how) => write!(f, "it ended by itself first ({how})"),
        }
    }
}
