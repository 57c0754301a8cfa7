//! Pausing a loop: after the iteration, at once, withdrawn, on every path, over a killed daemon.

use crate::support::house::{House, Outcome};
use crate::support::looped::{HELD, Watch, begin, house, let_go, lines, state};
use std::process::{Child, Stdio};

/// A pause that waits in the background, as a person's window would.
fn pausing(house: &House, options: &[&str]) -> Outcome<Child> {
    let mut command = house.glis();
    command.args(["pause", "l"]).args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command.spawn()?)
}

fn said(window: Child) -> Outcome<(Option<i32>, String)> {
    let output = window.wait_with_output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8_lossy(&text).into_owned()))
}

#[test]
fn a_pause_takes_effect_after_the_current_iteration() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "5"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let window = pausing(&house, &[])?;
    watch.until("loop_pause_asked")?;
    let shown = house.show("l")?;
    assert_eq!(shown["loop"]["state"], "pausing", "{shown}");
    assert_eq!(shown["status"], "pausing", "{shown}");
    assert!(house.ok(&["ls"])?.contains("PAUSING... after this iteration"));
    let_go(&house)?;
    let (status, told) = said(window)?;
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("`l` is paused"), "{told}");
    let paused = state(&house)?;
    assert_eq!((&paused["state"], &paused["iteration"]), (&"paused".into(), &1.into()));
    assert_eq!(lines(&house)?, 1, "nothing was aborted, and nothing begun");
    house.ok(&["resume", "l"])?;
    watch.until_held(2)?;
    assert_eq!(state(&house)?["state"], "running");
    Ok(())
}

#[test]
fn a_toggle_while_pausing_cancels_the_pause_and_the_loop_goes_on_to_the_next_iteration() -> Outcome
{
    let house = house()?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let window = pausing(&house, &[])?;
    watch.until("loop_pause_asked")?;
    house.ok(&["pause", "l", "--cancel"])?;
    assert_eq!(state(&house)?["state"], "running");
    let (status, told) = said(window)?;
    assert_ne!(status, Some(0), "who waits for the pause is told: {told}");
    let_go(&house)?;
    watch.until_held(2)?;
    // A resume is the same toggle.
    let window = pausing(&house, &[])?;
    watch.until("loop_pause_asked")?;
    house.ok(&["resume", "l"])?;
    assert_eq!(state(&house)?["state"], "running");
    said(window)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    let done = state(&house)?;
    assert_eq!((&done["state"], &done["iteration"]), (&"done".into(), &2.into()));
    Ok(())
}

#[test]
fn a_pause_now_interrupts_the_iteration_and_a_resume_goes_on_with_the_same_one() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    house.ok(&["pause", "l", "--mode", "interrupt"])?;
    let paused = state(&house)?;
    assert_eq!((&paused["state"], &paused["iteration"]), (&"paused".into(), &1.into()));
    house.ok(&["resume", "l"])?;
    watch.until_held(1)?;
    let_go(&house)?;
    watch.until_held(2)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    assert_eq!(state(&house)?["failures"], 0, "an interrupt is no failure");
    Ok(())
}
