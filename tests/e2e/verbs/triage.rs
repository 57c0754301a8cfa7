//! Labels, pins and snoozes: how a person puts sessions among the others.

use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, eventually};
use crate::support::wreck::text_of;
use serde_json::{Value, json};

fn names(house: &House, arguments: &[&str]) -> Outcome<Vec<String>> {
    let rows = house.json(&[&["ls"], arguments].concat())?;
    let name = |row: &Value| row["name"].as_str().map(str::to_owned);
    Ok(rows.as_array().ok_or("no array")?.iter().filter_map(name).collect())
}

#[test]
fn what_a_person_has_put_so_stays_so_and_a_snooze_ends_at_its_time() -> Outcome {
    let mut house = House::of_moved_time()?;
    let clock = WallClock::of(&mut house)?;
    house.rehearsal("blue")?;
    house.rehearsal("green")?;
    let labelled = house.json(&["label", "blue", "+auth", "urgent", "late"])?;
    assert_eq!(labelled["labels"], json!(["auth", "late", "urgent"]));
    assert_eq!(house.json(&["label", "blue", "-late"])?["labels"], json!(["auth", "urgent"]));
    assert_eq!(house.ok(&["pin", "blue"])?.trim(), "blue: pinned #auth #urgent");
    assert_eq!(names(&house, &["--label", "auth"])?, ["blue"]);
    for words in ["rehearsal #auth", "BLU", "#urgent created"] {
        assert_eq!(names(&house, &["--filter", words])?, ["blue"], "{words}");
    }
    assert_eq!(names(&house, &["--filter", "rehearsal"])?.len(), 2);
    assert_eq!(house.json(&["filters", "--keep", " shop  #auth"])?, json!(["shop #auth"]));
    assert_eq!(house.json(&["filters", "--keep", "blue"])?, json!(["shop #auth", "blue"]));
    assert_eq!(house.json(&["filters", "--forget", "shop #auth"])?, json!(["blue"]));
    let (status, told) = house.fails(&["filters", "--keep", " "])?;
    assert_eq!(status, 2, "{told}");
    let (status, told) = house.fails(&["label", "blue", "two words"])?;
    assert_eq!((status, told["message"].as_str()), (2, Some("`two words` cannot be a label")));

    house.ok(&["send", "blue", "approve delete it?"])?;
    house.until("blue", "waiting")?;
    assert_eq!(names(&house, &["--needs-me"])?, ["blue"]);
    let (status, told) = house.fails(&["snooze", "blue", "soon"])?;
    assert_eq!(status, 2, "{told}");
    assert!(house.json(&["snooze", "blue", "2h"])?["snoozed_until"].is_string());
    assert_eq!(names(&house, &["--needs-me"])?, Vec::<String>::new());
    // Neither a restart of the daemon nor its death is the end of it.
    house.ok(&["daemon", "stop"])?;
    let blue = house.show("blue")?;
    assert_eq!((&blue["status"], &blue["need"]), (&json!("waiting"), &json!("rest")), "{blue}");
    house.kill_daemon()?;
    assert_eq!(house.show("blue")?["labels"], json!(["auth", "urgent"]));
    assert_eq!(house.json(&["filters"])?, json!(["blue"]));
    eventually("its timer is set", || house.timers_set("snooze") > 0)?;
    let mut events = house.follow(1)?;
    clock.ahead(&house, 2 * 60 * 60 + 1)?;
    events.until(|event| {
        event["event"] == "triaged" && event["snoozed"].is_null() && event["from"].is_null()
    })?;
    assert_eq!(names(&house, &["--needs-me"])?, ["blue"]);

    // Until it changes: the answer leads to the end of its turn.
    house.ok(&["snooze", "blue", "change"])?;
    assert_eq!(house.show("blue")?["snoozed_until"], "change");
    house.ok(&["answer", "blue", "allow"])?;
    house.until("blue", "idle")?;
    let blue = house.show("blue")?;
    assert_eq!((&blue["snoozed_until"], &blue["pinned"]), (&Value::Null, &json!(true)), "{blue}");
    Ok(())
}

#[test]
fn the_card_of_a_session_names_its_labels() -> Outcome {
    let house = House::new()?;
    let id = text_of(&house.rehearsal("blue")?, "id")?;
    house.ok(&["label", "blue", "auth"])?;
    let card = house.home().join("sessions").join(id).join("card.json");
    eventually("they are on the card", || {
        let card = std::fs::read(&card).unwrap_or_default();
        let card: Value = serde_json::from_slice(&card).unwrap_or_default();
        card["labels"] == json!(["auth"])
    })
}
