//! What a terminal is not given: a session its own screen, and a line that it would cut.

use crate::support::house::{House, Outcome, eventually, program};
use crate::support::wreck::text_of;
use std::fs;

#[test]
fn a_session_does_not_attach_to_itself() -> Outcome {
    let house = House::new()?;
    let glis = program();
    let glis = glis.to_str().ok_or("path")?;
    let home = house.home();
    let home = home.to_str().ok_or("path")?;
    // Directly, without the mark, and without mark, terminal or parent.
    let ways = [
        format!("{glis} attach blue"),
        format!("env -i GLIS_HOME={home} {glis} attach blue"),
        format!("env -i GLIS_HOME={home} setsid -w {glis} attach blue"),
    ];
    for way in ways {
        let script = format!("{way}; echo $? > status; sleep 600");
        house.command("blue", &["sh", "-c", &script])?;
        let status = house.file("blue", "status")?;
        eventually("it is refused", || {
            fs::read_to_string(&status).is_ok_and(|s| s.ends_with('\n'))
        })?;
        let told = house.ok(&["output", "blue"])?;
        assert_eq!(fs::read_to_string(&status)?, "4\n", "{way}: {told}");
        assert!(told.contains("runs inside `blue`"), "{told}");
        house.ok(&["stop", "blue"])?;
        house.ok(&["rm", "blue"])?;
    }
    // From outside it is a terminal like any other.
    house.command("blue", &["sh", "-c", "sleep 600"])?;
    let other = format!("timeout 5 {glis} attach blue; echo $? > status; sleep 600");
    house.command("green", &["sh", "-c", &other])?;
    house.follow(1)?;
    eventually("another session sees it", || house.show("blue").is_ok_and(|s| s["attached"] == 1))?;
    Ok(())
}

#[test]
fn a_line_that_a_terminal_would_cut_is_refused_and_not_told_as_sent() -> Outcome {
    let house = House::new()?;
    house.command("blue", &["sh", "-c", "while read line; do echo \"got ${#line}\"; done"])?;
    // Often: the refusal may come before the command listens for it.
    for _ in 0..20 {
        let (status, error) = house.fails(&["send", "blue", &"x".repeat(5000)])?;
        assert_eq!(status, 4, "{error}");
        let message = text_of(&error, "message")?;
        assert!(message.contains("4095") && message.contains("5000"), "{message}");
    }
    assert!(house.talk("blue")?.iter().all(|(_, text)| text.len() < 4096));
    assert_eq!(house.show("blue")?["queued"], 0);
    house.json(&["send", "blue", &"y".repeat(4095)])?;
    eventually("what fits arrives", || {
        house.ok(&["output", "blue"]).is_ok_and(|o| o.contains("got 4095"))
    })?;
    Ok(())
}
