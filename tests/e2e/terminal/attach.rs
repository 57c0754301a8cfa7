//! A session on a real terminal: attach, live output, keys, sizes, and leaving without a trace.

use crate::support::house::{House, Outcome, kill_and_wait};
use crate::support::tmux::Tmux;
use crate::support::wreck::{holder_of, pid_of, text_of};
use std::sync::atomic::{AtomicU32, Ordering};

/// Prints its size whenever that changes. Only `wait` lets a shell hear of it at once. For `sh`,
/// not `bash`: that one forgets a signal which comes while the trap of the former still runs.
const MIRROR: &str = "trap 'stty size' WINCH; stty size; while :; do sleep 600 & wait $!; done";

/// Remembers how the terminal is set, for a comparison afterwards.
fn remember(tmux: &Tmux<'_>) -> Outcome {
    tmux.line("one", "stty -g > before; clear; echo shell is h''ere")?;
    tmux.sees("one", "shell is here").map(drop)
}

/// The terminal is as it was before: its settings, its screen, its modes.
fn is_given_back(house: &House, tmux: &Tmux<'_>) -> Outcome {
    // A word of its own each time: the former one stands on the screen that was given back.
    static TIMES: AtomicU32 = AtomicU32::new(100);
    let times = TIMES.fetch_add(1, Ordering::Relaxed);
    tmux.line("one", &format!("stty -g > after; echo set-$(({times}+100))"))?;
    let screen = tmux.sees("one", &format!("set-{}", times + 100))?;
    let read = |file: &str| std::fs::read_to_string(house.repo().join(file));
    assert_eq!(read("before")?, read("after")?, "the terminal's settings are not restored");
    assert!(screen.contains("shell is here"), "the shell's screen is not restored:\n{screen}");
    let modes =
        "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{keypad_cursor_flag} #{insert_flag}";
    assert_eq!(tmux.fact("one", modes)?, "0 0 1 0 0");
    Ok(())
}

/// The process that shows a session in the terminal.
fn attach_pid(house: &House) -> Outcome<i32> {
    let found = house.processes().into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.next().is_some_and(|program| program.ends_with(b"glis"))
            && words.next() == Some(b"attach")
    });
    found.ok_or_else(|| "nobody is attached".into())
}

#[test]
fn attach_paints_goes_on_live_takes_keys_and_leaves_no_trace() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.command("x", &["bash", "-c", "printf 'painted\\n'; exec cat"])?;
    house.until("x", "idle")?;
    remember(&tmux)?;
    tmux.line("one", "glis attach x")?;
    let screen = tmux.sees("one", "painted")?;
    assert!(!screen.contains("shell is here"), "{screen}");
    tmux.line("one", "h\u{e9}llo")?;
    tmux.until("one", |screen| screen.matches("h\u{e9}llo").count() == 2)?;
    assert_eq!(house.show("x")?["attached"], 1);
    tmux.key("one", "C-q")?;
    tmux.left("one", "detached from `x`; it keeps running")?;
    is_given_back(&house, &tmux)?;
    // What happened in between is there when somebody comes back.
    house.ok(&["send", "x", "meanwhile"])?;
    tmux.line("one", "glis attach x")?;
    let screen = tmux.sees("one", "meanwhile")?;
    assert!(screen.contains("painted"), "{screen}");
    tmux.key("one", "C-d")?;
    let screen = tmux.sees("one", "q leaves | `x` is completed")?;
    assert!(screen.contains("meanwhile"), "the last screen stays:\n{screen}");
    tmux.key("one", "q")?;
    tmux.left("one", "`x` is completed")?;
    is_given_back(&house, &tmux)
}

#[test]
fn the_agent_has_the_size_of_the_terminal_that_was_used_last() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.command("x", &["sh", "-c", MIRROR])?;
    tmux.line("one", "glis attach x")?;
    tmux.sees("one", "24 80")?;
    tmux.run(&["resize-window", "-t", "one", "-x", "100", "-y", "30"])?;
    tmux.sees("one", "30 100")?;
    tmux.open("two", 60, 20)?;
    tmux.line("two", "glis attach x")?;
    tmux.sees("two", "20 60")?;
    tmux.line("one", "from one")?;
    tmux.until("one", |screen| screen.matches("30 100").count() == 2)?;
    tmux.line("two", "from two")?;
    tmux.until("two", |screen| screen.matches("20 60").count() == 2)?;
    tmux.key("two", "C-q")?;
    tmux.sees("two", "detached")?;
    tmux.line("one", "from one again")?;
    tmux.until("one", |screen| screen.matches("30 100").count() == 3)?;
    Ok(())
}

#[test]
fn a_screen_of_an_earlier_pause_does_not_hide_what_came_after_it() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.turn("blue", "say before")?;
    house.ok(&["pause", "blue"])?;
    house.ok(&["resume", "blue"])?;
    for number in 1..=6 {
        house.turn("blue", &format!("say after{number}"))?;
    }
    let session = house.until("blue", "idle")?;
    kill_and_wait(holder_of(pid_of(&session)?)?)?;
    house.until("blue", "interrupted")?;
    let before = house.ok(&["screen", "blue"])?;
    house.ok(&["resume", "blue"])?;
    let after = house.ok(&["screen", "blue"])?;
    assert!(after.starts_with(before.trim_end()), "{before}\n---\n{after}");
    let id = text_of(&session, "id")?;
    let events = house.events(&id)?;
    let started = events.iter().rposition(|name| name == "process_started").ok_or("no start")?;
    assert!(events[started..].iter().any(|name| name == "became_ready"), "{events:?}");
    Ok(())
}

#[test]
fn a_paused_session_shows_its_old_screen_and_a_resumed_one_has_it_above_the_new() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.in_terminal("x")?;
    house.turn("x", "say before-the-pause")?;
    house.ok(&["pause", "x"])?;
    remember(&tmux)?;
    tmux.line("one", "glis attach x")?;
    tmux.sees("one", "before-the-pause")?;
    tmux.key("one", "q")?;
    tmux.left("one", "`x` is paused")?;
    is_given_back(&house, &tmux)?;
    tmux.line("one", "clear; echo shell is h''ere; glis attach x")?;
    tmux.sees("one", "before-the-pause")?;
    tmux.key("one", "C-q")?;
    tmux.left("one", "`x` is paused")?;
    house.ok(&["resume", "x"])?;
    house.turn("x", "say after-the-pause")?;
    tmux.line("one", "glis attach x")?;
    let screen = tmux.sees("one", "after-the-pause")?;
    let (old, new) = (screen.find("before-the-pause"), screen.rfind("after-the-pause"));
    assert!(old.is_some() && old < new, "{screen}");
    tmux.line("one", "say typed-by-hand")?;
    tmux.until("one", |screen| screen.contains("\ntyped-by-hand"))?;
    Ok(())
}

#[test]
fn an_attached_terminal_does_not_notice_the_death_of_the_daemon() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let echo = "echo begin; while read -r line; do echo \"got $line\"; done";
    house.command("x", &["bash", "-c", echo])?;
    remember(&tmux)?;
    tmux.line("one", "glis attach x")?;
    tmux.sees("one", "begin")?;
    house.kill_daemon()?;
    tmux.line("one", "still here")?;
    tmux.sees("one", "got still here")?;
    tmux.key("one", "C-q")?;
    tmux.left("one", "detached from `x`; it keeps running")?;
    is_given_back(&house, &tmux)
}

#[test]
fn a_killed_client_gives_the_terminal_back_and_hurts_nobody() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let modes =
        "printf '\\033[?1049h\\033[?1002h\\033[?1006h\\033[?25l\\033[?2004h\\033[4hbusy'; exec cat";
    house.command("x", &["bash", "-c", modes])?;
    remember(&tmux)?;
    tmux.line("one", "glis attach x")?;
    tmux.sees("one", "busy")?;
    tmux.until("one", |_| tmux.fact("one", "#{mouse_any_flag}").is_ok_and(|flag| flag == "1"))?;
    kill_and_wait(attach_pid(&house)?)?;
    tmux.until("one", |_| tmux.fact("one", "#{alternate_on}").is_ok_and(|flag| flag == "0"))?;
    // The shell may have been faster than whoever puts the terminal in order, and its prompt is
    // lost with the other screen: any key brings it back.
    tmux.until("one", |screen| {
        screen.trim_end().ends_with("\n$") || tmux.key("one", "Enter").is_err()
    })?;
    is_given_back(&house, &tmux)?;
    assert!(house.show("x")?["pid"].is_i64());
    Ok(())
}

#[test]
fn keys_never_reach_an_agent_that_reads_a_protocol() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.rehearsal("x")?;
    house.turn("x", "say first")?;
    remember(&tmux)?;
    tmux.line("one", "glis attach x")?;
    let screen = tmux.sees("one", "`x` is headless: keys are not sent")?;
    assert!(screen.contains("first"), "{screen}");
    tmux.key("one", "q")?;
    tmux.key("one", "Enter")?;
    tmux.key("one", "C-q")?;
    tmux.left("one", "detached from `x`; it keeps running")?;
    is_given_back(&house, &tmux)?;
    house.turn("x", "say again")?;
    let talk = house.talk("x")?;
    let said = |word: &str| talk.iter().any(|(_, text)| text == word);
    assert!(said("first") && said("again"), "{talk:?}");
    Ok(())
}

#[test]
fn who_leaves_a_waiting_pause_is_told_that_it_stays() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.rehearsal("x")?;
    house.ok(&["send", "x", "work 600"])?;
    house.until("x", "busy")?;
    tmux.line("one", "clear; glis pause x --mode boundary")?;
    house.until("x", "pausing")?;
    tmux.key("one", "C-c")?;
    tmux.sees("one", "the pause of `x` stays pending")?;
    tmux.sees("one", "`glis pause x --cancel`")?;
    tmux.line("one", "echo left $?")?;
    tmux.sees("one", "left 130")?;
    assert_eq!(house.show("x")?["status"], "pausing");
    house.ok(&["pause", "x", "--cancel"])?;
    house.until("x", "busy").map(drop)
}

#[test]
fn mouse_and_paste_pass_through() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let script =
        "stty raw -echo; printf '\\033[?1000h\\033[?1006h\\033[?2004hlisten\\r\\n'; exec cat -v";
    house.command("x", &["bash", "-c", script])?;
    tmux.line("one", "glis attach x")?;
    tmux.sees("one", "listen")?;
    tmux.until("one", |_| tmux.fact("one", "#{mouse_any_flag}").is_ok_and(|flag| flag == "1"))?;
    tmux.bytes("one", b"\x1b[<0;5;6M")?;
    tmux.sees("one", "^[[<0;5;6M")?;
    tmux.run(&["set-buffer", "two words"])?;
    tmux.run(&["paste-buffer", "-p", "-t", "one"])?;
    tmux.sees("one", "^[[200~two words^[[201~")?;
    // The key that leaves is only text when it is pasted.
    tmux.bytes("one", b"\x1b[200~a\x11b\x1b[201~")?;
    tmux.sees("one", "a^Qb")?;
    tmux.bytes("one", b"\x11")?;
    tmux.sees("one", "detached")?;
    assert_eq!(tmux.fact("one", "#{mouse_any_flag}")?, "0");
    Ok(())
}

#[test]
fn colour_is_for_terminals_that_want_it() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.rehearsal("x")?;
    let coloured = || tmux.run(&["capture-pane", "-p", "-e", "-t", "one"]);
    tmux.line("one", "clear; glis ls; echo listed-$((1+1))")?;
    tmux.sees("one", "listed-2")?;
    assert!(coloured()?.contains("\x1b["), "{:?}", coloured()?);
    tmux.line("one", "clear; NO_COLOR=1 glis ls; echo listed-$((1+2))")?;
    tmux.sees("one", "listed-3")?;
    assert!(!coloured()?.contains("\x1b["), "{:?}", coloured()?);
    assert!(!house.ok(&["ls"])?.contains('\x1b'));
    Ok(())
}

#[test]
fn a_restart_on_a_terminal_asks_first() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.command("x", &["true"])?;
    house.until("x", "completed")?;
    for (turn, (key, status, generation)) in
        [("n", 4, 1), ("", 4, 1), ("y", 0, 2)].iter().enumerate()
    {
        // A word of its own each time, so that a former answer is not taken for this one.
        tmux.line("one", &format!("clear; glis restart x; echo left-$((1+{turn})) $?"))?;
        let former = format!("left-{turn} ");
        tmux.until("one", |screen| screen.contains("[y/N]") && !screen.contains(&former))?;
        tmux.line("one", key)?;
        tmux.sees("one", &format!("left-{} {status}", turn + 1))?;
        assert_eq!(house.show("x")?["generation"], *generation);
    }
    Ok(())
}

#[test]
fn an_interrupted_command_leaves_with_130_and_the_session_alone() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.rehearsal("x")?;
    tmux.line("one", "clear; glis wait x --for paused")?;
    tmux.sees("one", "waiting")?;
    tmux.key("one", "C-c")?;
    // A shell leaves the whole line when a part of it was interrupted.
    tmux.line("one", "echo left $?")?;
    tmux.sees("one", "left 130")?;
    assert_eq!(house.show("x")?["status"], "created");
    Ok(())
}
