//! What a session shows: its screen and its output, while it runs and afterwards.

use super::each::{FACES, awake};
use crate::support::house::{House, Lines, Outcome};
use serde_json::{Value, json};
use std::process::Stdio;

#[test]
fn the_screen_of_an_agent_without_a_terminal_has_its_lines_below_each_other() -> Outcome {
    let house = House::new()?;
    awake(&house, FACES[0])?;
    let screen = house.ok(&["screen", "blue"])?;
    assert!(screen.lines().filter(|line| line.starts_with("{\"type\"")).count() > 3, "{screen}");
    Ok(())
}

#[test]
fn a_screen_can_be_read_while_it_runs_when_it_is_paused_and_after_its_end() -> Outcome {
    let house = House::new()?;
    house.command("run", &["sh", "-c", "printf 'one\\n\\033[31mtwo\\033[0m\\n$ '; exec cat"])?;
    let lines = |name: &str| -> Outcome<Vec<String>> {
        let screen = house.ok(&["screen", name])?;
        Ok(screen.lines().map(ToOwned::to_owned).collect())
    };
    house.until("run", "idle")?;
    assert_eq!(lines("run")?, ["one", "two", "$"]);
    let ansi = house.ok(&["screen", "run", "--ansi"])?;
    assert!(ansi.contains("\x1b["), "{ansi:?}");
    house.json(&["pause", "run"])?;
    assert_eq!(lines("run")?, ["one", "two", "$"]);
    let screen = house.json(&["screen", "run"])?;
    assert_eq!(screen["cursor"], json!({"x": 2, "y": 2}));
    house.command("end", &["echo", "over"])?;
    house.until("end", "completed")?;
    assert_eq!(lines("end")?, ["over"]);
    Ok(())
}

#[test]
fn output_is_the_exact_bytes_from_any_offset_on() -> Outcome {
    let house = House::new()?;
    let script = "stty raw -echo; i=0; while [ $i -lt 8 ]; do cat \"$0\"; i=$((i+1)); done; exit 0";
    let garbage: Vec<u8> = (0..=255).cycle().take(50_000).collect();
    let file = house.repo().join("../garbage");
    std::fs::write(&file, &garbage)?;
    house.command("raw", &["sh", "-c", script, file.to_str().ok_or("path")?])?;
    house.until("raw", "completed")?;
    let all = house.glis().args(["output", "raw"]).output()?.stdout;
    assert_eq!(all, garbage.repeat(8));
    let part = house.glis().args(["output", "raw", "--from", "399990"]).output()?.stdout;
    assert_eq!(part, garbage[49_990..]);
    let document = house.json(&["output", "raw", "--from", "399999"])?;
    assert_eq!((&document["offset"], &document["bytes"]), (&json!(399_999), &json!(1)));
    Ok(())
}

#[test]
fn following_the_output_sees_what_comes_and_ends_with_the_process() -> Outcome {
    let house = House::new()?;
    let script = "echo \u{2014}first; read line; echo \"got $line\"";
    house.command("talk", &["sh", "-c", script])?;
    let mut lines = Lines::of(house.glis().args(["--json", "output", "talk", "--follow"]))?;
    let has = |part: &'static str| {
        move |line: &Value| line["text"].as_str().is_some_and(|text| text.contains(part))
    };
    lines.until(has("\u{2014}first"))?;
    house.ok(&["send", "talk", "word"])?;
    lines.until(has("got word"))?;
    lines.rest()?;
    house.until("talk", "completed")?;
    let follow =
        house.glis().args(["output", "talk", "--follow"]).stderr(Stdio::null()).output()?;
    assert!(String::from_utf8_lossy(&follow.stdout).ends_with("got word\r\n"));
    Ok(())
}

#[test]
fn what_was_put_aside_can_still_be_read() -> Outcome {
    let house = House::new()?;
    let id = awake(&house, FACES[0])?["id"].as_str().ok_or("no id")?.to_owned();
    house.ok(&["stop", "blue"])?;
    let read = |name: &str| -> Outcome<Vec<String>> {
        ["log", "screen", "output"].iter().map(|verb| house.ok(&[verb, name])).collect()
    };
    let before = read("blue")?;
    assert!(before.iter().all(|text| text.contains("hello")), "{before:?}");
    house.ok(&["rm", "blue"])?;
    assert_eq!(read(&id)?, before);
    Ok(())
}
