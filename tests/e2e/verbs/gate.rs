//! `pause --all` and `resume --all`: everything stops, nothing starts, and what was stopped comes back.

use crate::support::held::signal;
use crate::support::house::{Background, House, Outcome, await_gone};
use crate::support::wreck::{Foreground, holder_of, pid_of, text_of};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

/// The gate as `daemon status` tells it.
fn gate(house: &House) -> Outcome<String> {
    // This alone starts no daemon.
    house.ok(&["ls"])?;
    text_of(&house.json(&["daemon", "status"])?, "gate")
}

/// The names of the events about the house, in their order.
fn of_the_house(house: &House) -> Outcome<Vec<Value>> {
    let told = house.ok(&["events"])?;
    let all = told.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    Ok(all.into_iter().filter(|event| event["session"].is_null()).collect())
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["event"].as_str()).collect()
}

fn statuses(document: &Value) -> Outcome<Vec<String>> {
    let list = document.as_array().ok_or_else(|| format!("no array: {document}"))?;
    list.iter().map(|session| text_of(session, "status")).collect()
}

/// An agent that has answered once.
fn awake(house: &House, name: &str) -> Outcome<Value> {
    house.rehearsal(name)?;
    house.turn(name, "say hello")
}

#[test]
fn everything_is_paused_nothing_starts_and_only_what_was_stopped_comes_back() -> Outcome {
    let house = House::new()?;
    for name in ["blue", "red", "green"] {
        awake(&house, name)?;
    }
    house.ok(&["pause", "green"])?;
    assert_eq!(gate(&house)?, "running");
    let paused = house.json(&["pause", "--all", "--reason", "shutdown"])?;
    assert_eq!(statuses(&paused)?, ["paused", "paused"]);
    assert_eq!(paused[0]["pause_reason"], "shutdown");
    assert_eq!(gate(&house)?, "paused");
    let told = house.ok(&["ls"])?;
    assert!(told.contains("blue"), "{told}");
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(house.home().join("gate.json"))?)?;
    assert_eq!(file["active_agents"].as_array().map(Vec::len), Some(2), "{file}");

    // Asked again, nothing happens.
    assert_eq!(house.json(&["pause", "--all"])?[0]["already"], true);
    // Nothing starts meanwhile: no message wakes, no session begins, none is resumed alone.
    house.ok(&["daemon", "stop"])?;
    let made = house.json(&["new", "late", "--agent", "rehearsal", "--prompt", "say late"])?;
    assert_eq!((&made["status"], &made["waits_to_start"]), (&json!("created"), &json!("gate")));
    let sent = house.json(&["send", "blue", "say queued"])?;
    assert_eq!(sent["queued"], 1, "{sent}");
    // What is told to do next is not refused.
    let sent = house.ok(&["send", "red", "say queued"])?;
    assert!(sent.contains("`glis resume --all`") && !sent.contains("resume red"), "{sent}");
    let (exit, error) = house.fails(&["resume", "red"])?;
    assert_eq!(exit, 4, "{error}");
    assert!(text_of(&error, "hint")?.contains("resume --all"), "{error}");
    assert_eq!(house.fails(&["restart", "red", "--yes"])?.0, 4);
    // So none of them says that it can be.
    let can = |list: &Value| -> Vec<Value> {
        let each = list.as_array().into_iter().flatten();
        each.map(|session| session["can_resume"].clone()).collect()
    };
    assert_eq!(can(&house.json(&["ls"])?), vec![json!(false); 4]);
    assert_eq!(house.show("green")?["can_resume"], false);

    let resumed = house.json(&["resume", "--all"])?;
    assert_eq!(resumed.as_array().map(Vec::len), Some(2), "{resumed}");
    house.until("late", "idle")?;
    house.until("blue", "idle")?;
    house.until("red", "idle")?;
    let green = house.show("green")?;
    assert_eq!((&green["status"], &green["can_resume"]), (&json!("paused"), &json!(true)));
    let said = house.talk("blue")?;
    assert!(said.iter().any(|(voice, text)| voice == "user" && text == "say queued"), "{said:?}");
    assert!(!house.home().join("gate.json").exists());
    house.follow(1)?.until(|event| event["event"] == "orchestrator:resumed")?;
    let events = of_the_house(&house)?;
    assert_eq!(
        names(&events),
        ["gate_shut", "gate_stopped", "orchestrator:paused", "gate_opened", "orchestrator:resumed"]
    );
    let told = events.get(2).ok_or("no event")?;
    assert!(told["timestamp"].is_i64(), "{told}");
    assert_eq!(told["activeAgentIds"].as_array().map(Vec::len), Some(2), "{told}");
    // Asked once more, whom a person has paused stays paused.
    let told = house.ok(&["resume", "--all"])?;
    assert!(told.contains("glis resume --paused"), "{told}");
    assert_eq!(house.show("green")?["status"], "paused");
    Ok(())
}

#[test]
fn what_is_paused_is_resumed_together_once_its_number_is_confirmed() -> Outcome {
    let house = House::new()?;
    for name in ["blue", "red"] {
        awake(&house, name)?;
        house.ok(&["pause", name])?;
    }
    let (exit, error) = house.fails(&["resume", "--paused"])?;
    assert_eq!(exit, 2, "{error}");
    assert!(text_of(&error, "message")?.contains("2 paused sessions of 1 repository"), "{error}");
    let elsewhere = house.home().to_string_lossy().into_owned();
    assert_eq!(house.json(&["resume", "--paused", "--repo", &elsewhere, "--yes"])?, json!([]));
    assert_eq!(house.show("red")?["status"], "paused");
    let resumed = house.json(&["resume", "--paused", "--yes"])?;
    assert_eq!(resumed.as_array().map(Vec::len), Some(2), "{resumed}");
    house.until("blue", "idle")?;
    house.until("red", "idle").map(drop)
}

#[test]
fn what_everything_was_asked_when_it_was_stopped_is_written_down() -> Outcome {
    let house = House::new()?;
    house.ok(&["new", "blue", "--agent", "rehearsal", "--prompt", "approve push?"])?;
    house.until("blue", "waiting")?;
    let said = house.ok(&["pause", "--all"])?;
    assert!(said.contains("Resume with: glis resume --all"), "{said}");
    assert!(!said.contains("glis resume blue"), "{said}");
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(house.home().join("gate.json"))?)?;
    assert_eq!(file["active_agents"][0]["pending_tool_calls"], json!(["push?"]), "{file}");
    Ok(())
}

#[test]
fn who_is_stuck_is_named_after_the_time_and_pauses_at_its_next_boundary() -> Outcome {
    let house = House::of_moved_time()?;
    for name in ["blue", "stuck"] {
        awake(&house, name)?;
    }
    house.ok(&["send", "stuck", "work 600"])?;
    house.until("stuck", "busy")?;
    let pause = house.glis().args(["--json", "pause", "--all"]).stdout(Stdio::piped()).spawn()?;
    // Time is not moved before the other one is saved, which takes some.
    house.until("blue", "paused")?;
    let output = house.out_of_time("gate", || pause.wait_with_output())?;
    assert_eq!(output.status.code(), Some(5));
    let told: Value = serde_json::from_slice(&output.stdout)?;
    let text = told.to_string();
    assert!(text.contains("stuck") && text.contains("not_safe"), "{told}");
    // The others are saved, and the gate stays shut.
    assert_eq!(house.show("blue")?["status"], "paused");
    assert_eq!(
        (gate(&house)?.as_str(), &house.show("stuck")?["status"]),
        ("pausing", &json!("pausing"))
    );
    let events = of_the_house(&house)?;
    assert_eq!(names(&events), ["gate_shut", "gate_overdue"]);
    assert_eq!(events[1]["stuck"], json!([house.show("stuck")?["id"]]));
    assert_eq!(house.fails(&["resume", "blue"])?.0, 4);
    assert_eq!(house.fails(&["pause", "stuck", "--cancel"])?.0, 4);
    // It stays so over a restart of the daemon.
    house.kill_daemon()?;
    assert_eq!(gate(&house)?, "pausing");
    // Hastened, it is over; and only now it is told.
    let paused = house.json(&["pause", "--all", "--mode", "force"])?;
    assert_eq!(statuses(&paused)?, ["paused", "paused"]);
    let told = of_the_house(&house)?;
    assert_eq!(names(&told).iter().filter(|name| **name == "orchestrator:paused").count(), 1);
    assert_eq!(gate(&house)?, "paused");
    assert_eq!(statuses(&house.json(&["resume", "--all"])?)?.len(), 2);
    Ok(())
}

/// In the middle of a turn it is told to go on; what it was asking waits for a person, who is told so.
#[test]
fn what_the_gate_cuts_off_goes_on_or_says_that_it_needs_a_person() -> Outcome {
    let house = House::new()?;
    for (name, words, state) in [
        ("blue", "work 600", "busy"),
        ("red", "approve push?", "waiting"),
        ("own", "work 600", "busy"),
    ] {
        house.rehearsal(name)?;
        house.ok(&["send", name, words])?;
        house.until(name, state)?;
    }
    house.ok(&["pause", "own", "--mode", "force"])?;
    house.ok(&["pause", "--all", "--mode", "force"])?;
    house.ok(&["resume", "--all"])?;
    let goes_on = "Continue from where we left off.";
    house.follow(1)?.until(|event| {
        event["event"] == "message_queued" && event["text"].to_string().contains(goes_on)
    })?;
    let blue = house.until("blue", "idle")?;
    assert_eq!((&blue["cut_off"], &blue["queued"]), (&json!(false), &json!(0)));
    let told = house.talk("blue")?;
    let ours = told.iter().filter(|(voice, text)| voice == "user" && text.contains(goes_on));
    assert_eq!(ours.count(), 1, "{told:?}");
    let red = house.until("red", "idle")?;
    assert_eq!(red["was_asking"].as_array().map(Vec::len), Some(1), "{red}");
    // Who resumes one alone says how it goes on. Until then it is shown, and not suspended.
    house.ok(&["resume", "own"])?;
    let own = house.until("own", "idle")?;
    assert_eq!((&own["cut_off"], &own["suspend_at"]), (&json!(true), &json!(null)), "{own}");
    let told = house.ok(&["ls"])?;
    let line = |name: &str| told.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(line("red").contains("was asking: push?"), "{told}");
    assert!(line("own").contains("its last turn was cut off"), "{told}");
    house.turn("own", "say more")?;
    assert!(!house.ok(&["ls"])?.contains("cut off"));
    Ok(())
}

#[test]
fn what_is_at_work_goes_on_if_everything_is_resumed_before_it_has_stopped() -> Outcome {
    let house = House::new()?;
    awake(&house, "blue")?;
    let busy = house.ok(&["send", "blue", "work 600"]).and_then(|_| house.until("blue", "busy"))?;
    let mut pause = Background::start(house.glis().args(["pause", "--all"]))?;
    house.until("blue", "pausing")?;
    // Who asks meanwhile waits for the same end.
    let mut second = Background::start(house.glis().args(["pause", "--all"]))?;
    house.follow(1)?.until(|event| event["event"] == "gate_hastened")?;
    let resumed = house.json(&["resume", "--all"])?;
    assert_eq!((&resumed[0]["status"], &resumed[0]["pid"]), (&json!("busy"), &busy["pid"]));
    assert_eq!(gate(&house)?, "running");
    assert!(pause.0.wait()?.code().is_some() && second.0.wait()?.code().is_some());
    let told = names(&of_the_house(&house)?).join(" ");
    assert!(!told.contains("orchestrator"), "nothing was paused: {told}");
    Ok(())
}

#[test]
fn whom_a_person_pauses_or_stops_meanwhile_does_not_come_back_with_the_others() -> Outcome {
    let house = House::new()?;
    for name in ["blue", "red", "green"] {
        awake(&house, name)?;
    }
    house.ok(&["pause", "--all"])?;
    house.ok(&["pause", "red"])?;
    house.ok(&["stop", "green"])?;
    let back = house.json(&["resume", "--all"])?;
    assert_eq!(back.as_array().map(Vec::len), Some(1), "{back}");
    assert_eq!(back[0]["name"], "blue");
    assert_eq!(house.show("red")?["status"], "paused");
    assert_ne!(house.show("green")?["pid"], house.show("blue")?["pid"]);
    assert_eq!(house.show("green")?["pid"], Value::Null);
    Ok(())
}

/// That it stays behind is a change and told as one, and so is a gate that opens for nobody.
#[test]
fn what_is_taken_out_of_the_gate_and_what_opens_it_is_told() -> Outcome {
    let house = House::new()?;
    awake(&house, "blue")?;
    awake(&house, "red")?;
    house.ok(&["pause", "--all"])?;
    let paused = house.ok(&["pause", "blue"])?;
    assert!(
        paused.ends_with("Resume with: glis resume --all, then glis resume blue\n"),
        "{paused}"
    );
    assert_eq!(house.json(&["pause", "blue"])?["already"], true);
    assert_eq!(house.json(&["stop", "red"])?["already"], false);
    assert_eq!(house.json(&["stop", "red"])?["already"], true);
    let queued = house.ok(&["send", "blue", "hello"])?;
    assert!(
        queued.contains("`glis resume --all`, then `glis resume blue` to continue."),
        "{queued}"
    );
    let opened = house.ok(&["resume", "--all"])?;
    assert!(opened.contains("agents start again from now on"), "{opened}");
    assert!(house.ok(&["resume", "--all"])?.contains("nothing to resume"));
    house.ok(&["resume", "blue"]).map(drop)
}

#[test]
fn a_damaged_list_is_refused_and_kept_and_the_log_knows_as_well() -> Outcome {
    let house = House::new()?;
    awake(&house, "blue")?;
    house.ok(&["pause", "--all"])?;
    let file = house.home().join("gate.json");
    let whole = std::fs::read_to_string(&file)?;
    let cut = whole.get(..whole.len() / 2).ok_or("short")?;
    let empty = whole.replace(&text_of(&house.show("blue")?, "id")?, "another");
    for damaged in [cut, "", "{}", &empty] {
        std::fs::write(&file, damaged)?;
        let (exit, error) = house.fails(&["resume", "--all"])?;
        assert_eq!(exit, 4, "{error}");
        assert!(text_of(&error, "hint")?.contains("--from-log"), "{error}");
        assert_eq!(std::fs::read_to_string(&file)?, damaged, "it is kept as it is");
        assert_eq!(
            (gate(&house)?.as_str(), &house.show("blue")?["status"]),
            ("paused", &json!("paused"))
        );
    }
    assert_eq!(house.json(&["resume", "--all", "--from-log"])?.as_array().map(Vec::len), Some(1));
    house.until("blue", "idle")?;
    let kept =
        |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().contains("gate.json");
    crate::support::house::eventually("the damaged file is put aside", || {
        let entries = std::fs::read_dir(house.home()).into_iter().flatten().flatten();
        entries.filter(kept).any(|entry| entry.file_name() != "gate.json")
    })?;
    // Without the file the log is asked, and that is said.
    house.ok(&["pause", "--all"])?;
    std::fs::remove_file(&file)?;
    let said = house.ok(&["resume", "--all"])?;
    assert!(said.contains("gate.json is not there"), "{said}");
    house.until("blue", "idle").map(drop)
}

/// The daemon is killed right before or after an event of shutting or opening is durable; the next one
/// goes on with it.
#[test]
fn shut_and_opened_the_gate_survives_a_death_at_every_event() -> Outcome {
    survives(
        &["gate_shut", "pause_began", "paused", "gate_stopped", "orchestrator:paused"],
        &["gate_opened", "start_began", "start_ended", "orchestrator:resumed"],
    )
}

/// The same at the steps of the pauses and starts that it waits for.
#[test]
fn it_survives_a_death_at_every_step_of_those_it_stops() -> Outcome {
    survives(
        &[
            "safe_state_reached",
            "terminal_captured",
            "snapshot_taken",
            "end_began",
            "process_ended",
        ],
        &["start_checked", "process_started"],
    )
}

/// Kills the daemon before and after each of these.
fn survives(shutting: &[&str], opening: &[&str]) -> Outcome {
    let house = House::new()?;
    for name in ["blue", "red"] {
        awake(&house, name)?;
    }
    for (verb, events) in [("pause", shutting), ("resume", opening)] {
        for (event, side) in events.iter().flat_map(|event| [(event, "before"), (event, "after")]) {
            let other = if verb == "pause" { "resume" } else { "pause" };
            house.ok(&[other, "--all"])?;
            if other == "resume" {
                house.until("blue", "idle")?;
                house.until("red", "idle")?;
            }
            house.ok(&["daemon", "stop"])?;
            let failpoint = format!("{side}:{event}");
            let daemon = Foreground::start(&house, &[("GLIS_FAILPOINT", &failpoint)])?;
            drop(house.glis().args([verb, "--all"]).output()?);
            let ended = daemon.end()?;
            assert_eq!(ended.signal(), Some(9), "{failpoint}: the daemon did not die there");
            // Asked for again, it comes to its end, whatever was done of it before.
            house.ok(&[verb, "--all"])?;
            let (state, status) =
                if verb == "pause" { ("paused", "paused") } else { ("running", "idle") };
            house.until("blue", status)?;
            house.until("red", status)?;
            assert_eq!(gate(&house)?, state, "{failpoint}");
        }
    }
    let told = of_the_house(&house)?;
    let told: Vec<_> =
        names(&told).into_iter().filter(|name| name.starts_with("orchestrator")).collect();
    let twice = told.windows(2).any(|pair| pair.first() == pair.last());
    assert!(!twice, "told twice: {told:?}");
    Ok(())
}

/// What was stopped is written down, and the daemon dies before it knows.
#[test]
fn a_snapshot_that_was_written_and_not_reported_is_told_once() -> Outcome {
    let house = House::new()?;
    awake(&house, "blue")?;
    house.ok(&["daemon", "stop"])?;
    let daemon = Foreground::start(&house, &[("GLIS_FAILPOINT", "abort@gate@kept")])?;
    drop(house.glis().args(["pause", "--all"]).output()?);
    assert_eq!(daemon.end()?.signal(), Some(6), "the daemon did not die there");
    let file = house.home().join("gate.json");
    assert!(serde_json::from_str::<Value>(&std::fs::read_to_string(&file)?)?.is_object());
    // The next daemon comes to the end of it by itself.
    let mut events = house.follow(1)?;
    events.until(|event| event["event"] == "orchestrator:paused")?;
    assert_eq!(gate(&house)?, "paused");
    house.ok(&["resume", "--all"])?;
    house.until("blue", "idle")?;
    let told = of_the_house(&house)?;
    let told: Vec<_> =
        names(&told).into_iter().filter(|name| name.starts_with("orchestrator")).collect();
    assert_eq!(told, ["orchestrator:paused", "orchestrator:resumed"]);
    assert!(!file.exists());
    Ok(())
}

#[test]
fn the_gate_stays_shut_when_everything_dies() -> Outcome {
    let house = House::new()?;
    let idle = awake(&house, "blue")?;
    house.ok(&["pause", "--all"])?;
    await_gone(pid_of(&idle)?)?;
    house.kill_daemon()?;
    assert_eq!(gate(&house)?, "paused");
    assert_eq!(house.fails(&["resume", "blue"])?.0, 4);
    house.ok(&["resume", "--all"])?;
    house.until("blue", "idle").map(drop)
}

/// A holder that is stopped is woken by the pause that needs it, and the others do not wait for that.
#[test]
fn a_holder_that_is_stopped_does_not_keep_the_gate_open() -> Outcome {
    let house = House::new()?;
    let mut holders = Vec::new();
    for name in ["blue", "red", "green"] {
        holders.push(holder_of(pid_of(&awake(&house, name)?)?)?);
    }
    for holder in &holders[..2] {
        signal(*holder, Signal::STOP)?;
    }
    // Whatever is not stopped within the time is hastened, as the error tells.
    drop(house.glis().args(["pause", "--all"]).output()?);
    let paused = house.json(&["pause", "--all", "--mode", "force"])?;
    assert_eq!(statuses(&paused)?, ["paused", "paused", "paused"]);
    assert_eq!(gate(&house)?, "paused");
    assert_eq!(statuses(&house.json(&["resume", "--all"])?)?.len(), 3);
    for name in ["blue", "red", "green"] {
        house.turn(name, "say back")?;
        let said = house.talk(name)?;
        let hello = said.iter().filter(|(who, text)| who == "user" && text == "say hello").count();
        assert_eq!(hello, 1, "{said:?}");
    }
    let told = of_the_house(&house)?;
    let told: Vec<_> =
        names(&told).into_iter().filter(|name| name.starts_with("orchestrator")).collect();
    assert_eq!(told, ["orchestrator:paused", "orchestrator:resumed"]);
    Ok(())
}
