//! Idle suspension of the real agents: their whole trees go, text that was typed keeps them awake, and
//! the next message goes on in the same conversation.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, NAME, Part, Play, text, times,
};
use crate::support::house::{Outcome, eventually};
use crate::support::wreck::marked;
use glis_stub_model::{Voice, prompt};
use serde_json::Value;

/// Lets its idle time pass as often as it takes: an agent that paints is looked at again later.
fn is_suspended(play: &Play) -> Outcome<Value> {
    eventually("it is suspended", || {
        let shown = play.show();
        if shown.as_ref().is_ok_and(|shown| shown["suspend_at"].is_string()) {
            play.house().pass_minutes(10);
        }
        shown.is_ok_and(|shown| shown["status"] == "suspended")
    })?;
    play.show()
}

fn the_next_message_goes_on_in_the_same_conversation(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn(&prompt("the word is heron", &[text("noted")]))?;
    let before = play.until("idle")?;
    let held = before["memory_bytes"].as_u64().ok_or("no memory")?;
    eprintln!("{}: {} MB while idle, none when suspended", part.agent.name, held >> 20);
    let suspended = is_suspended(&play)?;
    assert_eq!(suspended["memory_bytes"], Value::Null, "{suspended}");
    let id = suspended["id"].as_str().ok_or("no id")?;
    assert_eq!((&suspended["pid"], marked(id)), (&Value::Null, Vec::new()), "{suspended}");
    assert_eq!(suspended["pause_reason"], "idle_timeout", "{suspended}");
    let said = play.house().ok(&["send", NAME, &prompt("what was it?", &[text("heron")])])?;
    assert!(said.contains("Resuming session..."), "{said}");
    let request = play.asked("what was it?")?;
    assert_eq!(times(&request, Voice::User, "the word is heron"), 1, "{:#?}", request.turns);
    assert_eq!(times(&request, Voice::User, "what was it?"), 1, "{:#?}", request.turns);
    let after = play.until("idle")?;
    assert_eq!(after["agent_session_ref"], before["agent_session_ref"]);
    assert_eq!(after["generation"], 2);
    Ok(())
}

#[test]
fn claude_headless_goes_on_after_it_was_suspended() -> Outcome {
    the_next_message_goes_on_in_the_same_conversation(CLAUDE_HEADLESS)
}

#[test]
fn claude_in_a_terminal_goes_on_after_it_was_suspended() -> Outcome {
    the_next_message_goes_on_in_the_same_conversation(CLAUDE_TERMINAL)
}

#[test]
fn codex_headless_goes_on_after_it_was_suspended() -> Outcome {
    the_next_message_goes_on_in_the_same_conversation(CODEX_HEADLESS)
}

#[test]
fn codex_in_a_terminal_goes_on_after_it_was_suspended() -> Outcome {
    the_next_message_goes_on_in_the_same_conversation(CODEX_TERMINAL)
}
