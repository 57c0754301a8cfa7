//! Usage limits of the real agents: told while they last, and no reason not to go on afterwards.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, NAME, Part, Play, text, times,
};
use crate::support::house::Outcome;
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The allowance is used up for an hour; a later message is answered all the same.
fn a_limit_is_reached(part: Part) -> Outcome<Option<Value>> {
    let Some(mut play) = Play::with(part, &[])? else { return Ok(None) };
    play.turn("first words")?;
    play.pause()?;
    // Claude Code would try again for minutes.
    play.real.house.surround("CLAUDE_CODE_MAX_RETRIES", "1");
    let until = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() + 3600;
    let used_up = Step { err: Some(429), limit_until: Some(until), ..Step::default() };
    play.house().json(&["resume", NAME])?;
    let limited = play.turn(&prompt("too much", &[used_up]))?;
    assert_eq!(limited["status"], "idle", "{limited}");
    assert_eq!(limited["verdict"], "the agent's usage limit is reached");
    let shown = play.house().ok(&["show", NAME])?;
    assert!(shown.contains("limit         reached"), "{shown}");
    let again = play.turn(&prompt("and now?", &[text("so it is")]))?;
    assert_eq!((&again["status"], &again["limit_until"]), (&json!("idle"), &json!(null)));
    let request = play.asked("and now?")?;
    assert_eq!(times(&request, Voice::User, "first words"), 1, "{:#?}", request.turns);
    Ok(Some(limited["limit_until"].clone()))
}

#[test]
fn claude_headless_reaches_a_limit() -> Outcome {
    let until = a_limit_is_reached(CLAUDE_HEADLESS)?;
    assert!(until.is_none_or(|until| until == "unknown"), "with a key it is told no time");
    Ok(())
}

#[test]
fn claude_terminal_reaches_a_limit() -> Outcome {
    let until = a_limit_is_reached(CLAUDE_TERMINAL)?;
    assert!(until.is_none_or(|until| until == "unknown"), "with a key it is told no time");
    Ok(())
}

#[test]
fn codex_reaches_a_limit() -> Outcome {
    for part in [CODEX_HEADLESS, CODEX_TERMINAL] {
        let Some(until) = a_limit_is_reached(part)? else { return Ok(()) };
        let until = until.as_str().ok_or("no time")?;
        assert!(until.ends_with('Z') && until.starts_with("20"), "a time: {until}");
    }
    Ok(())
}
