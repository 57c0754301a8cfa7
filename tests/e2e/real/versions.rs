//! Which version a program is of: its own package or itself says so, nobody else, and what nobody knows
//! is told.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CODEX_HEADLESS, NAME, Play};
use crate::support::house::Outcome;
use glis_stub_model::installed::{CLAUDE, CODEX};
use std::os::unix::fs::PermissionsExt as _;

/// The program by itself, in a file that is named like its version, as its own installer leaves it;
/// and a package of the user's in a folder above.
#[test]
fn a_strangers_package_says_nothing_of_it() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    let strangers = r#"{"name":"my-notes","version":"1.0.0"}"#;
    std::fs::write(real.user_home().join("package.json"), strangers)?;
    let versions = real.user_home().join(".local/share/claude/versions");
    std::fs::create_dir_all(&versions)?;
    let native = versions.join(CLAUDE.version);
    let program = real.program.canonicalize()?;
    std::fs::hard_link(&program, &native)
        .or_else(|_| std::fs::copy(&program, &native).map(drop))?;
    let found = real.house.folder().join("bin/claude");
    std::fs::remove_file(&found)?;
    std::os::unix::fs::symlink(&native, &found)?;
    real.house.json(&["new", NAME, "--agent", "claude", "--headless"])?;
    let play = Play { real, part: CLAUDE_HEADLESS };
    play.turn("remember the blue door")?;
    play.pause()?;
    assert!(play.resume("which door?")?.holds("blue door"));
    assert_eq!(play.show()?["warnings"], serde_json::json!([]));
    Ok(())
}

/// A wrapper that has no version to tell: it works, and everybody is told.
#[test]
fn a_version_that_nobody_knows_is_told() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    let found = real.house.folder().join("bin/codex");
    std::fs::remove_file(&found)?;
    let program = real.program.display();
    let wrapper = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 3\nexec {program} \"$@\"\n");
    std::fs::write(&found, wrapper)?;
    std::fs::set_permissions(&found, std::fs::Permissions::from_mode(0o755))?;
    real.house.json(&["new", NAME, "--agent", "codex", "--headless"])?;
    let play = Play { real, part: CODEX_HEADLESS };
    play.turn("first words")?;
    let unknown = format!("the version of {} is not known", found.display());
    let warned = |session: &serde_json::Value| {
        let warnings = session["warnings"].as_array();
        warnings.is_some_and(|all| all.iter().any(|w| w.to_string().contains(&unknown)))
    };
    assert!(warned(&play.show()?), "{}", play.show()?);
    play.pause()?;
    let told = play.house().ok(&["resume", NAME])?;
    assert!(told.contains(&format!("warning: {unknown}")), "{told}");
    assert!(warned(&play.show()?));
    Ok(())
}
