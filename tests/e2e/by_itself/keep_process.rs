//! `new --keep-process`: a pause stops the process in place, and a resume goes on in it.

use crate::support::house::{House, Outcome, await_gone, eventually, kill_and_wait};
use crate::support::tmux::Tmux;
use crate::support::wreck::{holder_of, marked, pid_of, text_of};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// A shell at its prompt that knows something, with work of its own behind it: a loop that leaves a
/// trace, and one that its user has stopped.
fn shell(house: &House) -> Outcome<Value> {
    let shell = ["--keep-process", "--", "bash", "--norc", "-i"];
    house.json(&[&["new", "blue", "--agent", "command"][..], &shell].concat())?;
    say(house, "known=41; (while :; do date +%N > tick; sleep 0.05; done) & echo $! > worker")?;
    say(house, "sleep 1000 & echo $! > stopped; kill -STOP $!")?;
    house.until("blue", "idle")
}

/// Says it, and waits until the shell has done it.
fn say(house: &House, line: &str) -> Outcome {
    let said = house.file("blue", "said")?;
    let length = || fs::read_to_string(&said).map_or(0, |text| text.len());
    let before = length();
    house.ok(&["send", "blue", &format!("{line}; echo done >> said")])?;
    eventually("it is done", || length() > before)
}

/// The letter for the state of a process.
fn state(pid: i32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.unwrap_or('?')
}

fn number(house: &House, file: &str) -> Outcome<i32> {
    Ok(fs::read_to_string(house.file("blue", file)?)?.trim().parse()?)
}

/// Every process of it is stopped.
fn all_stopped(id: &str) -> bool {
    let pids = marked(id);
    !pids.is_empty() && pids.into_iter().all(|pid| matches!(state(pid), 'T' | 'Z' | '?'))
}

/// The loop in its background goes on.
fn ticks(house: &House) -> Outcome {
    let tick = house.file("blue", "tick")?;
    let before = fs::read_to_string(&tick)?;
    eventually("its background goes on", || {
        fs::read_to_string(&tick).is_ok_and(|now| now != before && !now.is_empty())
    })
}

/// What it knew is still known: it is the same process.
fn still_knows(house: &House) -> Outcome {
    house.ok(&["send", "blue", "echo $((known + 1)) > answer"])?;
    let answer = house.file("blue", "answer")?;
    eventually("it has answered", || fs::read_to_string(&answer).is_ok_and(|now| now == "42\n"))
}

#[test]
fn a_paused_command_goes_on_in_the_same_process() -> Outcome {
    let house = House::new()?;
    let before = shell(&house)?;
    let id = text_of(&before, "id")?;
    let said = house.ok(&["pause", "blue"])?;
    assert!(said.contains("stopped in place; "), "{said}");
    assert!(all_stopped(&id), "{:?}", marked(&id));
    let paused = house.show("blue")?;
    assert_eq!((&paused["status"], &paused["pid"]), (&json!("paused"), &before["pid"]));
    assert_eq!((&paused["process_kept"], &paused["keep_process"]), (&json!(true), &json!(true)));
    assert!(paused["memory_bytes"].as_u64() > Some(1_000_000), "{paused}");
    let told = house.ok(&["show", "blue"])?;
    assert!(told.contains("kept (pid ") && told.contains(" stay taken"), "{told}");
    let events = house.events(&id)?;
    let steps = ["freeze_began", "process_frozen", "snapshot_taken", "paused"];
    let from = events.iter().position(|event| event == "freeze_began").ok_or("never frozen")?;
    assert_eq!(events.get(from..), Some(&steps.map(ToOwned::to_owned)[..]));
    let said = house.ok(&["resume", "blue"])?;
    assert!(said.contains("its process goes on where it was stopped"), "{said}");
    let back = house.show("blue")?;
    assert_eq!((&back["pid"], &back["generation"]), (&before["pid"], &json!(1)));
    assert_eq!(back["process_kept"], false);
    ticks(&house)?;
    assert_eq!(state(number(&house, "stopped")?), 'T', "what its user had stopped stays so");
    still_knows(&house)
}

/// Nothing that is typed reaches it, so whoever looks is told, and can have it back with a key.
#[test]
fn a_terminal_that_shows_it_is_told_and_goes_on_with_it() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    shell(&house)?;
    tmux.line("one", "glis attach blue")?;
    tmux.sees("one", "bash")?;
    for back in ["r", "resume"] {
        house.ok(&["pause", "blue"])?;
        tmux.sees("one", "r resumes, q leaves | `blue` is paused, its process kept,")?;
        let (list, shown) = (house.ok(&["ls"])?, house.ok(&["show", "blue"])?);
        assert!(list.contains("paused, process kept"), "{list}");
        assert!(shown.contains("(paused, process kept)"), "{shown}");
        if back == "r" {
            tmux.key("one", "r")?;
        } else {
            house.ok(&["resume", "blue"])?;
        }
        tmux.until("one", |screen| !screen.contains("process kept"))?;
        tmux.line("one", &format!("echo typed-{back} $((known + 1))"))?;
        tmux.sees("one", &format!("typed-{back} 42"))?;
        house.until("blue", "idle")?;
    }
    tmux.key("one", "C-q")?;
    tmux.sees("one", "detached from `blue`")?;
    Ok(())
}

#[test]
fn it_survives_the_daemons_death_and_takes_what_was_queued_once() -> Outcome {
    let house = House::new()?;
    let before = shell(&house)?;
    let id = text_of(&before, "id")?;
    house.ok(&["pause", "blue"])?;
    house.kill_daemon()?;
    house.ok(&["send", "blue", "echo once >> queued"])?;
    let paused = house.show("blue")?;
    assert_eq!((&paused["status"], &paused["pid"]), (&json!("paused"), &before["pid"]));
    assert_eq!((&paused["process_kept"], &paused["queued"]), (&json!(true), &json!(1)));
    assert!(all_stopped(&id));
    // A second pause changes nothing.
    house.ok(&["pause", "blue", "--mode", "force"])?;
    house.ok(&["resume", "blue"])?;
    let queued = house.file("blue", "queued")?;
    eventually("it took what was queued", || queued.exists())?;
    still_knows(&house)?;
    assert_eq!(fs::read_to_string(&queued)?, "once\n");
    Ok(())
}

#[test]
fn the_daemon_may_die_at_every_step_of_freezing_and_thawing() -> Outcome {
    for moment in ["before:freeze_began", "after:freeze_began", "after:process_frozen"] {
        let mut house = House::new()?;
        let before = shell(&house)?;
        house.ok(&["daemon", "stop"])?;
        house.surround("GLIS_FAILPOINT", moment);
        // Whether its caller still hears of it depends on the moment.
        house.glis().args(["pause", "blue", "--mode", "boundary"]).output()?;
        house.spare("GLIS_FAILPOINT");
        let paused = house.until("blue", "paused")?;
        assert_eq!((&paused["process_kept"], &paused["pid"]), (&json!(true), &before["pid"]));
        assert!(all_stopped(&text_of(&before, "id")?), "{moment}");
        house.ok(&["daemon", "stop"])?;
        house.surround("GLIS_FAILPOINT", "after:thaw_began");
        house.glis().args(["resume", "blue"]).output()?;
        house.spare("GLIS_FAILPOINT");
        house.until("blue", "idle,busy")?;
        still_knows(&house)?;
    }
    Ok(())
}

#[test]
fn a_stop_ends_what_was_kept_and_the_session_stays_paused() -> Outcome {
    let house = House::new()?;
    let id = text_of(&shell(&house)?, "id")?;
    house.ok(&["pause", "blue"])?;
    for refused in [&["rm", "blue"][..], &["pause", "blue", "--remove-worktree"]] {
        let (status, told) = house.fails(refused)?;
        assert_eq!(status, 4, "{told}");
        assert!(told["hint"].as_str().is_some_and(|hint| hint.contains("glis stop blue")));
    }
    house.ok(&["stop", "blue"])?;
    let stopped = house.show("blue")?;
    assert_eq!((&stopped["status"], &stopped["pid"]), (&json!("paused"), &Value::Null));
    assert_eq!((&stopped["process_kept"], &stopped["memory_bytes"]), (&json!(false), &Value::Null));
    assert_eq!(marked(&id), Vec::<i32>::new());
    let said = house.ok(&["resume", "blue"])?;
    assert!(said.contains("its command was started again"), "{said}");
    assert_eq!(house.show("blue")?["generation"], 2);
    Ok(())
}

#[test]
fn without_its_holder_the_pause_stands_and_says_what_is_lost() -> Outcome {
    let house = House::new()?;
    let before = shell(&house)?;
    let (id, pid) = (text_of(&before, "id")?, pid_of(&before)?);
    house.ok(&["pause", "blue"])?;
    kill_and_wait(holder_of(pid)?)?;
    await_gone(pid)?;
    eventually("its end is on record", || {
        house.show("blue").is_ok_and(|shown| shown["pid"].is_null())
    })?;
    let paused = house.show("blue")?;
    assert_eq!((&paused["status"], &paused["process_kept"]), (&json!("paused"), &json!(false)));
    let warned = paused["warnings"].to_string();
    assert!(warned.contains("the process that it kept has ended"), "{paused}");
    eventually("nothing of it is left", || marked(&id).is_empty())?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(house.show("blue")?["generation"], 2);
    Ok(())
}

#[test]
fn the_gate_keeps_the_process_too() -> Outcome {
    let house = House::new()?;
    let before = shell(&house)?;
    house.ok(&["pause", "--all"])?;
    let paused = house.show("blue")?;
    assert_eq!((&paused["pid"], &paused["process_kept"]), (&before["pid"], &json!(true)));
    assert!(all_stopped(&text_of(&before, "id")?));
    house.ok(&["resume", "--all"])?;
    house.until("blue", "idle,busy")?;
    still_knows(&house)
}

#[test]
fn what_somebody_else_lets_go_on_is_stopped_again() -> Outcome {
    let house = House::new()?;
    let before = shell(&house)?;
    house.ok(&["pause", "blue"])?;
    let pid = pid_of(&before)?;
    let told = Command::new("kill").args(["-CONT", &pid.to_string()]).status()?;
    assert!(told.success());
    eventually("it is stopped again", || state(pid) == 'T')?;
    house.ok(&["resume", "blue"])?;
    still_knows(&house)
}

#[test]
fn only_a_command_in_a_terminal_can_be_kept() -> Outcome {
    let house = House::new()?;
    let (status, told) = house.fails(&["new", "blue", "--agent", "rehearsal", "--keep-process"])?;
    assert_eq!(status, 2, "{told}");
    assert!(told["message"].to_string().contains("is for a command in a terminal"), "{told}");
    let headless = ["new", "blue", "--headless", "--keep-process", "--", "cat"];
    assert_eq!(house.fails(&headless)?.0, 2);
    Ok(())
}
