//! Usage limits in a plan: the task waits for the reset, and nothing is done twice.

use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{Window, plan, record, runs, task};
use serde_json::{Value, json};

/// Story 10, in a plan: a limit in the second task of three; at the reset the same run goes on, and the
/// third begins after it.
#[test]
fn story_10_a_limit_in_a_task_pauses_it_and_the_same_run_goes_on_at_the_reset() -> Outcome {
    let mut house = House::of_moved_time()?;
    let clock = WallClock::of(&mut house)?;
    house.configure("[limit]\nresume = true\n")?;
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
