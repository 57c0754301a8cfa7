//! A git that hangs while a worktree is saved.

use crate::support::held::{BOUND, goes_on, held, warnings};
use crate::support::house::{Background, House, Outcome};
use crate::support::wreck::{marked, text_of};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A git that hangs as long as a file is there, and the file.
fn hanging_git(house: &mut House) -> Outcome<PathBuf> {
    let bin = house.folder().join("bin");
    fs::create_dir(&bin)?;
    let flag = house.folder().join("hang");
    let path = std::env::var("PATH")?;
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.exists());
    let real = real.ok_or("no git")?;
    let script = format!(
        "#!/bin/sh\nif [ -e '{}' ]; then exec sleep 1000; fi\nexec '{}' \"$@\"\n",
        flag.display(),
        real.display()
    );
    fs::write(bin.join("git"), script)?;
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755))?;
    house.surround("PATH", format!("{}:{path}", bin.display()));
    Ok(flag)
}

#[test]
fn a_git_that_hangs_fails_a_plain_pause_and_the_agent_goes_on() -> Outcome {
    let mut house = House::of_moved_time()?;
    house.configure("[pause]\nsave_secs = 2\n")?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    fs::write(&flag, "")?;
    let refused = house.out_of_time("step", || house.fails(&["pause", "blue"]));
    let (status, error) = refused?;
    assert_eq!(status, 1, "{error}");
    let message = text_of(&error, "message")?;
    assert!(message.contains("not done after"), "{message}");
    assert_eq!(house.show("blue")?["pid"], session["pid"]);
    fs::remove_file(&flag)?;
    house.turn("blue", "say hello")?;
    house.json(&["pause", "blue"])?;
    Ok(())
}

#[test]
fn a_git_that_hangs_does_not_hold_up_a_forced_pause() -> Outcome {
    let mut house = House::of_moved_time()?;
    house.configure("[pause]\nforce_secs = 2\n")?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    fs::write(&flag, "")?;
    let begun = Instant::now();
    let force = ["pause", "blue", "--mode", "force"];
    let paused = house.out_of_time("step", || house.json(&force))?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!((&paused["status"], &paused["pid"]), (&"paused".into(), &Value::Null));
    assert!(warnings(&paused).contains("no snapshot after the stop: not done after"), "{paused}");
    assert!(warnings(&paused).contains("ended sleep (pid"), "{paused}");
    fs::remove_file(&flag)?;
    goes_on(&house, &session)?;
    assert_eq!(fs::read_to_string(house.file("blue", "a.txt")?)?, "one");
    Ok(())
}

#[test]
fn a_stop_wins_over_a_pause_whose_git_hangs() -> Outcome {
    let mut house = House::new()?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    fs::write(&flag, "")?;
    let mut pause = Background::start(house.glis().args(["pause", "blue"]))?;
    house.follow(1)?.until(|e| e["event"] == "terminal_captured")?;
    let begun = Instant::now();
    let stopped = house.json(&["stop", "blue"])?;
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(stopped["status"], "suspended");
    assert_eq!(pause.0.wait()?.code(), Some(4), "the pause was overruled");
    assert_eq!(marked(&text_of(&session, "id")?), Vec::<i32>::new());
    fs::remove_file(&flag)?;
    Ok(())
}
