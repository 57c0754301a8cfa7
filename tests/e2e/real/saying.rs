//! What the real agents are in the middle of saying.

use super::Real;
use super::cast::{
    CLAUDE_HEADLESS, CODEX_HEADLESS, GEMINI_HEADLESS, NAME, OPENCODE_HEADLESS, Part, Play, held,
    text,
};
use crate::support::bot::BotHouse;
use crate::support::house::{Outcome, eventually};
use glis_stub_model::installed::CLAUDE;
use glis_stub_model::prompt;
use serde_json::Value;

/// Words are seen while they are said, also by the next daemon, and only until they are said.
fn words_are_seen_while_they_are_said(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn(&prompt("first", &[text("noted")]))?;
    assert_eq!(play.until("idle")?["saying"], Value::Null);
    play.send(&prompt("tell a story", &[held("Once upon a time", "gate")]))?;
    let is_saying = || {
        let shown = play.show();
        shown.is_ok_and(|shown| shown["saying"].as_str() == Some("Once upon a time"))
    };
    eventually("it is seen to say it", is_saying)?;
    assert!(!play.conversation()?.contains("Once upon"), "it is not said yet");
    let listed = play.house().json(&["ls"])?;
    assert_eq!(listed[0]["saying"], Value::Null, "{listed}");
    play.house().kill_daemon()?;
    eventually("the next daemon sees it too", is_saying)?;
    play.real.model.open("gate");
    let after = play.until("idle")?;
    assert_eq!(after["saying"], Value::Null, "{after}");
    let said = play.house().ok(&["log", NAME])?;
    assert_eq!(said.matches("Once upon a time").count(), 1 + 1, "asked for and said: {said}");
    Ok(())
}

#[test]
fn claude_is_seen_to_speak() -> Outcome {
    words_are_seen_while_they_are_said(CLAUDE_HEADLESS)
}

#[test]
fn codex_is_seen_to_speak() -> Outcome {
    words_are_seen_while_they_are_said(CODEX_HEADLESS)
}

#[test]
fn opencode_is_seen_to_speak() -> Outcome {
    words_are_seen_while_they_are_said(OPENCODE_HEADLESS)
}

#[test]
fn gemini_is_seen_to_speak() -> Outcome {
    words_are_seen_while_they_are_said(GEMINI_HEADLESS)
}

/// A chat sees whole words of it while it is said, and the whole of it as a message.
#[test]
fn a_chat_sees_what_claude_is_saying() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    let Real { house, model, .. } = real;
    let mut bot = BotHouse::over(house, "claude", "")?;
    bot.start()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.say(&prompt("tell a story", &[held("Once upon a time. The key was sk-ant-0", "gate")]));
    let shown = || bot.api.previews().pop().map(|preview| preview.text);
    eventually("it is shown", || shown().as_deref() == Some("Once upon a time. The key was"))?;
    assert_eq!(bot.count("Once upon"), 0, "no message that makes a sound has it yet");
    model.open("gate");
    bot.hear("Once upon a time. The key was sk-ant-0")?;
    eventually("what was shown goes with the message", || bot.api.previews().is_empty())?;
    Ok(())
}
