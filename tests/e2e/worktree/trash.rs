//! What is removed: it comes back as it was, is searched, and is emptied only when it is due or named.

use super::compared::{disordered, is_as, portrait};
use crate::support::house::{House, Outcome};
use crate::support::wreck::text_of;
use serde_json::json;
use std::fs;

#[test]
fn what_is_removed_comes_back_as_it_was() -> Outcome {
    let house = House::new()?;
    let tree = disordered(&house, "blue")?;
    let before = portrait(&tree)?;
    let talk = house.talk("blue")?;
    let id = text_of(&house.show("blue")?, "id")?;
    house.json(&["rm", "blue"])?;
    assert!(!tree.exists());
    assert_eq!(house.fails(&["show", "blue"])?.0, 3);
    assert!(house.git(&["for-each-ref", "refs/glis/snap"])?.is_empty());
    let trash = house.json(&["trash", "list"])?;
    assert_eq!((&trash[0]["name"], &trash[0]["due"]), (&json!("blue"), &json!(false)));
    // The name has another bearer by now.
    house.rehearsal("blue")?;
    assert_eq!(house.fails(&["trash", "restore", "blue"])?.0, 4);
    let back = house.json(&["trash", "restore", "blue", "--name", "indigo"])?;
    assert_eq!((&back["id"], &back["status"]), (&json!(id), &json!("paused")));
    is_as(&before, &tree)?;
    assert_eq!(house.talk("indigo")?, talk);
    assert_eq!(house.json(&["resume", "indigo"])?["found"], "untouched");
    assert_eq!(house.json(&["trash", "list"])?, json!([]));
    Ok(())
}

#[test]
fn the_trash_is_emptied_only_of_what_is_due_or_named() -> Outcome {
    let house = House::new()?;
    let tree = disordered(&house, "blue")?;
    // What a restore has set aside goes and comes with its session.
    fs::write(tree.join("by-agent.txt"), "spoiled")?;
    house.ok(&["restore", "blue"])?;
    let id = text_of(&house.show("blue")?, "id")?;
    house.json(&["rm", "blue"])?;
    assert_eq!(fs::read_dir(tree.parent().ok_or("parent")?)?.count(), 0);
    let emptied = house.json(&["trash", "empty"])?;
    assert_eq!((&emptied["deleted"], &emptied["left"]), (&json!([]), &json!(1)));
    assert_eq!(house.fails(&["trash", "empty", "blue"])?.0, 2, "it has to be confirmed");
    assert_eq!(house.fails(&["trash", "empty", "nobody", "--yes"])?.0, 3);
    house.json(&["trash", "empty", "blue", "--yes"])?;
    assert!(!house.home().join("trash").join(&id).exists());
    assert!(house.git(&["for-each-ref", "refs/glis"])?.is_empty());
    assert_eq!(house.git(&["worktree", "list"])?.lines().count(), 1);
    assert!(house.git(&["branch", "--list", "glis/blue"])?.contains("glis/blue"));
    assert_eq!(house.fails(&["trash", "restore", "blue"])?.0, 3);
    house.configure("[trash]\ndays = 0\n")?;
    house.rehearsal("green")?;
    house.ok(&["daemon", "stop"])?;
    house.rehearsal("red")?;
    house.json(&["rm", "green"])?;
    house.json(&["rm", "red", "--stop"])?;
    assert_eq!(house.json(&["trash", "empty"])?["deleted"], json!(["red", "green"]));
    Ok(())
}

#[test]
fn every_conversation_is_searched_also_of_what_was_removed() -> Outcome {
    let house = House::new()?;
    for name in ["blue", "green"] {
        house.rehearsal(name)?;
        house.turn(name, &format!("say the {name} dormouse sleeps"))?;
    }
    house.ok(&["stop", "green"])?;
    house.ok(&["rm", "green"])?;
    let hits = house.json(&["search", "dormouse", "sleep"])?;
    let found: Vec<_> = hits.as_array().ok_or("no array")?.iter().collect();
    let names = |voice: &str| -> Vec<_> {
        let mut names: Vec<_> = found
            .iter()
            .filter(|hit| hit["type"] == voice)
            .filter_map(|hit| hit["name"].as_str())
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!((names("assistant"), names("user")), (vec!["blue", "green"], vec!["blue", "green"]));
    assert_eq!(house.ok(&["search", "wolf"])?, "no matches\n");
    fs::write(house.home().join("search.db"), "garbage")?;
    assert_eq!(house.json(&["search", "dormouse"])?.as_array().map(Vec::len), Some(4));
    house.ok(&["trash", "empty", "green", "--yes"])?;
    assert_eq!(house.json(&["search", "dormouse"])?.as_array().map(Vec::len), Some(2));
    assert_eq!(house.fails(&["search", "--"])?.0, 2);
    Ok(())
}
