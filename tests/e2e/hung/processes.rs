//! What an agent leaves behind: processes that cannot be ended, that were detached, that write without
//! end.

use crate::support::freezer::Freezer;
use crate::support::held::{NO_FREEZER, held};
use crate::support::house::{House, Outcome, eventually, kill_and_wait, lives};
use crate::support::skip::skip;
use crate::support::wreck::{folder, marked, pid_of, text_of};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

/// A session of a shell that has started a process, whose number is returned.
fn with_child(house: &House) -> Outcome<(Value, i32)> {
    house.command("blue", &["sh", "-c", "sleep 600 & echo $! > child; exec cat"])?;
    let child = house.file("blue", "child")?;
    eventually("the child runs", || fs::read_to_string(&child).is_ok_and(|s| s.ends_with('\n')))?;
    let pid = fs::read_to_string(&child)?.trim().parse()?;
    Ok((house.show("blue")?, pid))
}

#[test]
fn a_process_that_cannot_be_ended_is_named_and_there_is_no_pause() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (_, child) = with_child(&house)?;
    freezer.freeze(child)?;
    let (status, error) = house.fails(&["pause", "blue", "--mode", "force"])?;
    assert_eq!(status, 1, "{error}");
    assert!(text_of(&error, "message")?.contains(&format!("pid {child}")), "{error}");
    let shown = house.show("blue")?;
    assert_eq!(shown["status"], "interrupted");
    assert_eq!(shown["stuck_processes"][0]["pid"], child, "{shown}");
    let doctor = house.glis().arg("doctor").output()?;
    let doctor = String::from_utf8(doctor.stdout)?;
    assert!(doctor.contains(&format!("pid {child}")), "{doctor}");
    // It is looked for again, and nothing else starts beside it.
    assert_eq!(house.fails(&["pause", "blue"])?.0, 1);
    assert_eq!(house.fails(&["resume", "blue"])?.0, 6);
    freezer.thaw()?;
    eventually("it dies once it can", || !lives(child))?;
    let paused = house.json(&["pause", "blue"])?;
    assert_eq!(
        (&paused["status"], &paused["stuck_processes"]),
        (&"paused".into(), &Value::Array(vec![]))
    );
    Ok(())
}

#[test]
fn a_stop_says_what_it_could_not_end() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (_, child) = with_child(&house)?;
    freezer.freeze(child)?;
    let told = house.ok(&["stop", "blue"])?;
    assert!(told.contains("still there") && told.contains(&format!("pid {child}")), "{told}");
    freezer.thaw()
}

#[test]
fn a_session_with_a_process_that_cannot_be_ended_is_not_removed() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (_, child) = with_child(&house)?;
    freezer.freeze(child)?;
    let (status, error) = house.fails(&["rm", "blue", "--stop"])?;
    assert_eq!(status, 1, "{error}");
    assert!(text_of(&error, "message")?.contains(&format!("pid {child}")), "{error}");
    assert_eq!(house.show("blue")?["status"], "interrupted");
    freezer.thaw()?;
    eventually("it dies once it can", || !lives(child))?;
    house.ok(&["rm", "blue"])?;
    Ok(())
}

#[test]
fn a_flood_of_output_does_not_delay_a_forced_pause() -> Outcome {
    let house = House::new()?;
    house.command(
        "blue",
        &["sh", "-c", "yes 'a line that comes again and again, without any end'"],
    )?;
    let id = text_of(&house.show("blue")?, "id")?;
    let output = folder(&house, &id).join("output");
    let bytes = || -> u64 {
        let entries = fs::read_dir(&output).into_iter().flatten().flatten();
        entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
    };
    eventually("there is much output", || bytes() > 60_000_000)?;
    let begun = Instant::now();
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(paused["status"], "paused");
    assert_eq!(marked(&id), Vec::<i32>::new());
    Ok(())
}

#[test]
fn what_the_end_of_the_daemon_leaves_behind_is_named() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    let daemon = house.daemon_pid()?;
    freezer.freeze(holder)?;
    freezer.freeze(pid_of(&session)?)?;
    let output = house.glis().args(["daemon", "stop", "--agents"]).output()?;
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("blue"), "{told}");
    freezer.thaw()?;
    kill_and_wait(daemon)?;
    Ok(())
}

#[test]
fn what_an_agent_has_detached_is_kept_where_that_is_configured() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\nchildren = \"keep-detached\"\n")?;
    let script =
        "setsid sh -c 'echo $$ > far; exec sleep 600' & sleep 600 & echo $! > near; exec cat";
    house.command("blue", &["sh", "-c", script])?;
    let pid = |name: &str| -> Outcome<i32> {
        let file = house.file("blue", name)?;
        eventually("it runs", || fs::read_to_string(&file).is_ok_and(|s| s.ends_with('\n')))?;
        Ok(fs::read_to_string(file)?.trim().parse()?)
    };
    let (far, near) = (pid("far")?, pid("near")?);
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(lives(far) && !lives(near), "{paused}");
    assert_eq!(paused["kept_processes"][0]["pid"], far, "{paused}");
    let worktree = paused["worktree"].clone();
    let ended = paused["ended_processes"].as_array().ok_or("no array")?;
    let near = ended.iter().find(|one| one["pid"] == near).ok_or("not recorded")?;
    assert_eq!((&near["command"], &near["cwd"]), (&"sleep 600".into(), &worktree));
    assert!(house.ok(&["show", "blue"])?.contains("left running"));
    // It is no second agent, and a stop ends it with the rest.
    house.json(&["resume", "blue"])?;
    assert!(lives(far));
    house.json(&["stop", "blue"])?;
    assert!(!lives(far));
    Ok(())
}
