//! What is chosen for whoever does not say it: the agent, the name; and what is said where a choice
//! cannot be met.

use crate::support::house::{House, Outcome};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// A folder with programs of these names, and what glis itself needs.
fn programs(house: &House, names: &[&str]) -> Outcome<String> {
    let bin = house.folder().join("bin");
    std::fs::create_dir_all(&bin)?;
    for name in names {
        // It shows what runs, and stays.
        let script = "#!/bin/sh\necho I am $0\nexec cat\n";
        std::fs::write(bin.join(name), script)?;
        std::fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755))?;
    }
    for needed in ["git", "sh", "cat", "true", "sleep"] {
        let found = Command::new("which").arg(needed).output()?.stdout;
        let found = String::from_utf8(found)?;
        let link = bin.join(needed);
        if !link.exists() {
            std::os::unix::fs::symlink(found.trim(), link)?;
        }
    }
    Ok(bin.to_str().ok_or("path")?.to_owned())
}

/// Runs a command line with this PATH, and returns its exit status and its document.
fn with_path(house: &House, path: &str, args: &[&str]) -> Outcome<(Option<i32>, Value)> {
    let output = house.glis().arg("--json").args(args).env("PATH", path).output()?;
    Ok((output.status.code(), serde_json::from_slice(&output.stdout)?))
}

#[test]
fn without_an_agent_on_the_path_new_says_how_to_get_one() -> Outcome {
    let house = House::new()?;
    let path = programs(&house, &[])?;
    let (status, told) = with_path(&house, &path, &["new", "x"])?;
    let error = &told["error"];
    assert_eq!((status, &error["kind"]), (Some(2), &json!("usage")), "{error}");
    let hint = error["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("install") && hint.contains("--agent rehearsal"), "{error}");
    assert_eq!(house.json(&["ls", "--all"])?, json!([]));
    Ok(())
}

#[test]
fn the_default_agent_is_the_first_that_is_installed_and_that_is_told() -> Outcome {
    let house = House::new()?;
    let path = programs(&house, &["opencode", "codex"])?;
    let (_, made) = with_path(&house, &path, &["new", "x"])?;
    // What stands there is no real agent; which one was chosen is told all the same.
    let session = if made["error"].is_null() { made.clone() } else { house.show("x")? };
    assert_eq!(session["agent"], "codex", "{made}");
    if made["error"].is_null() {
        let note = made["notes"][0].as_str().unwrap_or_default();
        assert!(note.contains("codex") && note.contains("default_agent"), "{made}");
    }
    // The configuration decides over what is installed.
    house.configure("default_agent = \"rehearsal\"\n")?;
    let (status, made) = with_path(&house, &path, &["new", "y", "--headless"])?;
    assert_eq!((status, &made["agent"]), (Some(0), &json!("rehearsal")), "{made}");
    assert_eq!(made["notes"], json!([]));
    Ok(())
}

#[test]
fn what_follows_two_hyphens_is_a_program_whatever_the_default_is() -> Outcome {
    let house = House::new()?;
    house.configure("default_agent = \"rehearsal\"\n")?;
    let made = house.json(&["new", "x", "--", "sleep", "100000"])?;
    assert_eq!((&made["agent"], &made["argv"]), (&json!("command"), &json!(["sleep", "100000"])));
    // With an agent they are its own.
    let own = ["new", "y", "--agent", "rehearsal", "--headless", "--", "--misbehave", "late-id"];
    assert_eq!(house.json(&own)?["agent"], "rehearsal");
    Ok(())
}

#[test]
fn a_name_that_nobody_gives_is_made_from_the_prompt_the_program_or_the_agent() -> Outcome {
    let house = House::new()?;
    let agent = ["new", "--agent", "rehearsal", "--headless"];
    let prompt = ["--prompt", "say Limit failed logins to five a minute."];
    for name in ["say-limit-failed-logins-to-five", "say-limit-failed-logins-to-five-2"] {
        let made = house.json(&[&agent[..], &prompt].concat())?;
        assert_eq!(
            (&made["name"], &made["branch"]),
            (&json!(name), &json!(format!("glis/{name}")))
        );
    }
    assert_eq!(house.json(&agent)?["name"], "rehearsal");
    assert_eq!(house.json(&agent)?["name"], "rehearsal-2");
    assert_eq!(house.json(&["new", "--", "/bin/sleep", "100000"])?["name"], "sleep");
    let words = house.ok(&[&agent[..], &["--prompt", "\u{4f60}\u{597d}"]].concat())?;
    assert!(words.starts_with("`rehearsal-3` is "), "{words}");
    Ok(())
}

#[test]
fn many_who_give_no_name_at_once_get_one_each() -> Outcome {
    let house = House::new()?;
    house.ok(&["daemon", "start"])?;
    let makers = (0..6).map(|_| {
        let mut command = house.glis();
        command.args(["new", "--agent", "rehearsal", "--headless", "--prompt", "say hi"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    });
    for maker in makers.collect::<Result<Vec<_>, _>>()? {
        let made = maker.wait_with_output()?;
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let all = house.json(&["ls"])?;
    let mut names: Vec<_> =
        all.as_array().ok_or("none")?.iter().map(|s| s["name"].clone()).collect();
    names.sort_by_key(ToString::to_string);
    let wanted = ["say-hi", "say-hi-2", "say-hi-3", "say-hi-4", "say-hi-5", "say-hi-6"];
    assert_eq!(names, wanted);
    Ok(())
}

#[test]
fn a_wrong_base_agent_or_folder_is_told_with_what_there_is() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "other"])?;
    let plain = house.folder().join("plain");
    std::fs::create_dir(&plain)?;
    let plain = plain.to_str().ok_or("path")?;
    let table: [(&[&str], &[&str]); 5] = [
        (&["--base", "nowhere", "--", "true"], &["main", "other"]),
        (&["--agent", "vim"], &["-- vim"]),
        (&["--repo", plain, "--", "true"], &["git init", "--in-place"]),
        (&["--repo", "/nowhere", "--", "true"], &["--repo"]),
        (&["--persona", "critic", "--", "true"], &["[persona.NAME]", "config.toml"]),
    ];
    for (words, parts) in table {
        let (status, error) = house.fails(&[&["new", "x"], words].concat())?;
        assert_eq!(status, 2, "{words:?}: {error}");
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(parts.iter().all(|part| hint.contains(part)), "{words:?}: {error}");
        assert!(!hint.contains("glis help`"), "{words:?}: {error}");
    }
    Ok(())
}

#[test]
fn a_session_in_place_is_told_what_helps_there() -> Outcome {
    let house = House::new()?;
    house.json(&["new", "x", "--in-place", "--", "sleep", "100000"])?;
    house.json(&["snapshot", "x"])?;
    let (status, error) = house.fails(&["pause", "x", "--remove-worktree"])?;
    assert_eq!(status, 4, "{error}");
    assert!(
        error["hint"].as_str().is_some_and(|h| h.contains("leaves the folder alone")),
        "{error}"
    );
    house.json(&["pause", "x", "--mode", "force"])?;
    let (status, error) = house.fails(&["restore", "x"])?;
    assert_eq!(status, 4, "{error}");
    assert!(error["hint"].as_str().is_some_and(|h| h.contains("--to DIR")), "{error}");
    // Its folder is held by another: nothing can be left out of a resume.
    house.json(&["new", "y", "--in-place", "--", "sleep", "100000"])?;
    let (_, error) = house.fails(&["resume", "x"])?;
    assert!(error["hint"].as_str().is_some_and(|h| !h.contains("--in-place")), "{error}");
    let (_, error) = house.fails(&["new", "z", "--in-place", "--", "true"])?;
    assert!(error["hint"].as_str().is_some_and(|h| h.contains("--in-place")), "{error}");
    Ok(())
}
