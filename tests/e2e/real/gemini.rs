//! Gemini CLI as people have set it up: folders that it does not trust.

use super::Real;
use super::cast::{GEMINI_HEADLESS, NAME, Play, text};
use crate::support::house::Outcome;
use glis_stub_model::installed::GEMINI;
use glis_stub_model::prompt;
use serde_json::{Value, json};

/// Switches the question on whether a folder is trusted, as it is for everybody who has not.
fn distrust(real: &Real, enabled: bool) -> Outcome {
    let path = real.config().join("settings.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
    settings["security"]["folderTrust"] = json!({"enabled": enabled});
    Ok(std::fs::write(path, settings.to_string())?)
}

/// It says why it does not begin, and has not looked at the message: nothing is to be asked about
/// that, and once the reason is mended, the message is heard.
#[test]
fn a_folder_that_it_does_not_trust_is_a_failure_with_its_reason() -> Outcome {
    let Some(real) = Real::with(GEMINI)? else { return Ok(()) };
    distrust(&real, true)?;
    real.house.json(&["new", NAME, "--agent", "gemini"])?;
    let play = Play { real, part: GEMINI_HEADLESS };
    play.send(&prompt("first words", &[text("heard")]))?;
    let failed = play.until("failed,interrupted")?;
    assert_eq!(failed["status"], "failed", "{failed}");
    let why = failed["failure"].as_str().unwrap_or_default();
    assert!(why.contains("trust"), "{why}");
    assert!(!why.contains('\u{1b}') && !why.contains("[31m"), "{why}");
    assert_eq!((&failed["waiting_for"], &failed["queued"]), (&Value::Null, &json!(1)), "{failed}");
    assert_eq!(failed["can_resume"], true);
    let told = play.house().ok(&["send", NAME, "second words"])?;
    assert!(told.contains("trust") && told.contains(&format!("glis resume {NAME}")), "{told}");
    let log = play.house().ok(&["log", NAME])?;
    assert!(log.contains("trust") && !log.contains("[31m") && !log.contains("[39m"), "{log}");

    distrust(&play.real, false)?;
    play.house().json(&["resume", NAME])?;
    play.asked("second words")?;
    play.until("idle")?;
    let talk = play.house().talk(NAME)?;
    assert_eq!(
        talk.iter().filter(|(_, said)| said.contains("first words")).count(),
        1,
        "{talk:#?}"
    );
    assert_eq!(talk.iter().filter(|(_, said)| said.trim() == "heard").count(), 1, "{talk:#?}");
    Ok(())
}
