//! Limits that are changed while a loop runs, is paused or is done.

use crate::support::house::{Background, Outcome};
use crate::support::looped::{HELD, QUICK, Watch, begin, house, is, let_go, lines};
use serde_json::{Value, json};

#[test]
fn max_is_changed_while_it_runs() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "9"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let told = house.ok(&["loop", "l", "--set", "max=2"])?;
    assert!(told.contains("iteration 1 of 2"), "{told}");
    let_go(&house)?;
    watch.until_held(2)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    is(&house, &[("done_by", json!("max")), ("iteration", json!(2))])?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}

#[test]
fn a_max_below_the_present_count_ends_it_with_the_iteration_that_is_open() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "9"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let_go(&house)?;
    watch.until_held(2)?;
    house.ok(&["loop", "l", "--set", "max=1"])?;
    is(&house, &[("state", json!("running")), ("iteration", json!(2)), ("max", json!(1))])?;
    let_go(&house)?;
    watch.until("loop_done")?;
    is(&house, &[("state", json!("done")), ("iteration", json!(2)), ("max", json!(1))])?;
    assert_eq!(lines(&house)?, 2, "the one that was open was not cut");
    Ok(())
}

#[test]
fn limits_are_changed_while_it_is_paused_also_below_the_count() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "9"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let_go(&house)?;
    watch.until_held(2)?;
    house.ok(&["pause", "l", "--mode", "interrupt"])?;
    let settings = ["--set", "max=3", "--set", "max-failures=5", "--set", "max-cost=2.5"];
    house.ok(&[&["loop", "l"], settings.as_slice(), &["--set", "until=test -e over"]].concat())?;
    house.kill_daemon()?;
    let limits = [("max", json!(3)), ("max_failures", json!(5)), ("max_cost", json!(2.5))];
    is(&house, &limits)?;
    is(&house, &[("until", json!("test -e over")), ("state", json!("paused"))])?;
    house.ok(&["loop", "l", "--set", "max-cost=none", "--set", "until=none"])?;
    is(&house, &[("max_cost", Value::Null), ("until", Value::Null), ("max", json!(3))])?;
    house.ok(&["loop", "l", "--set", "max=2"])?;
    house.ok(&["resume", "l"])?;
    let mut watch = Watch::of(&house)?;
    watch.until("resumed").ok();
    let_go(&house)?;
    house.until("l", "idle")?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("state", json!("done")), ("iteration", json!(2))])
}

#[test]
fn a_max_that_is_reached_ends_what_is_paused_between_two_at_once() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "9"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let _window = Background::start(house.glis().args(["pause", "l"]))?;
    watch.until("loop_pause_asked")?;
    let_go(&house)?;
    house.until("l", "paused")?;
    house.ok(&["loop", "l", "--set", "max=1"])?;
    is(&house, &[("state", json!("done")), ("iteration", json!(1))])?;
    // It may go on after all.
    house.ok(&["loop", "l", "--set", "max=9"])?;
    is(&house, &[("state", json!("paused")), ("iteration", json!(1))])
}

#[test]
fn one_that_is_done_goes_on_when_it_may() -> Outcome {
    let house = house()?;
    begin(&house, QUICK, &["--max", "1"])?;
    let mut watch = Watch::of(&house)?;
    watch.until("loop_done")?;
    house.ok(&["loop", "l", "--set", "max=3"])?;
    watch.until("loop_reopened")?;
    watch.until("loop_done")?;
    is(&house, &[("iteration", json!(3)), ("state", json!("done"))])?;
    assert_eq!(lines(&house)?, 3);
    let again = house.ok(&["loop", "l", "--set", "max=3"])?;
    assert!(again.contains("iteration 3 of 3, done"), "{again}");
    Ok(())
}

#[test]
fn limits_that_cannot_be_kept_are_refused_and_change_nothing() -> Outcome {
    let house = house()?;
    house.rehearsal("plain")?;
    assert_eq!(house.fails(&["loop", "plain", "--set", "max=3"])?.0, 4);
    assert_eq!(house.fails(&["loop", "nothing", "--set", "max=3"])?.0, 3);
    begin(&house, HELD, &["--max", "2"])?;
    for setting in ["max=0", "max=x", "max-failures=0", "max-cost=-1", "until= ", "colour=red"] {
        let (status, error) = house.fails(&["loop", "l", "--set", setting])?;
        assert_eq!(status, 2, "{setting}: {error}");
    }
    is(&house, &[("max", json!(2)), ("max_failures", json!(3)), ("until", Value::Null)])
}
