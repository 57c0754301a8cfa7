//! The stories of the browser: each is played by a test.

use std::{fs, io};

/// Where they are.
const STORIES: &str = "tests/browser";
/// Where they are played.
const PLAYERS: &str = "tests/e2e/web";

/// The stories that none of these texts plays. What tells no story (the driver, the pictures) need not be played.
fn unplayed<'s>(stories: &'s [(String, String)], players: &[String]) -> Vec<&'s str> {
    let told = stories.iter().filter(|(_, text)| text.contains("\nawait story("));
    let is_played = |name: &str| {
        let calls = [format!("play(\"{name}\")"), format!("play_before(\"{name}\",")];
        players.iter().any(|text| calls.iter().any(|call| text.contains(call)))
    };
    told.map(|(name, _)| name.as_str()).filter(|name| !is_played(name)).collect()
}

/// The files of a folder with this ending: their names without it, and their texts.
fn files(folder: &str, ending: &str) -> io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(super::root().join(folder))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(ending));
        if let Some(name) = name {
            found.push((name.to_owned(), fs::read_to_string(&path)?));
        }
    }
    Ok(found)
}

#[test]
fn every_story_is_played_by_a_test() {
    let stories = files(STORIES, ".mjs").unwrap();
    assert!(stories.len() > 20, "{} stories", stories.len());
    let players = files(PLAYERS, ".rs").unwrap();
    let players: Vec<_> = players.into_iter().map(|(_, text)| text).collect();
    let lost = unplayed(&stories, &players);
    assert!(lost.is_empty(), "no test of {PLAYERS} plays {lost:?}");
}

#[test]
fn a_story_that_nobody_plays_is_told() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let stories =
        [file("one", "\nawait story(x"), file("two", "\nawait story(x"), file("driver", "export")];
    let players = ["play(\"one\")".to_owned()];
    assert_eq!(unplayed(&stories, &players), ["two"]);
}
