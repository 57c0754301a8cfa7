//! Usage limits on real processes: a session parks, and goes on at the reset where that is allowed.

use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, eventually};
use crate::support::wreck::text_of;
use serde_json::{Value, json};

const FACES: [&[&str]; 2] = [&["--headless"], &[]];
/// What an agent is told when it goes on.
const GO_ON: &str = "[glis] The usage limit that ended your last turn is over.";
const ALLOWED: &str = "[usage_limit]\nresume = true\n";

/// A house whose clock can be set, with this configuration and a session in it.
fn house_with(config: &str, face: &[&str]) -> Outcome<(House, WallClock)> {
    let mut house = House::of_moved_time()?;
    let clock = WallClock::of(&mut house)?;
    house.configure(config)?;
    house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
    Ok((house, clock))
}

/// A turn that works, and meets a limit for an hour.
fn meets_a_limit(house: &House, name: &str) -> Outcome<Value> {
    house.json(&["send", name, "write a.txt one ;; limit +3600"])?;
    let parked = house.until(name, "paused")?;
    assert_eq!(parked["pause_reason"], "rate_limit", "{parked}");
    assert_eq!(parked["pid"], Value::Null);
    assert!(parked["snapshot"].is_object(), "{parked}");
    Ok(parked)
}

/// How often something was said to it that begins so.
fn times_said(house: &House, words: &str) -> Outcome<usize> {
    let talk = house.talk("blue")?;
    Ok(talk.iter().filter(|(who, text)| who == "user" && text.starts_with(words)).count())
}

#[test]
fn a_session_that_meets_a_limit_parks_and_goes_on_at_the_reset() -> Outcome {
    for face in FACES {
        let (house, clock) = house_with(ALLOWED, face)?;
        let parked = meets_a_limit(&house, "blue")?;
        let id = text_of(&parked, "id")?;
        eventually("its time is known", || {
            house.show("blue").is_ok_and(|shown| shown["resume_at"].is_string())
        })?;
        let shown = house.show("blue")?;
        let whole =
            |value: &Value| value.as_str().map(|at| at.chars().take(19).collect::<String>());
        assert_eq!(whole(&shown["resume_at"]), whole(&shown["limit_until"]), "{shown}");
        assert!(house.ok(&["ls"])?.contains("resumes in "));
        let told = house.ok(&["show", "blue"])?;
        assert!(told.contains("glis resume blue tries again now"), "{told}");
        // A daemon that was started anew keeps the time.
        house.kill_daemon()?;
        assert_eq!(house.show("blue")?["resume_at"], shown["resume_at"]);
        house.ok(&["send", "blue", "say more"])?;
        eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
        clock.ahead(&house, 3000)?;
        assert_eq!(house.show("blue")?["status"], "paused", "ten minutes are left");
        clock.ahead(&house, 3605)?;
        house.follow(1)?.until(|e| e["event"] == "message_taken" && e["message"] == 1)?;
        let back = house.until("blue", "idle")?;
        assert_eq!((&back["generation"], &back["resume_at"]), (&json!(2), &Value::Null), "{back}");
        assert_eq!(back["agent_session_ref"], parked["agent_session_ref"]);
        assert_eq!(back["limit_until"], Value::Null);
        for (words, times) in [("write a.txt", 1), (GO_ON, 1), ("say more", 1)] {
            assert_eq!(times_said(&house, words)?, times, "{words}");
        }
        let over = house.events(&id)?.iter().filter(|event| *event == "limit_over").count();
        assert_eq!(over, 1);
    }
    Ok(())
}

#[test]
fn without_leave_it_stays_parked_and_a_person_has_it_go_on() -> Outcome {
    let (house, clock) = house_with("", FACES[0])?;
    meets_a_limit(&house, "blue")?;
    house.kill_daemon()?;
    clock.ahead(&house, 7200)?;
    let shown = house.show("blue")?;
    assert_eq!((&shown["status"], &shown["resume_at"]), (&json!("paused"), &Value::Null));
    let listed = house.ok(&["ls"])?;
    assert!(listed.contains("usage limit until 20"), "{listed}");
    let told = house.ok(&["show", "blue"])?;
    assert!(told.contains("not by itself  (glis resume blue goes on)"), "{told}");
    house.ok(&["resume", "blue"])?;
    house.until("blue", "idle")?;
    assert_eq!(times_said(&house, GO_ON)?, 1);
    Ok(())
}

#[test]
fn who_forbids_it_meanwhile_is_heeded() -> Outcome {
    let (house, clock) = house_with(ALLOWED, FACES[0])?;
    meets_a_limit(&house, "blue")?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    house.configure("")?;
    clock.ahead(&house, 3700)?;
    eventually("its time is dropped", || {
        house.show("blue").is_ok_and(|shown| shown["resume_at"] == Value::Null)
    })?;
    assert_eq!(house.show("blue")?["status"], "paused");
    Ok(())
}

#[test]
fn a_pause_of_the_users_keeps_it_paused() -> Outcome {
    let (house, _clock) = house_with(ALLOWED, FACES[0])?;
    meets_a_limit(&house, "blue")?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    house.ok(&["pause", "blue"])?;
    let shown = house.show("blue")?;
    assert_eq!((&shown["pause_reason"], &shown["resume_at"]), (&json!("user"), &Value::Null));
    eventually("its timer is gone", || house.timers_set("resume_at") == 0)?;
    Ok(())
}

#[test]
fn sessions_of_one_limit_go_on_one_after_the_other() -> Outcome {
    let (house, clock) = house_with(ALLOWED, FACES[0])?;
    house.rehearsal("red")?;
    for name in ["blue", "red"] {
        meets_a_limit(&house, name)?;
    }
    eventually("both have a time", || house.timers_set("resume_at") == 2)?;
    let at = |name: &str| -> Outcome<jiff::Timestamp> {
        Ok(text_of(&house.show(name)?, "resume_at")?.parse()?)
    };
    let apart = at("red")?.duration_since(at("blue")?).abs();
    assert!(apart >= jiff::SignedDuration::from_secs(5), "{apart:?}");
    // Both times have come at once, as after a sleep of the machine: the second still waits for the first.
    clock.ahead(&house, 3700)?;
    let mut events = house.follow(1)?;
    let mut over = || -> Outcome<(Value, jiff::Timestamp)> {
        let event = events.until(|e| e["event"] == "limit_over")?;
        Ok((event["session"].clone(), text_of(&event, "at")?.parse()?))
    };
    let ((first, began), (second, followed)) = (over()?, over()?);
    assert_ne!(first, second);
    // A moment lies between what is decided and the time that its record has.
    let apart = followed.duration_since(began);
    assert!(apart >= jiff::SignedDuration::from_secs(4), "{apart:?}");
    for name in ["blue", "red"] {
        assert_eq!(house.until(name, "idle")?["generation"], 2, "{name}");
    }
    Ok(())
}

/// Waits until a parked session has a time, or has none any more.
fn until_timed(house: &House, timed: bool) -> Outcome<Value> {
    eventually("its time is as it should be", || {
        house.show("blue").is_ok_and(|shown| shown["resume_at"].is_string() == timed)
    })?;
    house.show("blue")
}

/// Bounds count when the session is parked or found so, and once more when its time has come: under
/// `narrow` ones it has no time and goes on at none, under `wide` ones it does.
fn heeds(house: &House, clock: &WallClock, narrow: &str, wide: &str, ahead: u64) -> Outcome {
    let allow = |bound: &str| house.configure(&format!("{ALLOWED}{bound}\n"));
    house.kill_daemon()?;
    allow(wide)?;
    until_timed(house, true)?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    allow(narrow)?;
    clock.ahead(house, ahead)?;
    assert_eq!(until_timed(house, false)?["status"], "paused", "{narrow}");
    house.kill_daemon()?;
    allow(wide)?;
    house.ok(&["daemon", "start"])?;
    let back = house.until("blue", "idle")?;
    assert_eq!(back["resume_at"], Value::Null, "{wide}");
    Ok(())
}

#[test]
fn no_longer_is_waited_than_the_user_says() -> Outcome {
    let (house, clock) = house_with("", FACES[0])?;
    meets_a_limit(&house, "blue")?;
    heeds(&house, &clock, "until = \"30m\"", "until = \"2h\"", 3605)?;
    assert_eq!(times_said(&house, GO_ON)?, 1);
    Ok(())
}

#[test]
fn after_so_many_limits_in_a_row_a_person_is_waited_for() -> Outcome {
    let (house, clock) = house_with(&format!("{ALLOWED}windows = 1\n"), FACES[0])?;
    meets_a_limit(&house, "blue")?;
    until_timed(&house, true)?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    // It waits behind what goes on, so that no person has a hand in the second limit.
    house.json(&["send", "blue", "limit +7200"])?;
    clock.ahead(&house, 3605)?;
    house.follow(1)?.until(|e| e["event"] == "message_taken" && e["message"] == 1)?;
    let parked = house.until("blue", "paused")?;
    assert_eq!((&parked["generation"], &parked["pause_reason"]), (&json!(2), &json!("rate_limit")));
    heeds(&house, &clock, "windows = 1", "windows = 2", 7205)
}

#[test]
fn in_quiet_hours_it_waits_for_their_end() -> Outcome {
    let mut house = House::of_moved_time()?;
    house.surround("TZ", "UTC");
    let clock = WallClock::of(&mut house)?;
    house.rehearsal("blue")?;
    let parked = meets_a_limit(&house, "blue")?;
    let over: jiff::Timestamp = text_of(&parked, "limit_until")?.parse()?;
    let minute = |minutes: i64| -> Outcome<String> {
        let at = over.checked_add(jiff::SignedDuration::from_mins(minutes))?;
        Ok(at.strftime("%H:%M").to_string())
    };
    let (from, to) = (minute(-10)?, minute(30)?);
    house.kill_daemon()?;
    house.configure(&format!("{ALLOWED}quiet = \"{from}-{to}\"\n"))?;
    let shown = until_timed(&house, true)?;
    let at: jiff::Timestamp = text_of(&shown, "resume_at")?.parse()?;
    assert_eq!(at.strftime("%H:%M:%S").to_string(), format!("{to}:00"), "{shown}");
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    clock.ahead(&house, 3600 + 600)?;
    assert_eq!(house.show("blue")?["status"], "paused", "the hours are not over");
    clock.ahead(&house, 3600 + 1805)?;
    let back = house.until("blue", "idle")?;
    assert_eq!((&back["generation"], &back["resume_at"]), (&json!(2), &Value::Null));
    Ok(())
}

#[test]
fn talk_about_limits_is_none() -> Outcome {
    for face in FACES {
        let (house, _clock) = house_with(ALLOWED, face)?;
        let quoted = "say You have hit your usage limit, ratelimit 429, try again at 6:24 AM.";
        let idle = house.turn("blue", quoted)?;
        assert_eq!((&idle["status"], &idle["limit_until"]), (&json!("idle"), &Value::Null));
    }
    Ok(())
}

/// All sessions of one account have the same reset: each goes on at its own time, five seconds behind the one
/// before it, and with one appointment.
#[test]
fn a_dozen_of_one_reset_go_on_one_after_the_other() -> Outcome {
    const SESSIONS: usize = 12;
    let mut house = House::of_moved_time()?;
    let clock = WallClock::of(&mut house)?;
    house.configure(ALLOWED)?;
    let reset = jiff::Timestamp::now() + std::time::Duration::from_secs(3600);
    let prompt = format!("limit {}", reset.strftime("%Y-%m-%dT%H:%M:%SZ"));
    let names: Vec<String> = (0..SESSIONS).map(|number| format!("s{number}")).collect();
    for name in &names {
        house.json(&["new", name, "--agent", "rehearsal", "--headless", "--prompt", &prompt])?;
    }
    for name in &names {
        house.until(name, "paused")?;
    }
    eventually("each has its time", || house.timers_set("resume_at") == SESSIONS)?;
    let told = |event: &str| -> Outcome<usize> {
        let events = house.ok(&["events"])?;
        Ok(events.matches(&format!("\"event\":\"{event}\"")).count())
    };
    assert_eq!(told("limit_over")?, 0);
    for back in 1..=SESSIONS {
        let due = reset.as_second() + 5 * i64::try_from(back - 1)?;
        clock.ahead(&house, u64::try_from(due + 2 - jiff::Timestamp::now().as_second())?)?;
        eventually("the next one goes on", || told("limit_over").is_ok_and(|over| over >= back))?;
        assert_eq!(told("limit_over")?, back, "and no other");
    }
    assert_eq!(told("resume_appointed")?, SESSIONS, "none was moved behind another");
    for name in &names {
        house.until(name, "idle,suspended")?;
    }
    Ok(())
}
