//! `--key`: a change that is asked for twice is made once, and answered the same.

use crate::support::house::{House, Outcome};
use serde_json::Value;

fn said(house: &House) -> Outcome<Vec<String>> {
    let said = house.talk("blue")?.into_iter().filter(|(voice, _)| voice == "user");
    Ok(said.map(|(_, text)| text).collect())
}

#[test]
fn a_message_under_a_key_is_sent_once_and_answered_twice() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let send = ["send", "blue", "say one", "--key", "update 7", "--json"];
    let first = house.ok(&send)?;
    assert_eq!(house.ok(&send)?, first);
    house.kill_daemon()?;
    assert_eq!(house.ok(&send)?, first, "the next daemon knows it too");
    house.until("blue", "idle")?;
    assert_eq!(said(&house)?, ["say one"]);
    // Under the same key nothing else is done.
    let (exit, error) = house.fails(&["send", "blue", "say two", "--key", "update 7"])?;
    assert_eq!((exit, &error["kind"]), (2, &Value::from("usage")), "{error}");
    assert_eq!(said(&house)?, ["say one"]);
    Ok(())
}

#[test]
fn every_verb_that_changes_something_can_be_repeated_under_its_key() -> Outcome {
    let house = House::new()?;
    let repo = house.repo();
    let repo = repo.to_str().ok_or("no path")?;
    let new = ["new", "blue", "--agent", "rehearsal", "--headless", "--repo", repo];
    let twice = |args: &[&str], key: &str| -> Outcome<Value> {
        let args = [args, &["--key", key, "--json"]].concat();
        let first: Value = serde_json::from_str(&house.ok(&args)?)?;
        let again: Value = serde_json::from_str(&house.ok(&args)?)?;
        assert_eq!(first, again, "{args:?}");
        Ok(first)
    };
    let made = twice(&new, "1")?;
    house.turn("blue", "write a.txt one")?;
    twice(&["snapshot", "blue"], "2")?;
    twice(&["pause", "blue"], "3")?;
    house.ok(&["resume", "blue"])?;
    house.until("blue", "idle")?;
    twice(&["pause", "blue"], "3")?;
    assert_eq!(house.show("blue")?["status"], "idle", "it was paused before, not again");
    house.kill_daemon()?;
    twice(&["stop", "blue"], "4")?;
    twice(&["resume", "blue"], "5")?;
    house.until("blue", "idle")?;
    twice(&["restart", "blue", "--yes"], "6")?;
    house.until("blue", "idle")?;
    twice(&["rm", "blue", "--stop"], "7")?;
    twice(&["trash", "restore", "blue"], "8")?;
    assert_eq!(house.show("blue")?["id"], made["id"]);
    house.rehearsal("red")?;
    house.ok(&["rm", "red", "--stop"])?;
    assert_eq!(twice(&["trash", "empty", "--all", "--yes"], "9")?["deleted"][0], "red");
    let events = house.events(made["id"].as_str().ok_or("no id")?)?;
    for once in ["session_created", "paused", "restart_began", "archived", "returned"] {
        assert_eq!(events.iter().filter(|event| *event == once).count(), 1, "{once}: {events:?}");
    }
    Ok(())
}

#[test]
fn a_key_is_refused_where_nothing_is_changed() -> Outcome {
    let house = House::new()?;
    for verb in
        [&["ls"][..], &["events"], &["trash", "list"], &["daemon", "status"], &["attach", "x"]]
    {
        let (exit, error) = house.fails(&[verb, &["--key", "1"]].concat())?;
        assert_eq!(exit, 2, "{verb:?}");
        let told = error["message"].as_str().unwrap_or_default();
        assert!(told.contains("--key"), "{error}");
    }
    Ok(())
}
