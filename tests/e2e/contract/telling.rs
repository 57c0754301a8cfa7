//! What is told is what is so: statuses, shapes of documents, and the reasons of refusals.

use crate::support::house::{Background, House, Outcome, await_gone, lives};
use crate::support::skip::skip;
use crate::support::wreck::pid_of;
use serde_json::{Value, json};

#[test]
fn silence_is_no_boundary() -> Outcome {
    let house = House::new()?;
    let pid = house.command("x", &["sleep", "100000"])?["pid"].clone();
    house.until("x", "idle")?;
    let _pause = Background::start(house.glis().args(["pause", "x", "--mode", "boundary"]))?;
    house.until("x", "pausing")?;
    house.ok(&["pause", "x", "--cancel"])?;
    assert_eq!(house.until("x", "idle")?["pid"], pid, "it works on");
    Ok(())
}

#[test]
fn agents_are_suspended_also_where_the_daemon_has_to_come_back_for_it() -> Outcome {
    let house = House::new()?;
    let pid = pid_of(&house.command("x", &["sleep", "100000"])?)?;
    house.ok(&["daemon", "stop"])?;
    assert!(lives(pid));
    assert_eq!(house.json(&["daemon", "stop", "--agents"])?, json!({"stopped": true}));
    await_gone(pid)?;
    assert_eq!(house.fails(&["daemon", "status"])?.0, 8);
    assert_eq!(house.show("x")?["status"], "suspended");
    Ok(())
}

#[test]
fn all_of_them_are_an_array_however_many_there_are() -> Outcome {
    let house = House::new()?;
    let statuses = |document: &Value| {
        let list = document.as_array().ok_or_else(|| format!("no array: {document}"))?;
        Ok::<_, String>(list.iter().map(|s| s["status"].clone()).collect::<Vec<_>>())
    };
    for verb in ["pause", "resume"] {
        assert_eq!(house.json(&[verb, "--all"])?, json!([]));
    }
    house.command("x", &["sleep", "100000"])?;
    let all = ["pause", "--all", "--mode", "interrupt"];
    assert_eq!(statuses(&house.json(&all)?)?, ["paused"]);
    assert_eq!(statuses(&house.json(&["resume", "--all"])?)?.len(), 1);
    // One that is named is one document, as everywhere.
    assert_eq!(house.json(&["pause", "x"])?["status"], "paused");
    // A failure stands beside its session here too.
    std::fs::remove_dir_all(house.repo().join(".git"))?;
    let output = house.glis().args(["--json", "resume", "--paused", "--yes"]).output()?;
    let told: Value = serde_json::from_slice(&output.stdout)?;
    assert!(!output.status.success(), "{told}");
    assert!(told[0]["error"]["message"].is_string(), "{told}");
    Ok(())
}

#[test]
fn a_second_daemon_says_so_as_everything_else_does() -> Outcome {
    let house = House::new()?;
    house.ok(&["daemon", "start"])?;
    let (status, error) = house.fails(&["daemon", "run"])?;
    assert_eq!((status, &error["kind"]), (4, &json!("refused")), "{error}");
    let pid = house.daemon_pid()?.to_string();
    assert!(error["message"].as_str().is_some_and(|text| text.contains(&pid)), "{error}");
    assert!(error["hint"].is_string(), "{error}");
    Ok(())
}

#[test]
fn one_folder_has_one_writer() -> Outcome {
    let house = House::new()?;
    let new = ["new", "one", "--in-place", "--", "sleep", "100000"];
    house.json(&new)?;
    let second = ["new", "two", "--in-place", "--", "sleep", "100000"];
    let (status, error) = house.fails(&second)?;
    assert_eq!((status, &error["kind"]), (4, &json!("refused")), "{error}");
    assert!(says(&error, "message", "`one` is already running in"), "{error}");
    assert!(says(&error, "hint", "`glis pause one`"), "{error}");
    assert_eq!(house.fails(&["show", "two"])?.0, 3, "nothing is left of what was refused");
    // In a worktree of its own it is in nobody's way; and who is paused does not write.
    house.command("three", &["sleep", "100000"])?;
    house.json(&["pause", "one", "--mode", "force"])?;
    house.json(&second)?;
    let (status, error) = house.fails(&["resume", "one"])?;
    assert_eq!(status, 4, "{error}");
    assert!(says(&error, "message", "`two` is already running in"), "{error}");
    house.ok(&["stop", "two"])?;
    house.json(&["resume", "one"])?;
    let (status, error) = house.fails(&["send", "two", "wake up"])?;
    assert_eq!(status, 4, "{error}");
    assert_eq!(house.show("two")?["queued"], 0);
    Ok(())
}

fn says(error: &Value, field: &str, part: &str) -> bool {
    error[field].as_str().is_some_and(|text| text.contains(part))
}

#[test]
fn a_repository_that_is_no_place_to_work_in_is_named_as_what_it_is() -> Outcome {
    let house = House::new()?;
    house.git(&["clone", "--quiet", "--bare", ".", "../bare.git"])?;
    let bare = house.folder().join("bare.git");
    let bare = bare.to_str().ok_or("path")?;
    for site in [&["--in-place"][..], &[]] {
        let new = [&["new", "x", "--repo", bare], site, &["--", "true"]].concat();
        let (status, error) = house.fails(&new)?;
        assert_eq!(status, 2, "{error}");
        assert!(says(&error, "message", "bare repository"), "{error}");
        assert!(says(&error, "message", "git worktree add"), "{error}");
        assert_eq!(house.json(&["ls", "--all"])?, json!([]));
    }
    Ok(())
}

#[test]
fn a_repository_of_somebody_else_is_named_as_such() -> Outcome {
    let house = House::new()?;
    if !rustix::process::getuid().is_root() {
        return skip("only root can give a repository to somebody else", None);
    }
    for path in [house.repo(), house.repo().join(".git")] {
        std::os::unix::fs::chown(path, Some(12345), Some(12345))?;
    }
    for site in [&["--in-place"][..], &[]] {
        let (status, error) = house.fails(&[&["new", "x"], site, &["--", "true"]].concat())?;
        assert_eq!(status, 2, "{error}");
        assert!(says(&error, "message", "belongs to another user"), "{error}");
        assert!(says(&error, "message", "safe.directory"), "{error}");
    }
    Ok(())
}

#[test]
fn a_repository_that_was_moved_away_is_named() -> Outcome {
    let house = House::new()?;
    house.command("x", &["true"])?;
    house.until("x", "completed")?;
    house.command("y", &["sleep", "100000"])?;
    house.json(&["pause", "y", "--mode", "force"])?;
    let repo = house.repo().canonicalize()?;
    let away = house.folder().join("away");
    std::fs::rename(&repo, &away)?;
    let ask = |args: &[&str]| -> Outcome<String> {
        let output = house.glis().current_dir(&away).args(args).output()?;
        assert!(!output.status.success(), "{args:?}");
        Ok(String::from_utf8(output.stderr)?)
    };
    for verb in ["resume", "snapshots"] {
        let said = ask(&[verb, "y"])?;
        let wanted = format!("repository {} is missing", repo.display());
        assert!(said.contains(&wanted), "{verb}: {said}");
    }
    std::fs::rename(&away, &repo)?;
    house.json(&["resume", "y"])?;
    Ok(())
}

#[test]
fn a_program_that_may_not_be_executed_is_told_from_one_that_is_missing() -> Outcome {
    let house = House::new()?;
    let tool = house.folder().join("tool");
    std::fs::write(&tool, "#!/bin/sh\n")?;
    let tool = tool.to_str().ok_or("path")?;
    let (_, error) = house.fails(&["new", "x", "--", tool])?;
    assert!(says(&error, "message", "may not be executed"), "{error}");
    assert!(says(&error, "message", "chmod +x"), "{error}");
    let (_, error) = house.fails(&["new", "y", "--", &format!("{tool}s")])?;
    assert!(says(&error, "message", "program is not there"), "{error}");
    Ok(())
}

#[test]
fn the_help_names_every_agent() -> Outcome {
    let house = House::new()?;
    let (_, error) = house.fails(&["new", "x", "--agent", "nobody"])?;
    let message = error["message"].as_str().ok_or("no message")?;
    let known = message.split_once("known are ").ok_or("no list")?.1;
    let help = house.ok(&["help", "new"])?;
    for agent in known.split(", ") {
        assert!(help.contains(&format!("`{agent}`")), "{agent} is missing:\n{help}");
    }
    Ok(())
}

#[test]
fn a_relative_place_for_worktrees_is_refused_by_its_line() -> Outcome {
    let house = House::new()?;
    house.configure("[worktree]\nplace = \"trees\"\n")?;
    let (status, error) = house.fails(&["ls"])?;
    assert_eq!(status, 8, "{error}");
    assert!(says(&error, "message", ":2: worktree.place must begin with a slash"), "{error}");
    Ok(())
}
