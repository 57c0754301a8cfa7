//! Files that do not answer, as on a disk that is dead. What is asked about others is answered.

use crate::support::held::{BOUND, warnings};
use crate::support::house::{House, Outcome};
use crate::support::wreck::{folder, text_of};
use serde_json::Value;
use std::fs;
use std::time::Instant;

#[test]
fn a_session_whose_files_do_not_answer_hides_no_other() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let blue = house.turn("blue", "say hello")?;
    house.rehearsal("green")?;
    house.turn("green", "say hello")?;
    for name in ["blue", "green"] {
        house.json(&["stop", name])?;
    }
    house.ok(&["daemon", "stop"])?;
    // A pipe that is never written to, where a small file was: reading it does not end.
    let file = folder(&house, &text_of(&blue, "id")?).join("environment.json");
    fs::remove_file(&file)?;
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into())?;
    let begun = Instant::now();
    let of = |list: &Value, name: &str| -> Outcome<Value> {
        let list = list.as_array().ok_or("no list")?.iter();
        let mut named = list.filter(|session| session["name"] == name);
        Ok(named.next().ok_or_else(|| format!("{name} is missing"))?.clone())
    };
    // Again and again: it must not use up the threads that look at others.
    for _ in 0..40 {
        let list = house.json(&["ls"])?;
        let told = "its files could not be read in time";
        assert!(of(&list, "blue").is_ok() && of(&list, "green").is_ok(), "{list}");
        assert!(warnings(&house.show("blue")?).contains(told), "{list}");
    }
    assert!(begun.elapsed() < BOUND);
    assert!(!warnings(&house.show("green")?).contains("could not be read"));
    Ok(())
}
