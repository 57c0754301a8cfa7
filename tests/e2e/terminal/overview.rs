//! Every session on one screen: what a person sees and does there, on a real terminal.

use crate::support::house::{House, Outcome, await_gone, eventually, kill_and_wait, lives};
use crate::support::tmux::Tmux;
use std::process::Command;

/// The program is opened and shows what is there.
pub(super) fn opened(tmux: &Tmux<'_>) -> Outcome {
    tmux.line("one", "clear; glis; echo left-with-$?")?;
    tmux.sees("one", "? keys").map(drop)
}

/// The process that shows the overview.
pub(super) fn overview_pid(tmux: &Tmux<'_>) -> Outcome<i32> {
    let shell = tmux.fact("one", "#{pane_pid}")?;
    let children = Command::new("pgrep").args(["-P", &shell, "-x", "glis"]).output()?;
    Ok(String::from_utf8(children.stdout)?.trim().parse()?)
}

/// What a terminal is set to, which must be the same before and after.
fn settings(tmux: &Tmux<'_>) -> Outcome<String> {
    let tty = tmux.fact("one", "#{pane_tty}")?;
    let stty = Command::new("stty").args(["-F", &tty, "-a"]).output()?;
    let modes = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{mouse_sgr_flag} #{keypad_flag}";
    Ok(format!("{} {}", String::from_utf8(stty.stdout)?, tmux.fact("one", modes)?))
}

#[test]
fn without_a_terminal_it_is_still_the_help() -> Outcome {
    let house = House::new()?;
    let told = house.ok(&[])?;
    assert!(told.contains("Usage: glis"), "{told}");
    let (status, told) = house.fails(&["--read-only", "ls", "--json"])?;
    assert_eq!((status, told["kind"].as_str()), (2, Some("usage")));
    Ok(())
}

#[test]
fn the_overview_lives_on_events_and_leaves_the_terminal_as_it_was() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let before = settings(&tmux)?;
    opened(&tmux)?;
    tmux.sees("one", "blue")?;
    tmux.sees("one", "idle")?;
    house.ok(&["pause", "blue"])?;
    tmux.sees("one", "‖ blue")?;
    house.in_terminal("green")?;
    tmux.sees("one", "2 sessions")?;
    tmux.key("one", "?")?;
    tmux.sees("one", "next that waits")?;
    tmux.key("one", "Escape")?;
    tmux.until("one", |screen| !screen.contains("next that waits"))?;
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0")?;
    assert_eq!(settings(&tmux)?, before);
    assert_eq!(house.show("green")?["status"], "idle", "quitting changes nothing");
    Ok(())
}

#[test]
fn a_signal_and_a_suspension_give_the_terminal_back() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let before = settings(&tmux)?;
    opened(&tmux)?;
    tmux.sees("one", "No sessions yet.")?;
    tmux.key("one", "C-z")?;
    tmux.sees("one", "Stopped")?;
    assert_eq!(settings(&tmux)?, before);
    tmux.line("one", "fg")?;
    tmux.sees("one", "No sessions yet.")?;
    let pid = overview_pid(&tmux)?;
    Command::new("kill").args(["-TERM", &pid.to_string()]).status()?;
    tmux.until("one", |screen| screen.trim_end().ends_with('$'))?;
    assert_eq!(settings(&tmux)?, before);
    // The signal that cannot be caught is met by a process that outlives us.
    opened(&tmux)?;
    let pid = overview_pid(&tmux)?;
    Command::new("kill").args(["-KILL", &pid.to_string()]).status()?;
    eventually("it has ended", || !lives(pid))?;
    eventually("the terminal is as before", || settings(&tmux).is_ok_and(|now| now == before))?;
    // The shell may have been quicker with its prompt, on the screen that is gone.
    tmux.line("one", "echo here-again")?;
    tmux.sees("one", "here-again").map(drop)
}

#[test]
fn a_day_in_it_question_pause_death_of_the_daemon_and_back() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.in_terminal("green")?;
    house.turn("blue", "say seen-in-the-preview")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "2 sessions")?;
    tmux.key("one", "/")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "blue"])?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "seen-in-the-preview")?;
    // A message makes it ask, and two keys answer.
    tmux.key("one", "s")?;
    tmux.sees("one", "message to blue")?;
    tmux.line("one", "approve Bash: make")?;
    house.until("blue", "waiting")?;
    tmux.sees("one", "a answers")?;
    tmux.key("one", "a")?;
    tmux.sees("one", "wants to be allowed")?;
    tmux.key("one", "y")?;
    house.until("blue", "idle")?;
    tmux.sees("one", "allowed by you")?;
    tmux.key("one", "a")?;
    tmux.sees("one", "ctrl+x p pause")?;
    // Paused, and the daemon dies behind its back.
    tmux.key("one", "C-x")?;
    tmux.key("one", "p")?;
    tmux.sees("one", "⏸ PAUSED")?;
    assert_eq!(house.show("blue")?["status"], "paused");
    house.kill_daemon()?;
    tmux.sees("one", "u resume")?;
    tmux.key("one", "u")?;
    house.until("blue", "idle")?;
    // Attached on the whole terminal, and back.
    tmux.sees("one", "ctrl+x p pause")?;
    tmux.key("one", "Enter")?;
    tmux.until("one", |screen| {
        !screen.contains("? keys") && screen.contains("seen-in-the-preview")
    })?;
    tmux.line("one", "say typed-inside")?;
    tmux.until("one", |screen| screen.contains("\ntyped-inside"))?;
    tmux.key("one", "C-q")?;
    tmux.sees("one", "? keys")?;
    tmux.key("one", "@")?;
    tmux.sees("one", "glis pause blue")?;
    tmux.key("one", "Escape")?;
    tmux.until("one", |screen| !screen.contains("glis pause blue"))?;
    tmux.run(&["resize-window", "-t", "one", "-x", "40", "-y", "12"])?;
    tmux.until("one", |screen| screen.contains("blue") && screen.contains("? keys"))?;
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0").map(drop)
}

#[test]
fn a_draft_is_there_after_a_restart_and_plain_lines_follow_events() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1 session")?;
    tmux.key("one", "s")?;
    tmux.sees("one", "message to blue")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "half a thought"])?;
    tmux.sees("one", "half a thought")?;
    // To a terminal an escape and a key right behind it may be one key.
    tmux.run(&["send-keys", "-t", "one", "Escape", "q"])?;
    tmux.left("one", "left-with-0")?;
    opened(&tmux)?;
    tmux.sees("one", "not sent yet")?;
    tmux.key("one", "s")?;
    tmux.sees("one", "half a thought")?;
    tmux.key("one", "Escape")?;
    tmux.until("one", |screen| !screen.contains("message to blue"))?;
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0")?;
    tmux.line("one", "clear; glis --plain")?;
    tmux.sees("one", "blue: idle, rehearsal")?;
    house.ok(&["pause", "blue"])?;
    tmux.sees("one", "blue: paused, rehearsal")?;
    tmux.key("one", "C-c")?;
    tmux.line("one", "clear; TERM=dumb glis")?;
    tmux.sees("one", "blue: paused, rehearsal")?;
    tmux.key("one", "C-c")?;
    // What a terminal with other letters would garble is not drawn.
    tmux.line("one", "clear; LC_ALL=de_DE.ISO-8859-1 glis; echo left-with-$?")?;
    let screen = tmux.left("one", "left-with-1")?;
    assert!(screen.contains("the terminal has to take UTF-8"), "{screen}");
    Ok(())
}

#[test]
fn what_cannot_be_kept_is_on_the_terminal_at_the_end() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1 session")?;
    // Nothing can be written there, as on a full disk.
    std::fs::create_dir(house.home().join("drafts.new"))?;
    tmux.key("one", "s")?;
    tmux.sees("one", "message to blue")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "half a thought"])?;
    tmux.sees("one", "what you type is not kept")?;
    tmux.run(&["send-keys", "-t", "one", "Escape", "q"])?;
    let screen = tmux.left("one", "left-with-1")?;
    assert!(screen.contains("what you typed was not kept"), "{screen}");
    assert!(screen.contains("half a thought"), "{screen}");
    Ok(())
}

#[test]
fn the_terminal_in_hand_is_followed_over_every_start_of_its_session() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.turn("blue", "say before-the-pause")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "before-the-pause")?;
    for words in ["once-again", "and-once-more"] {
        house.ok(&["pause", "blue"])?;
        tmux.sees("one", "⏸ PAUSED")?;
        house.ok(&["resume", "blue"])?;
        house.turn("blue", &format!("say {words}"))?;
        tmux.until("one", |screen| screen.contains(&format!("\n {words}")))?;
    }
    tmux.key("one", "i")?;
    tmux.sees("one", "YOUR KEYS GO TO blue")?;
    tmux.line("one", "say typed-after-it")?;
    tmux.until("one", |screen| screen.contains("\n typed-after-it")).map(drop)
}

#[test]
fn a_daemon_that_is_stopped_stays_stopped_until_a_key_starts_it() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1 session")?;
    house.ok(&["daemon", "stop"])?;
    // Looking brings nothing back, neither before it is known that it was stopped nor after.
    for _ in 0..2 {
        for key in ["2", "3", "1"] {
            tmux.key("one", key)?;
        }
        tmux.sees("one", "daemon stopped, enter starts it")?;
    }
    let (_, told) = house.fails(&["daemon", "status"])?;
    assert_eq!(told["message"], "the daemon does not run", "{told}");
    tmux.key("one", "Enter")?;
    tmux.until("one", |screen| !screen.contains("daemon stopped") && screen.contains("blue"))?;
    house.ok(&["daemon", "status"]).map(drop)
}

#[test]
fn a_session_is_typed_into_and_looked_back_in_without_leaving_the_overview() -> Outcome {
    let house = House::new()?;
    let script = "seq 1001 1100; exec cat";
    house.ok(&["new", "blue", "--agent", "command", "--", "sh", "-c", script])?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1100")?;
    tmux.key("one", "i")?;
    tmux.sees("one", "YOUR KEYS GO TO blue")?;
    // Keys of ours are text there.
    tmux.line("one", "qDy typed-inline")?;
    tmux.until("one", |screen| screen.matches("qDy typed-inline").count() == 2)?;
    eventually("who types is attached", || {
        house.show("blue").is_ok_and(|shown| shown["attached"] == 1)
    })?;
    tmux.key("one", "C-q")?;
    tmux.sees("one", "? keys")?;
    eventually("who looks is not", || {
        house.show("blue").is_ok_and(|shown| shown["attached"] == 0)
    })?;
    tmux.key("one", "PPage")?;
    tmux.sees("one", "esc back to live")?;
    tmux.key("one", "/")?;
    tmux.sees("one", "enter search")?;
    tmux.line("one", "1005")?;
    tmux.sees("one", "1005")?;
    tmux.key("one", "Escape")?;
    tmux.until("one", |screen| screen.contains("typed-inline") && !screen.contains("1005"))?;
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0").map(drop)
}

#[test]
fn words_are_found_written_in_an_editor_and_put_into_boxes() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.turn("blue", "say the-needle-is-here")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.line("one", "clear; EDITOR='printf say-by-editor >' glis; echo left-with-$?")?;
    tmux.sees("one", "? keys")?;
    tmux.sees("one", "1 session")?;
    tmux.key("one", "f")?;
    tmux.sees("one", "find in all conversations")?;
    tmux.line("one", "needle")?;
    tmux.sees("one", "agent · now")?;
    tmux.key("one", "Enter")?;
    tmux.until("one", |screen| {
        screen.contains("the-needle-is-here") && !screen.contains("find in all")
    })?;
    tmux.key("one", "s")?;
    tmux.sees("one", "message to blue")?;
    tmux.key("one", "C-g")?;
    tmux.sees("one", "say-by-editor")?;
    tmux.key("one", "Escape")?;
    tmux.until("one", |screen| !screen.contains("message to blue"))?;
    tmux.key("one", "t")?;
    tmux.sees("one", "suspend blue after")?;
    tmux.line("one", "7")?;
    tmux.sees("one", "suspended after 7 idle minutes")?;
    assert_eq!(house.show("blue")?["idle_timeout_secs"], 420);
    tmux.run(&["send-keys", "-t", "one", "-l", ": snapshot"])?;
    tmux.sees("one", "save a snapshot")?;
    tmux.key("one", "Escape")?;
    tmux.until("one", |screen| !screen.contains("do · blue"))?;
    tmux.key("one", "q")?;
    tmux.left("one", "left-with-0").map(drop)
}

#[test]
fn keys_are_chosen_and_clashes_are_refused_by_their_line() -> Outcome {
    let house = House::new()?;
    house.configure("[keys.list]\nquit = \"f9\"\nstop = \"p\"\n")?;
    let (status, told) = house.fails(&["config", "check"])?;
    assert_eq!(status, 1, "{told}");
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.line("one", "clear; glis config check; glis; echo left-with-$?")?;
    // The paths are longer than a line of the terminal.
    let screen = tmux.left("one", "left-with-1")?.replace('\n', "");
    assert!(screen.contains("config.toml:3: `p` is the key of `pause` already"), "{screen}");
    assert!(screen.contains("error: keys.list.stop: `p` is the key of `pause`"), "{screen}");
    house.configure("[keys.list]\nquit = \"f9\"\n")?;
    opened(&tmux)?;
    tmux.key("one", "q")?;
    tmux.sees("one", "f9 quit")?;
    tmux.key("one", "F9")?;
    tmux.left("one", "left-with-0").map(drop)
}

#[test]
fn a_loop_is_watched_paused_by_an_interrupt_and_left_paused() -> Outcome {
    let house = House::new()?;
    let how = [
        "loop",
        "blue",
        "--prompt",
        "work 600",
        "--agent",
        "rehearsal",
        "--headless",
        "--max",
        "4",
    ];
    house.ok(&how)?;
    house.until("blue", "busy")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "glis | blue | 00:0")?;
    tmux.sees("one", "| Iteration #1")?;
    tmux.key("one", ">")?;
    eventually("one more", || house.show("blue").is_ok_and(|shown| shown["loop"]["max"] == 5))?;
    // The first waits for the iteration, the second does not.
    tmux.key("one", "C-c")?;
    tmux.sees("one", "PAUSING...")?;
    house.until("blue", "pausing")?;
    tmux.sees("one", "… blue ")?;
    tmux.key("one", "C-c")?;
    tmux.sees("one", "Paused. Ctrl+C again to quit.")?;
    tmux.sees("one", "⏸ PAUSED")?;
    assert_eq!(house.show("blue")?["status"], "paused");
    tmux.key("one", "C-c")?;
    tmux.left("one", "left-with-0")?;
    assert_eq!(house.show("blue")?["status"], "paused", "leaving changes nothing");
    Ok(())
}

#[test]
fn what_is_typed_outlives_a_killed_overview_and_another_beside_it() -> Outcome {
    let house = House::new()?;
    for name in ["blue", "green"] {
        house.in_terminal(name)?;
    }
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.open("two", 80, 24)?;
    tmux.line("two", "clear; glis")?;
    tmux.sees("two", "2 sessions")?;
    let types = |pane: &str, keys: &[&str], text: &str| -> Outcome {
        keys.iter().try_for_each(|key| tmux.key(pane, key))?;
        tmux.run(&["send-keys", "-t", pane, "-l", text])?;
        tmux.sees(pane, text).map(drop)
    };
    opened(&tmux)?;
    tmux.sees("one", "2 sessions")?;
    types("one", &["g", "s"], "half a thought")?;
    let kept = |text: &str| {
        let drafts = std::fs::read_to_string(house.home().join("drafts.json"));
        drafts.is_ok_and(|drafts| drafts.contains(text))
    };
    eventually("what is typed is kept", || kept("half a thought"))?;
    kill_and_wait(overview_pid(&tmux)?)?;
    // The other one, which knows nothing of that, keeps its own beside it, and is told to end.
    types("two", &["G", "s"], "of another one")?;
    let shell = tmux.fact("two", "#{pane_pid}")?;
    tmux.run(&["kill-pane", "-t", "two"])?;
    await_gone(shell.parse()?)?;
    eventually("the last words are kept as well", || kept("of another one"))?;
    assert!(kept("half a thought"));
    Ok(())
}
