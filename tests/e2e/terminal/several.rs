//! The overview beside others: two of them at once, without a daemon, without a repository, without the right
//! to change anything.

use super::overview::{opened, overview_pid};
use crate::support::house::{House, Outcome, eventually, kill_and_wait};
use crate::support::planned;
use crate::support::tmux::Tmux;

/// How long nothing is watched that is to be quiet.
const QUIET: std::time::Duration = std::time::Duration::from_secs(4);
/// A house comes to rest in so many stretches at most.
const STRETCHES: usize = 12;

#[test]
fn two_overviews_survive_the_daemon_and_tell_the_same() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.open("two", 120, 30)?;
    for window in ["one", "two"] {
        tmux.line(window, "clear; glis; echo left-with-$?")?;
        tmux.sees(window, "1 session")?;
    }
    tmux.key("two", "p")?;
    tmux.sees("one", "‖ blue")?;
    tmux.sees("two", "‖ blue")?;
    // From here on no command is typed: the overviews alone bring the daemon back.
    let daemon = house.daemon_pid()?;
    kill_and_wait(daemon)?;
    eventually("a daemon is there again", || {
        house.processes().into_iter().any(|pid| pid != daemon && is_daemon(pid))
    })?;
    tmux.key("one", "u")?;
    tmux.until("one", |screen| !screen.contains("‖ blue") && screen.contains("blue"))?;
    tmux.until("two", |screen| !screen.contains("‖ blue") && screen.contains("blue"))?;
    house.until("blue", "idle")?;
    assert_ne!(house.daemon_pid()?, daemon);
    for window in ["one", "two"] {
        tmux.key(window, "q")?;
        tmux.left(window, "left-with-0")?;
    }
    Ok(())
}

/// Whether a process is a daemon, by the words that it was started with.
fn is_daemon(pid: i32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == b"daemon")
}

#[test]
fn outside_a_repository_and_for_looking_only_it_says_what_can_be_done() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.line("one", "clear; cd /; glis; echo left-with-$?")?;
    tmux.sees("one", "start glis inside a git repository")?;
    tmux.key("one", "n")?;
    tmux.sees("one", "this folder is in no git repository")?;
    // Letters right after a refusal were meant for a box that did not open; this key is meant as it is.
    tmux.key("one", "C-c")?;
    tmux.left("one", "left-with-0")?;
    house.in_terminal("blue")?;
    tmux.line("one", "clear; glis --read-only; echo left-with-$?")?;
    tmux.sees("one", "read-only")?;
    tmux.sees("one", "1 session")?;
    for key in ["p", "S", "D", "Enter", "s"] {
        tmux.key("one", key)?;
        tmux.sees("one", "read-only: nothing is changed from here")?;
    }
    assert_eq!(house.show("blue")?["status"], "idle");
    tmux.key("one", "C-c")?;
    tmux.left("one", "left-with-0").map(drop)
}

#[test]
fn the_runs_of_a_plan_and_the_snapshots_of_a_session_are_shown() -> Outcome {
    let house = House::new()?;
    planned::plan(&house, &[planned::task("write", "write a.txt one ;; say done", &[], None)])?;
    house.ok(&["execute"])?;
    house.in_terminal("blue")?;
    house.turn("blue", "write b.txt two")?;
    house.ok(&["snapshot", "blue"])?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.line("one", "/blue")?;
    tmux.key("one", "4")?;
    tmux.sees("one", " changed  ")?;
    tmux.key("one", "3")?;
    tmux.sees("one", "b.txt")?;
    tmux.key("one", "5")?;
    tmux.sees("one", "succeeded   write")?;
    tmux.key("one", "6")?;
    tmux.sees("one", "snapshot")?;
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0").map(drop)
}

/// How often each thread of a process was woken.
fn wakes(pid: i32) -> Vec<(String, u64)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let read = |folder: std::path::PathBuf| {
        let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
        let name = status.lines().find_map(|line| line.strip_prefix("Name:\t")).unwrap_or_default();
        let counts = status.lines().filter(|line| line.contains("ctxt_switches:"));
        let counts = counts.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
        (name.to_owned(), counts.sum())
    };
    let mut all: Vec<_> = tasks.map(|task| (task.file_name(), read(task.path()))).collect();
    all.sort();
    all.into_iter().map(|(_, wakes)| wakes).collect()
}

#[test]
fn an_overview_that_nothing_happens_in_never_wakes() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.rehearsal("green")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "2 sessions")?;
    let pid = overview_pid(&tmux)?;
    let mut seen = Vec::new();
    for _ in 0..STRETCHES {
        let before = wakes(pid);
        // Nothing happens here: that is what is measured.
        std::thread::sleep(QUIET);
        let after = wakes(pid);
        // An age that is told in minutes may have changed, once for each session: stretches are shorter.
        if before == after {
            return Ok(());
        }
        seen.push((before, after));
    }
    Err(format!("it wakes all the time: {seen:?}").into())
}
