//! `pause --for`: a pause that ends by itself, also where the daemon was not there at its time.

use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, eventually};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

fn at_rest(house: &House) -> Outcome<Value> {
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")
}

#[test]
fn a_pause_for_a_time_ends_by_itself() -> Outcome {
    let house = House::new()?;
    let before = at_rest(&house)?;
    let said = house.ok(&["pause", "blue", "--for", "2s"])?;
    assert!(said.contains("It resumes by itself at 20"), "{said}");
    let back = house.until("blue", "idle")?;
    assert_eq!((&back["generation"], &back["resume_at"]), (&2.into(), &Value::Null));
    assert_eq!(back["agent_session_ref"], before["agent_session_ref"]);
    let id = before["id"].as_str().ok_or("no id")?;
    let events = house.events(id)?;
    assert!(events.contains(&"resume_appointed".to_owned()), "{events:?}");
    Ok(())
}

#[test]
fn its_time_is_kept_over_the_daemons_death_and_counts_when_it_has_passed() -> Outcome {
    let house = House::new()?;
    at_rest(&house)?;
    let paused = house.json(&["pause", "blue", "--for", "2h"])?;
    let at = paused["resume_at"].as_str().ok_or("no time")?.to_owned();
    assert!(house.ok(&["ls"])?.contains("resumes in "));
    house.kill_daemon()?;
    let shown = house.show("blue")?;
    assert_eq!(
        (shown["status"].as_str(), shown["resume_at"].as_str()),
        (Some("paused"), Some(&*at))
    );
    // Another time takes its place, and passes while there is no daemon.
    house.ok(&["pause", "blue", "--for", "1s"])?;
    house.ok(&["daemon", "stop"])?;
    let back = house.until("blue", "idle")?;
    assert_eq!(back["generation"], 2);
    Ok(())
}

#[test]
fn a_resume_before_its_time_drops_it() -> Outcome {
    let house = House::new()?;
    at_rest(&house)?;
    house.ok(&["pause", "blue", "--for", "2h"])?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(house.show("blue")?["resume_at"], Value::Null);
    house.ok(&["pause", "blue"])?;
    assert_eq!(house.show("blue")?["resume_at"], Value::Null);
    let (status, _) = house.fails(&["pause", "blue", "--for", "1h", "--cancel"])?;
    assert_eq!(status, 2);
    Ok(())
}

#[test]
fn a_resume_by_itself_that_fails_is_tried_again_and_said() -> Outcome {
    let mut house = House::of_moved_time()?;
    let clock = WallClock::of(&mut house)?;
    let program = house.folder().join("program");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 1000\n")?;
    std::fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    house.command("blue", &[&program.to_string_lossy()])?;
    house.ok(&["pause", "blue", "--mode", "force", "--for", "1h"])?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    let away = program.with_extension("away");
    std::fs::rename(&program, &away)?;
    clock.ahead(&house, 3605)?;
    let failed = |event: &Value| event["event"] == "start_failed";
    house.follow(1)?.until(failed)?;
    eventually("it has another time", || {
        house.show("blue").is_ok_and(|shown| shown["resume_at"].is_string())
    })?;
    let shown = house.show("blue")?;
    assert_eq!(shown["status"], "paused");
    let warned = shown["warnings"].to_string();
    assert!(warned.contains("has failed (1 in a row); it is tried again"), "{shown}");
    // The next daemon keeps to it.
    house.kill_daemon()?;
    assert_eq!(house.show("blue")?["resume_at"], shown["resume_at"]);
    std::fs::rename(&away, &program)?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    clock.ahead(&house, 3605 + 75)?;
    let back = house.until("blue", "busy,idle")?;
    assert_eq!((&back["generation"], &back["resume_at"]), (&json!(3), &Value::Null), "{back}");
    assert!(!back["warnings"].to_string().contains("by itself"), "{back}");
    Ok(())
}
