//! Messages to a loop: queued during an iteration, delivered before the next one.

use crate::support::house::{House, Outcome};
use crate::support::looped::{HELD, QUICK, Watch, begin, house, is, let_go, lines};
use serde_json::json;

/// What was said to the agent, in order, without the words of the loop.
fn said(house: &House) -> Outcome<Vec<String>> {
    let talk = house.talk("l")?;
    let user = talk.into_iter().filter(|(who, _)| who == "user").map(|(_, text)| text);
    Ok(user.filter(|text| text.starts_with("say ")).collect())
}

#[test]
fn messages_are_queued_and_delivered_in_order_between_iterations() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    for text in ["say one", "say two", "say three"] {
        let told = house.ok(&["send", "l", text])?;
        assert!(told.starts_with("stored"), "{told}");
    }
    let shown = house.show("l")?;
    assert_eq!((&shown["queued"], &shown["loop"]["iteration"]), (&json!(3), &json!(1)), "{shown}");
    // They are on the disk.
    house.kill_daemon()?;
    assert_eq!(house.show("l")?["queued"], 3);
    let_go(&house)?;
    let mut watch = Watch::of(&house)?;
    let mut at = Vec::new();
    for _ in 0..4 {
        at.push(watch.until("message_taken")?["seq"].as_u64().ok_or("no seq")?);
    }
    let began = watch.until_like(|e| e["event"] == "loop_began" && e["iteration"] == 2)?;
    let began = began["seq"].as_u64().ok_or("no seq")?;
    assert!(at.iter().all(|seq| *seq < began), "{at:?} and then {began}");
    assert_eq!(said(&house)?, ["say one", "say two", "say three"]);
    watch.until_like(|e| e["event"] == "tool_began" && e["what"].to_string().contains("run"))?;
    let_go(&house)?;
    watch.until("loop_done")?;
    assert_eq!(said(&house)?.len(), 3, "each once");
    Ok(())
}

#[test]
fn a_pause_waits_for_queued_messages_and_comes_before_the_counter_rises() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "3"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let mut window = house.glis();
    let mut window = window.args(["pause", "l"]).spawn()?;
    watch.until("loop_pause_asked")?;
    house.ok(&["send", "l", "say before the pause"])?;
    let_go(&house)?;
    house.until("l", "paused")?;
    window.wait()?;
    assert_eq!(said(&house)?, ["say before the pause"]);
    is(&house, &[("iteration", json!(1)), ("state", json!("paused"))])?;
    // What is sent to a paused one stays queued, and comes with its resume.
    let told = house.ok(&["send", "l", "say while paused"])?;
    assert!(told.contains("queued. Session is paused."), "{told}");
    house.ok(&["resume", "l"])?;
    let_go(&house)?;
    Watch::of(&house)?.until_held(3)?;
    assert_eq!(said(&house)?, ["say before the pause", "say while paused"]);
    // In the conversation that does the work, and before it does.
    let talk = house.talk("l")?;
    let before = talk.iter().take_while(|(_, text)| text != "say while paused");
    assert_eq!(before.filter(|(who, text)| who == "user" && text == HELD).count(), 1, "{talk:?}");
    Ok(())
}

#[test]
fn a_message_to_one_that_is_done_is_no_iteration() -> Outcome {
    let house = house()?;
    begin(&house, QUICK, &["--max", "2"])?;
    Watch::of(&house)?.until("loop_done")?;
    house.turn("l", "say thanks")?;
    is(&house, &[("iteration", json!(2)), ("state", json!("done"))])?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}
