//! The agent's environment: the caller's, in memory only.

use crate::support::house::{Background, House, Outcome};
use serde_json::Value;
use std::path::Path;

/// Whether a file below `folder` holds these bytes.
fn holds(folder: &Path, bytes: &[u8]) -> Outcome<Option<std::path::PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let facts = path.symlink_metadata()?;
        if facts.is_dir() {
            if let Some(found) = holds(&path, bytes)? {
                return Ok(Some(found));
            }
        } else if facts.is_file()
            && std::fs::read(&path)?.windows(bytes.len()).any(|part| part == bytes)
        {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn has_name(session: &Value, name: &str) -> bool {
    session["env_names"].as_array().is_some_and(|names| names.iter().any(|n| n == name))
}

#[test]
fn an_agent_gets_the_environment_of_the_command_that_starts_it() -> Outcome {
    let house = House::new()?;
    let run = |args: &[&str], colour: &str| -> Outcome {
        let output = house.glis().args(args).env("COLOUR", colour).output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    };
    run(&["new", "blue", "--agent", "rehearsal", "--headless"], "never")?;
    run(&["send", "blue", "run echo $COLOUR $PWD > a.txt; pwd >> a.txt"], "first")?;
    house.until("blue", "idle")?;
    let worktree = house.show("blue")?["worktree"].as_str().ok_or("no worktree")?.to_owned();
    let seen = std::fs::read_to_string(house.file("blue", "a.txt")?)?;
    assert_eq!(seen, format!("first {worktree}\n{worktree}\n"));
    house.ok(&["pause", "blue"])?;
    run(&["resume", "blue"], "second")?;
    house.turn("blue", "run echo $COLOUR > b.txt")?;
    assert_eq!(std::fs::read_to_string(house.file("blue", "b.txt")?)?, "second\n");
    house.ok(&["stop", "blue"])?;
    run(&["restart", "blue", "--yes"], "third")?;
    house.turn("blue", "run echo $COLOUR > c.txt")?;
    assert_eq!(std::fs::read_to_string(house.file("blue", "c.txt")?)?, "third\n");
    house.ok(&["stop", "blue"])?;
    run(&["send", "blue", "run echo $COLOUR > d.txt"], "fourth")?;
    house.turn("blue", "say done")?;
    assert_eq!(std::fs::read_to_string(house.file("blue", "d.txt")?)?, "fourth\n");
    Ok(())
}

/// A session that is being stopped for some seconds, for its agent is deaf, and that a message has
/// come for meanwhile; whose daemon is dead by then.
fn left_in_the_middle_of_a_stop(house: &House, program: &Path, colour: &str) -> Outcome {
    let run = |args: &[&str], colour: &str| -> Outcome {
        let mut command = house.glis_of(program);
        let output = command.args(args).env("COLOUR", colour).output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    };
    house.configure("[pause]\ninterrupt_secs = 1\nterminate_secs = 4\n")?;
    run(&["daemon", "start"], "of-the-daemon")?;
    let new = ["new", "blue", "--agent", "rehearsal", "--headless", "--"];
    let deaf = ["--misbehave", "ignore-int", "--misbehave", "ignore-term"];
    run(&[&new[..], &deaf].concat(), "never")?;
    run(&["send", "blue", "touch-slowly slow.txt 100000 50"], colour)?;
    let busy = house.until("blue", "busy")?;
    let id = house.show("blue")?["id"].clone();
    let _stop = Background::start(house.glis().args(["stop", "blue"]))?;
    house.follow(1)?.until(|e| e["event"] == "stop_began" && e["session"] == id)?;
    run(&["send", "blue", "run echo $COLOUR > a.txt"], "of-the-last-daemon")?;
    house.kill_daemon()?;
    // The next one finds its holder alive, and starts the session for the message.
    assert_eq!(house.show("blue")?["pid"], busy["pid"]);
    let mut events = house.follow(1)?;
    let started = |e: &Value| e["event"] == "process_started" && e["session"] == id;
    events.until(started)?;
    events.until(started)?;
    events.until(|e| e["event"] == "turn_ended" && e["session"] == id).map(drop)
}

#[test]
fn a_start_that_nobody_commands_has_the_environment_that_the_holder_remembers() -> Outcome {
    let house = House::new()?;
    let secret = format!("swordfish-{}", std::process::id());
    let program = crate::support::house::program();
    left_in_the_middle_of_a_stop(&house, &program, &secret)?;
    let seen = std::fs::read_to_string(house.file("blue", "a.txt")?)?;
    assert_eq!(seen.trim(), secret);
    let told = house.show("blue")?["warnings"].to_string();
    assert!(told.contains("environment of its former process"), "{told}");
    std::fs::remove_file(house.file("blue", "a.txt")?)?;
    house.ok(&["stop", "blue"])?;
    house.ok(&["daemon", "stop"])?;
    // The conversation names the variable; its value is nowhere.
    assert_eq!(holds(&house.home(), secret.as_bytes())?, None);
    Ok(())
}

#[test]
fn a_holder_that_cannot_tell_leaves_the_daemons_own_environment() -> Outcome {
    let house = House::new()?;
    std::fs::create_dir_all(house.home())?;
    // A holder of a time before that word.
    let yard = house.repo().parent().ok_or("no parent")?.to_owned();
    let program = crate::daemon::upgrade::program_without(&yard, "environment")?;
    left_in_the_middle_of_a_stop(&house, &program, "of-the-first-start")?;
    let seen = std::fs::read_to_string(house.file("blue", "a.txt")?)?;
    assert_eq!(seen.trim(), "", "nobody gave the second daemon a colour");
    let told = house.show("blue")?["warnings"].to_string();
    assert!(told.contains("the daemon's own environment"), "{told}");
    Ok(())
}

#[test]
fn a_secret_is_never_written_to_disk_and_its_name_is_shown() -> Outcome {
    let house = House::new()?;
    let secret = format!("swordfish-{}", std::process::id());
    let run = |args: &[&str]| -> Outcome {
        let output = house.glis().args(args).env("MY_TOKEN", &secret).output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    };
    run(&["new", "red", "--agent", "rehearsal"])?;
    run(&["new", "blue", "--agent", "rehearsal", "--headless"])?;
    run(&["send", "blue", "run test -n \"$MY_TOKEN\" && echo yes > a.txt"])?;
    house.until("blue", "idle")?;
    assert_eq!(std::fs::read_to_string(house.file("blue", "a.txt")?)?, "yes\n");
    for name in ["blue", "red"] {
        assert!(has_name(&house.show(name)?, "MY_TOKEN"), "{name}");
        assert!(!house.show(name)?.to_string().contains(&secret));
    }
    run(&["pause", "blue"])?;
    run(&["resume", "blue"])?;
    run(&["stop", "red"])?;
    run(&["daemon", "stop"])?;
    assert_eq!(holds(&house.home(), secret.as_bytes())?, None);
    Ok(())
}

#[test]
fn the_names_are_those_of_the_process_not_of_whoever_came_later() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hi")?;
    let output = house.glis().args(["send", "blue", "say ho"]).env("LATECOMER", "1").output()?;
    assert!(output.status.success());
    assert!(!has_name(&house.show("blue")?, "LATECOMER"));
    Ok(())
}

#[test]
fn the_names_outlive_the_daemon() -> Outcome {
    let house = House::new()?;
    let output =
        house.glis().args(["new", "blue", "--agent", "rehearsal"]).env("MY_TOKEN", "1").output()?;
    assert!(output.status.success());
    house.kill_daemon()?;
    assert!(has_name(&house.show("blue")?, "MY_TOKEN"));
    Ok(())
}

#[test]
fn nothing_of_the_house_around_an_agent_leaks_into_it() -> Outcome {
    let house = House::new()?;
    let output = house
        .glis()
        .args(["new", "tool", "--agent", "command", "--", "env"])
        .env("GLIS_SESSION", "another")
        .env("TERM", "dumb")
        .output()?;
    assert!(output.status.success());
    let id = house.until("tool", "completed")?["id"].as_str().ok_or("no id")?.to_owned();
    let seen = house.ok(&["output", "tool"])?;
    let value = |name: &str| {
        let line = seen.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.map(|value| value.trim_end().to_owned())
    };
    assert_eq!(value("GLIS_SESSION"), Some(id));
    assert_eq!(value("TERM").as_deref(), Some("xterm-256color"));
    assert_eq!(
        value("PWD"),
        Some(house.file("tool", "")?.to_string_lossy().trim_end_matches('/').to_owned())
    );
    Ok(())
}

#[test]
fn an_agent_started_from_inside_a_git_hook_commits_to_its_own_branch() -> Outcome {
    let house = House::new()?;
    let before = house.git(&["rev-parse", "main"])?;
    let commit = "run git -c user.name=A -c user.email=a@example.org commit --allow-empty -qm mine";
    let mut new = house.glis();
    new.env("GIT_DIR", house.repo().join(".git")).env("GIT_WORK_TREE", house.repo());
    let args = ["new", "blue", "--agent", "rehearsal", "--headless", "--prompt", commit];
    assert!(new.args(args).status()?.success());
    house.until("blue", "idle")?;
    assert_eq!(house.git(&["rev-parse", "main"])?, before);
    assert_eq!(house.git(&["log", "-1", "--format=%s", "glis/blue"])?, "mine");
    Ok(())
}
