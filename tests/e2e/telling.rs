//! What is told is what is so: statuses, shapes of documents, and the reasons of refusals.

use crate::house::{Background, House, Outcome, await_gone, lives};
use crate::wreck::pid_of;
use serde_json::{Value, json};

#[test]
fn what_is_idle_is_at_its_boundary() -> Outcome {
    let house = House::new()?;
    house.command("x", &["sleep", "100000"])?;
    house.until("x", "idle")?;
    let _pause = Background::start(house.glis().args(["pause", "x", "--mode", "boundary"]))?;
    house.until("x", "paused").map(drop)
}

#[test]
fn agents_are_suspended_also_where_the_daemon_has_to_come_back_for_it() -> Outcome {
    let house = House::new()?;
    let pid = pid_of(&house.command("x", &["sleep", "100000"])?)?;
    house.ok(&["daemon", "stop"])?;
    assert!(lives(pid));
    assert_eq!(house.json(&["daemon", "stop", "--agents"])?, json!({"stopped": true}));
    await_gone(pid)?;
    assert_eq!(house.fails(&["daemon", "status"])?.0, 8);
    assert_eq!(house.show("x")?["status"], "suspended");
    Ok(())
}

#[test]
fn all_of_them_are_an_array_however_many_there_are() -> Outcome {
    let house = House::new()?;
    let statuses = |document: &Value| {
        let list = document.as_array().ok_or_else(|| format!("no array: {document}"))?;
        Ok::<_, String>(list.iter().map(|s| s["status"].clone()).collect::<Vec<_>>())
    };
    for verb in ["pause", "resume"] {
        assert_eq!(house.json(&[verb, "--all"])?, json!([]));
    }
    house.command("x", &["sleep", "100000"])?;
    assert_eq!(statuses(&house.json(&["pause", "--all"])?)?, ["paused"]);
    assert_eq!(statuses(&house.json(&["resume", "--all"])?)?.len(), 1);
    // One that is named is one document, as everywhere.
    assert_eq!(house.json(&["pause", "x"])?["status"], "paused");
    // A failure stands beside its session here too.
    std::fs::remove_dir_all(house.repo().join(".git"))?;
    let output = house.glis().args(["--json", "resume", "--all"]).output()?;
    let told: Value = serde_json::from_slice(&output.stdout)?;
    assert!(!output.status.success(), "{told}");
    assert!(told[0]["error"]["message"].is_string(), "{told}");
    Ok(())
}

#[test]
fn a_second_daemon_says_so_as_everything_else_does() -> Outcome {
    let house = House::new()?;
    house.ok(&["daemon", "start"])?;
    let (status, error) = house.fails(&["daemon", "run"])?;
    assert_eq!((status, &error["kind"]), (4, &json!("refused")), "{error}");
    let pid = house.daemon_pid()?.to_string();
    assert!(error["message"].as_str().is_some_and(|text| text.contains(&pid)), "{error}");
    assert!(error["hint"].is_string(), "{error}");
    Ok(())
}
