//! A session's folder that is deleted or moved while its process runs.

use crate::support::held::{BOUND, held, signal, warnings};
use crate::support::house::{House, Outcome, eventually, lives};
use crate::support::wreck::{folder, marked, text_of};
use rustix::process::Signal;
use std::fs;
use std::time::Instant;

#[derive(PartialEq)]
enum Kill {
    Nobody,
    Daemon,
}

#[test]
fn a_session_whose_folder_is_deleted_is_told_and_pauses() -> Outcome {
    let house = House::new()?;
    house.command(
        "blue",
        &["sh", "-c", "while printf '$ ' && read line; do echo \"got $line\"; done"],
    )?;
    let session = house.until("blue", "idle")?;
    let dir = folder(&house, &text_of(&session, "id")?);
    fs::remove_dir_all(&dir)?;
    house.follow(1)?.until(|e| e["event"] == "folder_lost")?;
    assert!(warnings(&house.show("blue")?).contains("its folder was deleted"));
    let doctor = String::from_utf8(house.glis().arg("doctor").output()?.stdout)?;
    assert!(doctor.contains("its folder was deleted"), "{doctor}");
    house.json(&["send", "blue", "more"])?;
    eventually("output goes on", || {
        house.ok(&["output", "blue"]).is_ok_and(|o| o.contains("got more"))
    })?;
    let paused = house.json(&["pause", "blue", "--mode", "interrupt"])?;
    assert_eq!(paused["status"], "paused");
    house.json(&["resume", "blue"])?;
    house.json(&["acknowledge", "blue"])?;
    assert!(!warnings(&house.show("blue")?).contains("its folder was deleted"));
    Ok(())
}

/// Its holder had no time to make the folder again: what comes next must not be taken for what was
/// heard before.
#[test]
fn a_session_whose_folder_is_deleted_right_before_a_pause_is_heard_again() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "stream 40 0")?;
    fs::remove_dir_all(folder(&house, &text_of(&session, "id")?))?;
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert_eq!(paused["status"], "paused");
    house.json(&["resume", "blue"])?;
    house.turn("blue", "say still heard")?;
    assert!(house.talk("blue")?.iter().any(|(_, text)| text == "still heard"));
    Ok(())
}

#[test]
fn a_session_whose_folder_is_deleted_stops_also_after_the_daemons_death() -> Outcome {
    for kill in [Kill::Nobody, Kill::Daemon] {
        let house = House::new()?;
        let (session, holder) = held(&house)?;
        let id = text_of(&session, "id")?;
        fs::remove_dir_all(folder(&house, &id))?;
        if kill == Kill::Daemon {
            house.kill_daemon()?;
        }
        let shown = house.show("blue")?;
        assert_eq!(shown["pid"], session["pid"], "it was found again");
        let stopped = house.json(&["stop", "blue"])?;
        assert_eq!(stopped["status"], "suspended");
        assert_eq!(marked(&id), Vec::<i32>::new());
        eventually("the holder goes as well", || !lives(holder))?;
    }
    Ok(())
}

#[test]
fn a_session_whose_folder_is_moved_is_ended_by_who_it_is() -> Outcome {
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    let id = text_of(&session, "id")?;
    let dir = folder(&house, &id);
    fs::rename(&dir, house.folder().join("moved"))?;
    house.kill_daemon()?;
    let doctor = String::from_utf8(house.glis().arg("doctor").output()?.stdout)?;
    assert!(doctor.contains("is gone while its process runs"), "{doctor}");
    assert_eq!(house.show("blue")?["pid"], session["pid"]);
    let begun = Instant::now();
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!(paused["status"], "paused");
    assert_eq!(marked(&id), Vec::<i32>::new());
    assert!(!lives(holder));
    Ok(())
}

#[test]
fn a_deleted_folder_is_told_at_the_next_look_and_nothing_said_is_lost() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say before")?;
    house.in_terminal("green")?;
    house.turn("green", "say before")?;
    for name in ["blue", "green"] {
        let dir = folder(&house, &text_of(&house.show(name)?, "id")?);
        fs::remove_dir_all(&dir)?;
        let told = warnings(&house.show(name)?);
        assert!(
            told.contains("is gone while") || told.contains("its folder was deleted"),
            "{told}"
        );
        // Its screen comes along, so that a message is typed at its prompt, and so do its words.
        house.turn(name, "say after")?;
        for word in ["before", "after"] {
            eventually("it is in the log", || {
                house.talk(name).is_ok_and(|said| said.iter().any(|(_, text)| text == word))
            })?;
        }
    }
    // What was acknowledged is not told again by the next daemon.
    house.follow(1)?.until(|e| e["event"] == "folder_lost")?;
    eventually("it is told", || {
        house.show("blue").is_ok_and(|s| warnings(&s).contains("its folder was deleted"))
    })?;
    house.json(&["acknowledge", "blue"])?;
    let noted = house.json(&["acknowledge", "--all"])?;
    assert_eq!(noted.as_array().map(Vec::len), Some(1), "{noted}");
    assert_eq!(noted[0]["name"], "green");
    house.kill_daemon()?;
    assert_eq!(warnings(&house.show("blue")?), "[]");
    Ok(())
}

#[test]
fn the_folders_of_all_sessions_deleted_without_a_daemon_lose_no_agent() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.json(&["send", "blue", "run until [ -e go ]; do sleep 0.05; done\nsay done"])?;
    house.until("blue", "busy")?;
    let session = house.show("blue")?;
    let go = house.file("blue", "go")?;
    house.kill_daemon()?;
    fs::remove_dir_all(house.home().join("sessions"))?;
    let shown = house.show("blue")?;
    assert_eq!(shown["pid"], session["pid"]);
    assert!(warnings(&shown).contains("its folder was deleted"), "{shown}");
    fs::write(go, "")?;
    house.until("blue", "idle")?;
    house.turn("blue", "say more")?;
    let said = house.talk("blue")?;
    for word in ["done", "more"] {
        assert!(said.iter().any(|(_, text)| text == word), "{said:?}");
    }
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    Ok(())
}

#[test]
fn an_agent_whose_home_is_deleted_is_told_with_its_number() -> Outcome {
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    let (id, pid) = (text_of(&session, "id")?, session["pid"].to_string());
    house.kill_daemon()?;
    fs::remove_dir_all(house.home())?;
    // Its holder may be faster than the next command: it makes its folder where a home is.
    fs::create_dir(house.home())?;
    signal(holder, Signal::URG)?;
    eventually("it makes its folder", || folder(&house, &id).join("remade").exists())?;
    let listed = house.glis().arg("ls").output()?;
    let told = String::from_utf8(listed.stderr)?;
    assert!(listed.status.success() && told.contains(&format!("(pid {pid})")), "{told}");
    assert_eq!(house.json(&["daemon", "status"])?["unregistered"].to_string(), format!("[{pid}]"));
    let doctor = String::from_utf8(house.glis().arg("doctor").output()?.stdout)?;
    assert!(doctor.contains(&id) && doctor.contains(&format!("`kill {pid}` ends it")), "{doctor}");
    eventually("what it prints is kept again", || folder(&house, &id).join("output").is_dir())?;
    crate::support::house::kill_and_wait(pid.parse()?)?;
    eventually("its holder goes with it", || !lives(holder))?;
    assert_eq!(String::from_utf8(house.glis().arg("ls").output()?.stderr)?, "");
    // And the home can be begun with.
    house.rehearsal("green")?;
    house.kill_daemon()?;
    assert_eq!(house.show("green")?["status"], "created");
    Ok(())
}
