//! A plan and a loop in the overview: paused, resumed and begun anew by keys, as by the command line.

use super::overview::opened;
use crate::support::house::{House, Outcome, kill_and_wait};
use crate::support::looped;
use crate::support::planned::{LONG, Window, plan, record, runs, task, until_at_work};
use crate::support::tmux::Tmux;
use serde_json::{Value, json};

/// A plan of two tasks that works on the first, with a window on it.
fn at_work() -> Outcome<(House, Window)> {
    let house = House::new()?;
    plan(&house, &[task("long", LONG, &[], None), task("next", "write next.txt n", &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "long-1")?;
    Ok((house, window))
}

/// What has happened to the plan, and what is known of its runs.
fn course(house: &House) -> Outcome<(Vec<String>, Vec<Value>)> {
    let all = house.ok(&["events"])?;
    let names = all.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
    let names = names.iter().filter_map(|event| event["event"].as_str());
    let names = names.filter(|name| name.starts_with("plan_") || name.starts_with("run_"));
    let known = ["long-1", "long-2"].map(|run| record(house, run));
    let fields =
        ["state", "pause_reason", "resumable", "restart_of_run_id", "superseded_by_run_id"];
    let known = known.into_iter().map(|run| {
        let run = run?;
        Ok(Value::from(fields.map(|field| run[field].clone()).to_vec()))
    });
    Ok((names.map(ToOwned::to_owned).collect(), known.collect::<Outcome<_>>()?))
}

#[test]
fn a_plan_is_executed_from_the_overview() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("one", "write one.txt 1", &[], None), task("two", LONG, &["one"], None)])?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.key("one", "e")?;
    tmux.sees("one", "execute the plan of repo")?;
    tmux.sees("one", "two  ")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "Execute the plan `Tidy up` of ")?;
    assert!(!house.ok(&["events"])?.contains("plan_"), "not before it is confirmed");
    tmux.key("one", "y")?;
    tmux.sees("one", "of 2 tasks are done")?;
    until_at_work(&house, "two-1")?;
    // One row for the plan, with its tasks below it.
    tmux.sees("one", "Tidy up  1/2 ██████░░░░░░")?;
    tmux.sees("one", "▌ ●   two-1")?;
    tmux.sees("one", "✓   one-1")?;
    assert_eq!(record(&house, "one-1")?["state"], "succeeded");
    // It is shown as any plan is, and a look at its file tells how far it is.
    tmux.key("one", "e")?;
    tmux.sees("one", "one  succeeded")?;
    tmux.sees("one", "two  running")?;
    tmux.key("one", "Escape")?;
    tmux.until("one", |screen| !screen.contains("execute the plan"))?;
    tmux.key("one", "@")?;
    tmux.sees("one", "glis execute ").map(drop)
}

/// Ctrl+C, resume and restart: the same events and the same records, whoever asks.
#[test]
fn cli_and_tui_share_the_same_pause_resume_and_restart() -> Outcome {
    let (typed, window) = at_work()?;
    window.interrupt()?;
    assert_eq!(window.end()?.0, Some(130));
    typed.ok(&["resume", "long"])?;
    typed.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    typed.ok(&["restart", "long", "--yes"])?;
    until_at_work(&typed, "long-2")?;

    let (pressed, window) = at_work()?;
    kill_and_wait(window.pid()?)?;
    let Some(tmux) = Tmux::start(&pressed)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "task long")?;
    tmux.key("one", "C-c")?;
    tmux.sees("one", "Paused. Ctrl+C again to quit.")?;
    let paused = record(&pressed, "long-1")?;
    assert_eq!(
        (&paused["state"], &paused["pause_reason"]),
        (&json!("paused"), &json!("user_interrupt")),
        "{paused}"
    );
    assert_eq!(runs(&pressed, "next")?.len(), 0, "nothing else has begun");
    tmux.key("one", "u")?;
    pressed.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    tmux.until("one", |screen| !screen.contains("Paused. Ctrl+C again to quit."))?;
    tmux.key("one", "R")?;
    tmux.sees("one", "Begin task long anew? It gets a new run")?;
    assert_eq!(runs(&pressed, "long")?.len(), 1, "not before it is confirmed");
    tmux.key("one", "y")?;
    until_at_work(&pressed, "long-2")?;
    assert_eq!(course(&pressed)?, course(&typed)?);
    assert_eq!(runs(&pressed, "next")?.len(), 0, "nothing else has begun");
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0").map(drop)
}

/// The second Ctrl+C leaves, and changes nothing.
#[test]
fn ctrl_c_pauses_the_run_and_stays_and_ctrl_c_again_quits() -> Outcome {
    let (house, window) = at_work()?;
    kill_and_wait(window.pid()?)?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "task long")?;
    tmux.key("one", "C-c")?;
    tmux.sees("one", "Paused. Ctrl+C again to quit.")?;
    let before = house.ok(&["events"])?;
    tmux.key("one", "C-c")?;
    tmux.left("one", "left-with-0")?;
    assert_eq!(house.ok(&["events"])?, before, "leaving changes nothing");
    assert_eq!(record(&house, "long-1")?["state"], "paused");
    Ok(())
}

/// A session that is no part of the plan is in hand.
#[test]
fn ctrl_c_pauses_the_plan_of_the_repository_whichever_row_is_in_hand() -> Outcome {
    let (house, window) = at_work()?;
    kill_and_wait(window.pid()?)?;
    house.in_terminal("shell")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "task long")?;
    tmux.key("one", "/")?;
    tmux.line("one", "shell")?;
    tmux.sees("one", "▌ ◐ shell")?;
    tmux.key("one", "C-c")?;
    tmux.sees("one", "Paused. Ctrl+C again to quit.  the plan of repo")?;
    assert_eq!(record(&house, "long-1")?["state"], "paused");
    assert_eq!(house.show("shell")?["status"], "idle");
    tmux.key("one", "C-c")?;
    tmux.left("one", "left-with-0").map(drop)
}

/// Not paused, pausing, paused: one chord for all of them.
#[test]
fn ctrl_x_p_toggles_pause_and_resume_in_every_state() -> Outcome {
    let house = looped::house()?;
    looped::begin(&house, looped::HELD, &["--max", "3"])?;
    let mut watch = looped::Watch::of(&house)?;
    watch.until_held(1)?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    let toggle = || tmux.key("one", "C-x").and_then(|()| tmux.key("one", "p"));
    tmux.sees("one", "Iteration #1")?;
    toggle()?;
    watch.until("loop_pause_asked")?;
    tmux.sees("one", "PAUSING...")?;
    toggle()?;
    watch.until("loop_pause_withdrawn")?;
    tmux.until("one", |screen| !screen.contains("PAUSING..."))?;
    looped::is(&house, &[("state", json!("running")), ("iteration", json!(1))])?;
    toggle()?;
    watch.until("loop_pause_asked")?;
    tmux.sees("one", "PAUSING...")?;
    looped::let_go(&house)?;
    tmux.sees("one", "⏸ PAUSED")?;
    looped::is(&house, &[("state", json!("paused")), ("iteration", json!(1))])?;
    toggle()?;
    watch.until_held(2)?;
    tmux.sees("one", "Iteration #2")?;
    looped::is(&house, &[("state", json!("running")), ("iteration", json!(2))])?;
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0").map(drop)
}
