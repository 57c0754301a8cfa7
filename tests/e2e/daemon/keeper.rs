//! What goes on by itself goes on after the daemon was killed, although nobody types a command; and for nothing else is a
//! daemon started.

use crate::support::held::signal;
use crate::support::house::{
    House, Outcome, await_gone, eventually, kill_and_wait, lives, program,
};
use crate::support::looped::{self, HELD, Watch, begin, let_go};
use crate::support::planned::{BRANCH, Window, plan, record, task, until_at_work};
use crate::support::wreck::Foreground;
use rustix::process::Signal;
use serde_json::json;

/// The first task waits until the test lets it go on; the second needs it. Each leaves a line: done twice, two.
fn two_tasks(house: &House, accept: Option<&str>) -> Outcome {
    let held = format!("write began.txt yes ;; {HELD}");
    plan(house, &[task("a", &held, &[], accept), task("b", "append b.txt line", &["a"], None)])
}

/// The keepers of this house.
fn keepers(house: &House) -> Vec<i32> {
    let is_keeper = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"keep") && lives(*pid)
    };
    house.processes().into_iter().filter(is_keeper).collect()
}

fn until_kept(house: &House) -> Outcome<i32> {
    // It is in its place before it waits for anything.
    let place = house.home().join("keeper");
    eventually("there is a keeper", || place.exists() && keepers(house).len() == 1)?;
    keepers(house).pop().ok_or_else(|| "it is gone again".into())
}

fn until_unkept(house: &House) -> Outcome {
    eventually("there is no keeper", || keepers(house).is_empty())
}

/// Both tasks come to their end without a command, and each was done once.
fn ends_by_itself(house: &House) -> Outcome {
    let state = |run: &str| record(house, run).map(|run| run["state"].clone()).unwrap_or_default();
    eventually("the plan is done", || state("b-1") == "succeeded")?;
    assert_eq!(house.git(&["show", &format!("{BRANCH}:work.txt")])?, "x");
    assert_eq!(house.git(&["show", &format!("{BRANCH}:b.txt")])?, "line");
    let runs = house.json(&["runs"])?;
    let states: Vec<_> = runs.as_array().ok_or("no runs")?.iter().map(|r| &r["state"]).collect();
    assert_eq!(states, [&json!("succeeded"), &json!("succeeded")], "{runs}");
    until_unkept(house)
}

#[test]
fn a_plan_without_a_window_goes_on_after_the_daemon_was_killed_while_its_agent_works() -> Outcome {
    let house = looped::house()?;
    two_tasks(&house, None)?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    kill_and_wait(window.pid()?)?;
    until_kept(&house)?;
    house.kill_daemon()?;
    let_go(&house)?;
    ends_by_itself(&house)
}

#[test]
fn a_plan_without_a_window_goes_on_after_the_daemon_was_killed_while_accept_runs() -> Outcome {
    let house = looped::house()?;
    let accept = "touch \"$HOLD/asked\"; while ! test -e \"$HOLD/accepted\"; do sleep 0.02; done";
    two_tasks(&house, Some(accept))?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    kill_and_wait(window.pid()?)?;
    let_go(&house)?;
    let hold = house.folder().join("hold");
    eventually("the work is judged", || hold.join("asked").exists())?;
    until_kept(&house)?;
    house.kill_daemon()?;
    std::fs::write(hold.join("accepted"), "")?;
    ends_by_itself(&house)
}

/// Before its work is committed, before it is merged, and when it is merged and that is on no record.
#[test]
fn a_plan_without_a_window_goes_on_after_the_daemon_was_killed_while_it_merges() -> Outcome {
    for point in ["after:run_finishing", "after:run_accepted", "before:run_succeeded"] {
        let mut house = looped::house()?;
        two_tasks(&house, None)?;
        let points = house.folder().join("points");
        std::fs::create_dir(&points)?;
        std::fs::write(points.join("points"), point)?;
        house.surround("GLIS_FAILPOINT", format!("once:{}", points.display()));
        let window = Window::open(&house, &[])?;
        until_at_work(&house, "a-1")?;
        kill_and_wait(window.pid()?)?;
        until_kept(&house)?;
        let_go(&house)?;
        ends_by_itself(&house).map_err(|fault| format!("{point}: {fault}"))?;
        assert!(points.join(point).exists(), "no daemon died at {point}");
    }
    Ok(())
}

#[test]
fn a_loop_goes_on_after_the_daemon_was_killed() -> Outcome {
    let house = looped::house()?;
    begin(&house, HELD, &["--max", "2"])?;
    Watch::of(&house)?.until_held(1)?;
    let work = house.file("l", "work.txt")?;
    until_kept(&house)?;
    house.kill_daemon()?;
    let_go(&house)?;
    let lines = || std::fs::read_to_string(&work).unwrap_or_default().lines().count();
    eventually("the second iteration begins", || lines() == 2)?;
    let_go(&house)?;
    until_unkept(&house)?;
    assert_eq!(looped::state(&house)?["state"], "done");
    assert_eq!(lines(), 2);
    Ok(())
}

#[test]
fn a_keeper_is_there_as_long_as_something_goes_on_by_itself() -> Outcome {
    let house = looped::house()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    assert!(keepers(&house).is_empty(), "nothing goes on by itself");
    begin(&house, HELD, &["--max", "1"])?;
    Watch::of(&house)?.until_held(1)?;
    let first = until_kept(&house)?;
    kill_and_wait(first)?;
    eventually("another takes its place", || keepers(&house).iter().any(|pid| *pid != first))?;
    house.ok(&["pause", "l", "--mode", "interrupt"])?;
    house.until("l", "paused")?;
    until_unkept(&house)?;
    house.ok(&["resume", "l"])?;
    until_kept(&house)?;
    let_go(&house)?;
    until_unkept(&house)?;
    assert!(!house.home().join("keeper").exists(), "it leaves nothing behind");
    Ok(())
}

#[test]
fn a_daemon_that_was_stopped_by_a_person_stays_so() -> Outcome {
    let house = looped::house()?;
    begin(&house, HELD, &["--max", "2"])?;
    Watch::of(&house)?.until_held(1)?;
    let keeper = until_kept(&house)?;
    house.ok(&["daemon", "stop"])?;
    await_gone(keeper)?;
    eventually("it has ended", || house.living_daemon().is_none())?;
    // Also where it had died before that.
    house.ok(&["daemon", "start"])?;
    let keeper = until_kept(&house)?;
    house.kill_daemon()?;
    house.ok(&["daemon", "stop"])?;
    await_gone(keeper)?;
    eventually("it has ended", || house.living_daemon().is_none())?;
    Ok(())
}

#[test]
fn a_keeper_starts_nothing_in_a_home_that_is_gone() -> Outcome {
    let house = looped::house()?;
    begin(&house, HELD, &["--max", "2"])?;
    Watch::of(&house)?.until_held(1)?;
    let keeper = until_kept(&house)?;
    // It does not hear of the daemon's death before the home is away.
    signal(keeper, Signal::STOP)?;
    house.kill_daemon()?;
    let away = house.folder().join("away");
    std::fs::rename(house.home(), &away)?;
    signal(keeper, Signal::CONT)?;
    await_gone(keeper)?;
    assert!(!house.home().exists(), "a home was made");
    Ok(std::fs::rename(away, house.home())?)
}

#[test]
fn a_keeper_starts_the_program_that_is_installed_now() -> Outcome {
    let house = looped::house()?;
    let installed = house.folder().join("glis");
    std::fs::copy(program(), &installed)?;
    let looped = ["loop", "l", "--agent", "rehearsal", "--headless", "--max", "2", "--prompt"];
    let began = house.glis_of(&installed).args(looped).arg(HELD).output()?;
    assert!(began.status.success(), "{began:?}");
    let before =
        until_kept(&house).and_then(|_| house.living_daemon().ok_or("no daemon".into()))?;
    let upgrade = house.folder().join("glis.new");
    std::fs::copy(program(), &upgrade)?;
    std::fs::rename(&upgrade, &installed)?;
    kill_and_wait(before)?;
    eventually("a daemon is there", || house.living_daemon().is_some_and(|pid| pid != before))?;
    let pid = house.living_daemon().ok_or("no daemon")?;
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/exe"))?, installed);
    Ok(())
}

/// Somebody else brings that one back, or nobody is to.
#[test]
fn a_daemon_in_the_foreground_has_no_keeper() -> Outcome {
    let house = looped::house()?;
    let daemon = Foreground::start(&house, &[])?;
    begin(&house, HELD, &["--max", "2"])?;
    Watch::of(&house)?.until_held(1)?;
    let_go(&house)?;
    Watch::of(&house)?.until_held(2)?;
    assert!(keepers(&house).is_empty() && !house.home().join("keeper").exists());
    drop(daemon);
    Ok(())
}
