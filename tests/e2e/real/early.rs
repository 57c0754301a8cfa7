//! Pauses that come before an agent has written anything down: there is nothing to resume yet, and
//! nothing may be lost.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, GEMINI_HEADLESS, NAME,
    OPENCODE_HEADLESS, Part, Play, times,
};
use crate::support::house::{Outcome, eventually, lives};
use glis_stub_model::Voice;
use serde_json::json;

/// A start is a matter of milliseconds: one that was too fast for a test is tried again.
const ATTEMPTS_MAX: usize = 5;

/// Paused as soon as there is a process. What was sent is still to be said, and is said once, in a
/// conversation that has nothing else in it.
fn a_pause_before_there_is_a_transcript(part: Part) -> Outcome {
    for _ in 0..ATTEMPTS_MAX {
        let Some(play) = Play::with(part, &[])? else { return Ok(()) };
        play.send("the very first")?;
        eventually("its process runs", || play.pid().is_ok())?;
        let pid = play.pid()?;
        let early = !play.is_known();
        let paused = play.house().json(&["pause", NAME, "--mode", "force"])?;
        assert_eq!((&paused["status"], lives(pid)), (&json!("paused"), false), "{paused}");
        if early && !play.is_known() && play.real.model.turns().is_empty() {
            return goes_on(&play, &["the very first"]);
        }
    }
    Err(format!("{} always had a transcript already", part.agent.name).into())
}

/// Paused at its empty prompt, where it has taken nothing and written nothing.
fn a_pause_at_the_first_prompt(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.until("idle")?;
    assert!(!play.is_known(), "there is a transcript already");
    assert_eq!(play.pause()?["status"], "paused");
    assert!(!play.is_known(), "there is a transcript now");
    goes_on(&play, &[])
}

/// Everything that was sent is in the next request, once, and the one after that is of the same
/// conversation.
fn goes_on(play: &Play, sent: &[&str]) -> Outcome {
    let request = play.resume("and now?")?;
    for words in sent.iter().chain(&["and now?"]) {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    assert!(!request.says(Voice::User, "cut off"), "{:#?}", request.turns);
    let id = play.show()?["agent_session_ref"].clone();
    assert!(id.is_string(), "{id}");
    play.pause()?;
    let later = play.resume("and later?")?;
    for words in sent.iter().chain(&["and now?", "and later?"]) {
        assert_eq!(times(&later, Voice::User, words), 1, "{words}: {:#?}", later.turns);
    }
    assert_eq!(play.show()?["agent_session_ref"], id);
    let talk = play.house().talk(NAME)?;
    for words in sent {
        let told = talk.iter().filter(|(who, what)| who == "user" && what.contains(words));
        assert_eq!(told.count(), 1, "{talk:#?}");
    }
    Ok(())
}

#[test]
fn claude_headless_is_paused_before_there_is_a_transcript() -> Outcome {
    a_pause_before_there_is_a_transcript(CLAUDE_HEADLESS)
}

#[test]
fn claude_terminal_is_paused_before_there_is_a_transcript() -> Outcome {
    a_pause_before_there_is_a_transcript(CLAUDE_TERMINAL)
}

#[test]
fn claude_terminal_is_paused_at_its_first_prompt() -> Outcome {
    a_pause_at_the_first_prompt(CLAUDE_TERMINAL)
}

#[test]
fn codex_headless_is_paused_before_there_is_a_transcript() -> Outcome {
    a_pause_before_there_is_a_transcript(CODEX_HEADLESS)
}

#[test]
fn codex_terminal_is_paused_before_there_is_a_transcript() -> Outcome {
    a_pause_before_there_is_a_transcript(CODEX_TERMINAL)
}

#[test]
fn codex_terminal_is_paused_at_its_first_prompt() -> Outcome {
    a_pause_at_the_first_prompt(CODEX_TERMINAL)
}

#[test]
fn opencode_headless_is_paused_before_there_is_a_transcript() -> Outcome {
    a_pause_before_there_is_a_transcript(OPENCODE_HEADLESS)
}

#[test]
fn gemini_headless_is_paused_before_there_is_a_transcript() -> Outcome {
    a_pause_before_there_is_a_transcript(GEMINI_HEADLESS)
}
