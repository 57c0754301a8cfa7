//! A terminal that shows a session whose process ends: what became of it is told over the last screen,
//! one key brings it back and another leaves, and it goes on where somebody else brings it back.

use crate::support::house::{House, Outcome};
use crate::support::tmux::Tmux;

/// A rehearsal session in a terminal that has said something and is attached to.
fn watched(house: &House, tmux: &Tmux<'_>) -> Outcome {
    house.in_terminal("x")?;
    house.turn("x", "say before-the-end")?;
    tmux.line("one", "clear; glis attach x")?;
    tmux.sees("one", "before-the-end").map(drop)
}

/// What is typed reaches the agent again, once the line about its end is gone.
fn goes_on(tmux: &Tmux<'_>, word: &str) -> Outcome {
    tmux.until("one", |screen| !screen.contains("`x`") && !screen.contains("`y`"))?;
    tmux.line("one", &format!("say {word}"))?;
    tmux.until("one", |screen| screen.contains(&format!("\n{word}"))).map(drop)
}

#[test]
fn a_pause_is_told_over_the_last_screen_and_one_key_resumes() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    watched(&house, &tmux)?;
    house.ok(&["pause", "x"])?;
    let screen = tmux.sees("one", "`x` is paused by a user, with `glis pause`")?;
    assert!(screen.contains("before-the-end"), "the last screen is gone:\n{screen}");
    assert!(!screen.contains("`x` has ended"), "{screen}");
    tmux.sees("one", "r resumes, q leaves | `x` is paused")?;
    tmux.key("one", "r")?;
    house.until("x", "idle")?;
    goes_on(&tmux, "after-the-end")?;
    assert_eq!(house.show("x")?["generation"], 2);
    // Again, and this time somebody else resumes it.
    house.ok(&["pause", "x"])?;
    tmux.sees("one", "r resumes, q leaves | `x` is paused")?;
    house.ok(&["resume", "x"])?;
    goes_on(&tmux, "by-another")?;
    // And the key that leaves leaves.
    house.ok(&["pause", "x"])?;
    tmux.sees("one", "r resumes, q leaves | `x` is paused")?;
    tmux.key("one", "q")?;
    tmux.left("one", "`x` is paused")?;
    assert_eq!(house.show("x")?["status"], "paused");
    Ok(())
}

#[test]
fn what_is_typed_while_it_is_paused_neither_resumes_nor_leaves() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    watched(&house, &tmux)?;
    house.ok(&["pause", "x"])?;
    tmux.sees("one", "`x` is paused by a user")?;
    let screen = tmux.screen("one")?;
    if !screen.contains("q leaves") {
        // Within the first moment, as whoever is in the middle of a word.
        tmux.run(&["send-keys", "-t", "one", "-l", "quarter"])?;
    }
    tmux.sees("one", "r resumes, q leaves | `x` is paused")?;
    assert_eq!(house.show("x")?["status"], "paused");
    Ok(())
}

#[test]
fn a_stop_a_restart_and_a_removal_are_told_as_what_they_are() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    watched(&house, &tmux)?;
    house.ok(&["stop", "x"])?;
    let screen = tmux.sees("one", "r resumes, q leaves | `x` is suspended")?;
    assert!(screen.contains("before-the-end"), "{screen}");
    // A message wakes it, and the terminal with it.
    house.ok(&["send", "x", "say woken"])?;
    tmux.until("one", |screen| screen.contains("\nwoken"))?;
    goes_on(&tmux, "after-the-stop")?;
    house.ok(&["restart", "x", "--yes"])?;
    goes_on(&tmux, "after-the-restart")?;
    assert_eq!(house.show("x")?["generation"], 3);
    house.ok(&["rm", "x", "--stop"])?;
    tmux.sees("one", "q leaves | `x` was removed; it is in the trash")?;
    tmux.key("one", "C-q")?;
    tmux.left("one", "`x` is archived").map(drop)
}

#[test]
fn a_command_that_fails_and_an_agent_that_dies_are_told_with_the_reason() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.command("x", &["sh", "-c", "echo begun; read line; exit 3"])?;
    tmux.line("one", "clear; glis attach x")?;
    tmux.sees("one", "begun")?;
    tmux.key("one", "Enter")?;
    let screen = tmux.sees("one", "q leaves | `x` has failed: exit status 3")?;
    assert!(screen.contains("begun") && !screen.contains("r resumes"), "{screen}");
    tmux.key("one", "q")?;
    tmux.left("one", "`x` is failed")?;
    let idle = house.in_terminal("y")?;
    tmux.line("one", "clear; glis attach y")?;
    tmux.until("one", |_| house.show("y").is_ok_and(|shown| shown["attached"] == 1))?;
    crate::support::house::kill_and_wait(crate::support::wreck::pid_of(&idle)?)?;
    tmux.sees("one", "r resumes, q leaves | `y` is interrupted: its process died")?;
    tmux.key("one", "r")?;
    house.until("y", "idle")?;
    goes_on(&tmux, "back")
}

#[test]
fn a_resume_that_fails_says_why_and_offers_it_again() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    watched(&house, &tmux)?;
    house.ok(&["pause", "x"])?;
    let id = crate::support::wreck::text_of(&house.show("x")?, "id")?;
    let output = house.home().join("sessions").join(id).join("output");
    std::fs::rename(&output, output.with_extension("away"))?;
    std::fs::write(&output, "in the way")?;
    tmux.sees("one", "r resumes, q leaves | `x` is paused")?;
    tmux.key("one", "r")?;
    tmux.sees("one", "r resumes, q leaves | failed to create tmux session")?;
    std::fs::remove_file(&output)?;
    std::fs::rename(output.with_extension("away"), &output)?;
    tmux.key("one", "r")?;
    house.until("x", "idle")?;
    goes_on(&tmux, "mended")
}

#[test]
fn a_daemon_that_is_gone_for_good_is_told_by_the_exit_status() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let shown = house.in_terminal("x")?;
    tmux.line("one", "clear; glis attach x; echo left with $?")?;
    tmux.until("one", |_| house.show("x").is_ok_and(|shown| shown["attached"] == 1))?;
    house.kill_daemon()?;
    // Neither the file nor what is kept of it can be read: no daemon begins.
    house.configure("nonsense")?;
    std::fs::write(house.home().join("backup/config.toml"), "nonsense")?;
    crate::support::house::kill_and_wait(crate::support::wreck::pid_of(&shown)?)?;
    tmux.sees("one", "left with 8").map(drop)?;
    house.configure("")
}

/// One that shows a session at rest asks the daemon about it, and one that shows a terminal asks nobody.
#[test]
fn a_daemon_that_is_stopped_stays_stopped_where_a_terminal_is_attached() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let is_stopped = || -> Outcome {
        let (_, told) = house.fails(&["daemon", "status"])?;
        assert_eq!(told["message"], "the daemon does not run", "{told}");
        Ok(())
    };
    watched(&house, &tmux)?;
    house.ok(&["daemon", "stop"])?;
    goes_on(&tmux, "without-a-daemon")?;
    tmux.key("one", "C-q")?;
    tmux.sees("one", "detached from `x`; it keeps running")?;
    is_stopped()?;
    house.ok(&["pause", "x"])?;
    tmux.line("one", "clear; glis attach x; echo left with $?")?;
    tmux.sees("one", "q leaves | `x` is paused")?;
    house.ok(&["daemon", "stop"])?;
    let screen = tmux.sees("one", "left with 8")?;
    assert!(screen.contains("the daemon was stopped; agents run on"), "{screen}");
    is_stopped()
}
