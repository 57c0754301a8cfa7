//! The daemon, the window or both are killed at a step of a plan: no task is done twice, none has failed
//! for it, and what is merged in the end is the same.

use crate::support::house::{House, Outcome, kill_and_wait};
use crate::support::planned::{BRANCH, Window, plan, runs, task};
use crate::support::wreck::Foreground;
use std::os::unix::process::ExitStatusExt as _;

/// What is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Killed {
    Daemon,
    Both,
}

fn tidy_up(house: &House) -> Outcome {
    plan(
        house,
        &[
            task("a", "write a.txt a ;; append file.txt a", &[], Some("test -f a.txt")),
            task("b", "write b.txt b", &["a"], None),
            task("c", "write c.txt c ;; edit file.txt one two", &["a", "b"], Some("test -f b.txt")),
        ],
    )
}

fn tree(house: &House) -> Outcome<String> {
    house.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")])
}

/// What an undisturbed plan leads to.
fn wanted() -> Outcome<String> {
    let house = House::new()?;
    tidy_up(&house)?;
    house.ok(&["execute"])?;
    tree(&house)
}

fn killed_at(step: &str, killed: Killed, wanted: &str) -> Outcome {
    for side in ["before", "after"] {
        let house = House::new()?;
        tidy_up(&house)?;
        let point = format!("{side}:{step}");
        let daemon = Foreground::start(&house, &[("GLIS_FAILPOINT", &point)])?;
        let window = Window::open(&house, &[])?;
        assert_eq!(daemon.end()?.signal(), Some(9), "{point}: it was not reached");
        if killed == Killed::Both {
            kill_and_wait(window.pid()?)?;
            house.ok(&["execute"]).map_err(|fault| format!("{point}: {fault}"))?;
        } else {
            let (status, said, beside) = window.end()?;
            assert_eq!(status, Some(0), "{point}: {said}{beside}");
        }
        assert_eq!(tree(&house)?, wanted, "{point}");
        for task in ["a", "b", "c"] {
            let runs = runs(&house, task)?;
            let states: Vec<_> = runs.iter().map(|run| run["state"].clone()).collect();
            assert_eq!(states, ["succeeded"], "{point}: {runs:?}");
        }
    }
    Ok(())
}

#[test]
fn the_daemon_is_killed_at_each_step_of_a_run() -> Outcome {
    let wanted = wanted()?;
    for step in ["plan_begun", "run_began", "run_finishing", "run_succeeded"] {
        killed_at(step, Killed::Daemon, &wanted)?;
    }
    Ok(())
}

/// Not right behind the start of its process: a daemon that dies while it hands the prompt over leaves a
/// doubt, and the task waits for a person.
#[test]
fn the_daemon_is_killed_at_each_step_of_a_runs_session() -> Outcome {
    let wanted = wanted()?;
    for step in ["session_created", "worktree_made", "message_taken", "turn_ended"] {
        killed_at(step, Killed::Daemon, &wanted)?;
    }
    Ok(())
}

#[test]
fn the_daemon_and_the_window_are_killed() -> Outcome {
    let wanted = wanted()?;
    for step in ["run_began", "start_began", "run_finishing", "stop_began"] {
        killed_at(step, Killed::Both, &wanted)?;
    }
    Ok(())
}
