//! Whether a real agent can work, as `doctor` tells it: with a key, with a login, and with neither.

use super::Real;
use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, GEMINI_HEADLESS, Part, Play,
};
use crate::support::house::Outcome;
use glis_stub_model::installed::{CLAUDE, CODEX, GEMINI, RealAgent};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

/// What `doctor` says about the agent: how it is, what was found, and what to do.
fn told(real: &Real) -> Outcome<(Value, String, Value)> {
    let findings = real.house.json(&["doctor"])?;
    let findings = findings.as_array().or(findings["findings"].as_array()).ok_or("no findings")?;
    let named = |finding: &&Value| {
        let message = finding["message"].as_str().unwrap_or_default();
        finding["subject"] == "agents" && message.starts_with(real.agent.name)
    };
    let found = findings.iter().find(named).ok_or_else(|| format!("{findings:?}"))?;
    let message = found["message"].as_str().unwrap_or_default().to_owned();
    Ok((found["health"].clone(), message, found["hint"].clone()))
}

/// Nobody is logged in: that is told with the way out.
fn is_not_logged_in(real: &Real, way_out: &str) -> Outcome {
    let (health, message, hint) = told(real)?;
    assert_eq!(health, "warning", "{message}");
    assert!(hint.as_str().is_some_and(|hint| hint.contains(way_out)), "{message}: {hint}");
    Ok(())
}

fn is_well(real: &Real, words: &str) -> Outcome {
    let (health, message, hint) = told(real)?;
    assert_eq!((&health, &hint), (&json!("good"), &Value::Null), "{message}");
    assert!(message.contains(words), "{message}");
    Ok(())
}

/// Without the settings that name the stub and its key.
fn without_settings(agent: RealAgent, settings: &str) -> Outcome<Option<Real>> {
    let Some(real) = Real::with(agent)? else { return Ok(None) };
    std::fs::remove_file(real.config().join(settings))?;
    Ok(Some(real))
}

#[test]
fn claude_without_a_key_is_not_logged_in() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    is_well(&real, "is logged in")?;
    let Some(mut real) = Real::with(CLAUDE)? else { return Ok(()) };
    real.house.spare("ANTHROPIC_API_KEY");
    is_not_logged_in(&real, "claude auth login")
}

#[test]
fn codex_is_logged_in_by_a_key_that_it_keeps() -> Outcome {
    let Some(real) = without_settings(CODEX, "config.toml")? else { return Ok(()) };
    is_not_logged_in(&real, "codex login")?;
    let mut login = real.bare(&real.house.repo());
    login.args(["login", "--with-api-key"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut login = login.spawn()?;
    login.stdin.take().ok_or("no input")?.write_all(b"sk-stub-0123456789")?;
    assert!(login.wait()?.success());
    is_well(&real, "is logged in")
}

/// Another provider has a key of its own, or needs none.
#[test]
fn codex_with_another_provider_is_not_called_logged_out() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    is_well(&real, "its first turn will show")
}

#[test]
fn gemini_without_a_key_or_a_choice_is_not_logged_in() -> Outcome {
    let Some(real) = Real::with(GEMINI)? else { return Ok(()) };
    is_well(&real, "is logged in")?;
    let Some(mut real) = without_settings(GEMINI, "settings.json")? else { return Ok(()) };
    real.house.spare("GEMINI_API_KEY");
    is_not_logged_in(&real, "GEMINI_API_KEY")
}

/// A turn without a key fails, with the agent's own words; nothing reaches the model.
fn a_turn_fails_without(part: Part, key: &str, words: &str) -> Outcome {
    let Some(mut real) = Real::with(part.agent)? else { return Ok(()) };
    real.house.spare(key);
    let play = Play::of(real, part, &[])?;
    play.send("hello")?;
    let over = [json!("turn_ended"), json!("process_ended")];
    play.house().follow(1)?.until(|event| over.contains(&event["event"]))?;
    let ended = play.until("idle,failed")?;
    let why = ended["failure"].as_str().or(ended["verdict"].as_str()).unwrap_or_default();
    assert!(why.contains(words), "{ended}");
    assert!(play.real.model.turns().is_empty());
    Ok(())
}

#[test]
fn claude_headless_fails_without_a_key() -> Outcome {
    a_turn_fails_without(CLAUDE_HEADLESS, "ANTHROPIC_API_KEY", "Not logged in")
}

#[test]
fn claude_in_a_terminal_fails_without_a_key() -> Outcome {
    a_turn_fails_without(CLAUDE_TERMINAL, "ANTHROPIC_API_KEY", "Not logged in")
}

#[test]
fn codex_headless_fails_without_a_key() -> Outcome {
    a_turn_fails_without(CODEX_HEADLESS, "STUB_KEY", "Missing environment variable: `STUB_KEY`")
}

#[test]
fn codex_in_a_terminal_fails_without_a_key() -> Outcome {
    a_turn_fails_without(CODEX_TERMINAL, "STUB_KEY", "Missing environment variable: `STUB_KEY`")
}

#[test]
fn gemini_fails_without_a_key() -> Outcome {
    a_turn_fails_without(GEMINI_HEADLESS, "GEMINI_API_KEY", "GEMINI_API_KEY")
}
