//! A loop that a person stops, pauses at once or throws away while `--until` is asked: nothing of that stays behind.

use crate::support::house::{House, Outcome, eventually, lives};
use crate::support::looped::{QUICK, Watch, asked, begin, house, is, until_asked};
use serde_json::json;

/// A command for `--until` that never ends, and has a child that has left its process group.
const FAMILY: &str = "echo $$ >> \"$HOLD/asked\"; \
                      setsid sh -c 'echo $$ >> \"$HOLD/asked\"; exec sleep 1000' & wait";

/// A loop that is looked back at, for ever.
fn looked_back_at() -> Outcome<House> {
    let house = house()?;
    begin(&house, QUICK, &["--max", "5", "--until", FAMILY])?;
    until_asked(&house, 2)?;
    Ok(house)
}

fn nothing_is_left(house: &House) -> Outcome {
    eventually("nothing of it is left", || asked(house).iter().all(|pid| !lives(*pid)))
}

#[test]
fn a_stop_ends_until_with_all_it_started_and_a_resume_asks_again() -> Outcome {
    let house = looked_back_at()?;
    house.ok(&["stop", "l"])?;
    nothing_is_left(&house)?;
    let shown = house.show("l")?;
    assert_eq!((&shown["status"], &shown["pid"]), (&json!("suspended"), &json!(null)), "{shown}");
    is(&house, &[("state", json!("stopped")), ("iteration", json!(1)), ("failures", json!(0))])?;
    house.ok(&["resume", "l"])?;
    until_asked(&house, 4)?;
    is(&house, &[("state", json!("running")), ("iteration", json!(1))])
}

#[test]
fn a_pause_now_ends_until_with_all_it_started_and_a_resume_asks_again() -> Outcome {
    let house = looked_back_at()?;
    for (mode, asks) in [("interrupt", 4), ("force", 6)] {
        house.ok(&["pause", "l", "--mode", mode])?;
        nothing_is_left(&house)?;
        assert_eq!(house.show("l")?["status"], json!("paused"));
        // A daemon that comes meanwhile lets it rest.
        house.kill_daemon()?;
        is(&house, &[("iteration", json!(1)), ("failures", json!(0))])?;
        house.ok(&["resume", "l"])?;
        until_asked(&house, asks)?;
    }
    is(&house, &[("state", json!("running")), ("iteration", json!(1))])
}

#[test]
fn a_removal_ends_until_with_all_it_started() -> Outcome {
    let house = looked_back_at()?;
    house.ok(&["rm", "l", "--stop"])?;
    nothing_is_left(&house)?;
    assert_eq!(house.json(&["ls"])?, json!([]));
    house.ok(&["trash", "restore", "l"])?;
    is(&house, &[("iteration", json!(1)), ("max", json!(5))])?;
    assert_eq!(asked(&house).len(), 2, "nothing has begun by itself");
    Ok(())
}

/// What a daemon that died has left is ended by the next, also if that is told to stop at once.
#[test]
fn a_stop_after_the_death_of_the_daemon_ends_what_that_has_left() -> Outcome {
    let house = looked_back_at()?;
    house.kill_daemon()?;
    house.ok(&["stop", "l"])?;
    nothing_is_left(&house)?;
    is(&house, &[("state", json!("stopped")), ("iteration", json!(1))])?;
    // No word of it counts any more.
    house.ok(&["loop", "l", "--set", "until=none"])?;
    house.ok(&["resume", "l"])?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("done_by", json!("max")), ("iteration", json!(5))])?;
    Ok(())
}

/// Also between two iterations, when nothing of it runs.
#[test]
fn a_daemon_that_is_stopped_with_its_agents_leaves_no_loop_at_work() -> Outcome {
    let house = House::new()?;
    let how = ["--agent", "rehearsal", "--headless", "--max", "500", "--prompt", "append d x"];
    house.ok(&[&["loop", "blue"], &how[..]].concat())?;
    for _ in 0..6 {
        house.follow(1)?.until(|event| event["event"] == "loop_looked_back")?;
        house.ok(&["daemon", "stop", "--agents"])?;
        assert_eq!(house.show("blue")?["pid"], serde_json::Value::Null);
        house.ok(&["resume", "blue"])?;
    }
    Ok(())
}
