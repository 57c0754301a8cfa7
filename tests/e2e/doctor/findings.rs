//! The doctor finds what is wrong, says how to mend it, and is silent where nothing is.

use crate::support::house::{House, Outcome, kill_and_wait};
use crate::support::wreck::{holder_of, pid_of, text_of};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// What is not good, as (health, message, hint).
fn complaints(house: &House) -> Outcome<Vec<(String, String, String)>> {
    let output = house.glis().args(["--json", "doctor"]).output()?;
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let text =
        |finding: &Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
    let bad: Vec<_> = findings
        .iter()
        .filter(|finding| finding["health"] != "good")
        .map(|f| (text(f, "health"), text(f, "message"), text(f, "hint")))
        .collect();
    let any_bad = bad.iter().any(|(health, ..)| health == "bad");
    assert_eq!(output.status.success(), !any_bad, "{bad:?}");
    assert!(bad.iter().all(|(_, _, hint)| !hint.is_empty()), "each has a hint: {bad:?}");
    Ok(bad)
}

/// The one complaint there is.
fn only(house: &House, health: &str, message: &str, hint: &str) -> Outcome {
    let all = complaints(house)?;
    let [(is, told, how)] = all.as_slice() else { return Err(format!("{all:?}").into()) };
    assert_eq!(is, health, "{told}");
    assert!(told.contains(message), "{told}");
    assert!(how.contains(hint), "{how}");
    Ok(())
}

/// A paused session with work in its worktree, and nothing to complain about.
fn paused(house: &House) -> Outcome<(Value, PathBuf)> {
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let session = house.json(&["pause", "blue"])?;
    assert_eq!(complaints(house)?, []);
    let tree = PathBuf::from(text_of(&session, "worktree")?);
    Ok((session, tree))
}

#[test]
fn a_worktree_that_is_gone_is_missed_unless_the_pause_removed_it() -> Outcome {
    let house = House::new()?;
    let (_, tree) = paused(&house)?;
    fs::remove_dir_all(&tree)?;
    only(&house, "bad", "is gone", "glis resume blue")?;
    house.ok(&["resume", "blue"])?;
    house.ok(&["pause", "blue", "--remove-worktree"])?;
    assert!(!tree.exists());
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

#[test]
fn a_foreign_change_is_seen() -> Outcome {
    let house = House::new()?;
    let (_, tree) = paused(&house)?;
    fs::write(tree.join("a.txt"), "somebody else\n")?;
    only(&house, "warning", "1 changes in its worktree", "overwrites nothing")?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

#[test]
fn snapshots_of_sessions_of_another_home_are_told_and_no_alarm() -> Outcome {
    let house = House::new()?;
    let (session, _) = paused(&house)?;
    let commit = session["snapshot"]["commit"].as_str().ok_or("no snapshot")?;
    for shelf in ["snap", "trash"] {
        let name = format!("refs/glis/{shelf}/0badc0de/1");
        house.git(&["update-ref", &name, commit])?;
        let told = house.ok(&["doctor"])?;
        assert!(told.contains("0badc0de"), "{told}");
        assert_eq!(complaints(&house)?, [], "another home may know them");
        house.git(&["update-ref", "-d", &name])?;
    }
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

/// The file of the loose object or pack that holds the snapshot's own bytes.
fn packs(house: &House) -> Outcome<Vec<PathBuf>> {
    let folder = house.repo().join(".git/objects/pack");
    let all = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    Ok(all.filter(|path| path.extension().is_some_and(|end| end == "pack")).collect())
}

#[test]
fn a_snapshot_with_missing_or_broken_objects_is_found() -> Outcome {
    let house = House::new()?;
    paused(&house)?;
    let packs = packs(&house)?;
    assert!(!packs.is_empty());
    let kept: Vec<_> = packs.iter().map(fs::read).collect::<Result<_, _>>()?;
    for pack in &packs {
        let mut bytes = fs::read(pack)?;
        let middle = bytes.len() / 2;
        bytes[middle..middle + 8].fill(0xff);
        fs::set_permissions(pack, fs::Permissions::from_mode(0o644))?;
        fs::write(pack, bytes)?;
    }
    let broken = complaints(&house)?;
    assert!(broken.iter().any(|(h, m, _)| h == "bad" && m.contains("not whole")), "{broken:?}");
    for pack in &packs {
        fs::remove_file(pack)?;
    }
    let missing = complaints(&house)?;
    assert!(missing.iter().any(|(h, m, _)| h == "bad" && m.contains("not whole")), "{missing:?}");
    for (pack, bytes) in packs.iter().zip(kept) {
        fs::write(pack, bytes)?;
    }
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

/// Makes a file look as if nobody had touched it for an hour.
fn age(path: &std::path::Path) -> Outcome {
    let file = fs::File::options().write(true).open(path)?;
    Ok(file.set_modified(SystemTime::now() - Duration::from_secs(3600))?)
}

#[test]
fn locks_that_nobody_holds_are_found() -> Outcome {
    let house = House::new()?;
    let (session, tree) = paused(&house)?;
    let gitdir = fs::read_to_string(tree.join(".git"))?;
    let gitdir = gitdir.strip_prefix("gitdir: ").ok_or("no gitdir")?.trim_end();
    let lock = PathBuf::from(gitdir).join("index.lock");
    fs::write(&lock, "")?;
    assert_eq!(complaints(&house)?, [], "a lock that is a moment old may be somebody's");
    age(&lock)?;
    only(&house, "warning", "index.lock", "glis resume blue")?;
    house.ok(&["resume", "blue"])?;
    assert!(!lock.exists());
    assert_eq!(complaints(&house)?, []);
    let name = session["snapshot"]["ref"].as_str().ok_or("no snapshot")?;
    let folder = house.repo().join(".git").join(name);
    let lock = folder.with_file_name("1-0000.lock");
    fs::write(&lock, "")?;
    age(&lock)?;
    only(&house, "warning", "stale locks on snapshots", "glis daemon stop")?;
    house.ok(&["daemon", "stop"])?;
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

#[test]
fn a_holder_that_died_is_told() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "say hello")?;
    assert_eq!(complaints(&house)?, []);
    kill_and_wait(holder_of(pid_of(&session)?)?)?;
    house.until("blue", "interrupted")?;
    only(&house, "warning", "died uncleanly", "glis resume")?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

#[test]
fn an_agent_that_is_not_installed_any_more_is_named() -> Outcome {
    let house = House::new()?;
    let program = house.folder().join("my-agent");
    fs::write(&program, "#!/bin/sh\nexec cat\n")?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    house.command("blue", &[program.to_str().ok_or("path")?])?;
    house.ok(&["pause", "blue", "--mode", "force"])?;
    assert_eq!(complaints(&house)?, []);
    fs::remove_file(&program)?;
    only(&house, "bad", "my-agent", "install it")?;
    Ok(())
}

#[test]
fn a_worktree_that_could_not_be_saved_is_told() -> Outcome {
    let house = House::new()?;
    // The save at the end of a turn would succeed, sooner or later.
    house.configure("[snapshot]\nat_turn_end = false\n")?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let tree = house.file("blue", "")?;
    let dot_git = fs::read_to_string(tree.join(".git"))?;
    fs::write(tree.join(".git"), "gitdir: /nowhere\n")?;
    assert_eq!(house.fails(&["snapshot", "blue"])?.0, 1);
    let told = complaints(&house)?;
    fs::write(tree.join(".git"), dot_git)?;
    assert!(told.iter().any(|(_, m, _)| m.contains("could not be saved")), "{told:?}");
    assert!(told.iter().any(|(_, _, h)| h.contains("glis snapshot blue")), "{told:?}");
    house.ok(&["snapshot", "blue"])?;
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

#[test]
fn trash_past_its_deadline_is_told() -> Outcome {
    let house = House::new()?;
    house.configure("[trash]\ndays = 0\n")?;
    house.rehearsal("blue")?;
    assert_eq!(complaints(&house)?, []);
    house.ok(&["rm", "blue"])?;
    only(&house, "warning", "past their deadline", "glis trash empty")?;
    house.ok(&["trash", "empty", "--yes"])?;
    assert_eq!(complaints(&house)?, []);
    Ok(())
}

#[test]
fn a_folder_of_the_users_own_that_is_gone_has_a_hint_that_helps() -> Outcome {
    let house = House::new()?;
    let own = house.folder().join("own");
    fs::create_dir(&own)?;
    let place = own.to_str().ok_or("path")?;
    let new = ["new", "blue", "--agent", "rehearsal", "--headless", "--in-place", "--repo", place];
    house.json(&new)?;
    house.turn("blue", "write a.txt hello")?;
    // After a stop it would be saved by itself, perhaps just while its folder goes.
    house.ok(&["pause", "blue"])?;
    fs::remove_dir_all(&own)?;
    only(&house, "bad", "it works in place, and its folder", "move it back, or make it anew")?;
    let (status, error) = house.fails(&["resume", "blue"])?;
    assert_eq!((status, &error["kind"]), (6, &Value::from("no_directory")), "{error}");
    assert!(text_of(&error, "hint")?.contains("make it anew"), "{error}");
    // What the hints say is so.
    fs::create_dir(&own)?;
    assert_eq!(complaints(&house)?, []);
    house.ok(&["resume", "blue"])?;
    Ok(())
}

#[test]
fn a_repository_that_was_moved_has_a_way_on_where_it_is_now() -> Outcome {
    let house = House::new()?;
    let (session, _) = paused(&house)?;
    let moved = house.folder().join("elsewhere");
    fs::rename(house.repo(), &moved)?;
    // Not in the repository, which is where it usually stands.
    let glis = |args: &[&str]| house.glis().current_dir(house.folder()).args(args).output();
    let doctor = String::from_utf8(glis(&["doctor"])?.stdout)?;
    assert!(doctor.contains("glis new NAME --repo DIR --base BRANCH"), "{doctor}");
    let told = String::from_utf8(glis(&["resume", "blue"])?.stderr)?;
    let branch = text_of(&session, "branch")?;
    assert!(told.contains(&format!("--base {branch}")), "{told}");
    let place = moved.to_str().ok_or("path")?;
    let new = ["new", "on", "--agent", "rehearsal", "--repo", place, "--base", branch.as_str()];
    let made = glis(&new)?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Ok(())
}
