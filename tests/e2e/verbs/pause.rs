//! What a pause does where nobody says it: when its time runs out, and with the worktree. And when a
//! person last looked.

use crate::support::house::{House, Outcome};
use crate::support::wreck::text_of;
use serde_json::{Value, json};
use std::path::Path;

/// An agent that does not let go of its turn.
fn stubborn(house: &House, name: &str) -> Outcome {
    house.rehearsal(name)?;
    house.turn(name, "ignore int")?;
    house.ok(&["send", name, "work 600"])?;
    house.until(name, "busy").map(drop)
}

/// S2.
#[test]
fn a_pause_whose_time_runs_out_is_refused_or_forced_as_asked_or_configured() -> Outcome {
    let house = House::new()?;
    let short = "[pause]\nsafe_state_secs = 1\ninterrupt_secs = 1\nterminate_secs = 1\n";
    house.configure(short)?;
    stubborn(&house, "blue")?;
    for args in [&["pause", "blue"][..], &["pause", "blue", "--on-timeout", "refuse"]] {
        let (status, error) = house.fails(args)?;
        assert_eq!((status, &error["kind"]), (5, &json!("not_safe")), "{error}");
        let message = text_of(&error, "message")?;
        assert!(message.contains("timeout waiting for safe state"), "{message}");
    }
    let forced = house.json(&["pause", "blue", "--on-timeout", "force"])?;
    assert_eq!(forced["status"], "paused");
    assert_eq!(forced["pause_rule"], "Agent did not reach safe state, forcing pause");

    house.configure(&format!("{short}on_timeout = \"force\"\n"))?;
    stubborn(&house, "red")?;
    assert_eq!(house.fails(&["pause", "red", "--on-timeout", "refuse"])?.0, 5);
    assert_eq!(house.json(&["pause", "red"])?["status"], "paused");
    Ok(())
}

/// S3.
#[test]
fn a_pause_removes_the_worktree_where_that_is_usual_and_a_snapshot_has_it() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\nremove_worktree = true\n")?;
    std::fs::write(house.repo().join(".gitignore"), "*.cache\n")?;
    house.git(&["add", "--all"])?;
    house.git(&["commit", "--quiet", "--message=ignore"])?;
    let is_there = |session: &Value| -> Outcome<bool> {
        Ok(Path::new(&text_of(session, "worktree")?).exists())
    };
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt x")?;
    let paused = house.json(&["pause", "blue"])?;
    assert_eq!((&paused["worktree_removed"], is_there(&paused)?), (&json!(true), false));
    assert_eq!(house.json(&["pause", "blue"])?["already"], true);
    house.json(&["resume", "blue"])?;
    assert_eq!(std::fs::read_to_string(house.file("blue", "a.txt")?)?, "x");
    // For this once not.
    let kept = house.json(&["pause", "blue", "--keep-worktree"])?;
    assert_eq!((&kept["worktree_removed"], is_there(&kept)?), (&json!(false), true));
    house.json(&["resume", "blue"])?;
    // What no snapshot holds keeps the worktree, and nobody from the pause.
    house.turn("blue", "write big.cache x")?;
    let stays = house.json(&["pause", "blue"])?;
    assert_eq!((&stays["status"], is_there(&stays)?), (&json!("paused"), true));
    let warned = stays["warnings"].to_string();
    assert!(warned.contains("Failed to remove worktree: "), "{warned}");
    assert!(warned.contains("big.cache"), "{warned}");
    // A session in place is in a folder of the user's.
    house.json(&["new", "here", "--in-place", "--", "sleep", "100000"])?;
    house.json(&["pause", "here", "--mode", "force"])?;
    assert!(house.repo().exists());
    Ok(())
}

#[test]
fn where_the_disk_is_nearly_full_a_pause_of_everything_removes_worktrees_too() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\nremove_below_percent = 100\n")?;
    house.json(&[
        "new",
        "kept",
        "--agent",
        "rehearsal",
        "--headless",
        "--keep-worktree-on-pause",
    ])?;
    house.rehearsal("blue")?;
    let mut files = Vec::new();
    for name in ["kept", "blue"] {
        house.turn(name, "write a.txt kept")?;
        files.push(house.file(name, "a.txt")?);
    }
    house.ok(&["pause", "--all"])?;
    assert_eq!(files.iter().map(|file| file.exists()).collect::<Vec<_>>(), [true, false]);
    house.ok(&["resume", "--all"])?;
    house.until("blue", "idle")?;
    assert_eq!(std::fs::read_to_string(&files[1])?.trim(), "kept");
    Ok(())
}

/// S3.
#[test]
fn a_worktree_is_removed_where_its_disk_is_nearly_full_if_that_is_allowed() -> Outcome {
    // No disk has all of its blocks free, and none has fewer than none.
    for (percent, removed) in [(100, true), (0, false)] {
        let house = House::new()?;
        house.configure(&format!("[pause]\nremove_below_percent = {percent}\n"))?;
        house.rehearsal("blue")?;
        house.turn("blue", "write a.txt kept")?;
        let file = house.file("blue", "a.txt")?;
        house.ok(&["pause", "blue"])?;
        assert_eq!(!file.exists(), removed, "{percent}");
        house.ok(&["resume", "blue"])?;
        house.until("blue", "idle")?;
        assert_eq!(std::fs::read_to_string(&file)?.trim(), "kept");
    }
    Ok(())
}

#[test]
fn a_session_has_its_own_rule_for_its_worktree() -> Outcome {
    let house = House::new()?;
    let make = |name: &str, rule: &str| -> Outcome<Value> {
        house.json(&["new", name, "--agent", "rehearsal", "--headless", rule])?;
        house.turn(name, "write a.txt x")?;
        house.json(&["pause", name])
    };
    assert_eq!(make("goes", "--remove-worktree-on-pause")?["worktree_removed"], true);
    house.configure("[pause]\nremove_worktree = true\n")?;
    assert_eq!(make("stays", "--keep-worktree-on-pause")?["worktree_removed"], false);
    Ok(())
}

/// S4.
#[test]
fn who_looks_is_remembered_without_an_event_and_without_activity() -> Outcome {
    let house = House::new()?;
    assert_eq!(house.rehearsal("blue")?["last_accessed_at"], Value::Null);
    house.ok(&["send", "blue", "say hi"])?;
    house.follow(1)?.until(|event| event["event"] == "worktree_saved")?;
    let made = house.json(&["ls"])?[0].clone();
    assert_eq!(made["last_accessed_at"], Value::Null, "a list is no look at one of them");
    let numbered = || -> Outcome<usize> { Ok(house.ok(&["events"])?.lines().count()) };
    let before = numbered()?;
    let seen = house.show("blue")?;
    let first = text_of(&seen, "last_accessed_at")?;
    assert!(first.ends_with('Z'), "{first}");
    house.ok(&["log", "blue"])?;
    let later = text_of(&house.json(&["ls"])?[0], "last_accessed_at")?;
    assert!(later >= first, "{later} {first}");
    assert_eq!(numbered()?, before, "looking is no event");
    assert_eq!(house.show("blue")?["last_active_at"], made["last_active_at"]);
    // It is kept in the session's folder, for nobody else.
    let file = house.home().join("sessions").join(text_of(&made, "id")?).join("accessed");
    crate::support::house::eventually("the file", || file.exists())?;
    house.ok(&["daemon", "stop"])?;
    assert!(house.json(&["ls"])?[0]["last_accessed_at"].is_string());
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions());
    assert_eq!(mode & 0o777, 0o600);
    Ok(())
}
