//! What holds for every session holds inside loops: usage limits, the gate, idle time, approvals, places.

use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, eventually};
use crate::support::looped::{HELD, QUICK, Watch, begin, holding, house, is, let_go, lines, state};
use crate::support::wreck::text_of;
use serde_json::{Value, json};

/// A house whose clock can be set and in which limits are waited for.
fn timed() -> Outcome<(House, WallClock)> {
    let mut house = holding(House::of_moved_time()?)?;
    let clock = WallClock::of(&mut house)?;
    house.configure("[usage_limit]\nresume = true\n")?;
    Ok((house, clock))
}

/// Comes to this iteration, which is held.
fn come_to(house: &House, watch: &mut Watch, iteration: u32) -> Outcome {
    watch.until_held(1)?;
    for next in 2..=iteration {
        let_go(house)?;
        watch.until_held(next)?;
    }
    Ok(())
}

/// Story 10.
#[test]
fn a_rate_limit_in_iteration_7_of_20_is_waited_for_and_iteration_7_goes_on() -> Outcome {
    let (house, clock) = timed()?;
    begin(&house, HELD, &["--max", "20"])?;
    let mut watch = Watch::of(&house)?;
    come_to(&house, &mut watch, 7)?;
    house.ok(&["send", "l", "limit +3600"])?;
    let_go(&house)?;
    let parked = house.until("l", "paused")?;
    assert_eq!(parked["pause_reason"], "rate_limit", "{parked}");
    let seventh = [("iteration", json!(7)), ("max", json!(20)), ("failures", json!(0))];
    is(&house, &seventh)?;
    assert_eq!(state(&house)?["state"], "paused");
    eventually("its time is known", || {
        house.show("l").is_ok_and(|shown| shown["resume_at"].is_string())
    })?;
    // Neither the counter nor the time is lost with the daemon.
    house.kill_daemon()?;
    is(&house, &seventh)?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    clock.ahead(&house, 3605)?;
    let mut watch = Watch::of(&house)?;
    watch.until("limit_over")?;
    // It goes on with what it was asked, and only then the next one begins.
    watch.until("loop_ended")?;
    watch.until_held(8)?;
    is(&house, &[("iteration", json!(8)), ("max", json!(20)), ("failures", json!(0))])?;
    assert_eq!(lines(&house)?, 8, "none was done twice");
    Ok(())
}

#[test]
fn a_limit_can_be_tried_again_now_in_the_same_iteration() -> Outcome {
    let (house, _clock) = timed()?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    house.ok(&["send", "l", "limit +3600"])?;
    let_go(&house)?;
    house.until("l", "paused")?;
    house.ok(&["resume", "l"])?;
    watch.until_held(2)?;
    is(&house, &[("iteration", json!(2)), ("failures", json!(0))])
}

/// The pause was asked for first, and for a time; then a usage limit ended the turn.
#[test]
fn a_pause_for_a_time_keeps_its_time_when_a_usage_limit_parks_first() -> Outcome {
    let (house, clock) = timed()?;
    begin(&house, HELD, &["--max", "3"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let mut window = house.glis();
    let mut window = window.args(["pause", "l", "--for", "2h"]).spawn()?;
    watch.until("loop_pause_asked")?;
    let at = text_of(&house.show("l")?, "resume_at")?;
    house.ok(&["send", "l", "limit +60"])?;
    let_go(&house)?;
    house.until("l", "paused")?;
    window.wait()?;
    eventually("the pause is the person's", || {
        house.show("l").is_ok_and(|shown| shown["pause_reason"] == "user")
    })?;
    assert_eq!(text_of(&house.until("l", "paused")?, "resume_at")?, at, "its time is lost");
    house.kill_daemon()?;
    assert_eq!(text_of(&house.show("l")?, "resume_at")?, at);
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    clock.ahead(&house, 600)?;
    assert_eq!(house.show("l")?["status"], "paused", "the limit's time is not its own");
    clock.ahead(&house, 7205)?;
    Watch::of(&house)?.until_held(2)?;
    is(&house, &[("iteration", json!(2)), ("failures", json!(0))])
}

#[test]
fn a_shut_gate_pauses_a_loop_after_its_turn_and_brings_it_back() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "3"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let mut window = house.glis();
    let mut window = window.args(["pause", "--all"]).spawn()?;
    watch.until("gate_shut")?;
    let_go(&house)?;
    watch.until("orchestrator:paused")?;
    assert!(window.wait()?.success());
    is(&house, &[("iteration", json!(1)), ("state", json!("paused"))])?;
    // Nothing begins while it is shut, also by a new daemon.
    house.kill_daemon()?;
    is(&house, &[("iteration", json!(1)), ("state", json!("paused"))])?;
    assert_eq!(house.fails(&["resume", "l"])?.0, 4);
    assert_eq!(lines(&house)?, 1);
    house.ok(&["resume", "--all"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(2)?;
    is(&house, &[("iteration", json!(2)), ("state", json!("running"))])
}

#[test]
fn a_loop_is_not_idle_between_iterations_and_is_once_it_is_done() -> Outcome {
    let house = holding(House::of_moved_time()?)?;
    begin(&house, HELD, &["--max", "2", "--context", "continue"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    house.pass_minutes(30);
    let_go(&house)?;
    watch.until_held(2)?;
    assert_eq!(house.timers_fired("idle"), 0, "it has worked all the time");
    let_go(&house)?;
    watch.until("loop_done")?;
    eventually("its time runs", || house.timers_set("idle") > 0)?;
    house.pass_minutes(10);
    let slept = house.until("l", "suspended")?;
    assert_eq!(slept["loop"]["state"], "done", "{slept}");
    // What it is told then is no iteration.
    house.turn("l", "say good morning")?;
    is(&house, &[("state", json!("done")), ("iteration", json!(2))])
}

#[test]
fn what_an_iteration_asks_is_answered_and_the_loop_goes_on() -> Outcome {
    let house = house()?;
    begin(&house, "approve run make ;; append work.txt x\\n", &["--max", "2"])?;
    for iteration in 1..=2 {
        let asks = house.until("l", "waiting")?;
        assert_eq!(asks["loop"]["iteration"], iteration, "{asks}");
        assert_eq!(asks["loop"]["state"], "running", "{asks}");
        house.ok(&["answer", "l", "allow"])?;
        Watch::of(&house)?
            .until_like(|e| e["event"] == "loop_ended" && e["iteration"] == iteration)?;
    }
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}

#[test]
fn rules_answer_inside_a_loop_as_everywhere() -> Outcome {
    let house = house()?;
    begin(&house, "approve run ls ;; append work.txt x\\n", &["--max", "2", "--auto-yes"])?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}

/// What waits for a person does nothing meanwhile, and may wait for long; the question is not lost.
#[test]
fn a_pause_while_it_asks_takes_effect_at_once_and_it_asks_again() -> Outcome {
    let house = house()?;
    begin(&house, "approve run make ;; append work.txt x\\n", &["--max", "1"])?;
    house.until("l", "waiting")?;
    house.ok(&["pause", "l"])?;
    is(&house, &[("state", json!("paused")), ("iteration", json!(1))])?;
    house.ok(&["resume", "l"])?;
    house.until("l", "waiting")?;
    house.ok(&["answer", "l", "allow"])?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("iteration", json!(1)), ("failures", json!(0))])?;
    assert_eq!(lines(&house)?, 1);
    Ok(())
}

#[test]
fn a_next_iteration_without_a_place_waits_for_one() -> Outcome {
    let house = house()?;
    house.configure("[concurrency]\nlive = 1\n")?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    house.json(&["new", "other", "--agent", "rehearsal", "--headless", "--prompt", QUICK])?;
    assert_eq!(house.show("other")?["waits_to_start"], "limit");
    let_go(&house)?;
    // Whichever has the place, both come to their end, and never both run.
    house.follow(1)?.until(|e| e["event"] == "process_started" && e["session"] != Value::Null)?;
    eventually("the other one has had its place", || {
        house.show("other").is_ok_and(|shown| shown["status"] == "idle")
            || house.show("l").is_ok_and(|shown| shown["loop"]["iteration"] == 2)
    })?;
    if house.show("other")?["status"] == "idle" {
        house.ok(&["stop", "other"])?;
    }
    watch.until_held(2)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    is(&house, &[("iteration", json!(2)), ("failures", json!(0))])?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}
