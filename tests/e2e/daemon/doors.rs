//! One daemon per house, whoever starts it, whatever lies about, wherever the house stands.

use crate::support::house::{Background, House, Outcome, kill_and_wait};
use crate::support::wreck::{Canary, Foreground, pid_of, text_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[test]
fn a_second_daemon_says_that_one_runs_already() -> Outcome {
    let house = House::new()?;
    house.ok(&["ls"])?;
    let pid = house.daemon_pid()?;
    let second = house.glis().args(["daemon", "run"]).output()?;
    assert!(!second.status.success());
    let said = String::from_utf8(second.stdout)?;
    assert!(said.contains(&format!("already running (pid {pid})")), "{said}");
    assert_eq!(house.daemon_pid()?, pid);
    Ok(())
}

#[test]
fn many_clients_at_once_start_one_daemon() -> Outcome {
    let house = House::new()?;
    for _ in 0..3 {
        let clients: Vec<_> = (0..20)
            .map(|_| Background::start(house.glis().args(["--json", "ls"])))
            .collect::<Result<_, _>>()?;
        for mut client in clients {
            let status = client.0.wait()?;
            assert!(status.success(), "{status}: {:?}", said(&mut client));
        }
        let daemons = daemons(&house);
        assert_eq!(daemons.len(), 1, "{daemons:?}");
        // Once more, with a daemon that has just been killed.
        house.kill_daemon()?;
    }
    Ok(())
}

fn said(client: &mut Background) -> String {
    use std::io::Read as _;
    let mut text = String::new();
    client.0.stdout.as_mut().map(|out| out.read_to_string(&mut text));
    client.0.stderr.as_mut().map(|out| out.read_to_string(&mut text));
    text
}

pub(crate) fn daemons(house: &House) -> Vec<i32> {
    let is_daemon = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"daemon".as_slice())
    };
    house.processes().into_iter().filter(is_daemon).collect()
}

#[test]
fn a_client_that_comes_as_the_daemon_leaves_gets_its_answer() -> Outcome {
    let house = House::new()?;
    house.ok(&["ls"])?;
    for _ in 0..10 {
        let _stop = Background::start(house.glis().args(["daemon", "stop"]))?;
        let client = house.glis().args(["--json", "ls"]).output()?;
        // Told in the middle of its question that the daemon ends is an honest answer.
        let told = String::from_utf8_lossy(&client.stdout).contains("went away");
        assert!(client.status.success() || told, "{client:?}");
    }
    Ok(())
}

#[test]
fn what_a_dead_daemon_left_behind_is_in_nobodys_way() -> Outcome {
    let house = House::new()?;
    let mut canary = Canary::new()?;
    house.ok(&["ls"])?;
    house.kill_daemon()?;
    assert!(house.home().join("daemon.sock").exists(), "a stale socket");
    std::fs::write(house.home().join("daemon.lock"), format!("{}\n", canary.pid()))?;
    house.ok(&["ls"])?;
    assert_ne!(u32::try_from(house.daemon_pid()?)?, canary.pid());
    house.ok(&["daemon", "stop"])?;
    assert!(canary.sings());
    Ok(())
}

/// A house elsewhere: everything that runs in it is ended with it.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn glis(&self, house: &House) -> Command {
        let mut command = house.glis();
        command.env("GLIS_HOME", &self.0);
        command
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let wanted = format!("GLIS_HOME={}", self.0.display()).into_bytes();
        let Ok(entries) = std::fs::read_dir("/proc") else { return };
        for pid in entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<i32>().ok()) {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if environ.split(|byte| *byte == 0).any(|variable| variable == wanted) {
                drop(kill_and_wait(pid));
            }
        }
    }
}

#[test]
fn a_home_with_a_path_too_long_for_a_socket_works() -> Outcome {
    let house = House::new()?;
    let deep = house.repo().join("d".repeat(100)).join("e".repeat(100));
    let home = Elsewhere(deep);
    let made = home
        .glis(&house)
        .args(["--json", "new", "blue", "--agent", "rehearsal", "--headless", "--prompt", "say hi"])
        .output()?;
    assert!(made.status.success(), "{made:?}");
    let wait = ["wait", "blue", "--for", "idle", "--timeout", "30s"];
    assert!(home.glis(&house).args(wait).status()?.success());
    let paused = home.glis(&house).args(["pause", "blue"]).output()?;
    assert!(paused.status.success(), "{paused:?}");
    Ok(())
}

#[test]
fn a_home_that_is_a_file_or_a_link_is_refused_with_a_reason() -> Outcome {
    let house = House::new()?;
    let file = house.repo().join("a-file");
    std::fs::write(&file, "")?;
    let link = house.repo().join("a-link");
    std::fs::create_dir(house.repo().join("target"))?;
    std::os::unix::fs::symlink("target", &link)?;
    for (home, why) in [(file, "a-file"), (link, "symbolic link")] {
        let home = Elsewhere(home);
        let output = home.glis(&house).args(["--json", "ls"]).output()?;
        assert_eq!(output.status.code(), Some(8), "{output:?}");
        let said = String::from_utf8(output.stdout)?;
        assert!(said.contains(why), "{said}");
    }
    Ok(())
}

#[test]
fn a_program_that_is_deleted_while_it_runs_still_starts_agents() -> Outcome {
    let house = House::new()?;
    let copy = house.repo().join("glis-copy");
    std::fs::copy(crate::support::house::program(), &copy)?;
    let mut command = Command::new(&copy);
    house.enter(&mut command).current_dir(house.repo());
    let daemon = Foreground::of(command, &house.home())?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt one")?;
    house.ok(&["pause", "blue"])?;
    std::fs::remove_file(&copy)?;
    house.rehearsal("red")?;
    house.turn("red", "say hello")?;
    house.ok(&["resume", "blue"])?;
    let session = house.turn("blue", "recall")?;
    assert!(pid_of(&session)? > 0);
    assert_eq!(house.daemon_pid()?, daemon.pid()?);
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    Ok(())
}

#[test]
fn a_diary_that_cannot_be_written_ends_nothing() -> Outcome {
    let house = House::new()?;
    let mut command = Command::new("sh");
    let full = "exec \"$0\" \"$@\" 2>/dev/full";
    house.enter(command.args(["-c", full]).arg(crate::support::house::program()));
    let daemon = Foreground::of(command, &house.home())?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "say hello")?;
    // A death that would be complained about.
    kill_and_wait(crate::support::wreck::holder_of(pid_of(&session)?)?)?;
    house.until("blue", "interrupted")?;
    house.ok(&["resume", "blue"])?;
    house.turn("blue", "say hello again")?;
    assert_eq!(house.daemon_pid()?, daemon.pid()?);
    Ok(())
}

#[test]
fn a_daemon_without_descriptors_lives_on_and_gives_up_no_agent() -> Outcome {
    let house = House::new()?;
    let mut command = Command::new("sh");
    let few = "ulimit -n 40; exec \"$0\" \"$@\"";
    house.enter(command.args(["-c", few]).arg(crate::support::house::program()));
    let daemon = Foreground::of(command, &house.home())?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "say hello")?;
    let id = session["id"].clone();
    let mut events = house.follow(1)?;
    events.until(|e| e["event"] == "turn_ended" && e["session"] == id)?;
    house.ok(&["send", "blue", "work 0.3 ;; say in the crowd"])?;
    house.until("blue", "busy")?;
    let door = house.home().join("daemon.sock");
    let crowd: Vec<_> =
        (0..60).filter_map(|_| std::os::unix::net::UnixStream::connect(&door).ok()).collect();
    assert!(crowd.len() > 40);
    // The agent talks and is listened to while nothing can be opened.
    events.until(|e| e["event"] == "turn_ended" && e["session"] == id)?;
    drop(crowd);
    assert!(house.talk("blue")?.iter().any(|(_, text)| text == "in the crowd"));
    let after = house.turn("blue", "say still here")?;
    assert_eq!(after["pid"], session["pid"]);
    assert_eq!(house.daemon_pid()?, daemon.pid()?);
    Ok(())
}

#[test]
fn the_place_where_holders_are_born_can_be_killed() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "say hello")?;
    let daemon = house.daemon_pid()?;
    let is_child =
        |pid: &i32| crate::support::wreck::holder_of(*pid).is_ok_and(|parent| parent == daemon);
    let children: Vec<_> = house.processes().into_iter().filter(is_child).collect();
    assert!(!children.is_empty());
    for child in children {
        kill_and_wait(child)?;
    }
    house.rehearsal("red")?;
    house.turn("red", "say hello")?;
    assert_eq!(house.turn("blue", "say still here")?["pid"], session["pid"]);
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    house.ok(&["resume", "blue"])?;
    Ok(())
}

#[test]
fn agents_that_are_just_starting_are_suspended_too() -> Outcome {
    let house = House::new()?;
    house.ok(&["ls"])?;
    let mut events = house.follow(1)?;
    let names: Vec<_> = (0..6).map(|n| format!("s{n}")).collect();
    let starts: Vec<_> = names
        .iter()
        .map(|name| {
            let args = ["new", name, "--agent", "rehearsal", "--prompt", "work 600"];
            Background::start(house.glis().args(args))
        })
        .collect::<Result<_, _>>()?;
    let begun = events.until(|event| event["event"] == "start_began")?;
    let said = house.ok(&["daemon", "stop", "--agents"])?;
    assert!(said.contains("suspended"), "{said}");
    drop(starts);
    let id = begun["session"].as_str().ok_or("no session")?;
    assert!(crate::support::wreck::marked(id).is_empty());
    for session in house.json(&["ls"])?.as_array().ok_or("no array")? {
        assert!(session["pid"].is_null(), "{session}");
    }
    Ok(())
}

#[test]
fn an_agent_that_cannot_be_suspended_is_named_and_a_signal_ends_the_wait() -> Outcome {
    use rustix::process::{Pid, Signal, kill_process};
    let house = House::new()?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "say hello")?;
    let agent = pid_of(&session)?;
    let holder = Pid::from_raw(crate::support::wreck::holder_of(agent)?).ok_or("no pid")?;
    let daemon = house.daemon_pid()?;
    let mut events = house.follow(1)?;
    kill_process(holder, Signal::STOP)?;
    let mut stop = Background::start(house.glis().args(["daemon", "stop", "--agents"]))?;
    events.until(|event| event["event"] == "stop_began")?;
    // Nothing begins while it lasts.
    let (_, error) = house.fails(&["new", "red", "--agent", "rehearsal"])?;
    assert!(error["message"].to_string().contains("shutting down"), "{error}");
    kill_process(Pid::from_raw(daemon).ok_or("no pid")?, Signal::TERM)?;
    let status = stop.0.wait()?;
    let told = said(&mut stop);
    assert!(!status.success() && told.contains("blue"), "{status}: {told}");
    crate::support::house::await_gone(daemon)?;
    assert!(crate::support::house::lives(agent));
    let diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
    assert!(diary.contains("keep running: blue"), "{diary}");
    kill_process(holder, Signal::CONT)?;
    house.until("blue", "suspended")?;
    Ok(())
}

#[test]
fn a_stopped_daemon_is_woken_by_the_next_command() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let daemon = house.daemon_pid()?;
    for without_socket in [false, true] {
        kill_process(Pid::from_raw(daemon).ok_or("no pid")?, Signal::STOP)?;
        if without_socket {
            fs::remove_file(house.home().join("daemon.sock"))?;
        }
        let output = house.glis().arg("ls").output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains(&format!("the daemon (pid {daemon}) had been stopped")), "{said}");
        assert_eq!(house.daemon_pid()?, daemon);
    }
    Ok(())
}

#[test]
fn what_stands_in_the_place_of_a_file_is_told_with_the_way_out() -> Outcome {
    let house = House::new()?;
    fs::create_dir_all(house.home())?;
    // A pipe without a writer would be read for ever.
    let config = house.home().join("config.toml");
    let made = Command::new("mkfifo").arg(&config).status()?;
    assert!(made.success());
    let (status, error) = house.fails(&["ls"])?;
    assert_eq!(status, 8, "{error}");
    assert!(
        text_of(&error, "message")?.contains("it is not a regular file; move it away"),
        "{error}"
    );
    fs::remove_file(&config)?;
    fs::create_dir(house.home().join("events.db"))?;
    let (status, error) = house.fails(&["ls"])?;
    assert_eq!(status, 8, "{error}");
    assert!(text_of(&error, "message")?.contains("it is a folder; move it away"), "{error}");
    fs::remove_dir(house.home().join("events.db"))?;
    house.ok(&["ls"])?;
    Ok(())
}

#[test]
fn the_version_is_told_with_the_build() -> Outcome {
    let house = House::new()?;
    let told = house.ok(&["-V"])?;
    let daemon =
        house.json(&["daemon", "start"]).and_then(|_| house.json(&["daemon", "status"]))?;
    let build = daemon["build"].as_u64().ok_or("no build")?;
    let version = text_of(&daemon, "version")?;
    assert_eq!(told.trim(), format!("glis {version} build {build}"));
    Ok(())
}

#[test]
fn a_change_with_a_key_is_asked_for_again_when_its_daemon_goes_away() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let go = house.file("blue", "go")?;
    house.json(&["send", "blue", "run until [ -e go ]; do sleep 0.05; done"])?;
    house.until("blue", "busy")?;
    let pause = ["--json", "--key", "k1", "pause", "blue", "--mode", "boundary"];
    let mut command = house.glis();
    let asked = command.args(pause).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    house.until("blue", "pausing")?;
    house.kill_daemon()?;
    fs::write(go, "")?;
    // It was begun by the daemon that died; the next one goes on with it, and answers when it is done.
    let told = asked.wait_with_output()?;
    let answer: Value = serde_json::from_slice(&told.stdout)?;
    assert_eq!(told.status.code(), Some(0), "{answer}");
    assert_eq!(house.show("blue")?["status"], "paused");
    Ok(())
}
