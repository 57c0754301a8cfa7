//! A task that a person stops or throws away while its work is judged: nothing of that stays behind, and
//! what is told is true.

use crate::support::house::{House, Outcome, eventually, lives};
use crate::support::planned::{BRANCH, Window, plan, record, runs, task};
use serde_json::json;

/// A task whose `accept` says yes once it may, and hangs until then with a child that has left its process
/// group; and one after it.
fn judged() -> Outcome<(House, Window)> {
    let house = House::new()?;
    let (pids, may) = (house.folder().join("pids"), house.folder().join("may"));
    let accept = format!(
        "echo $$ >> {0}; test -e {1} && exit 0; setsid sh -c 'echo $$ >> {0}; exec sleep 1000' & wait",
        pids.display(),
        may.display()
    );
    plan(
        &house,
        &[task("a", "write a.txt a", &[], Some(&accept)), task("b", "write b.txt b", &[], None)],
    )?;
    let window = Window::open(&house, &[])?;
    eventually("it is judged", || judges(&house).len() == 2)?;
    Ok((house, window))
}

/// The processes that have judged it.
fn judges(house: &House) -> Vec<i32> {
    let text = std::fs::read_to_string(house.folder().join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn nothing_is_left(house: &House) -> Outcome {
    eventually("nothing of it is left", || judges(house).iter().all(|pid| !lives(*pid)))
}

#[test]
fn a_stop_ends_accept_with_all_it_started_and_a_resume_judges_again() -> Outcome {
    let (house, window) = judged()?;
    house.ok(&["stop", "a"])?;
    nothing_is_left(&house)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    assert!(said.contains("a: waiting") && said.contains("glis resume a"), "{said}");
    let run = record(&house, "a-1")?;
    assert_eq!((&run["state"], &run["unmerged"]), (&json!("waiting"), &json!("stopped")), "{run}");
    assert_eq!(runs(&house, "b")?.len(), 0, "nothing else has begun");
    house.kill_daemon()?;
    assert_eq!(record(&house, "a-1")?["state"], "waiting");
    std::fs::write(house.folder().join("may"), "")?;
    house.ok(&["resume", "a"])?;
    house.ok(&["execute"])?;
    assert_eq!((runs(&house, "a")?.len(), runs(&house, "b")?.len()), (1, 1));
    assert_eq!(house.git(&["show", &format!("{BRANCH}:a.txt")])?, "a");
    Ok(())
}

#[test]
fn a_removal_ends_accept_with_all_it_started_and_the_run_is_canceled() -> Outcome {
    let (house, window) = judged()?;
    house.ok(&["rm", "a", "--stop"])?;
    nothing_is_left(&house)?;
    // What does not need it goes on.
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    assert_eq!(record(&house, "b-1")?["state"], "succeeded");
    assert_eq!(record(&house, "a-1")?["state"], "canceled");
    assert!(house.git(&["show", &format!("{BRANCH}:a.txt")]).is_err(), "it was not accepted");
    Ok(())
}

#[test]
fn a_stop_after_the_death_of_the_daemon_ends_what_that_has_left() -> Outcome {
    let (house, window) = judged()?;
    crate::support::house::kill_and_wait(window.pid()?)?;
    house.kill_daemon()?;
    house.ok(&["stop", "a"])?;
    nothing_is_left(&house)?;
    eventually("it waits", || record(&house, "a-1").is_ok_and(|run| run["state"] == "waiting"))?;
    assert_eq!(runs(&house, "b")?.len(), 0);
    Ok(())
}
