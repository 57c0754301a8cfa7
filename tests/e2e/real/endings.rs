//! How a turn ended, as each real agent tells it: a table of what went wrong and what was heard of it.

use super::Real;
use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, GEMINI_HEADLESS, NAME,
    OPENCODE_HEADLESS, Part, Play, text,
};
use crate::support::house::Outcome;
use glis_stub_model::installed::{CLAUDE, CODEX, GEMINI, OPENCODE};
use glis_stub_model::{End, Step, prompt};
use serde_json::{Value, json};

/// What goes wrong in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// The model refuses the request with this status.
    Status(u16),
    /// The conversation is too long for the model.
    TooLong,
    /// The model stops in the middle: it does not say more to this.
    Refusal,
    /// The answer stops at its greatest length, and so does every further one.
    Length,
    /// The connection breaks after a tool was used, at every try.
    Cut,
}

/// What is heard of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// The turn failed, and the reason holds these words.
    Failed(&'static str),
    /// It was a usage limit: the session is parked.
    Parked,
    /// Nothing: the agent goes on by itself, or tells that it is done.
    Done,
}

impl Trouble {
    fn steps(self, play: &Play) -> Vec<Step> {
        // OpenCode would wait longer from try to try, unless it is told otherwise.
        let retry_after = (play.part.agent == OPENCODE).then_some(0);
        // Claude Code asks for the rest of an answer three times.
        let always = |end| vec![Step { end, ..text("half of it") }; 4];
        match self {
            Self::Status(status) => {
                // Gemini CLI tries once, and is given a message again at a resume whose turn has failed.
                let times = (play.part.agent == GEMINI).then_some(1);
                vec![Step { err: Some(status), times, retry_after, ..Step::default() }]
            }
            Self::TooLong => always(End::TooLong),
            Self::Refusal => always(End::Refusal),
            Self::Length => always(End::Length),
            Self::Cut => vec![play.run("echo there > new.txt"), Step { end: End::Cut, ..text("") }],
        }
    }
}

/// The agent, told not to try again for minutes.
fn impatient(part: Part) -> Outcome<Option<Play>> {
    let Some(mut real) = Real::with(part.agent)? else { return Ok(None) };
    match part.agent {
        CLAUDE => real.house.surround("CLAUDE_CODE_MAX_RETRIES", "1"),
        CODEX => {
            let settings = real.config().join("config.toml");
            let once = "request_max_retries = 0\nstream_max_retries = 0\n";
            std::fs::write(&settings, std::fs::read_to_string(&settings)? + once)?;
        }
        GEMINI => {
            let path = real.config().join("settings.json");
            let mut settings: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
            settings["general"]["maxAttempts"] = json!(1);
            std::fs::write(&path, settings.to_string())?;
        }
        _ => {}
    }
    Play::of(real, part, &[]).map(Some)
}

/// One conversation in which all of it happens, one after the other. What ended a turn is told until another
/// one begins.
fn turns_end(part: Part, table: &[(Trouble, Heard)]) -> Outcome {
    let Some(play) = impatient(part)? else { return Ok(()) };
    for (trouble, heard) in table {
        let words = format!("{trouble:?}");
        play.send(&prompt(&words, &trouble.steps(&play)))?;
        play.asked(&words)?;
        let ended = play.until("idle,paused")?;
        let failure = ended["failure"].as_str().unwrap_or_default();
        match heard {
            Heard::Failed(why) => {
                assert!(failure.contains(why), "{words}: {ended}");
                assert_eq!(ended["verdict"], "an error has ended the agent's turn", "{words}");
                let shown = play.house().ok(&["show", NAME])?;
                assert!(shown.contains(failure.lines().next().unwrap_or_default()), "{shown}");
            }
            Heard::Parked => {
                assert_eq!(ended["pause_reason"], "rate_limit", "{words}: {ended}");
                play.resume("and on")?;
            }
            Heard::Done => {
                assert_eq!(ended["verdict"], "the agent ended its turn", "{words}: {ended}");
            }
        }
    }
    assert_eq!(play.turn("and on again")?["failure"], Value::Null);
    Ok(())
}

const FLAGGED: &str = "safeguards flagged this message";
const DROPPED: &str = "Connection dropped";
const FILTERED: &str = "Incomplete response returned, reason: content_filter";

#[test]
fn claude_headless_tells_how_its_turn_ended() -> Outcome {
    turns_end(
        CLAUDE_HEADLESS,
        &[
            (Trouble::Status(400), Heard::Failed("API Error: 400")),
            (Trouble::Status(401), Heard::Failed("Failed to authenticate. API Error: 401")),
            (Trouble::Status(429), Heard::Parked),
            (Trouble::Status(500), Heard::Failed("API Error: 500")),
            (Trouble::Status(529), Heard::Failed("API Error: 529")),
            (Trouble::Refusal, Heard::Failed(FLAGGED)),
            (Trouble::Length, Heard::Failed("output token maximum")),
            (Trouble::Cut, Heard::Failed(DROPPED)),
            (Trouble::TooLong, Heard::Failed("Prompt is too long")),
        ],
    )
}

#[test]
fn claude_in_a_terminal_tells_how_its_turn_ended() -> Outcome {
    turns_end(
        CLAUDE_TERMINAL,
        &[
            (Trouble::Status(400), Heard::Failed("API Error: 400")),
            (Trouble::Status(401), Heard::Failed("Please run /login")),
            (Trouble::Status(429), Heard::Parked),
            (Trouble::Status(500), Heard::Failed("API Error: 500")),
            (Trouble::Status(529), Heard::Failed("API Error: 529")),
            (Trouble::Refusal, Heard::Failed(FLAGGED)),
            (Trouble::Length, Heard::Failed("output token maximum")),
            (Trouble::Cut, Heard::Failed(DROPPED)),
            (Trouble::TooLong, Heard::Failed("Prompt is too long")),
        ],
    )
}

/// The same in both modes.
const CODEX_TABLE: &[(Trouble, Heard)] = &[
    (Trouble::Status(400), Heard::Failed("the stub was told to fail with 400")),
    (Trouble::Status(401), Heard::Failed("unexpected status 401 Unauthorized")),
    (Trouble::Status(429), Heard::Parked),
    (Trouble::Status(500), Heard::Failed("high demand")),
    (Trouble::Status(529), Heard::Failed("unexpected status 529")),
    (Trouble::Refusal, Heard::Failed(FILTERED)),
    (Trouble::Length, Heard::Failed("Incomplete response returned, reason: max_output_tokens")),
    (Trouble::Cut, Heard::Failed("stream disconnected before completion")),
    (Trouble::TooLong, Heard::Failed("ran out of room in the model's context window")),
];

#[test]
fn codex_headless_tells_how_its_turn_ended() -> Outcome {
    turns_end(CODEX_HEADLESS, CODEX_TABLE)
}

#[test]
fn codex_in_a_terminal_tells_how_its_turn_ended() -> Outcome {
    turns_end(CODEX_TERMINAL, CODEX_TABLE)
}

/// A connection that breaks it tries again for a minute, which nothing makes shorter.
#[test]
fn opencode_tells_how_its_turn_ended() -> Outcome {
    turns_end(
        OPENCODE_HEADLESS,
        &[
            (Trouble::Status(400), Heard::Failed("the stub was told to fail with 400")),
            (Trouble::Status(401), Heard::Failed("the stub was told to fail with 401")),
            (Trouble::Status(429), Heard::Parked),
            (Trouble::Status(500), Heard::Failed("the stub was told to fail with 500")),
            (Trouble::Status(529), Heard::Failed("the stub was told to fail with 529")),
            (Trouble::Refusal, Heard::Failed("the model refused")),
            (Trouble::Length, Heard::Failed("the answer was cut off")),
            // It makes the conversation shorter, and goes on.
            (Trouble::TooLong, Heard::Done),
        ],
    )
}

/// The very first turn fails, and the conversation begins with the second. Why an answer stops in its middle
/// Gemini CLI tells nobody.
#[test]
fn gemini_tells_how_its_turn_ended() -> Outcome {
    turns_end(
        GEMINI_HEADLESS,
        &[
            (Trouble::Status(400), Heard::Failed("the stub was told to fail with 400")),
            (Trouble::Status(401), Heard::Failed("the stub was told to fail with 401")),
            (Trouble::Status(529), Heard::Failed("the stub was told to fail with 529")),
            (Trouble::Refusal, Heard::Done),
            (Trouble::Length, Heard::Done),
            (Trouble::Status(429), Heard::Parked),
            (Trouble::Cut, Heard::Failed("[API Error: ")),
            (Trouble::TooLong, Heard::Failed("exceeds the maximum number of tokens")),
        ],
    )
}
