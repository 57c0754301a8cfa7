//! Agents as they are: deaf, dying, forgetful, silent, noisy, and several of them asked for at once.

use crate::support::house::{Background, House, Outcome, kill_and_wait, lives};
use crate::support::wreck::{
    SETTLED, accounted_for, agents, each_entry_once, marked, pid_of, text_of, times_told,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::time::{Duration, Instant};

const IMPATIENT: &str = "[pause]\nsafe_state_secs = 1\ninterrupt_secs = 1\nterminate_secs = 1\n";

fn impatient() -> Outcome<House> {
    let house = House::new()?;
    house.configure(IMPATIENT)?;
    Ok(house)
}

/// A headless session whose agent has these faults from its start.
fn faulty(house: &House, name: &str, faults: &[&str]) -> Outcome<Value> {
    let mut args = vec!["new", name, "--agent", "rehearsal", "--headless", "--"];
    for fault in faults {
        args.extend(["--misbehave", fault]);
    }
    house.json(&args)
}

fn at_work(house: &House, name: &str) -> Outcome<Value> {
    house.ok(&["send", name, "touch-slowly slow.txt 100000 50"])?;
    let id = house.show(name)?["id"].clone();
    house.follow(1)?.until(|e| e["event"] == "tool_began" && e["session"] == id)?;
    house.show(name)
}

#[test]
fn a_deaf_agent_is_ended_in_bounded_time() -> Outcome {
    let house = impatient()?;
    let deaf: [&[&str]; 3] = [&["ignore-int"], &["ignore-term"], &["ignore-int", "ignore-term"]];
    for (number, faults) in deaf.into_iter().enumerate() {
        let name = format!("deaf{number}");
        faulty(&house, &name, faults)?;
        let session = at_work(&house, &name)?;
        let begun = Instant::now();
        assert_eq!(house.json(&["stop", &name])?["status"], "suspended");
        assert!(begun.elapsed() < Duration::from_secs(8), "{faults:?}: {:?}", begun.elapsed());
        assert!(!lives(pid_of(&session)?));
        house.ok(&["resume", &name])?;
        let begun = Instant::now();
        assert_eq!(house.json(&["pause", &name, "--mode", "force"])?["status"], "paused");
        assert!(begun.elapsed() < Duration::from_secs(8), "{faults:?}: {:?}", begun.elapsed());
        assert!(agents(&text_of(&session, "id")?).is_empty());
    }
    Ok(())
}

#[test]
fn a_child_that_left_its_group_ends_with_the_session_and_is_named() -> Outcome {
    let house = impatient()?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "orphan 600")?;
    let id = text_of(&session, "id")?;
    assert_eq!(marked(&id).len(), 2);
    let paused = house.json(&["pause", "blue"])?;
    assert_eq!(paused["status"], "paused");
    assert!(paused["killed"].to_string().contains("sleep 600"), "{paused}");
    assert_eq!(marked(&id), Vec::<i32>::new());
    Ok(())
}

#[test]
fn an_agent_that_died_before_its_transcript_exists_comes_back_under_its_id() -> Outcome {
    let house = impatient()?;
    let session = house.in_terminal("blue")?;
    kill_and_wait(pid_of(&session)?)?;
    house.until("blue", "interrupted,failed")?;
    let back = house.json(&["resume", "blue"])?;
    assert_eq!(back["agent_session_ref"], session["agent_session_ref"]);
    house.until("blue", "idle")?;
    house.turn("blue", "say hello")?;
    Ok(())
}

#[test]
fn an_id_that_is_told_late_is_learned() -> Outcome {
    let house = impatient()?;
    let made = faulty(&house, "late", &["late-id=0.3"])?;
    assert_eq!(made["agent_session_ref"], Value::Null);
    let session = house.turn("late", "write a.txt one")?;
    assert!(session["agent_session_ref"].is_string(), "{session}");
    house.ok(&["pause", "late"])?;
    house.ok(&["resume", "late"])?;
    house.turn("late", "recall")?;
    let said = house.talk("late")?.pop().ok_or("nothing said")?.1;
    assert!(said.contains("write a.txt one"), "{said}");
    Ok(())
}

#[test]
fn without_an_id_nothing_is_resumed_and_nothing_guessed() -> Outcome {
    let house = impatient()?;
    faulty(&house, "never", &["never-id"])?;
    house.turn("never", "write a.txt one")?;
    house.ok(&["pause", "never"])?;
    let (status, error) = house.fails(&["resume", "never"])?;
    assert_eq!(status, 6, "{error}");
    let session = house.show("never")?;
    assert_eq!((&session["status"], &session["resumable"]), (&"paused".into(), &false.into()));
    assert!(agents(&text_of(&session, "id")?).is_empty());
    Ok(())
}

#[test]
fn an_id_that_changes_on_resume_is_followed() -> Outcome {
    let house = impatient()?;
    faulty(&house, "eel", &["change-id"])?;
    let mut seen = vec![text_of(&house.turn("eel", "say zero")?, "agent_session_ref")?];
    for round in ["say one", "say two"] {
        house.ok(&["pause", "eel"])?;
        house.ok(&["resume", "eel"])?;
        let now = text_of(&house.turn("eel", round)?, "agent_session_ref")?;
        assert!(!seen.contains(&now), "{seen:?}");
        seen.push(now);
    }
    house.turn("eel", "recall")?;
    let said = house.talk("eel")?.pop().ok_or("nothing said")?.1;
    assert!(said.contains("say zero") && said.contains("say two"), "{said}");
    each_entry_once(&house, "eel")
}

#[test]
fn a_refused_resume_changes_nothing_and_keeps_the_message() -> Outcome {
    let house = impatient()?;
    faulty(&house, "mule", &["refuse-resume"])?;
    house.turn("mule", "write a.txt one")?;
    let before = house.json(&["pause", "mule"])?;
    let (status, error) = house.fails(&["resume", "mule", "--prompt", "say kept"])?;
    assert_eq!(status, 6, "{error}");
    assert!(error["message"].to_string().contains("cannot resume"), "{error}");
    let after = house.show("mule")?;
    for field in ["status", "agent_session_ref", "worktree", "paused_at"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(after["queued"], 1);
    assert_eq!(times_told(&house, "say kept"), 0);
    assert!(agents(&text_of(&after, "id")?).is_empty());
    Ok(())
}

#[test]
fn what_looks_like_a_prompt_in_the_middle_of_work_is_none() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.rehearsal("red")?;
    for name in ["blue", "red"] {
        let id = text_of(&house.show(name)?, "id")?;
        // A message that waits for its agent is no work yet, and a pause leaves it in the queue.
        let mut seen = house.follow(1)?;
        house.ok(&["send", name, "noise ;; say done"])?;
        seen.until(|e| e["event"] == "message_taken" && e["session"] == id.as_str())?;
        assert_eq!(house.json(&["pause", name, "--mode", "boundary"])?["status"], "paused");
        let events = house.events(&id)?;
        let at = |wanted: &str| events.iter().rposition(|event| event == wanted);
        assert!(at("turn_ended").is_some(), "{events:?}");
        assert!(at("turn_ended") < at("safe_state_reached"), "{events:?}");
        assert!(house.talk(name)?.iter().any(|(_, text)| text == "done"));
    }
    Ok(())
}

#[test]
fn silence_is_not_idleness() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    // A screen that has been still for five seconds is looked at; the silence lasts well beyond
    // that, and beyond the wait however slowly this machine begins it.
    house.ok(&["send", "blue", "work 14"])?;
    house.until("blue", "busy")?;
    let early = house.fails(&["wait", "blue", "--for", "idle", "--timeout", "8s"])?;
    assert_eq!(early.0, 7, "{early:?}");
    house.until("blue", "idle")?;
    Ok(())
}

#[test]
fn garbage_hides_no_word_that_comes_after_it() -> Outcome {
    let house = House::new()?;
    house.rehearsal("red")?;
    house.in_terminal("blue")?;
    for name in ["red", "blue"] {
        house.turn(name, "garbage 20000 ;; say after all")?;
        assert!(house.talk(name)?.iter().any(|(_, text)| text == "after all"));
        house.ok(&["screen", name])?;
        assert_eq!(house.json(&["pause", name])?["status"], "paused");
    }
    Ok(())
}

#[test]
fn an_agent_that_ends_at_once_fails_once_and_says_why() -> Outcome {
    let house = House::new()?;
    let args = ["new", "brief", "--agent", "rehearsal", "--headless", "--prompt", "say hi", "--"];
    drop(house.glis().args(args).args(["--misbehave", "exit-at-once=3"]).output()?);
    let session = house.until("brief", "failed")?;
    assert!(session["failure"].to_string().contains("exit status 3"), "{session}");
    let id = text_of(&session, "id")?;
    let starts = |events: &[String]| events.iter().filter(|e| *e == "start_began").count();
    assert_eq!(starts(&house.events(&id)?), 1);
    // A start of the daemon is no reason to try again either.
    house.kill_daemon()?;
    assert_eq!(house.until("brief", SETTLED)?["status"], "failed");
    assert_eq!(starts(&house.events(&id)?), 1);
    Ok(())
}

#[test]
fn a_crash_in_the_middle_of_a_turn_keeps_what_is_queued() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    house.ok(&["send", "blue", "work 0.3 ;; crash"])?;
    house.ok(&["send", "blue", "say the-next-one"])?;
    let session = house.until("blue", "interrupted")?;
    assert_eq!((&session["queued"], &session["cut_off"]), (&1.into(), &true.into()));
    house.ok(&["resume", "blue"])?;
    let id = session["id"].clone();
    let mut events = house.follow(1)?;
    for _ in 0..3 {
        events.until(|e| e["event"] == "message_taken" && e["session"] == id)?;
    }
    assert_eq!(times_told(&house, "the-next-one"), 1);
    Ok(())
}

#[test]
fn a_message_is_not_handed_over_into_the_turn_of_the_one_before() -> Outcome {
    let house = House::new()?;
    let id = text_of(&house.rehearsal("blue")?, "id")?;
    house.turn("blue", "say hello")?;
    house.ok(&["pause", "blue"])?;
    for text in ["work 0.2 ;; say one", "say two", "say three"] {
        house.ok(&["send", "blue", text])?;
    }
    house.ok(&["resume", "blue"])?;
    let mut events = house.follow(1)?;
    for _ in 0..4 {
        events.until(|e| e["event"] == "turn_ended" && e["session"] == id.as_str())?;
    }
    let mut open = false;
    for event in house.events(&id)? {
        match event.as_str() {
            "message_taken" => open = true,
            "turn_ended" => open = false,
            "delivery_began" => assert!(!open, "into an open turn"),
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn an_agent_that_is_stopped_can_still_be_ended() -> Outcome {
    let house = impatient()?;
    for (name, verb) in [("blue", "pause"), ("red", "stop")] {
        house.rehearsal(name)?;
        let agent = pid_of(&at_work(&house, name)?)?;
        kill_process(Pid::from_raw(agent).ok_or("no pid")?, Signal::STOP)?;
        let begun = Instant::now();
        let args =
            if verb == "pause" { vec!["pause", name, "--mode", "force"] } else { vec![verb, name] };
        house.ok(&args)?;
        assert!(begun.elapsed() < Duration::from_secs(8), "{verb}: {:?}", begun.elapsed());
        assert!(!lives(agent), "{verb}");
    }
    Ok(())
}

#[test]
fn many_who_resume_at_once_get_one_process() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let before = house.turn("blue", "say hello")?;
    let id = text_of(&before, "id")?;
    for _ in 0..3 {
        let generation = house.json(&["pause", "blue"])?["generation"].as_u64().ok_or("none")?;
        let clients: Vec<_> = (0..6)
            .map(|_| Background::start(house.glis().args(["resume", "blue"])))
            .collect::<Result<_, _>>()?;
        for mut client in clients {
            assert!(client.0.wait()?.success());
        }
        assert_eq!(agents(&id).len(), 1);
        assert_eq!(house.show("blue")?["generation"], generation + 1);
    }
    Ok(())
}

#[test]
fn people_who_pause_resume_and_send_at_once_lose_nothing() -> Outcome {
    let house = impatient()?;
    let id = text_of(&house.rehearsal("blue")?, "id")?;
    house.turn("blue", "say hello")?;
    let mut sent = Vec::new();
    std::thread::scope(|scope| -> Outcome {
        let again = |args: &'static [&'static str]| {
            let house = &house;
            scope.spawn(move || {
                let outputs = (0..12).map(|_| house.glis().args(args).output());
                outputs.collect::<Result<Vec<_>, _>>()
            })
        };
        let others = [
            again(&["pause", "blue"]),
            again(&["resume", "blue"]),
            again(&["pause", "blue", "--mode", "force"]),
            again(&["stop", "blue"]),
        ];
        for number in 0..12 {
            let text = format!("say number-{number}-of-many");
            if house.glis().args(["send", "blue", &text]).output()?.status.success() {
                sent.push(text);
            }
        }
        for other in others {
            for output in other.join().map_err(|_| "a shell broke down")?? {
                // Done, not possible in this state, or busy with what another asked for.
                let code = output.status.code();
                assert!(matches!(code, Some(0 | 4 | 5 | 7)), "{output:?}");
            }
        }
        Ok(())
    })?;
    house.until("blue", SETTLED)?;
    assert!(agents(&id).len() <= 1);
    assert!(!sent.is_empty());
    for text in &sent {
        accounted_for(&house, "blue", text)?;
    }
    each_entry_once(&house, "blue")
}
