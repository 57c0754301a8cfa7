//! Answers to what the real agents ask beyond yes and no: choices, and leave for the whole session.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, NAME, OPENCODE_HEADLESS, Part, Play, text,
    times,
};
use crate::house::Outcome;
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};

/// Has the agent ask which of two colours somebody wants.
fn asks_for_a_colour(play: &Play) -> Outcome<Value> {
    let option = |label: &str| json!({"label": label, "description": format!("all in {label}")});
    let question = json!({
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": false,
        "options": [option("blue"), option("red")],
    });
    let input = json!({ "questions": [question] });
    let ask = Step { tool: Some("AskUserQuestion".to_owned()), input, ..Step::default() };
    play.send(&prompt("ask me", &[ask, text("so it is")]))?;
    Ok(play.until("waiting")?["waiting_for"].clone())
}

fn a_choice_is_made(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let asked = asks_for_a_colour(&play)?;
    assert_eq!(asked["kind"], "question", "{asked}");
    assert!(asked["text"].as_str().is_some_and(|t| t.contains("Which colour? [blue | red]")));
    let shown = play.house().ok(&["show", NAME])?;
    assert!(shown.contains("[blue | red]"), "{shown}");
    let request = asked["request"].as_str().ok_or("no request")?;
    play.house().json(&["answer", NAME, "red", "--request", request])?;
    play.until("idle")?;
    let (status, _) = play.house().fails(&["answer", NAME, "red", "--request", request])?;
    assert_eq!(status, 4, "an answer is given once");
    let told = play.real.model.turns().pop().ok_or("no request")?;
    assert_eq!(times(&told, Voice::Tool, "\"Which colour?\"=\"red\""), 1, "{:#?}", told.turns);
    Ok(())
}

/// The question waits over a restart of the daemon, and is declined then.
fn a_choice_is_declined(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let asked = asks_for_a_colour(&play)?;
    play.house().kill_daemon()?;
    assert_eq!(play.until("waiting")?["waiting_for"], asked);
    play.house().json(&["answer", NAME, "deny"])?;
    play.until("idle")?;
    play.turn("and now?")?;
    let told = play.asked("and now?")?;
    assert!(!told.says(Voice::Tool, "=\"red\"") && !told.says(Voice::Tool, "=\"blue\""));
    Ok(())
}

/// Allowed once for the whole session: the second time nobody is asked.
fn leave_for_the_session(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let steps = [play.ask("asked.txt")?, play.ask("asked.txt")?, text("so it is")];
    play.send(&prompt("write twice", &steps))?;
    play.until("waiting")?;
    play.house().json(&["answer", NAME, "allow", "--for-session"])?;
    let idle = play.until("idle,waiting")?;
    let screen = play.house().ok(&["screen", NAME])?;
    assert_eq!(idle["status"], "idle", "{}\n{screen}", idle["waiting_for"]);
    let events = play.house().events(idle["id"].as_str().ok_or("no id")?)?;
    assert_eq!(events.iter().filter(|event| *event == "asked").count(), 1, "{events:?}");
    assert_eq!(std::fs::read_to_string(play.house().file(NAME, "asked.txt")?)?, "written\n");
    let told = play.real.model.turns().pop().ok_or("no request")?;
    let done = told.turns.iter().filter(|turn| turn.voice == Voice::Tool).count();
    assert_eq!(done, 2, "{:#?}", told.turns);
    Ok(())
}

#[test]
fn claude_headless_is_told_a_choice() -> Outcome {
    a_choice_is_made(CLAUDE_HEADLESS)?;
    a_choice_is_declined(CLAUDE_HEADLESS)
}

#[test]
fn claude_terminal_is_told_a_choice() -> Outcome {
    a_choice_is_made(CLAUDE_TERMINAL)?;
    a_choice_is_declined(CLAUDE_TERMINAL)
}

#[test]
fn claude_headless_is_given_leave_for_the_session() -> Outcome {
    leave_for_the_session(CLAUDE_HEADLESS)
}

#[test]
fn claude_terminal_is_given_leave_for_the_session() -> Outcome {
    leave_for_the_session(CLAUDE_TERMINAL)
}

#[test]
fn codex_headless_is_given_leave_for_the_session() -> Outcome {
    leave_for_the_session(CODEX_HEADLESS)
}

#[test]
fn opencode_headless_is_given_leave_for_the_session() -> Outcome {
    leave_for_the_session(OPENCODE_HEADLESS)
}
