//! An agent that works outside of its worktree all the same: it is told, and its work can be brought back.

use crate::support::house::{House, Outcome, eventually};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What is told of a session whose agent has gone to this folder and made a file there.
fn gone_to(house: &House, folder: &Path) -> Outcome<Value> {
    house.turn("blue", &format!("go {} ;; write made.txt there", folder.display()))?;
    let shown = house.show("blue")?;
    let folder = folder.canonicalize()?.to_string_lossy().into_owned();
    assert_eq!(shown["elsewhere"]["folder"], folder.as_str(), "{shown}");
    let listed = house.ok(&["ls"])?;
    assert!(listed.contains("works in "), "{listed}");
    let told = house.ok(&["show", "blue"])?;
    assert!(told.contains(&folder) && told.contains("outside of its worktree"), "{told}");
    let found = house.ok(&["doctor"])?;
    assert!(found.contains(&format!("its agent works in {folder}")), "{found}");
    Ok(shown)
}

#[test]
fn what_an_agent_makes_in_another_worktree_is_told_and_brought_back() -> Outcome {
    let house = House::new()?;
    let made = house.rehearsal("blue")?;
    assert_eq!(made["elsewhere"], Value::Null);
    let other = house.folder().join("other");
    house.git(&["worktree", "add", "-b", "other", &other.to_string_lossy()])?;
    for place in [house.repo(), other] {
        let shown = gone_to(&house, &place)?;
        let line = shown["elsewhere"]["way_back"].as_str().ok_or("no way back")?;
        let mut shell = Command::new("sh");
        let brought = house.enter(&mut shell).args(["-c", line]).output()?;
        assert!(brought.status.success(), "{line}: {}", String::from_utf8_lossy(&brought.stderr));
        let made_there = house.file("blue", "made.txt")?;
        assert_eq!(std::fs::read_to_string(&made_there)?, "there");
        std::fs::remove_file(made_there)?;
        std::fs::remove_file(place.join("made.txt"))?;
    }
    // Back in its own, nothing is said.
    house.turn("blue", &format!("go {}", made["worktree"].as_str().ok_or("no worktree")?))?;
    assert_eq!(house.show("blue")?["elsewhere"], Value::Null);
    Ok(())
}

#[test]
fn what_no_git_can_bring_back_is_named() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let other = tempfile::tempdir()?;
    let shown = gone_to(&house, other.path())?;
    assert_eq!(shown["elsewhere"]["way_back"], Value::Null);
    assert!(house.ok(&["show", "blue"])?.contains("copy what you want to keep"));
    Ok(())
}

/// What it asks there is left to a person, and answered by rule again where it belongs.
#[test]
fn no_rule_answers_for_an_agent_that_works_elsewhere() -> Outcome {
    let house = House::new()?;
    let made = house.json(&["new", "blue", "--agent", "rehearsal", "--headless", "--auto-yes"])?;
    let home = made["worktree"].as_str().ok_or("no worktree")?;
    let other = tempfile::tempdir()?;
    gone_to(&house, other.path())?;
    let verdict = |house: &House| -> Outcome<Value> {
        let log = house.json(&["auto-yes", "log", "blue"])?;
        Ok(log.as_array().and_then(|all| all.last()).ok_or("none")?.clone())
    };
    house.ok(&["send", "blue", "approve run ls -la"])?;
    house.until("blue", "waiting")?;
    eventually("it is judged", || verdict(&house).is_ok())?;
    let said = verdict(&house)?;
    assert_eq!(
        (&said["verdict"], &said["why"]),
        (&json!("manual"), &json!("path_outside")),
        "{said}"
    );
    house.ok(&["answer", "blue", "deny"])?;
    house.until("blue", "idle")?;
    house.turn("blue", &format!("go {home} ;; approve run ls -la"))?;
    assert_eq!(verdict(&house)?["verdict"], "accept");
    Ok(())
}
