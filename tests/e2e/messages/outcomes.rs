//! Tools that were denied and turns that were interrupted: told as such, in the log and to the agent.

use crate::support::house::{House, Outcome, eventually};
use serde_json::Value;

/// What an agent was told last.
fn last_message(house: &House) -> Outcome<String> {
    let talk = house.talk("blue")?;
    let users = talk.into_iter().rev().find(|(voice, _)| voice == "user");
    Ok(users.ok_or("nothing was said")?.1)
}

fn outcomes(house: &House) -> Outcome<Vec<(String, String)>> {
    let log = house.json(&["log", "blue"])?;
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let entries = log.as_array().ok_or("no list")?.iter();
    let each =
        entries.filter_map(|e| Some((text(&e["metadata"]["outcome"])?, text(&e["content"])?)));
    Ok(each.collect())
}

/// A pause in mid-answer, and what is said of it afterwards.
fn interrupted(house: &House) -> Outcome {
    house.ok(&["send", "blue", "stream 100000 20"])?;
    // It is busy as soon as the message is on its way.
    house.follow(1)?.until(|event| event["event"] == "turn_began")?;
    let told = house.ok(&["pause", "blue", "--mode", "interrupt"])?;
    assert!(told.contains("is paused (the agent's turn was interrupted)"), "{told}");
    let log = house.ok(&["log", "blue"])?;
    assert!(log.contains("turn interrupted"), "{log}");
    assert_eq!(outcomes(house)?, [("interrupted".to_owned(), String::new())]);
    house.ok(&["resume", "blue", "--prompt", "say back"])?;
    eventually("it is told", || last_message(house).is_ok_and(|m| m.contains("say back")))?;
    let message = last_message(house)?;
    assert!(message.contains("cut off") && message.contains("say back"), "{message}");
    Ok(())
}

#[test]
fn the_rehearsal_agent_is_told_that_a_pause_cut_its_turn() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    interrupted(&house)?;
    let house = House::new()?;
    house.in_terminal("blue")?;
    interrupted(&house)
}

fn allowed_once_and_for_all(house: &House) -> Outcome {
    house.ok(&["send", "blue", "approve rm x ;; say one"])?;
    house.until("blue", "waiting")?;
    house.ok(&["answer", "blue", "allow", "--for-session"])?;
    house.until("blue", "idle")?;
    house.turn("blue", "approve rm x ;; say two")?;
    house.ok(&["pause", "blue"])?;
    house.ok(&["resume", "blue"])?;
    house.turn("blue", "approve rm x ;; say three")?;
    let log = house.ok(&["events"])?;
    assert_eq!(log.matches("allow_for_session").count(), 3, "{log}");
    // Something else is asked for as ever, and told when it is denied.
    house.ok(&["send", "blue", "approve rm y ;; say four"])?;
    house.until("blue", "waiting")?;
    house.ok(&["answer", "blue", "deny"])?;
    house.until("blue", "idle")?;
    assert_eq!(outcomes(house)?, [("denied".to_owned(), "rm y".to_owned())]);
    let log = house.ok(&["log", "blue"])?;
    assert!(log.contains("approve rm y (denied)"), "{log}");
    assert_eq!(house.show("blue")?["last_action"], "denied: approve rm y");
    Ok(())
}

#[test]
fn what_is_allowed_for_the_session_is_not_asked_again_in_its_conversation() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    allowed_once_and_for_all(&house)?;
    let house = House::new()?;
    house.in_terminal("blue")?;
    allowed_once_and_for_all(&house)
}
