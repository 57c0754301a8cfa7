//! `pause --for`: a pause that ends by itself, also where the daemon was not there at its time.

use crate::support::house::{House, Outcome};
use serde_json::Value;

fn at_rest(house: &House) -> Outcome<Value> {
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")
}

#[test]
fn a_pause_for_a_time_ends_by_itself() -> Outcome {
    let house = House::new()?;
    let before = at_rest(&house)?;
    let said = house.ok(&["pause", "blue", "--for", "2s"])?;
    assert!(said.contains("It resumes by itself at 20"), "{said}");
    let back = house.until("blue", "idle")?;
    assert_eq!((&back["generation"], &back["resume_at"]), (&2.into(), &Value::Null));
    assert_eq!(back["agent_session_ref"], before["agent_session_ref"]);
    let id = before["id"].as_str().ok_or("no id")?;
    let events = house.events(id)?;
    assert!(events.contains(&"resume_appointed".to_owned()), "{events:?}");
    Ok(())
}

#[test]
fn its_time_is_kept_over_the_daemons_death_and_counts_when_it_has_passed() -> Outcome {
    let house = House::new()?;
    at_rest(&house)?;
    let paused = house.json(&["pause", "blue", "--for", "2h"])?;
    let at = paused["resume_at"].as_str().ok_or("no time")?.to_owned();
    assert!(house.ok(&["ls"])?.contains("resumes in "));
    house.kill_daemon()?;
    let shown = house.show("blue")?;
    assert_eq!(
        (shown["status"].as_str(), shown["resume_at"].as_str()),
        (Some("paused"), Some(&*at))
    );
    // Another time takes its place, and passes while there is no daemon.
    house.ok(&["pause", "blue", "--for", "1s"])?;
    house.ok(&["daemon", "stop"])?;
    let back = house.until("blue", "idle")?;
    assert_eq!(back["generation"], 2);
    Ok(())
}

#[test]
fn a_resume_before_its_time_drops_it() -> Outcome {
    let house = House::new()?;
    at_rest(&house)?;
    house.ok(&["pause", "blue", "--for", "2h"])?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(house.show("blue")?["resume_at"], Value::Null);
    house.ok(&["pause", "blue"])?;
    assert_eq!(house.show("blue")?["resume_at"], Value::Null);
    let (status, _) = house.fails(&["pause", "blue", "--for", "1h", "--cancel"])?;
    assert_eq!(status, 2);
    Ok(())
}
