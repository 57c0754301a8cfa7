//! Usage limits of the real agents: the session parks, and the same turn goes on at the reset.

use super::Real;
use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, GEMINI_HEADLESS,
    OPENCODE_HEADLESS, Part, Play, text, times,
};
use crate::support::clock::WallClock;
use crate::support::house::{Outcome, eventually};
use glis_stub_model::installed::{CLAUDE, OPENCODE};
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Whether the agent is told when a limit ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Time,
    Nothing,
}

/// The first words of what an agent is told when it goes on.
const GO_ON: &str = "The usage limit that ended your last turn is over.";

/// The allowance is used up for an hour in the second turn, and the third request is answered.
fn a_limit_is_met(part: Part, told: Told) -> Outcome {
    let Some(mut real) = Real::with(part.agent)? else { return Ok(()) };
    let clock = WallClock::of(&mut real.house)?;
    real.house.configure("[usage_limit]\nresume = true\n")?;
    if part.agent == CLAUDE {
        // It would try again for minutes.
        real.house.surround("CLAUDE_CODE_MAX_RETRIES", "1");
        if told == Told::Time {
            // Only who has a subscription is told.
            real.house.spare("ANTHROPIC_API_KEY");
            real.house.surround("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-stub");
        }
    }
    let play = Play::of(real, part, &[])?;
    let quoted = "ratelimit: You've hit your 5-hour limit, try again at 6:24 AM. error: rate_limit";
    let idle = play.turn(&prompt("first words", &[text(quoted)]))?;
    assert_eq!(idle["limit_until"], Value::Null, "an answer is no limit");
    let until = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() + 3600;
    // OpenCode tries five times, and would wait a minute in between.
    let retry_after = (part.agent == OPENCODE).then_some(0);
    let limit_until = Some(until);
    let used_up = Step { err: Some(429), limit_until, retry_after, ..Step::default() };
    play.send(&prompt("too much", &[used_up]))?;
    let parked = play.until("paused")?;
    assert_eq!(parked["pause_reason"], "rate_limit", "{parked}");
    eventually("its time is known", || {
        play.show().is_ok_and(|shown| shown["resume_at"].is_string())
    })?;
    let shown = play.show()?;
    let known = shown["limit_until"].as_str().ok_or("no limit")?;
    assert_eq!(known == "unknown", told == Told::Nothing, "{shown}");
    eventually("its timer is set", || play.house().timers_set("resume_at") > 0)?;
    clock.ahead(play.house(), 3665)?;
    let request = play.asked(GO_ON)?;
    for words in ["first words", "too much", GO_ON] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    let back = play.until("idle")?;
    assert_eq!(back["agent_session_ref"], parked["agent_session_ref"]);
    assert_eq!((&back["limit_until"], &back["resume_at"]), (&json!(null), &json!(null)));
    Ok(())
}

#[test]
fn claude_headless_parks_and_goes_on() -> Outcome {
    a_limit_is_met(CLAUDE_HEADLESS, Told::Time)
}

#[test]
fn claude_headless_with_a_key_is_told_no_time() -> Outcome {
    a_limit_is_met(CLAUDE_HEADLESS, Told::Nothing)
}

#[test]
fn claude_in_a_terminal_parks_and_goes_on() -> Outcome {
    a_limit_is_met(CLAUDE_TERMINAL, Told::Time)
}

#[test]
fn codex_headless_parks_and_goes_on() -> Outcome {
    a_limit_is_met(CODEX_HEADLESS, Told::Time)
}

#[test]
fn codex_in_a_terminal_parks_and_goes_on() -> Outcome {
    a_limit_is_met(CODEX_TERMINAL, Told::Time)
}

/// Its answer to the message says only that it failed.
#[test]
fn opencode_parks_and_goes_on() -> Outcome {
    a_limit_is_met(OPENCODE_HEADLESS, Told::Nothing)
}

/// It forgets a message whose turn has failed, so that it is asked again.
#[test]
fn gemini_parks_and_is_asked_again() -> Outcome {
    let Some(mut real) = Real::with(GEMINI_HEADLESS.agent)? else { return Ok(()) };
    let clock = WallClock::of(&mut real.house)?;
    real.house.configure("[usage_limit]\nresume = true\n")?;
    let play = Play::of(real, GEMINI_HEADLESS, &[])?;
    play.turn("first words")?;
    let used_up = Step { err: Some(429), times: Some(1), limit_until: Some(1), ..text("so it is") };
    play.send(&prompt("too much", &[used_up]))?;
    let parked = play.until("paused")?;
    assert_eq!(parked["pause_reason"], "rate_limit", "{parked}");
    assert_eq!(parked["limit_until"], "unknown");
    eventually("its timer is set", || play.house().timers_set("resume_at") > 0)?;
    clock.ahead(play.house(), 365)?;
    let back = play.until("idle")?;
    assert_eq!(back["limit_until"], Value::Null);
    let talk = play.house().talk(super::cast::NAME)?;
    let said = |words: &str| talk.iter().filter(|(_, text)| text.contains(words)).count();
    assert_eq!((said("so it is"), said(GO_ON)), (1 + 2, 0), "{talk:?}");
    let request = play.asked("too much")?;
    assert_eq!(times(&request, Voice::User, "first words"), 1);
    Ok(())
}
