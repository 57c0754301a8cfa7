//! Faults of glis itself: a panic ends one operation, and what takes the daemon down twice is not
//! tried a third time. Work that hangs keeps nobody from looking.

use crate::support::house::{Background, House, Outcome, await_gone, eventually};
use crate::support::wreck::{agents, pid_of};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Starts the daemon with a fault in it; returns its pid.
fn start_with(house: &House, fault: &str) -> Outcome<i32> {
    let start =
        house.glis().args(["--json", "daemon", "start"]).env("GLIS_FAILPOINT", fault).output()?;
    if !start.status.success() {
        // It may have died of the fault before it could answer.
        return Err(String::from_utf8_lossy(&start.stdout).into());
    }
    pid_of(&serde_json::from_slice(&start.stdout)?)
}

/// A house in which only what is asked for is saved.
fn quiet_house() -> Outcome<House> {
    let house = House::new()?;
    house.configure("[snapshot]\nat_turn_end = false\n")?;
    Ok(house)
}

fn finding(house: &House, of: &str) -> Outcome<Value> {
    let output = house.glis().args(["--json", "doctor"]).output()?;
    let all: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let found = all.into_iter().find(|f| f["message"].as_str().is_some_and(|m| m.contains(of)));
    Ok(found.ok_or_else(|| format!("no finding about {of:?}"))?)
}

#[test]
fn a_panic_in_a_save_ends_that_save_and_nothing_else() -> Outcome {
    let house = quiet_house()?;
    let daemon = start_with(&house, "panic@save@blue")?;
    house.rehearsal("blue")?;
    house.rehearsal("red")?;
    for _ in 0..3 {
        let (status, error) = house.fails(&["snapshot", "blue"])?;
        assert_eq!(status, 1, "{error}");
        let told = error["message"].as_str().unwrap_or_default();
        assert!(told.contains("an internal error of glis: a test asked for it"), "{told}");
    }
    // A pause that cannot save is refused, and the agent goes on.
    house.turn("blue", "say hello")?;
    let agent = pid_of(&house.show("blue")?)?;
    assert_eq!(house.fails(&["pause", "blue"])?.0, 1);
    assert_eq!(pid_of(&house.turn("blue", "say again")?)?, agent);
    house.ok(&["snapshot", "red"])?;
    assert_eq!(house.daemon_pid()?, daemon);
    Ok(())
}

#[test]
fn a_panic_in_an_answer_is_told_to_whoever_asked() -> Outcome {
    let house = quiet_house()?;
    let daemon = start_with(&house, "panic@show@blue")?;
    house.rehearsal("red")?;
    let (status, error) = house.fails(&["new", "blue", "--agent", "rehearsal", "--headless"])?;
    assert_eq!(status, 1, "{error}");
    let told = error["message"].as_str().unwrap_or_default();
    assert!(told.contains("an internal error of glis"), "{told}");
    assert_eq!(house.show("red")?["name"], "red");
    assert_eq!(house.daemon_pid()?, daemon);
    Ok(())
}

#[test]
fn what_took_the_daemon_down_twice_is_not_tried_a_third_time() -> Outcome {
    let mut house = quiet_house()?;
    house.rehearsal("blue")?;
    house.rehearsal("red")?;
    house.turn("blue", "say hello")?;
    let agent = pid_of(&house.show("blue")?)?;
    house.ok(&["daemon", "stop"])?;

    // The first death, and the second when the next daemon goes on with it. The third stays.
    house.surround("GLIS_FAILPOINT", "abort@save@blue");
    assert_eq!(house.fails(&["snapshot", "blue"])?.0, 8);
    let is_barred = || house.show("blue").is_ok_and(|blue| blue["barred"].is_string());
    eventually("the session is barred", is_barred)?;
    let third = house.daemon_pid()?;
    let diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
    assert_eq!(diary.matches("the daemon died of itself").count(), 2, "{diary}");

    // The others work, and this one is flagged wherever somebody looks.
    house.ok(&["snapshot", "red"])?;
    let blue = house.show("blue")?;
    let bar = blue["barred"].as_str().ok_or("not barred")?;
    assert!(bar.contains("save its worktree") && bar.contains("twice"), "{bar}");
    assert!(house.ok(&["show", "blue"])?.contains("glis acknowledge blue"));
    assert!(house.ok(&["ls"])?.contains("barred"));
    assert_eq!(finding(&house, "died of it twice")?["health"], "bad");
    let (status, error) = house.fails(&["snapshot", "blue"])?;
    assert_eq!(status, 1);
    let told = error["message"].as_str().unwrap_or_default();
    assert!(told.contains("`glis acknowledge blue`"), "{told}");
    // Its agent was never touched, and listens.
    assert_eq!(pid_of(&house.turn("blue", "say still here")?)?, agent);
    assert_eq!(house.daemon_pid()?, third);

    // Mended, and taken note of.
    house.ok(&["daemon", "stop"])?;
    house.spare("GLIS_FAILPOINT");
    assert_eq!(house.fails(&["snapshot", "blue"])?.0, 1);
    assert_eq!(house.json(&["acknowledge", "blue"])?["barred"], Value::Null);
    house.ok(&["snapshot", "blue"])?;
    house.ok(&["daemon", "stop"])?;
    assert_eq!(house.show("blue")?["barred"], Value::Null);
    Ok(())
}

#[test]
fn a_daemon_that_is_killed_in_a_save_is_held_against_nobody() -> Outcome {
    let house = quiet_house()?;
    let gate = Gate::put(&house)?;
    start_by(&house, &gate)?;
    house.rehearsal("blue")?;
    gate.close()?;
    let mut snapshot = house.glis();
    let mut snapshot = Background::start(snapshot.args(["snapshot", "blue"]))?;
    for times in 1..=3 {
        gate.until_held_up(times)?;
        house.kill_daemon()?;
        start_by(&house, &gate)?;
    }
    snapshot.0.wait()?;
    gate.open()?;
    house.follow(1)?.until(|e| e["event"] == "worktree_saved")?;
    assert_eq!(house.show("blue")?["barred"], Value::Null);
    Ok(())
}

#[test]
fn a_panic_in_a_decision_bars_its_session_and_does_not_come_again() -> Outcome {
    let house = quiet_house()?;
    house.rehearsal("blue")?;
    house.rehearsal("red")?;
    house.ok(&["daemon", "stop"])?;
    let first = start_with(&house, "panic@decide@outcome")?;
    assert_eq!(house.fails(&["snapshot", "blue"])?.0, 8);
    await_gone(first)?;
    // With the fault mended the operation is called off, not left open.
    let blue = house.show("blue")?;
    assert!(blue["barred"].as_str().is_some_and(|bar| bar.contains("outcome")), "{blue}");
    house.follow(1)?.until(|e| e["event"] == "worktree_not_saved")?;
    house.ok(&["acknowledge", "blue"])?;
    house.ok(&["snapshot", "blue"])?;
    // With the fault still there it ends the daemon once, and then only that is left out.
    house.ok(&["daemon", "stop"])?;
    let second = start_with(&house, "panic@decide@outcome")?;
    assert_eq!(house.fails(&["snapshot", "red"])?.0, 8);
    await_gone(second)?;
    let third = start_with(&house, "panic@decide@outcome")?;
    house.ok(&["ls"])?;
    assert!(house.show("red")?["barred"].is_string());
    assert_eq!(house.daemon_pid()?, third);
    // A command that cannot be decided on is refused, and that is all.
    house.ok(&["daemon", "stop"])?;
    let fourth = start_with(&house, "panic@decide@command")?;
    let (status, error) = house.fails(&["snapshot", "blue"])?;
    assert_eq!(status, 1, "{error}");
    assert_eq!(house.daemon_pid()?, fourth);
    Ok(())
}

#[test]
fn an_agent_that_cannot_be_listened_to_is_flagged_and_can_be_stopped() -> Outcome {
    let house = quiet_house()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    let blue = house.show("blue")?;
    let id = blue["id"].as_str().ok_or("no id")?.to_owned();
    house.ok(&["daemon", "stop"])?;
    let daemon = start_with(&house, "panic@hear@rehearsal")?;
    let told = |e: &Value| e["event"] == "barred" && e["session"] == id.as_str();
    house.follow(1)?.until(told)?;
    let bar = house.show("blue")?["barred"].clone();
    assert!(bar.as_str().is_some_and(|bar| bar.contains("listen to it")), "{bar}");
    assert_eq!(agents(&id), [pid_of(&blue)?], "the agent runs on");
    assert_eq!(house.daemon_pid()?, daemon);
    // What it holds can be saved, and it can be stopped.
    house.ok(&["snapshot", "blue"])?;
    assert_eq!(house.json(&["stop", "blue"])?["status"], "suspended");
    assert!(agents(&id).is_empty());
    house.ok(&["daemon", "stop"])?;
    house.ok(&["acknowledge", "blue"])?;
    house.turn("blue", "say better")?;
    Ok(())
}

/// A git that can be held up.
struct Gate {
    bin: std::path::PathBuf,
    closed: std::path::PathBuf,
    held_up: std::path::PathBuf,
}

impl Gate {
    fn put(house: &House) -> Outcome<Self> {
        let folder = house.folder();
        let (bin, closed) = (folder.join("bin"), folder.join("closed"));
        let held_up = folder.join("held-up");
        std::fs::create_dir_all(&bin)?;
        let git = String::from_utf8(Command::new("which").arg("git").output()?.stdout)?;
        let script = format!(
            "#!/bin/sh\nif [ -e {0} ]; then echo x >> {1}; while [ -e {0} ]; do sleep 0.05; done; fi\n\
             exec {2} \"$@\"\n",
            closed.display(),
            held_up.display(),
            git.trim()
        );
        std::fs::write(bin.join("git"), script)?;
        std::fs::set_permissions(bin.join("git"), PermissionsExt::from_mode(0o755))?;
        Ok(Self { bin, closed, held_up })
    }

    fn close(&self) -> Outcome {
        Ok(std::fs::write(&self.closed, "")?)
    }

    fn open(&self) -> Outcome {
        Ok(std::fs::remove_file(&self.closed)?)
    }

    /// Waits until so many were held up since the beginning.
    fn until_held_up(&self, times: usize) -> Outcome {
        let count =
            || std::fs::read_to_string(&self.held_up).map_or(0, |text| text.lines().count());
        eventually("git is held up", || count() >= times)
    }
}

/// Starts the daemon so that it finds this git.
fn start_by(house: &House, gate: &Gate) -> Outcome {
    let path = format!("{}:{}", gate.bin.display(), std::env::var("PATH")?);
    let start = house.glis().args(["daemon", "start"]).env("PATH", path).output()?;
    if start.status.success() { Ok(()) } else { Err(format!("{start:?}").into()) }
}

#[test]
fn however_many_saves_hang_whoever_looks_is_answered_at_once() -> Outcome {
    let house = quiet_house()?;
    let gate = Gate::put(&house)?;
    start_by(&house, &gate)?;
    house.in_terminal("eye")?;
    let names: Vec<String> = (0..24).map(|number| format!("s{number}")).collect();
    for name in &names {
        house.rehearsal(name)?;
    }
    gate.close()?;
    let mut hanging = Vec::new();
    for name in &names {
        hanging.push(Background::start(house.glis().args(["snapshot", name]))?);
    }
    gate.until_held_up(16)?;
    for look in [
        ["ls"].as_slice(),
        &["show", "eye"],
        &["screen", "eye"],
        &["log", "eye"],
        &["output", "eye"],
        &["search", "hello"],
        &["send", "eye", "say hello"],
        &["wait", "eye", "--for", "idle", "--timeout", "30s"],
        &["screen", "eye"],
    ] {
        let mut command = Background::start(house.glis().args(look))?;
        let patience = Instant::now() + Duration::from_secs(30);
        while command.0.try_wait()?.is_none() {
            assert!(Instant::now() < patience, "{look:?} waits for the saves");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(command.0.wait()?.success(), "{look:?}");
    }
    gate.open()?;
    for mut snapshot in hanging {
        assert!(snapshot.0.wait()?.success());
    }
    Ok(())
}
