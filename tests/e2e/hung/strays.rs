//! Holders that outlive their session's rest: stopped while they were being born, or without their
//! lock. They are found by what they hold, and the session can go on. And processes of a session
//! that have become another user's.

use crate::support::house::{Background, House, Outcome, eventually, lives};
use crate::support::skip::skip;
use crate::support::wreck::{folder, holder_of, marked, pid_of, text_of};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::Command;

fn stop(pid: i32) -> Outcome {
    Ok(kill_process(Pid::from_raw(pid).ok_or("no pid")?, Signal::STOP)?)
}

#[test]
fn a_holder_that_is_stopped_while_it_is_born_does_not_keep_its_session() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "say one")?;
    house.json(&["pause", "blue"])?;
    let dir = folder(&house, &text_of(&session, "id")?);
    let lock = dir.join("hold.lock");
    let pid_in = || -> Option<i64> {
        serde_json::from_slice::<serde_json::Value>(&fs::read(&lock).ok()?).ok()?["pid"].as_i64()
    };
    let former = pid_in();
    let mut resume = house.glis();
    let mut resuming = Background::start(resume.args(["resume", "blue"]))?;
    let born = loop {
        if let Some(pid) = pid_in().filter(|pid| Some(*pid) != former) {
            break i32::try_from(pid)?;
        }
        assert!(resuming.0.try_wait()?.is_none(), "it came back before its holder was seen");
    };
    stop(born)?;
    // Whether it was caught before or after it told of its birth: the session goes on.
    resuming.0.wait()?;
    if house.show("blue")?["status"] == "paused" {
        house.json(&["resume", "blue"])?;
    }
    house.turn("blue", "say two")?;
    Ok(())
}

#[test]
fn a_stopped_holder_without_its_lock_is_ended_by_a_pause() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "say one")?;
    let holder = holder_of(pid_of(&session)?)?;
    stop(holder)?;
    fs::remove_file(folder(&house, &text_of(&session, "id")?).join("hold.lock"))?;
    house.kill_daemon()?;
    house.json(&["pause", "blue"])?;
    // Who is killed lets go of its files a moment before it has ended.
    eventually("its holder ends with the pause", || !lives(holder))?;
    assert_eq!(marked(&text_of(&session, "id")?), Vec::<i32>::new());
    house.json(&["resume", "blue"])?;
    house.turn("blue", "say two")?;
    Ok(())
}

#[test]
fn a_process_that_became_another_users_is_ended_with_its_session() -> Outcome {
    let ids = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    match Command::new("setpriv").args(ids).arg("true").status() {
        Ok(status) if status.success() => {}
        Ok(_) => return skip("only root becomes another user", None),
        Err(fault) => return skip(&format!("setpriv: {fault}"), Some("util-linux")),
    }
    let house = House::new()?;
    let script = format!("setpriv {} sleep 100000 & echo other $!; exec cat", ids.join(" "));
    house.command("blue", &["sh", "-c", &script])?;
    let other = || -> Option<i32> {
        let screen = house.ok(&["screen", "blue"]).ok()?;
        screen.lines().find_map(|line| line.strip_prefix("other ")?.trim().parse().ok())
    };
    eventually("the other user's process is told", || other().is_some())?;
    let other = other().ok_or("no pid on the screen")?;
    house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(!lives(other), "it runs on after the pause");
    Ok(())
}
