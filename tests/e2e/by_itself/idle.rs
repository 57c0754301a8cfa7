//! Idle suspension on real processes, with time moved by hand: who is suspended, what keeps a session
//! awake, and how it comes back.

use crate::support::house::{Background, House, Outcome, eventually, lives};
use crate::support::tmux::Tmux;
use crate::support::wreck::{holder_of, marked, pid_of, text_of};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::net::UnixStream;

const FACES: [&[&str]; 2] = [&["--headless"], &[]];

/// Lets all of a session's idle time pass, and returns when the daemon has noticed and done what it
/// does about it: the session is suspended, or has all of its time again.
fn idle_time_passes(house: &House, name: &str) -> Outcome<Value> {
    eventually("its time runs", || house.timers_set("idle") > 0)?;
    let fired = house.timers_fired("idle");
    house.pass_minutes(10);
    eventually("its time is over", || house.timers_fired("idle") > fired)?;
    eventually("it is decided on", || {
        let suspended = || house.show(name).is_ok_and(|shown| shown["status"] == "suspended");
        house.timers_set("idle") > 0 || suspended()
    })?;
    house.show(name)
}

#[test]
fn an_idle_session_is_suspended_and_the_next_message_wakes_it() -> Outcome {
    for face in FACES {
        let house = House::of_moved_time()?;
        house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
        let idle = house.turn("blue", "write a.txt one ;; orphan 600")?;
        let (pid, id) = (pid_of(&idle)?, text_of(&idle, "id")?);
        let holder = holder_of(pid)?;
        assert!(idle["suspend_at"].is_string(), "{idle}");
        assert_eq!(idle["idle_timeout_secs"], 600);
        let before = idle["last_active_at"].clone();
        idle_time_passes(&house, "blue")?;
        let shown = house.until("blue", "suspended")?;
        eventually("its holder is gone", || !lives(holder))?;
        assert_eq!(marked(&id), Vec::<i32>::new(), "the whole tree is gone");
        assert_eq!((&shown["pid"], &shown["suspend_at"]), (&Value::Null, &Value::Null), "{shown}");
        assert_eq!(shown["pause_reason"], "idle_timeout");
        assert_eq!(shown["verdict"], "it was idle; the next message resumes it");
        // Only what the turn itself has left to do comes later than what was shown before.
        eventually("it is saved", || {
            house.events(&id).is_ok_and(|e| e.contains(&"worktree_saved".into()))
        })?;
        assert!(shown["last_active_at"].as_str() >= before.as_str());
        let stop = house.ok(&["events"])?;
        let stop = stop.lines().find(|line| line.contains("stop_began")).ok_or("no stop")?;
        assert!(stop.contains(r#""cause":"idle""#), "{stop}");
        let said = house.ok(&["send", "blue", "recall"])?;
        assert!(said.contains("Resuming session..."), "{said}");
        house.follow(1)?.until(|e| e["event"] == "message_taken" && e["message"] == 1)?;
        let back = house.until("blue", "idle")?;
        assert_eq!(back["generation"], 2);
        house.turn("blue", "cost 0.25 ;; say it cost something")?;
        for by in ["session", "agent", "day"] {
            let costs = house.json(&["cost", "--by", by])?;
            let naps = (&costs[0]["suspended"], &costs[0]["woken"]);
            assert_eq!(naps, (&json!(1), &json!(1)), "{by}: {costs}");
        }
        let found = house.ok(&["doctor"])?;
        assert!(found.contains("1 times suspended, 1 times woken"), "{found}");
        assert_eq!(back["agent_session_ref"], idle["agent_session_ref"]);
        let talk = house.talk("blue")?;
        assert_eq!(talk.iter().filter(|(_, text)| text == "recall").count(), 1, "{talk:?}");
    }
    Ok(())
}

#[test]
fn a_turn_gives_it_all_of_its_time_again() -> Outcome {
    let house = House::of_moved_time()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say one")?;
    eventually("its time runs", || house.timers_set("idle") > 0)?;
    house.pass_minutes(6);
    house.turn("blue", "say two")?;
    eventually("its time runs again", || house.timers_set("idle") > 0)?;
    house.pass_minutes(6);
    // Six of ten minutes are over, which the daemon has noticed.
    eventually("time has passed", || {
        house.show("blue").is_ok_and(|shown| minutes_left(&shown).is_some_and(|left| left < 5.0))
    })?;
    assert_eq!(house.show("blue")?["status"], "idle");
    assert_eq!(house.timers_fired("idle"), 0);
    Ok(())
}

/// How long it is until the session is suspended.
fn minutes_left(shown: &Value) -> Option<f64> {
    let at: jiff::Timestamp = shown["suspend_at"].as_str()?.parse().ok()?;
    Some(at.duration_since(jiff::Timestamp::now()).as_secs_f64() / 60.0)
}

#[test]
fn its_time_can_be_looked_at_and_set() -> Outcome {
    let house = House::of_moved_time()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say one")?;
    assert_eq!(house.ok(&["timeout", "blue"])?, "Current idle timeout: 10 minutes\n");
    assert_eq!(house.ok(&["timeout", "blue", "20"])?, "Idle timeout set to 20 minutes\n");
    let shown = house.show("blue")?;
    assert_eq!(shown["idle_timeout_secs"], 1200);
    assert!(minutes_left(&shown).is_some_and(|left| left > 19.0), "{shown}");
    for minutes in ["0", "121", "-1"] {
        let (status, error) = house.fails(&["timeout", "blue", minutes])?;
        let told = "Timeout must be between 1 and 120 minutes";
        assert_eq!((status, error["message"].as_str()), (2, Some(told)));
    }
    let new = ["new", "red", "--agent", "rehearsal", "--headless", "--idle-timeout", "121m"];
    let (status, error) = house.fails(&new)?;
    assert_eq!(error["message"], "Timeout must be between 1 and 120 minutes");
    assert_eq!((status, house.json(&["ls"])?.as_array().map(Vec::len)), (2, Some(1)));
    assert_eq!(house.ok(&["timeout", "blue", "off"])?, "Idle timeout set to off\n");
    let off = house.show("blue")?;
    assert_eq!((&off["idle_timeout_secs"], &off["suspend_at"]), (&json!(0), &Value::Null));
    assert_eq!(house.timers_set("idle"), 0);
    assert_eq!(house.ok(&["timeout", "blue", "5m"])?, "Idle timeout set to 5 minutes\n");
    for (typed, secs) in [("off", 0), ("60", 3600), ("60s", 60), ("2h", 7200)] {
        let name = format!("red-{typed}");
        let new = ["new", &name, "--agent", "rehearsal", "--headless", "--idle-timeout", typed];
        assert_eq!(house.json(&new)?["idle_timeout_secs"], secs, "{typed}");
    }
    // It is the session's own, also after the daemon's death.
    house.ok(&["timeout", "blue", "1"])?;
    house.kill_daemon()?;
    assert_eq!(house.ok(&["timeout", "blue"])?, "Current idle timeout: 1 minute\n");
    house.pass_minutes(1);
    house.until("blue", "suspended")?;
    Ok(())
}

#[test]
fn what_is_configured_counts_where_a_session_says_nothing() -> Outcome {
    let house = House::of_moved_time()?;
    house.configure("[idle]\ntimeout = \"30m\"\n")?;
    house.rehearsal("blue")?;
    house.turn("blue", "say one")?;
    assert_eq!(house.ok(&["timeout", "blue"])?, "Current idle timeout: 30 minutes\n");
    house.configure("[idle]\nenabled = false\n")?;
    house.kill_daemon()?;
    assert_eq!(house.show("blue")?["suspend_at"], Value::Null);
    assert_eq!(idle_time_passes(&house, "blue")?["status"], "idle");
    Ok(())
}

/// Shows the session `x`, which has had a turn, in a terminal.
fn attached(house: &House) -> Outcome<Option<Tmux<'_>>> {
    let Some(tmux) = Tmux::start(house)? else { return Ok(None) };
    house.in_terminal("x")?;
    house.turn("x", "say before")?;
    tmux.line("one", "clear; glis attach x")?;
    tmux.sees("one", "before")?;
    Ok(Some(tmux))
}

fn detach(house: &House, tmux: &Tmux<'_>) -> Outcome {
    tmux.key("one", "C-q")?;
    eventually("it is detached", || house.show("x").is_ok_and(|shown| shown["attached"] == 0))
}

#[test]
fn an_attached_terminal_keeps_it_awake_also_after_the_daemons_death() -> Outcome {
    let house = House::of_moved_time()?;
    let Some(tmux) = attached(&house)? else { return Ok(()) };
    eventually("it is attached", || house.show("x").is_ok_and(|shown| shown["attached"] == 1))?;
    assert_eq!(house.show("x")?["suspend_at"], Value::Null, "it is not suspended then");
    assert_eq!(idle_time_passes(&house, "x")?["status"], "idle");
    house.kill_daemon()?;
    assert_eq!(house.show("x")?["attached"], 1);
    assert_eq!(idle_time_passes(&house, "x")?["status"], "idle");
    detach(&house, &tmux)?;
    idle_time_passes(&house, "x")?;
    house.until("x", "suspended")?;
    Ok(())
}

#[test]
fn text_that_was_typed_and_not_sent_keeps_it_awake() -> Outcome {
    let house = House::of_moved_time()?;
    let Some(tmux) = attached(&house)? else { return Ok(()) };
    tmux.run(&["send-keys", "-t", "one", "-l", "say half"])?;
    tmux.sees("one", "> say half")?;
    detach(&house, &tmux)?;
    assert_eq!(idle_time_passes(&house, "x")?["status"], "idle");
    // Its screen is looked at once it rests.
    eventually("nor is it about to be", || {
        house.show("x").is_ok_and(|shown| shown["suspend_at"] == Value::Null)
    })?;
    assert_eq!(idle_time_passes(&house, "x")?["status"], "idle");
    tmux.line("one", "clear; glis attach x")?;
    tmux.sees("one", "> say half")?;
    tmux.key("one", "Enter")?;
    tmux.until("one", |screen| screen.contains("\nhalf"))?;
    detach(&house, &tmux)?;
    house.until("x", "idle")?;
    idle_time_passes(&house, "x")?;
    house.until("x", "suspended")?;
    Ok(())
}

#[test]
fn who_only_looks_on_keeps_nothing_awake() -> Outcome {
    let house = House::of_moved_time()?;
    let shown = house.in_terminal("x")?;
    let id = text_of(&shown, "id")?;
    let mut preview =
        UnixStream::connect(house.home().join("sessions").join(&id).join("hold.sock"))?;
    let order = glis_wire::hold::Order::Follow { from: 0 };
    preview.write_all(&glis_wire::frame::encode_words(&order))?;
    let _follower = Background::start(house.glis().args(["output", "x", "--follow"]))?;
    assert_eq!(house.show("x")?["attached"], 0);
    idle_time_passes(&house, "x")?;
    house.until("x", "suspended")?;
    Ok(())
}

#[test]
fn a_command_is_suspended_only_if_that_was_asked_for_and_nothing_runs_in_it() -> Outcome {
    let house = House::of_moved_time()?;
    let shell = ["env", "PS1=$ ", "bash", "--norc", "--noprofile"];
    let new = ["new", "timed", "--agent", "command", "--idle-timeout", "10m", "--"];
    house.json(&[&new[..], &shell].concat())?;
    house.command("plain", &shell)?;
    house.ok(&["send", "timed", "sleep 600 &"])?;
    house.until("plain", "idle")?;
    assert_eq!(house.show("plain")?["suspend_at"], Value::Null);
    eventually("it is at its prompt", || house.timers_set("idle") > 0)?;
    assert_eq!(idle_time_passes(&house, "timed")?["status"], "idle", "it has a job");
    house.ok(&["send", "timed", "kill %1; wait"])?;
    eventually("it is at its prompt", || {
        house.show("timed").is_ok_and(|s| s["suspend_at"].is_string())
    })?;
    while idle_time_passes(&house, "timed")?["status"] == "idle" {}
    house.until("timed", "suspended")?;
    Ok(())
}

#[test]
fn background_work_and_an_open_question_keep_it_awake() -> Outcome {
    let house = House::of_moved_time()?;
    house.rehearsal("works")?;
    house.ok(&["send", "works", "background 600"])?;
    let id = text_of(&house.show("works")?, "id")?;
    house.follow(1)?.until(|e| e["event"] == "turn_ended" && e["session"] == json!(id))?;
    house.rehearsal("asks")?;
    house.ok(&["send", "asks", "question really?"])?;
    house.until("asks", "waiting")?;
    assert_eq!(house.timers_set("idle"), 0);
    assert_eq!((house.show("works")?["status"].as_str()), Some("busy"));
    Ok(())
}
