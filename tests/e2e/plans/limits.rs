//! What comes in the way of a turn in a plan: at a usage limit the task waits for the reset, at another error for a
//! person; nothing is done twice, and nothing is called done that is not.

use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{BRANCH, Window, plan, record, runs, task};
use serde_json::{Value, json};

/// Story 10, in a plan: a limit in the second task of three; at the reset the same run goes on, and the
/// third begins after it.
#[test]
fn story_10_a_limit_in_a_task_pauses_it_and_the_same_run_goes_on_at_the_reset() -> Outcome {
    let mut house = House::of_moved_time()?;
    let clock = WallClock::of(&mut house)?;
    let tasks = [
        task("a", "write a.txt a", &[], None),
        task("b", "write b.txt b ;; limit +3600", &[], None),
        task("c", "write c.txt c", &[], None),
    ];
    plan(&house, &tasks)?;
    let window = Window::open(&house, &[])?;
    house.follow(1)?.until(|e| e["event"] == "resume_appointed")?;
    let parked = record(&house, "b-1")?;
    assert_eq!(
        (&parked["state"], &parked["pause_reason"]),
        (&json!("paused"), &json!("rate_limit")),
        "{parked}"
    );
    assert_eq!(runs(&house, "c")?, Vec::<Value>::new(), "it waits for its turn");
    // Also a daemon that was started anew keeps the time, and the window stays.
    house.kill_daemon()?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    clock.ahead(&house, 3605)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    assert!(said.contains("b: paused, and goes on by itself"), "{said}");
    let after = record(&house, "b-1")?;
    assert_eq!(after["provider_session_ref"], parked["provider_session_ref"]);
    for id in ["a", "b", "c"] {
        assert_eq!(runs(&house, id)?.len(), 1, "{id}");
    }
    Ok(())
}

/// Where nobody wants it waited for, what stands still is told, with the way on, and the rest is done.
#[test]
fn a_limit_that_is_not_waited_for_is_told_and_keeps_nobody_else() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\nwait_for_limits = false\n")?;
    let limited = task("a", "write a.txt a ;; limit +3600", &[], None);
    plan(&house, &[limited, task("c", "write c.txt c", &[], None)])?;
    let (status, said, beside) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    let told = "a: paused at its agent's usage limit; when that is over, `glis resume a` goes on";
    assert!(said.contains(told), "{said}");
    assert_eq!(record(&house, "c-1")?["state"], "succeeded");
    Ok(())
}

#[test]
fn a_task_whose_turn_failed_is_paused_with_the_reason_and_what_needs_it_waits() -> Outcome {
    let house = House::new()?;
    let fails = "write half.txt a ;; fail Not logged in";
    let tasks = [
        task("a", fails, &[], None),
        task("b", "write b.txt b", &["a"], None),
        task("c", "write c.txt c", &[], None),
    ];
    plan(&house, &tasks)?;
    let (status, said, beside) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    assert!(
        said.contains("a: paused, its turn has failed: Not logged in; `glis resume a`"),
        "{said}"
    );
    let failed = record(&house, "a-1")?;
    for (field, wanted) in [
        ("state", json!("paused")),
        ("pause_reason", json!("error")),
        ("turn_failed", json!("Not logged in")),
        ("resumable", json!(true)),
    ] {
        assert_eq!(failed[field], wanted, "{field}: {failed}");
    }
    assert_eq!(runs(&house, "b")?, Vec::<Value>::new(), "it needs what is not done");
    assert_eq!(record(&house, "c-1")?["state"], "succeeded", "nothing is in its way");
    assert!(house.git(&["ls-tree", "--name-only", BRANCH])?.lines().all(|file| file != "half.txt"));
    // In the same conversation, once that is seen to.
    house.ok(&["resume", "a", "--prompt", "write whole.txt a"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded" && e["run"] == "a-1")?;
    // It is written down behind the event.
    eventually("its record says so", || {
        record(&house, "a-1").is_ok_and(|done| done["state"] == "succeeded")
    })?;
    let done = record(&house, "a-1")?;
    assert_eq!(done["turn_failed"], Value::Null);
    assert_eq!(done["provider_session_ref"], failed["provider_session_ref"]);
    house.ok(&["execute"])?;
    let files = house.git(&["ls-tree", "--name-only", BRANCH])?;
    for file in ["half.txt", "whole.txt", "b.txt", "c.txt"] {
        assert!(files.lines().any(|there| there == file), "{file}: {files}");
    }
    Ok(())
}
