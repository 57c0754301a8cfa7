//! Another version or build of the program beside this one: holders that it started, daemons that
//! make way for it.

use crate::daemon::doors::daemons;
use crate::support::house::{Background, House, Outcome, lives, program};
use crate::support::wreck::{Canary, Foreground, folder, pid_of};
use glis_wire::frame::Decoder;
use glis_wire::hold::{Report, place};
use serde_json::Value;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What [`later_build`] takes itself for.
const LATER: u64 = 99_999_999_999_999;

/// A copy of the program that takes itself for another version.
fn other_version(dir: &Path) -> Outcome<PathBuf> {
    program_without(dir, env!("CARGO_PKG_VERSION"))
}

/// A copy of the program in which this word is another one wherever it stands.
pub(crate) fn program_without(dir: &Path, word: &str) -> Outcome<PathBuf> {
    let path = dir.join("glis-other");
    let other = format!("s/{}/{}/g", word.replace('.', "\\."), "9".repeat(word.len()));
    let mut sed = Command::new("sed");
    sed.arg(other).arg(program()).stdout(File::create(&path)?).env("LC_ALL", "C");
    assert!(sed.status()?.success(), "{}", path.display());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// What a holder says about the program it came from.
fn version_of(dir: &Path) -> Outcome<String> {
    let mut stream = UnixStream::connect(dir.join(place::SOCKET))?;
    let mut decoder = Decoder::default();
    let mut piece = [0; 4096];
    loop {
        if let Some(frame) = decoder.next_frame()? {
            let Report::Hello(hello) = frame.words()? else { return Err("no hello".into()) };
            return Ok(hello.version);
        }
        let read = stream.read(&mut piece)?;
        decoder.feed(&piece[..read]);
    }
}

#[test]
fn a_holder_of_another_version_is_found_and_works() -> Outcome {
    let house = House::new()?;
    std::fs::create_dir_all(house.home())?;
    let program = other_version(house.repo().parent().ok_or("no parent")?)?;
    for arguments in [
        ["new", "blue", "--agent", "rehearsal", "--headless"].as_slice(),
        ["send", "blue", "stream 40 20"].as_slice(),
        ["wait", "blue", "--for", "busy", "--timeout", "20s"].as_slice(),
    ] {
        let mut command = std::process::Command::new(&program);
        house.enter(&mut command).current_dir(house.repo());
        assert!(command.args(arguments).status()?.success(), "{arguments:?}");
    }
    house.kill_daemon()?;
    let session = house.show("blue")?;
    let dir = folder(&house, session["id"].as_str().ok_or("no id")?);
    assert_ne!(version_of(&dir)?, env!("CARGO_PKG_VERSION"));
    assert_eq!(house.json(&["daemon", "status"])?["version"], env!("CARGO_PKG_VERSION"));
    let idle = house.until("blue", "idle")?;
    assert_eq!(pid_of(&idle)?, pid_of(&session)?);
    assert_eq!(house.talk("blue")?.len(), 41);
    house.turn("blue", "say still here")?;
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    house.json(&["resume", "blue"])?;
    let fresh = house.turn("blue", "recall")?;
    assert_eq!(fresh["generation"], 2);
    Ok(())
}

/// A copy of the program that takes itself for a later build.
pub(crate) fn later_build(dir: &Path) -> Outcome<PathBuf> {
    let told = Command::new(program()).arg("--version").output()?.stdout;
    let told = String::from_utf8(told)?;
    let (_, build) = told.trim_end().rsplit_once(' ').ok_or("no build")?;
    program_without(dir, build)
}

/// Runs a command line of another build that has to succeed, and returns its JSON.
fn json_of(house: &House, program: &Path, words: &[&str]) -> Outcome<Value> {
    let output = house.glis_of(program).arg("--json").args(words).output()?;
    assert!(output.status.success(), "{words:?}: {output:?}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[test]
fn a_newer_build_replaces_the_daemon_and_the_agents_run_on() -> Outcome {
    let house = House::new()?;
    let next = later_build(house.folder())?;
    house.rehearsal("blue")?;
    house.json(&["send", "blue", "stream 60 50"])?;
    let agent = pid_of(&house.until("blue", "busy")?)?;
    let older = house.json(&["daemon", "status"])?;
    assert!(older["build"].as_u64().is_some_and(|build| build > 20_260_000_000_000), "{older}");

    // Looking at the daemon replaces nothing.
    let seen = json_of(&house, &next, &["daemon", "status"])?;
    assert_eq!((&seen["pid"], &seen["build"]), (&older["pid"], &older["build"]));

    // The next command does. The turn goes on meanwhile, and nothing of it is lost.
    assert_eq!(pid_of(&json_of(&house, &next, &["show", "blue"])?)?, agent);
    let newer = json_of(&house, &next, &["daemon", "status"])?;
    assert_eq!(newer["build"], LATER);
    assert_ne!(newer["pid"], older["pid"]);
    assert!(!lives(pid_of(&older)?));
    let wait = ["wait", "blue", "--for", "idle", "--timeout", "40s"];
    assert_eq!(pid_of(&json_of(&house, &next, &wait)?)?, agent);
    assert_eq!(json_of(&house, &next, &["log", "blue"])?.as_array().map(Vec::len), Some(61));

    // An older command changes nothing and says why.
    let (status, error) = house.fails(&["send", "blue", "say no"])?;
    assert_eq!((status, &error["kind"]), (8, &"no_daemon".into()));
    let told = error["message"].as_str().unwrap_or_default();
    assert!(
        told.contains("newer than this command") && told.contains(&LATER.to_string()),
        "{told}"
    );
    assert_eq!(json_of(&house, &next, &["daemon", "status"])?["pid"], newer["pid"]);
    assert_eq!(json_of(&house, &next, &["log", "blue"])?.as_array().map(Vec::len), Some(61));

    // The holder of the older build is told from the newer one what to do.
    assert_eq!(json_of(&house, &next, &["pause", "blue"])?["status"], "paused");
    json_of(&house, &next, &["resume", "blue"])?;

    // Whoever wants to go back says so.
    let hint = error["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("`glis daemon stop`"), "{hint}");
    house.ok(&["daemon", "stop"])?;
    house.turn("blue", "say back again")?;
    assert_eq!(house.json(&["daemon", "status"])?["build"], older["build"]);
    Ok(())
}

#[test]
fn two_builds_that_come_at_once_do_not_take_turns_for_ever() -> Outcome {
    let house = House::new()?;
    let next = later_build(house.folder())?;
    for _ in 0..3 {
        let begin = |program: &Path| {
            Background::start(house.glis_of(program).args(["--json", "daemon", "start"]))
        };
        let mut commands = Vec::new();
        for _ in 0..6 {
            commands.push((false, begin(&program())?));
            commands.push((true, begin(&next)?));
        }
        for (newer, mut command) in commands {
            let status = command.0.wait()?;
            // An older one was faster, was cut off, or found a newer daemon. A newer one never fails.
            let fits = status.success() || (!newer && status.code() == Some(8));
            assert!(fits, "newer {newer}: {status}");
        }
        assert_eq!(daemons(&house).len(), 1);
        let stands = json_of(&house, &next, &["daemon", "status"])?;
        assert_eq!(stands["build"], LATER);
        house.ok(&["daemon", "stop"])?;
    }
    Ok(())
}

#[test]
fn a_daemon_that_speaks_another_protocol_is_ended_by_who_it_is() -> Outcome {
    let house = House::new()?;
    let next = later_build(house.folder())?;
    house.rehearsal("blue")?;
    house.json(&["send", "blue", "stream 60 50"])?;
    let agent = pid_of(&house.until("blue", "busy")?)?;
    let mut canary = Canary::new()?;
    for replace in [["ls"].as_slice(), &["daemon", "stop"]] {
        json_of(&house, &next, &["daemon", "stop"])?;
        let foreign = Foreground::start(&house, &[("GLIS_FAILPOINT", "protocol:9")])?;
        // A number in a file says nothing about who answers at the socket.
        std::fs::write(house.home().join("daemon.lock"), format!("{}\n", canary.pid()))?;
        let (status, error) = house.fails(&["daemon", "status"])?;
        assert_eq!(status, 8, "{error}");
        let output = house.glis_of(&next).args(replace).output()?;
        assert!(output.status.success(), "{replace:?}: {output:?}");
        assert!(foreign.end()?.success(), "it was not ended in order");
    }
    assert!(canary.sings());
    assert!(lives(agent));
    assert_eq!(pid_of(&json_of(&house, &next, &["show", "blue"])?)?, agent);
    Ok(())
}
