//! Starts that fail: the agent's own words say why, and nothing is taken for done.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CODEX_HEADLESS, GEMINI_HEADLESS, NAME, Play};
use crate::support::house::Outcome;
use glis_stub_model::installed::{CLAUDE, CODEX, GEMINI};
use serde_json::json;

/// A session of a real agent with an argument that it does not know; what `show` says of its end.
fn ends_with(real: &Real, words: &[&str], prompt: &[&str]) -> Outcome<String> {
    let new = [&["new", NAME], words, prompt, &["--", "--no-such-flag"]].concat();
    real.house.json(&new)?;
    let failed = real.house.until(NAME, "failed,interrupted")?;
    let why = failed["failure"].as_str().or(failed["verdict"].as_str()).ok_or("no reason")?;
    let why = why.to_owned();
    let shown = real.house.ok(&["show", NAME])?;
    assert!(shown.contains(&why), "{why} is not in:\n{shown}");
    assert!(!why.chars().any(char::is_control), "{why:?}");
    Ok(why)
}

#[test]
fn claude_says_which_flag_it_does_not_know() -> Outcome {
    for mode in [&["--agent", "claude", "--headless"][..], &["--agent", "claude"]] {
        let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
        let why = ends_with(&real, mode, &["--prompt", "hello"])?;
        assert!(why.contains("unknown option '--no-such-flag'"), "{why}");
        assert!(why.contains("exit status 1"), "{why}");
    }
    Ok(())
}

#[test]
fn codex_says_which_flag_it_does_not_know() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    let why = ends_with(&real, &["--agent", "codex", "--headless"], &["--prompt", "hello"])?;
    assert!(why.contains("unexpected argument '--no-such-flag'"), "{why}");
    Ok(())
}

/// It is started anew for each message, so that is where it fails; the next one goes on.
#[test]
fn gemini_says_what_is_wrong_with_its_configuration() -> Outcome {
    let Some(play) = Play::with(GEMINI_HEADLESS, &[])? else { return Ok(()) };
    let path = play.real.config().join("settings.json");
    let good = std::fs::read(&path)?;
    std::fs::write(&path, "{broken")?;
    play.send("remember the blue door")?;
    let failed = play.until("failed,interrupted")?;
    let why = failed["verdict"].as_str().unwrap_or_default();
    assert!(why.contains("settings.json"), "{failed}");
    std::fs::write(&path, good)?;
    assert!(play.resume("which door?")?.holds("blue door"));
    Ok(())
}

/// The reason stands before its help, which is long.
#[test]
fn gemini_says_which_argument_is_wrong() -> Outcome {
    let Some(real) = Real::with(GEMINI)? else { return Ok(()) };
    let new = ["new", NAME, "--agent", "gemini", "--headless", "--prompt", "hello", "--"];
    real.house.json(&[&new[..], &["--approval-mode=nonsense"]].concat())?;
    let failed = real.house.until(NAME, "failed,interrupted")?;
    let why = failed["verdict"].as_str().unwrap_or_default();
    assert!(why.contains("approval-mode, Given: \"nonsense\""), "{failed}");
    assert!(!why.contains("--version"), "{why}");
    Ok(())
}

/// Where nothing can be written down, that is told as soon as a turn has ended, and not only by the
/// resume that fails.
#[test]
fn claude_cannot_write_its_transcript() -> Outcome {
    let Some(play) = Play::with(CLAUDE_HEADLESS, &[])? else { return Ok(()) };
    let projects = play.real.config().join("projects");
    assert!(!projects.exists());
    std::fs::write(&projects, "in the way")?;
    let idle = play.turn("remember the blue door")?;
    let told = idle["warnings"].to_string();
    assert!(told.contains("a resume will fail") && told.contains("projects"), "{told}");
    let paused = play.pause()?;
    assert_eq!((&paused["resumable"], &paused["can_resume"]), (&json!(false), &json!(false)));
    let (status, error) = play.house().fails(&["resume", NAME])?;
    assert_eq!((status, &error["kind"]), (6, &json!("no_transcript")), "{error}");
    Ok(())
}

/// A configuration that was broken while the session was paused. Mended, it goes on.
#[test]
fn codex_says_what_is_wrong_with_its_configuration() -> Outcome {
    let Some(play) = Play::with(CODEX_HEADLESS, &[])? else { return Ok(()) };
    play.turn("remember the blue door")?;
    play.pause()?;
    let path = play.real.config().join("config.toml");
    let good = std::fs::read(&path)?;
    std::fs::write(&path, "model = [broken\n")?;
    let (status, error) = play.house().fails(&["resume", NAME])?;
    assert_eq!((status, &error["kind"]), (6, &json!("not_ready")), "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("config.toml") && message.contains("unclosed array"), "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
    let told = play.house().glis().args(["resume", NAME]).output()?;
    let told = String::from_utf8(told.stderr)?;
    assert!(told.contains("config.toml") && told.contains("unclosed array"), "{told}");
    std::fs::write(&path, good)?;
    assert!(play.resume("which door?")?.holds("blue door"));
    Ok(())
}

/// What is wrong with the very first start is said by the answer to a request, not by the end of the
/// process, which is ours.
#[test]
fn codex_says_why_it_does_not_begin() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    let persona = "[persona.odd]\nagent = \"codex\"\npermission_mode = \"nonsense\"\n";
    real.house.configure(persona)?;
    real.house.json(&["new", NAME, "--persona", "odd", "--headless", "--prompt", "hello"])?;
    let failed = real.house.until(NAME, "failed")?;
    let why = failed["failure"].as_str().unwrap_or_default();
    assert!(why.starts_with("it refused to begin: "), "{why}");
    assert!(why.contains("nonsense") && !why.contains("signal"), "{why}");
    Ok(())
}

/// Where the agent is to be found, taken away and put back.
struct Missing {
    found: std::path::PathBuf,
    real: std::path::PathBuf,
}

impl Missing {
    fn of(real: &Real) -> Outcome<Self> {
        let found = real.house.folder().join("bin").join(real.agent.name);
        let missing = Self { real: std::fs::read_link(&found)?, found };
        std::fs::remove_file(&missing.found)?;
        Ok(missing)
    }

    fn come_back(self) -> Outcome {
        Ok(std::os::unix::fs::symlink(self.real, self.found)?)
    }
}

/// Whoever sends is told that nothing was started, and a resume does it once the program is there.
#[test]
fn a_message_to_an_agent_that_is_not_there() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    let missing = Missing::of(&real)?;
    real.house.json(&["new", NAME, "--agent", "codex", "--headless"])?;
    let told = real.house.ok(&["send", NAME, "first words"])?;
    for words in ["queued", "its program is not there (codex)", "`glis resume play` tries again"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let sent = real.house.json(&["send", NAME, "second words"])?;
    assert!(sent["not_started"].as_str().is_some_and(|why| why.contains("not there")), "{sent}");
    let (status, error) = real.house.fails(&["resume", NAME])?;
    assert_eq!(status, 6, "{error}");
    missing.come_back()?;
    real.house.ok(&["resume", NAME])?;
    let request = real.model.until_prompt("second words")?;
    assert!(request.holds("first words"));
    Ok(())
}

/// A session that failed with its first start is started by a resume, as the hint says.
#[test]
fn a_new_session_of_an_agent_that_is_not_there() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    let missing = Missing::of(&real)?;
    let new = ["new", NAME, "--agent", "claude", "--prompt", "first words"];
    let (_, error) = real.house.fails(&new)?;
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("resume again")), "{error}");
    let failed = real.house.show(NAME)?;
    assert_eq!((&failed["status"], &failed["can_resume"]), (&json!("failed"), &json!(true)));
    let told = real.house.ok(&["send", NAME, "second words"])?;
    assert!(told.contains("its program is not there (claude)"), "{told}");
    let (status, error) = real.house.fails(&["resume", NAME])?;
    assert_eq!((status, &error["kind"]), (6, &json!("not_installed")), "{error}");
    missing.come_back()?;
    real.house.ok(&["resume", NAME])?;
    let request = real.model.until_prompt("second words")?;
    assert!(request.holds("first words"));
    Ok(())
}
