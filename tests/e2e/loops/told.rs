//! What a person who is not looking is told of a loop: that it is done, or why it has paused itself, and
//! nothing of the iterations between.

use crate::support::house::{House, Outcome, eventually};
use crate::support::looped::{ASKED, QUICK, Watch, begin, holding, tell, until_asked};
use serde_json::Value;
use std::path::PathBuf;

/// A house whose notices are lines of a file.
fn noted() -> Outcome<(House, PathBuf)> {
    let house = holding(House::of_moved_time()?)?;
    let file = house.folder().join("news.jsonl");
    house.configure(&format!("[notify]\ncommand = \"cat >> '{}'\"\n", file.display()))?;
    Ok((house, file))
}

/// Each notice as its kind and text.
fn notices(file: &PathBuf) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines.map(|notice| (word(&notice["kind"]), word(&notice["text"]))).collect()
}

fn until_told(house: &House, file: &PathBuf, number: usize) -> Outcome<Vec<(String, String)>> {
    house.while_time_flies(|| eventually("a notice", || notices(file).len() >= number))?;
    Ok(notices(file))
}

fn pair(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

#[test]
fn a_loop_that_is_done_is_told_once_and_its_iterations_are_not() -> Outcome {
    let (house, file) = noted()?;
    house.rehearsal("other")?;
    begin(&house, QUICK, &["--max", "3", "--until", ASKED])?;
    let mut wanted = Vec::new();
    for asked in 1..=3 {
        until_asked(&house, asked)?;
        // Its turn is over, and it is idle for so long that another one is told of.
        house.turn("other", "say hello")?;
        wanted.push(pair("finished", "its turn has ended"));
        assert_eq!(until_told(&house, &file, asked)?, wanted);
        tell(&house, "no")?;
    }
    Watch::of(&house)?.until("loop_done")?;
    wanted.push(pair("finished", "the loop is done, after iteration 3"));
    assert_eq!(until_told(&house, &file, 4)?, wanted);
    Ok(())
}

#[test]
fn a_loop_that_pauses_itself_is_told_once_with_the_reason() -> Outcome {
    let (house, file) = noted()?;
    begin(&house, "die 1", &[])?;
    house.until("l", "paused")?;
    let why = "the loop has paused itself after iteration 3: 3 iterations in a row failed";
    assert_eq!(until_told(&house, &file, 1)?, [pair("failed", why)]);
    Ok(())
}
