//! Pausing a loop: after the iteration, at once, withdrawn, on every path, over a killed daemon.

use crate::support::house::{House, Outcome, eventually, lives};
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

#[test]
fn a_pause_is_honoured_after_an_iteration_that_fails() -> Outcome {
    let house = house()?;
    begin(&house, &format!("{HELD} ;; die 1"), &["--max", "5"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let window = pausing(&house, &[])?;
    watch.until("loop_pause_asked")?;
    let_go(&house)?;
    let (status, told) = said(window)?;
    assert_eq!(status, Some(0), "{told}");
    let paused = house.show("l")?;
    assert_eq!((&paused["status"], &paused["pause_reason"]), (&"paused".into(), &"user".into()));
    let own = &paused["loop"];
    assert_eq!((&own["iteration"], &own["failures"]), (&1.into(), &1.into()), "{paused}");
    house.ok(&["resume", "l"])?;
    watch.until_held(2)?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}

/// Asked for while the worktree is being set up: nothing of the first iteration has begun.
#[test]
fn a_pause_is_honoured_before_the_first_iteration() -> Outcome {
    let house = house()?;
    let setup = "touch \"$HOLD/setting-up\"; while ! test -e \"$HOLD/set-up\"; do sleep 0.02; done";
    let repo = house.repo();
    house.configure(&format!(
        "[repository.{:?}]\nsetup = {setup:?}\n",
        repo.display().to_string()
    ))?;
    let usual = ["loop", "l", "--agent", "rehearsal", "--headless", "--max", "2", "--prompt", HELD];
    let mut begins = house.glis();
    let mut begins = begins.args(usual).stdout(Stdio::null()).spawn()?;
    let hold = house.folder().join("hold");
    eventually("it is set up", || hold.join("setting-up").exists())?;
    let window = pausing(&house, &[])?;
    let mut watch = Watch::of(&house)?;
    watch.until("loop_pause_asked")?;
    assert_eq!(state(&house)?["state"], "pausing");
    std::fs::write(hold.join("set-up"), "")?;
    let (status, told) = said(window)?;
    assert_eq!(status, Some(0), "{told}");
    begins.wait()?;
    let paused = state(&house)?;
    assert_eq!((&paused["state"], &paused["iteration"]), (&"paused".into(), &1.into()));
    assert_eq!(lines(&house)?, 0, "its words wait as well");
    house.kill_daemon()?;
    house.ok(&["resume", "l"])?;
    Watch::of(&house)?.until_held(1)?;
    assert_eq!(lines(&house)?, 1);
    Ok(())
}

/// An iteration that only plans is one like any other.
#[test]
fn a_pause_is_honoured_after_an_iteration_that_plans() -> Outcome {
    let house = house()?;
    begin(&house, &format!("todo one | two | three ;; {HELD}"), &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let window = pausing(&house, &[])?;
    watch.until("loop_pause_asked")?;
    let_go(&house)?;
    assert_eq!(said(window)?.0, Some(0));
    let paused = house.show("l")?;
    assert_eq!((&paused["loop"]["state"], &paused["tasks_open"]), (&"paused".into(), &3.into()));
    Ok(())
}

/// A person who presses the one key of a loop twice, from two terminals at once: one of the four states,
/// never a pause that nothing ends.
#[test]
fn many_toggles_at_once_leave_it_running_or_paused_and_never_stuck() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "3"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    for round in 0..4 {
        let windows: Vec<Child> = (0..4)
            .map(|n| {
                let verb = if (n + round) % 2 == 0 { "pause" } else { "resume" };
                let mut command = house.glis();
                command.args([verb, "l"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
            })
            .collect::<Result<_, _>>()?;
        // Who waits for a pause is freed by this, and by nothing else.
        eventually("it can be resumed", || {
            house.ok(&["resume", "l"]).is_ok()
                && state(&house).is_ok_and(|found| found["state"] == "running")
        })?;
        for mut window in windows {
            eventually("its window is answered", || {
                house.ok(&["resume", "l"]).is_ok() && has_ended(&window)
            })?;
            window.wait()?;
        }
    }
    assert_eq!(state(&house)?["iteration"], 1);
    let_go(&house)?;
    watch.until_held(2)?;
    Ok(())
}

fn has_ended(window: &Child) -> bool {
    i32::try_from(window.id()).is_ok_and(|pid| !lives(pid))
}

#[test]
fn a_second_pause_is_the_same_one_and_a_third_may_hasten_it() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "5"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let first = pausing(&house, &[])?;
    let asked = watch.until("loop_pause_asked")?;
    let second = pausing(&house, &[])?;
    let third = pausing(&house, &["--mode", "interrupt"])?;
    for window in [first, second, third] {
        let (status, told) = said(window)?;
        assert_eq!(status, Some(0), "{told}");
    }
    assert_eq!(watch.until("paused")?["op"], asked["op"], "one operation for all of them");
    assert_eq!(state(&house)?["iteration"], 1);
    Ok(())
}
