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
    let said = house.talk("blue")?;
    assert!(said.iter().all(|(voice, _)| voice == "system"), "none is told as sent");
    assert_eq!(house.show("blue")?["queued"], 0);
    house.json(&["send", "blue", &"y".repeat(4095)])?;
    eventually("what fits arrives", || {
        house.ok(&["output", "blue"]).is_ok_and(|o| o.contains("got 4095"))
    })?;
    Ok(())
}

#[test]
fn a_message_that_a_terminal_cannot_take_is_kept_whole_in_the_log() -> Outcome {
    let house = House::new()?;
    let reads = ["sh", "-c", "while read line; do echo \"got ${#line}\"; done"];
    let unsent = |name: &str, text: &str| -> Outcome<bool> {
        let talk = house.talk(name)?;
        Ok(talk.iter().any(|(voice, said)| {
            voice == "system" && said.starts_with("not sent: ") && said.ends_with(text)
        }))
    };
    // As a prompt: `new` itself warns.
    let prompt = "p".repeat(5000);
    let made = [&["new", "blue", "--agent", "command", "--prompt", &prompt, "--"], &reads[..]];
    let session = house.json(&made.concat())?;
    let warnings = session["warnings"].to_string();
    assert!(warnings.contains("5000") && warnings.contains("glis log blue"), "{session}");
    assert!(unsent("blue", &prompt)?, "{:?}", house.talk("blue")?);
    // Queued, where it cannot be known yet: warned of, and kept when the time comes.
    house.ok(&["pause", "blue"])?;
    let queued = format!("{}\nand a short line", "q".repeat(6000));
    let sent = house.json(&["send", "blue", &queued])?;
    assert!(text_of(&sent, "warning")?.contains("6000"), "{sent}");
    house.ok(&["resume", "blue"])?;
    eventually("it is in the log", || unsent("blue", &queued).unwrap_or_default())?;
    let show = house.show("blue")?;
    assert_eq!(show["queued"], 0, "{show}");
    assert!(show["warnings"].to_string().contains("6000"), "{show}");
    // It stands in no later message's way.
    house.json(&["send", "blue", "short"])?;
    eventually("the next arrives", || {
        house.ok(&["output", "blue"]).is_ok_and(|o| o.contains("got 5"))
    })
}
