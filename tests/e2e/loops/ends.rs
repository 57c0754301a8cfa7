//! How a loop ends, and what it pauses itself for.

use crate::support::house::{Outcome, eventually, lives};
use crate::support::looped::{QUICK, Watch, begin, house, is, lines, state};
use serde_json::{Value, json};

#[test]
fn as_many_iterations_as_were_asked_for_each_in_a_conversation_of_its_own() -> Outcome {
    let house = house()?;
    let begun = begin(&house, QUICK, &["--max", "3"])?;
    assert_eq!(begun["loop"]["max"], 3, "{begun}");
    Watch::of(&house)?.until("loop_done")?;
    let shown = house.show("l")?;
    assert_eq!(shown["loop"]["state"], "done", "{shown}");
    assert_eq!(shown["loop"]["done_by"], "max", "{shown}");
    assert_eq!(lines(&house)?, 3);
    assert_eq!(shown["former_refs"].as_array().map(Vec::len), Some(2), "{shown}");
    assert_eq!(state(&house)?["iteration"], 3);
    Ok(())
}

#[test]
fn until_ends_it_when_the_command_succeeds() -> Outcome {
    let house = house()?;
    let until = "test $(wc -l < work.txt) -ge 2 && echo there";
    begin(&house, QUICK, &["--until", until])?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("state", json!("done")), ("done_by", json!("until")), ("iteration", json!(2))])?;
    assert_eq!(lines(&house)?, 2);
    let id = house.show("l")?["id"].as_str().ok_or("no id")?.to_owned();
    let log = house.home().join("sessions").join(id).join("until.log");
    assert_eq!(std::fs::read_to_string(log)?, "there\n");
    let told = house.ok(&["show", "l"])?;
    assert!(told.contains("iteration 2, done (until `") && told.contains("goal reached"), "{told}");
    // What it was to reach counts no more, and so it goes on.
    house.ok(&["loop", "l", "--set", "until=none", "--set", "max=3"])?;
    let mut watch = Watch::of(&house)?;
    watch.until("loop_reopened")?;
    watch.until("loop_done")?;
    is(&house, &[("done_by", json!("max")), ("iteration", json!(3))])?;
    Ok(())
}

/// What is asked for is looked at before the breaker: a loop that comes to its end by failing is done.
#[test]
fn max_and_until_are_looked_at_before_the_breaker() -> Outcome {
    let house = house()?;
    begin(&house, "die 1", &["--max", "3"])?;
    Watch::of(&house)?.until("loop_done")?;
    let wanted = [("state", json!("done")), ("failures", json!(3)), ("broke", Value::Null)];
    is(&house, &wanted)
}

#[test]
fn three_failures_in_a_row_pause_it_with_the_reason_and_a_resume_counts_anew() -> Outcome {
    let house = house()?;
    begin(&house, "append work.txt x\\n ;; die 1", &[])?;
    let paused = house.until("l", "paused")?;
    assert_eq!(paused["pause_reason"], "error", "{paused}");
    let broke = ("broke", json!("failures"));
    is(
        &house,
        &[("state", json!("paused")), ("failures", json!(3)), ("iteration", json!(3)), broke],
    )?;
    assert!(house.ok(&["ls"])?.contains("paused: 3 iterations in a row failed"));
    let told = house.ok(&["show", "l"])?;
    assert!(told.contains("paused by itself, because 3 iterations in a row failed"), "{told}");
    house.ok(&["resume", "l"])?;
    Watch::of(&house)?.until_like(|e| e["event"] == "loop_began" && e["iteration"] == 6)?;
    house.until("l", "paused")?;
    is(&house, &[("failures", json!(3)), ("iteration", json!(6))])?;
    assert_eq!(lines(&house)?, 6);
    Ok(())
}

/// Whether each iteration has a conversation of its own or all have one.
#[test]
fn an_iteration_whose_turn_failed_does_not_count_and_three_in_a_row_pause_it() -> Outcome {
    for context in ["fresh", "continue"] {
        let house = house()?;
        let prompt = "append work.txt x\\n ;; fail API Error: 529 Overloaded";
        begin(&house, prompt, &["--max", "9", "--context", context])?;
        let paused = house.until("l", "paused")?;
        assert_eq!(paused["pause_reason"], "error", "{paused}");
        assert_eq!(paused["failure"], "API Error: 529 Overloaded");
        let broke = ("broke", json!("failures"));
        is(&house, &[("failures", json!(3)), ("iteration", json!(0)), broke])?;
        assert!(house.ok(&["show", "l"])?.contains("API Error: 529 Overloaded"));
        assert_eq!(lines(&house)?, 3, "the same one, three times");
    }
    Ok(())
}

#[test]
fn a_success_between_failures_keeps_it_going() -> Outcome {
    let house = house()?;
    // Every third one comes through.
    let prompt =
        "append work.txt x\\n ;; run test $(( $(wc -l < work.txt) % 3 )) -eq 0 || kill -9 $PPID";
    begin(&house, prompt, &["--max", "7"])?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("iteration", json!(7)), ("failures", json!(1))])?;
    assert_eq!(lines(&house)?, 7);
    Ok(())
}

#[test]
fn three_iterations_without_progress_pause_it_with_the_reason() -> Outcome {
    let house = house()?;
    begin(&house, "say There is nothing to do.", &[])?;
    let paused = house.until("l", "paused")?;
    assert_eq!(paused["pause_reason"], "error", "{paused}");
    // The first one has none before it to be compared with.
    let broke = ("broke", json!("no_progress"));
    is(&house, &[("without_progress", json!(3)), ("iteration", json!(4)), broke])?;
    let told = house.ok(&["ls"])?;
    assert!(told.contains("paused: 3 iterations in a row changed nothing"), "{told}");
    Ok(())
}

#[test]
fn other_words_or_another_tree_are_progress() -> Outcome {
    let house = house()?;
    begin(&house, QUICK, &["--max", "6"])?;
    Watch::of(&house)?.until("loop_done")?;
    is(&house, &[("without_progress", json!(0)), ("iteration", json!(6))])
}

#[test]
fn max_cost_pauses_it_for_its_budget_until_that_is_raised() -> Outcome {
    let house = house()?;
    begin(&house, "append work.txt x\\n ;; cost 0.40", &["--max-cost", "1"])?;
    let paused = house.until("l", "paused")?;
    assert_eq!(paused["pause_reason"], "budget", "{paused}");
    is(&house, &[("broke", json!("cost")), ("iteration", json!(3)), ("cost", json!(1.2))])?;
    let (status, error) = house.fails(&["resume", "l"])?;
    assert_eq!(status, 4, "{error}");
    assert!(error["hint"].to_string().contains("--set max-cost="), "{error}");
    // It outlives the daemon.
    house.kill_daemon()?;
    is(&house, &[("state", json!("paused")), ("cost", json!(1.2)), ("max_cost", json!(1.0))])?;
    house.ok(&["loop", "l", "--set", "max-cost=2"])?;
    house.ok(&["resume", "l"])?;
    Watch::of(&house)?.until_like(|e| e["event"] == "loop_began" && e["iteration"] == 5)?;
    house.until("l", "paused")?;
    is(&house, &[("broke", json!("cost")), ("iteration", json!(5)), ("cost", json!(2.0))])?;
    assert_eq!(lines(&house)?, 5);
    Ok(())
}

#[test]
fn an_until_that_hangs_is_ended_with_all_it_started_and_told() -> Outcome {
    let house = house()?;
    house.configure("[loop]\nuntil_secs = 1\n")?;
    let until = "echo $$ >> \"$HOLD/pids\"; setsid sh -c 'echo $$ >> \"$HOLD/pids\"; exec sleep 1000' & wait";
    begin(&house, QUICK, &["--max", "2", "--until", until])?;
    Watch::of(&house)?.until("loop_done")?;
    let ended = state(&house)?;
    assert_eq!(ended["done_by"], "max", "{ended}");
    assert!(
        ended["note"].to_string().contains("it was not done after 1 s, and was ended"),
        "{ended}"
    );
    let pids = std::fs::read_to_string(house.folder().join("hold/pids"))?;
    let pids = pids.lines().map(str::parse).collect::<Result<Vec<i32>, _>>()?;
    assert_eq!(pids.len(), 4, "{pids:?}");
    eventually("nothing of it is left", || pids.iter().all(|pid| !lives(*pid)))
}

#[test]
fn a_stop_ends_it_and_a_resume_reopens_it() -> Outcome {
    use crate::support::looped::{HELD, let_go};
    let house = house()?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    house.ok(&["stop", "l"])?;
    is(&house, &[("state", json!("stopped")), ("iteration", json!(1))])?;
    house.kill_daemon()?;
    is(&house, &[("state", json!("stopped")), ("iteration", json!(1))])?;
    house.ok(&["resume", "l"])?;
    watch = Watch::of(&house)?;
    watch.until("loop_reopened")?;
    watch.until_held(1)?;
    let_go(&house)?;
    watch.until_held(2)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    is(&house, &[("state", json!("done")), ("iteration", json!(2)), ("failures", json!(0))])
}
