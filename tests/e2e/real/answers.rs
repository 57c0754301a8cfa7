//! Answers to what the real agents ask beyond yes and no: choices, and leave for the whole session.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, NAME, OPENCODE_HEADLESS,
    Part, Play, text, times,
};
use crate::support::house::{Outcome, eventually};
use glis_stub_model::installed::CLAUDE;
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};

/// A question of the agent, with two choices.
fn question(about: &str, choices: [&str; 2]) -> Value {
    let options =
        choices.map(|label| json!({"label": label, "description": format!("is {label}")}));
    json!({
        "question": format!("Which {about}?"),
        "header": about,
        "multiSelect": false,
        "options": options,
    })
}

/// Has the agent ask these things at once.
fn asks(play: &Play, questions: &[Value]) -> Outcome<Value> {
    let input = json!({ "questions": questions });
    let ask = Step { tool: Some("AskUserQuestion".to_owned()), input, ..Step::default() };
    play.send(&prompt("ask me", &[ask, text("so it is")]))?;
    Ok(play.until("waiting")?["waiting_for"].clone())
}

/// Has the agent ask which of two colours somebody wants.
fn asks_for_a_colour(play: &Play) -> Outcome<Value> {
    asks(play, &[question("colour", ["blue", "red"])])
}

fn asks_for_colour_and_size(play: &Play) -> Outcome<Value> {
    asks(play, &[question("colour", ["blue", "red"]), question("size", ["small", "large"])])
}

/// Whatever cannot be an answer is refused with the way out, and the question stays.
fn are_refused(play: &Play, slips: &[&[&str]], way: &str) -> Outcome {
    let before = play.show()?["waiting_for"].clone();
    for slip in slips {
        let (status, error) = play.house().fails(&[&["answer", NAME], *slip].concat())?;
        assert_eq!(status, 4, "{slip:?}: {error}");
        assert!(error.to_string().contains(way), "{slip:?}: {error}");
    }
    let after = play.show()?;
    assert_eq!((&after["status"], &after["waiting_for"]), (&json!("waiting"), &before));
    Ok(())
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

/// Allowed once for the whole session: the very same is allowed by itself, and anything else is asked for.
fn leave_for_the_session(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    // A plain line: after any other nobody knows in which folder the next one would run.
    let twice = || play.asking("touch asked.txt");
    play.send(&prompt("write twice", &[twice(), twice(), text("so it is")]))?;
    play.until("waiting")?;
    play.house().json(&["answer", NAME, "allow", "--for-session"])?;
    let idle = play.until("idle,waiting")?;
    let screen = play.house().ok(&["screen", NAME])?;
    assert_eq!(idle["status"], "idle", "{}\n{screen}", idle["waiting_for"]);
    assert!(play.house().file(NAME, "asked.txt")?.exists());
    play.send(&prompt("write another", &[play.asking("touch another.txt"), text("done")]))?;
    play.until("waiting")?;
    assert!(!play.house().file(NAME, "another.txt")?.exists());
    Ok(())
}

/// No question gets an answer that was meant for another, or none.
#[test]
fn claude_headless_is_told_the_answers_to_two_questions() -> Outcome {
    let Some(play) = Play::with(CLAUDE_HEADLESS, &[])? else { return Ok(()) };
    asks_for_colour_and_size(&play)?;
    let half = r#"{"Which colour?": "red"}"#;
    // Quoted once more, as it stands in an error.
    let form = "{\\\"Which colour?\\\": \u{2026}, \\\"Which size?\\\": \u{2026}}";
    are_refused(&play, &[&["red"], &[half], &["{}"]], form)?;
    are_refused(&play, &[&[""]], "the answer is empty")?;
    let both = r#"{"Which colour?": "red", "Which size?": "large"}"#;
    play.house().json(&["answer", NAME, both])?;
    play.until("idle")?;
    let told = play.real.model.turns().pop().ok_or("no request")?;
    let answers = "\"Which colour?\"=\"red\", \"Which size?\"=\"large\"";
    assert_eq!(times(&told, Voice::Tool, answers), 1, "{:#?}", told.turns);
    Ok(())
}

/// A form has more than one key, so it is filled in at the terminal. To leave it is one key.
#[test]
fn claude_terminal_leaves_a_form_to_whoever_attaches() -> Outcome {
    let Some(play) = Play::with(CLAUDE_TERMINAL, &[])? else { return Ok(()) };
    let asked = asks_for_colour_and_size(&play)?;
    assert_eq!(asked["choices"], json!(["deny"]), "{asked}");
    let shown = play.house().ok(&["show", NAME])?;
    assert!(shown.contains("(glis attach play, or glis answer play deny)"), "{shown}");
    are_refused(&play, &[&["red"], &["allow"], &["allow", "--for-session"]], "glis attach play")?;
    play.house().json(&["answer", NAME, "deny"])?;
    play.until("idle")?;
    Ok(())
}

/// Its dialog with choices takes no other words.
#[test]
fn claude_terminal_is_told_nothing_that_it_does_not_offer() -> Outcome {
    let Some(play) = Play::with(CLAUDE_TERMINAL, &[])? else { return Ok(()) };
    let input = json!({"command": "touch asked.txt", "description": "d"});
    let run = Step { tool: Some("Bash".to_owned()), input, ..Step::default() };
    play.send(&prompt("run it", &[run, text("done")]))?;
    play.until("waiting")?;
    play.house().json(&["answer", NAME, "allow"])?;
    play.until("idle")?;
    assert!(play.house().file(NAME, "asked.txt")?.exists());
    asks_for_a_colour(&play)?;
    are_refused(&play, &[&["green"], &["allow"], &[""]], "possible answers: blue|red|deny")?;
    play.house().json(&["answer", NAME, "red"])?;
    play.until("idle")?;
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

/// A pause ends what waits for leave. Nobody has denied it, and it is not said that somebody did.
fn paused_at_a_question(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.send(&prompt("write it", &[play.asking("echo written > asked.txt"), text("done")]))?;
    play.until("waiting")?;
    play.house().json(&["pause", "--all"])?;
    play.house().json(&["resume", "--all"])?;
    let back = play.until("idle")?;
    assert_eq!(back["was_asking"].as_array().map(Vec::len), Some(1), "{back}");
    assert!(!back["last_action"].to_string().contains("denied"), "{}", back["last_action"]);
    let log = play.house().ok(&["log", NAME])?;
    assert!(!log.contains("denied"), "{log}");
    Ok(())
}

#[test]
fn claude_headless_that_is_paused_at_a_question_was_denied_nothing() -> Outcome {
    paused_at_a_question(CLAUDE_HEADLESS)
}

#[test]
fn claude_terminal_that_is_paused_at_a_question_was_denied_nothing() -> Outcome {
    paused_at_a_question(CLAUDE_TERMINAL)
}

#[test]
fn codex_headless_that_is_paused_at_a_question_was_denied_nothing() -> Outcome {
    paused_at_a_question(CODEX_HEADLESS)
}

#[test]
fn codex_terminal_that_is_paused_at_a_question_was_denied_nothing() -> Outcome {
    paused_at_a_question(CODEX_TERMINAL)
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

/// Of a change it shows the difference, which may be the same of two that are not.
#[test]
fn opencode_headless_has_each_change_allowed_by_itself() -> Outcome {
    let Some(play) = Play::with(OPENCODE_HEADLESS, &[])? else { return Ok(()) };
    play.send(&prompt("write it", &[play.ask("asked.txt")?, text("so it is")]))?;
    play.until("waiting")?;
    are_refused(&play, &[&["allow", "--for-session"]], "possible answers: allow|deny")?;
    play.house().json(&["answer", NAME, "allow"])?;
    play.until("idle")?;
    assert_eq!(std::fs::read_to_string(play.house().file(NAME, "asked.txt")?)?, "written\n");
    Ok(())
}

/// Why not: Claude Code hears it with the no, Codex as the next message.
fn a_no_has_its_reason(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.send(&prompt("write with leave", &[play.ask("asked.txt")?, text("so it is")]))?;
    play.until("waiting")?;
    let reason = "because it is Friday";
    play.house().json(&["answer", NAME, "deny", "--reason", reason])?;
    let told = |voice: Voice| {
        play.real.model.turns().iter().any(|request| times(request, voice, reason) == 1)
    };
    let with_the_no = part.agent == CLAUDE && part.is_headless();
    let voice = if with_the_no { Voice::Tool } else { Voice::User };
    eventually("it knows why", || told(voice))?;
    play.until("idle")?;
    assert_eq!(told(Voice::User), !with_the_no, "it is told once");
    assert!(!play.house().file(NAME, "asked.txt")?.exists());
    Ok(())
}

#[test]
fn claude_headless_is_told_why_not() -> Outcome {
    a_no_has_its_reason(CLAUDE_HEADLESS)
}

#[test]
fn claude_terminal_is_told_why_not() -> Outcome {
    a_no_has_its_reason(CLAUDE_TERMINAL)
}

#[test]
fn codex_headless_is_told_why_not() -> Outcome {
    a_no_has_its_reason(CODEX_HEADLESS)
}

#[test]
fn codex_terminal_is_told_why_not() -> Outcome {
    a_no_has_its_reason(CODEX_TERMINAL)
}
