//! What of a loop survives the death of the daemon, the holder or the agent, at any point of an
//! iteration.

use crate::support::house::{House, Outcome, await_gone, eventually, kill_and_wait, lives};
use crate::support::looped::{
    ASKED, HELD, QUICK, Watch, asked, begin, house, is, let_go, lines, state, tell, until_asked,
};
use crate::support::wreck::{holder_of, pid_of};
use serde_json::{Value, json};

/// A loop of three with a price, held in its second iteration.
fn in_the_second(house: &House) -> Outcome<Watch> {
    let prompt = format!("cost 0.25 ;; {HELD}");
    begin(house, &prompt, &["--max", "3", "--max-cost", "9", "--max-failures", "2"])?;
    let mut watch = Watch::of(house)?;
    watch.until_held(1)?;
    let_go(house)?;
    watch.until_held(2)?;
    Ok(watch)
}

/// Iteration, cost and limits as of then.
fn is_in_the_second(house: &House) -> Outcome {
    let limits = [("max", json!(3)), ("max_cost", json!(9.0)), ("max_failures", json!(2))];
    is(house, &limits)?;
    is(house, &[("iteration", json!(2)), ("cost", json!(0.5)), ("failures", json!(0))])
}

#[test]
fn counter_cost_and_limits_survive_a_killed_daemon_and_the_iteration_goes_on() -> Outcome {
    let house = house()?;
    in_the_second(&house)?;
    let pid = pid_of(&house.show("l")?)?;
    house.kill_daemon()?;
    is_in_the_second(&house)?;
    assert_eq!(state(&house)?["state"], "running");
    assert_eq!(pid_of(&house.show("l")?)?, pid, "its agent has not noticed");
    let_go(&house)?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(3)?;
    house.kill_daemon()?;
    let_go(&house)?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("iteration", json!(3)), ("cost", json!(0.75)), ("state", json!("done"))])?;
    assert_eq!(lines(&house)?, 3, "each was done once");
    Ok(())
}

#[test]
fn they_survive_a_killed_holder_and_a_resume_goes_on_with_the_same_iteration() -> Outcome {
    let house = house()?;
    in_the_second(&house)?;
    let agent = pid_of(&house.show("l")?)?;
    kill_and_wait(holder_of(agent)?)?;
    house.until("l", "interrupted")?;
    is_in_the_second(&house)?;
    assert_eq!(state(&house)?["state"], "paused", "it waits for a person");
    house.kill_daemon()?;
    is_in_the_second(&house)?;
    let_go(&house)?;
    house.ok(&["resume", "l"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(3)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    is(&house, &[("iteration", json!(3)), ("failures", json!(0))])
}

/// Its agent dies while no daemon runs, and its holder has written that down.
fn dies_unseen(house: &House) -> Outcome {
    let agent = pid_of(&house.show("l")?)?;
    let holder = holder_of(agent)?;
    house.kill_daemon()?;
    kill_and_wait(agent)?;
    await_gone(holder)
}

#[test]
fn an_agent_that_dies_while_no_daemon_runs_waits_for_a_person_in_the_same_iteration() -> Outcome {
    let house = house()?;
    in_the_second(&house)?;
    dies_unseen(&house)?;
    let found = house.until("l", "interrupted")?;
    is_in_the_second(&house)?;
    assert_eq!((&found["loop"]["state"], &found["can_resume"]), (&json!("paused"), &json!(true)));
    assert!(house.ok(&["ls"])?.contains("iteration 2 of 3, paused"), "{}", house.ok(&["ls"])?);
    let_go(&house)?;
    house.ok(&["resume", "l"])?;
    Watch::of(&house)?.until_held(3)?;
    is(&house, &[("iteration", json!(3)), ("failures", json!(0))])
}

#[test]
fn or_goes_on_by_itself_where_the_user_wants_that() -> Outcome {
    let house = house()?;
    house.configure("[resume]\ninterrupted = true\n")?;
    in_the_second(&house)?;
    dies_unseen(&house)?;
    let_go(&house)?;
    Watch::of(&house)?.until_held(3)?;
    is(&house, &[("iteration", json!(3)), ("failures", json!(0)), ("state", json!("running"))])
}

#[test]
fn a_pause_that_was_asked_for_outlives_the_daemon() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "3"])?;
    Watch::of(&house)?.until_held(1)?;
    let mut window = house.glis();
    let mut window = window.args(["pause", "l"]).spawn()?;
    Watch::of(&house)?.until("loop_pause_asked")?;
    house.kill_daemon()?;
    is(&house, &[("state", json!("pausing")), ("iteration", json!(1))])?;
    let_go(&house)?;
    house.until("l", "paused")?;
    is(&house, &[("state", json!("paused")), ("iteration", json!(1))])?;
    window.wait()?;
    // Paused it stays, over any number of daemons.
    house.kill_daemon()?;
    is(&house, &[("state", json!("paused")), ("iteration", json!(1))])?;
    assert_eq!(lines(&house)?, 1);
    Ok(())
}

#[test]
fn a_look_back_that_a_killed_daemon_left_is_done_again_and_never_twice_at_once() -> Outcome {
    let house = house()?;
    begin(&house, QUICK, &["--max", "2", "--until", ASKED])?;
    until_asked(&house, 1)?;
    house.kill_daemon()?;
    is(&house, &[("state", json!("running")), ("iteration", json!(1))])?;
    until_asked(&house, 2)?;
    let first = asked(&house).first().copied().ok_or("nothing was asked")?;
    eventually("the one that was left is ended", || !lives(first))?;
    tell(&house, "no")?;
    until_asked(&house, 3)?;
    is(&house, &[("iteration", json!(2))])?;
    tell(&house, "yes")?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("done_by", json!("until")), ("iteration", json!(2))])?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}

/// The same where nothing of the session runs any more: only the look back is under way.
#[test]
fn a_look_back_at_an_agent_that_has_died_is_done_again_as_well() -> Outcome {
    let house = house()?;
    begin(&house, "append work.txt x\\n ;; die 1", &["--max", "2", "--until", ASKED])?;
    until_asked(&house, 1)?;
    house.until("l", "interrupted")?;
    house.kill_daemon()?;
    assert_eq!(state(&house)?["failures"], 0, "it is counted once it was looked back at");
    until_asked(&house, 2)?;
    tell(&house, "no")?;
    until_asked(&house, 3)?;
    is(&house, &[("iteration", json!(2)), ("failures", json!(1))])?;
    tell(&house, "yes")?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}

/// At every kind of record the daemon dies once, and each iteration is done once all the same.
#[test]
fn a_daemon_that_dies_at_every_step_never_loses_nor_repeats_an_iteration() -> Outcome {
    const STEPS: [&str; 12] = [
        "loop_began",
        "loop_ended",
        "loop_looked_back",
        "stop_began",
        "process_ended",
        "suspended",
        "restart_began",
        "start_began",
        "start_checked",
        "process_started",
        "start_ended",
        "turn_ended",
    ];
    for step in STEPS {
        let mut house = house()?;
        let points = house.folder().join("points");
        std::fs::create_dir(&points)?;
        std::fs::write(points.join("points"), format!("after:{step}\n"))?;
        house.surround("GLIS_FAILPOINT", format!("once:{}", points.display()));
        let mut command = house.glis();
        command.env("GLIS_FAILPOINT", format!("once:{}", points.display()));
        let usual = ["loop", "l", "--agent", "rehearsal", "--headless", "--max", "3", "--prompt"];
        // The daemon may die before it has answered.
        command.args(usual).arg(QUICK).output()?;
        let died = points.join(format!("after:{step}"));
        eventually("the daemon dies there", || died.exists() || is_over(&house))?;
        house.spare("GLIS_FAILPOINT");
        if state(&house)?["state"] == "paused" {
            // The first start was cut short, and a person begins it.
            assert!(step.starts_with("start") || step.starts_with("process"), "{step}");
            house.ok(&["resume", "l"])?;
        }
        eventually("it is over", || is_over(&house)).map_err(|fault| format!("{step}: {fault}"))?;
        assert!(died.exists(), "{step} was not met");
        let ended = state(&house)?;
        assert_eq!((&ended["iteration"], &ended["failures"]), (&json!(3), &json!(0)), "{step}");
        assert_eq!(lines(&house)?, 3, "{step}: {ended}");
    }
    Ok(())
}

fn is_over(house: &House) -> bool {
    state(house).is_ok_and(|found: Value| found["state"] == "done")
}
