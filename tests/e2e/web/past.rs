//! The past of a terminal: the screen as it was at any offset of the output.

use super::guard::token;
use crate::support::house::{House, Outcome, eventually};
use crate::support::web::{Shown, Terminal, Web};
use serde_json::{Value, json};

/// Each line of the flood is this long, with its end.
const LINE_BYTES: u64 = 14;
/// More than four megabytes, so that there are two key frames.
const LINES: u64 = 305_000;

#[test]
fn the_screen_of_any_offset_is_the_one_that_was_there() -> Outcome {
    let house = House::new()?;
    let flood = format!("stty -echo; seq -f 'line %07.0f' 1 {LINES}; exec cat");
    house.command("flood", &["sh", "-c", &flood])?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let end = LINES * LINE_BYTES;
    eventually("all is printed", || {
        house
            .json(&["screen", "flood", "--at", "0"])
            .is_ok_and(|screen| screen["end"] == json!(end))
    })?;
    let look = |at: u64| -> Outcome<Value> {
        let path = format!("/api/v1/sessions/flood/screen?at={at}");
        let mut seen = web.get(&path, &token)?.json()?;
        let runs = seen.as_object_mut().and_then(|seen| seen.remove("runs")).ok_or("no runs")?;
        for (row, line) in seen["lines"].as_array().into_iter().flatten().enumerate() {
            let text = runs[row].as_array().into_iter().flatten().filter_map(|run| run[0].as_str());
            assert_eq!(text.collect::<String>(), line.as_str().unwrap_or_default());
        }
        let at = at.to_string();
        assert_eq!(seen, house.json(&["screen", "flood", "--at", &at])?, "the command line's");
        Ok(seen)
    };
    let last = |screen: &Value| {
        let mut lines = screen["lines"].as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
    };
    let check = |number: u64| -> Outcome {
        // In the middle of the line after it.
        let seen = look(number * LINE_BYTES + 4)?;
        let expected =
            if number == LINES { format!("line {number:07}") } else { "line".to_owned() };
        assert_eq!(last(&seen), expected, "{seen}");
        assert_eq!(seen["offset"], json!((number * LINE_BYTES + 4).min(end)));
        assert_eq!((&seen["oldest"], &seen["end"]), (&json!(0), &json!(end)));
        let above = seen["lines"].as_array().into_iter().flatten();
        assert!(
            number == 0
                || above.into_iter().any(|line| *line == json!(format!("line {number:07}")))
        );
        Ok(())
    };
    for number in [LINES, 1, 299_700, 0, 150_000, 299_592, 299_593, 304_000] {
        check(number)?;
    }
    assert_eq!(frames(&house)?, 2);
    house.ok(&["pause", "flood", "--mode", "force"])?;
    house.kill_daemon()?;
    for number in [299_700, 7] {
        check(number)?;
    }
    assert_eq!(look(u64::MAX)?["offset"], json!(end));
    Ok(())
}

/// The key frames of all sessions.
fn frames(house: &House) -> Outcome<usize> {
    let sessions = std::fs::read_dir(house.home().join("sessions"))?.flatten();
    let frames =
        sessions.filter_map(|session| std::fs::read_dir(session.path().join("frames")).ok());
    Ok(frames.map(Iterator::count).sum())
}

#[test]
fn before_a_page_that_looks_on_the_past_is_made_ready() -> Outcome {
    let house = House::new()?;
    let flood = format!("stty -echo; read go; seq -f 'line %07.0f' 1 {LINES}; exec cat");
    house.command("flood", &["sh", "-c", &flood])?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let mut terminal = Terminal::open(&web, "flood", &token, Shown::default())?;
    terminal.take()?;
    terminal.say(&json!({"key": "Enter"}))?;
    while terminal.screen.offset < LINES * LINE_BYTES {
        terminal.take()?;
    }
    // Nobody has asked for a screen of it.
    eventually("key frames", || frames(&house).is_ok_and(|count| count == 2))?;
    Ok(())
}
