//! What becomes of a repository: moved away, taken by another, its branches used by somebody else.

use crate::house::{House, Outcome};
use crate::wreck::text_of;
use std::fs;

#[test]
fn a_pause_that_could_not_save_does_not_disturb_the_agent() -> Outcome {
    let house = House::new()?;
    house.configure("[snapshot]\nat_turn_end = false\n")?;
    let id = house.rehearsal("blue")?["id"].as_str().ok_or("no id")?.to_owned();
    house.turn("blue", "write a.txt hello")?;
    house.ok(&["send", "blue", "work 600"])?;
    let pid = house.until("blue", "busy")?["pid"].clone();
    let away = house.folder().join("away");
    fs::rename(house.repo(), &away)?;
    let mut verbs = Vec::new();
    for mode in ["interrupt", "force"] {
        let mut command = house.glis();
        command.current_dir(house.folder());
        verbs.push(command.args(["--json", "pause", "blue", "--mode", mode]).output()?);
    }
    fs::rename(&away, house.repo())?;
    for refused in verbs {
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let told = String::from_utf8(refused.stdout)?;
        assert!(told.contains("is not there"), "{told}");
        assert!(told.contains(house.repo().to_str().ok_or("path")?), "{told}");
    }
    let session = house.show("blue")?;
    assert_eq!((text_of(&session, "status")?, &session["pid"]), ("busy".to_owned(), &pid));
    let events = house.events(&id)?;
    assert!(!events.iter().any(|event| event == "interrupt_began"), "{events:?}");
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    Ok(())
}
