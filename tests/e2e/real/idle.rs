//! Idle suspension of the real agents: their whole trees go, text that was typed keeps them awake, and
//! the next message goes on in the same conversation.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, NAME, Part, Play, text, times,
};
use crate::support::held::signal;
use crate::support::house::{Outcome, eventually};
use crate::support::wreck::marked;
use glis_stub_model::{Step, Voice, prompt};
use rustix::process::Signal;
use serde_json::{Value, json};

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

/// Has a command left running that a turn began, and returns what is told of the session then.
fn leaves_running(play: &Play, secs: &str) -> Outcome<Value> {
    let input = json!({"cmd": format!("sleep {secs}"), "yield_time_ms": 300});
    let left = Step { tool: Some("exec_command".to_owned()), input, ..Step::default() };
    let said = format!("started {secs}");
    play.send(&prompt("start the server", &[left, text(&said)]))?;
    eventually("its turn is over", || {
        play.show().is_ok_and(|shown| shown["last_action"] == said.as_str())
    })?;
    eventually("it has said so", || play.show().is_ok_and(|shown| shown["queued"] == 0))?;
    play.show()
}

/// A server for development, say: it is wanted, though the turn that began it is over.
fn a_command_that_was_left_running_keeps_it_awake(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let shown = leaves_running(&play, "1001")?;
    assert_eq!((&shown["status"], &shown["suspend_at"]), (&json!("busy"), &Value::Null), "{shown}");
    let id = shown["id"].as_str().ok_or("no id")?;
    let line = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let left = marked(id).into_iter().find(|pid| line(pid) == b"sleep\x001001\0");
    signal(left.ok_or("it does not run")?, Signal::TERM)?;
    let idle = play.until("idle")?;
    assert!(idle["suspend_at"].is_string(), "{idle}");
    // What is ended with the session is named.
    leaves_running(&play, "1002")?;
    play.house().ok(&["stop", NAME])?;
    let ended = play.until("suspended")?["killed"].to_string();
    assert!(ended.contains("\"sleep 1002 (pid "), "{ended}");
    Ok(())
}

#[test]
fn codex_headless_is_awake_while_a_command_runs() -> Outcome {
    a_command_that_was_left_running_keeps_it_awake(CODEX_HEADLESS)
}

#[test]
fn codex_in_a_terminal_is_awake_while_a_command_runs() -> Outcome {
    a_command_that_was_left_running_keeps_it_awake(CODEX_TERMINAL)
}
