//! One session from its birth to its end, on both agents.

use crate::support::house::{House, Outcome};

#[test]
fn a_paused_agent_comes_back_with_its_files_and_its_memory() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "write a.txt hello"])?;
    house.until("blue", "idle")?;
    house.ok(&["send", "blue", "touch-slowly slow.txt 1000 50"])?;
    house.until("blue", "busy")?;
    let paused = house.json(&["pause", "blue"])?;
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["pid"], serde_json::Value::Null);
    let slow = std::fs::read(house.file("blue", "slow.txt")?)?;
    house.kill_daemon()?;
    assert_eq!(house.show("blue")?["status"], "paused");
    let resumed = house.json(&["resume", "blue", "--prompt", "recall"])?;
    assert_eq!(resumed["agent_session_ref"], paused["agent_session_ref"]);
    house.until("blue", "idle")?;
    assert_eq!(std::fs::read(house.file("blue", "slow.txt")?)?, slow);
    let said = house.talk("blue")?.pop().ok_or("nothing said")?.1;
    assert!(said.starts_with("I remember 3 messages:"), "{said}");
    Ok(())
}

#[test]
fn an_agent_does_not_notice_the_death_of_the_daemon() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "stream 40 20"])?;
    let before = house.until("blue", "busy")?;
    house.kill_daemon()?;
    let after = house.until("blue", "idle")?;
    assert_eq!(before["pid"], after["pid"]);
    let words: Vec<_> = house.talk("blue")?.into_iter().filter(|(v, _)| v == "assistant").collect();
    let wanted: Vec<_> = (1..=40).map(|n| format!("word{n}")).collect();
    assert_eq!(words.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), wanted);
    Ok(())
}
