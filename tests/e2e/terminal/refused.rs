//! What a terminal is not given: a session its own screen, also by way of others, and a line that it
//! would cut.

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

/// The output of a session, as it is now.
fn length_of(house: &House, name: &str) -> Outcome<u64> {
    house.json(&["output", name])?["bytes"].as_u64().ok_or_else(|| "no length".into())
}

/// Runs a line in a session of its own, and returns what it came to.
fn status_in(house: &House, name: &str, line: &str) -> Outcome<String> {
    let script = format!("{line}; echo $? > status; sleep 600");
    house.command(name, &["sh", "-c", &script])?;
    let status = house.file(name, "status")?;
    eventually("it ends", || fs::read_to_string(&status).is_ok_and(|s| s.ends_with('\n')))?;
    Ok(fs::read_to_string(&status)?.trim().to_owned())
}

#[test]
fn a_session_does_not_follow_its_own_output() -> Outcome {
    let house = House::new()?;
    let glis = program();
    let glis = glis.to_str().ok_or("path")?;
    assert_eq!(status_in(&house, "blue", &format!("{glis} output blue --follow"))?, "4");
    assert!(house.ok(&["output", "blue"])?.contains("runs inside `blue`"));
    // Without --follow it prints what there was when it began, and ends.
    let line = format!("seq 1 1000; {glis} output green");
    assert_eq!(status_in(&house, "green", &line)?, "0");
    assert!(length_of(&house, "green")? < 20_000);
    Ok(())
}

#[test]
fn sessions_do_not_show_each_other() -> Outcome {
    let house = House::new()?;
    let glis = program();
    let glis = glis.to_str().ok_or("path")?;
    house.command("blue", &["sh"])?;
    // Green shows blue, and red shows green.
    house.command("green", &["sh", "-c", &format!("{glis} attach blue")])?;
    eventually("it shows", || house.show("blue").is_ok_and(|s| s["attached"] == 1))?;
    house.command("red", &["sh", "-c", &format!("{glis} output green --follow")])?;
    eventually("it follows", || length_of(&house, "red").is_ok_and(|length| length > 0))?;
    for target in ["green", "red"] {
        for verb in [format!("attach {target}"), format!("output {target} --follow")] {
            let status = house.file("blue", "status")?;
            house.json(&["send", "blue", &format!("{glis} {verb}; echo $? > status")])?;
            eventually("it is refused", || {
                fs::read_to_string(&status).is_ok_and(|s| s.ends_with('\n'))
            })?;
            assert_eq!(fs::read_to_string(&status)?, "4\n", "{verb}");
            fs::remove_file(&status)?;
            let told = house.ok(&["output", "blue"])?;
            assert!(told.contains(&format!("`{target}` shows `blue` already")), "{told}");
        }
    }
    // What has ended shows no more.
    house.ok(&["stop", "green"])?;
    house.command("pink", &["sh"])?;
    house.json(&["send", "blue", &format!("{glis} attach pink")])?;
    eventually("blue shows another", || house.show("pink").is_ok_and(|s| s["attached"] == 1))
}

#[test]
fn events_that_are_followed_inside_a_session_do_not_cause_further_ones() -> Outcome {
    let house = House::new()?;
    let glis = program();
    let line = format!("{} events --follow", glis.to_str().ok_or("path")?);
    for name in ["blue", "green"] {
        house.command(name, &["sh", "-c", &line])?;
    }
    // Coming to rest is an event, and printed it would end the rest. What else happened at the
    // beginning, such as a snapshot, is printed and followed by one rest more.
    let rests = |name: &str| -> Outcome<bool> {
        house.until(name, "idle")?;
        let busy = ["wait", name, "--for", "busy", "--timeout", "8s"];
        Ok(!house.glis().args(busy).output()?.status.success())
    };
    let rested = (0..4).any(|_| rests("blue").unwrap_or_default());
    assert!(rested && house.show("green")?["status"] == "idle", "{}", house.ok(&["events"])?);
    // What else happens is told, and what waited with it: nothing is left out.
    house.command("red", &["sh"])?;
    for name in ["blue", "green"] {
        eventually("it is told", || {
            let text = house.ok(&["output", name]).unwrap_or_default();
            text.contains("screen_judged") && text.contains("\"name\":\"red\"")
        })?;
    }
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
