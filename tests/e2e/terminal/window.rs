//! The window of `execute` on a terminal: the tree of the plan as it goes, and answers that are typed below it.

use crate::support::house::{House, Outcome};
use crate::support::planned::{LONG, plan, record, task, until_at_work};
use crate::support::tmux::Tmux;

/// Opens the window on the plan of a house.
fn opened<'h>(house: &'h House, tasks: &[String]) -> Outcome<Option<Tmux<'h>>> {
    plan(house, tasks)?;
    let Some(tmux) = Tmux::start(house)? else { return Ok(None) };
    tmux.line("one", "clear; glis execute; echo left-with-$?")?;
    Ok(Some(tmux))
}

#[test]
fn a_window_shows_the_tree_and_takes_the_answer_to_what_is_asked() -> Outcome {
    let house = House::new()?;
    let asks = "write wax.txt a ;; approve Bash: polish ;; write more.txt b";
    let tasks = [task("dust", "write dust.txt a", &[], None), task("wax", asks, &["dust"], None)];
    let Some(tmux) = opened(&house, &tasks)? else { return Ok(()) };
    let screen = tmux.sees("one", "type your answer, and Enter:")?;
    for part in ["Tidy up  ", "1 of 2", "├─ ✓ dust", "└─ ? wax", "wax asks:", "polish"] {
        assert!(screen.contains(part), "{part:?}: {screen}");
    }
    // What is typed to one that has only just come counts for nothing: it is typed until it does.
    tmux.until("one", |screen| {
        screen.contains("left-with-0") || tmux.line("one", "allow").is_err()
    })?;
    let screen = tmux.screen("one")?;
    assert!(screen.contains("2 of 2 tasks are done: branch glis/plan/tidy-up"), "{screen}");
    assert_eq!(record(&house, "wax-1")?["state"], "succeeded");
    assert!(house.file("wax-1", "more.txt")?.exists());
    Ok(())
}

#[test]
fn ctrl_c_in_a_window_says_at_once_what_it_does_and_how_to_go_on() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = opened(&house, &[task("long", LONG, &[], None)])? else { return Ok(()) };
    until_at_work(&house, "long-1")?;
    tmux.sees("one", "└─ ● long")?;
    tmux.key("one", "C-c")?;
    tmux.sees("one", "pausing what runs; Ctrl+C again stops it at once")?;
    tmux.sees("one", "Paused. Resume with: glis resume long")?;
    tmux.left("one", "left-with-130").map(drop)
}
