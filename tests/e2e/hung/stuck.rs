//! Things that are stopped, hung, frozen or deleted, not killed. Nothing waits for them for ever, and
//! nothing of them is assumed.

use crate::support::freezer::Freezer;
use crate::support::house::{Background, House, Outcome, eventually, kill_and_wait, lives};
use crate::support::skip::skip;
use crate::support::wreck::{folder, holder_of, marked, pid_of, text_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a process that cannot be ended cannot be had.
const NO_FREEZER: &str = "no control group freezes processes here";

/// Far beyond every bound, and far below for ever.
const BOUND: Duration = Duration::from_secs(90);

fn signal(pid: i32, signal: Signal) -> Outcome {
    Ok(kill_process(Pid::from_raw(pid).ok_or("no pid")?, signal)?)
}

/// A headless session that has worked, and the process that holds its agent.
fn held(house: &House) -> Outcome<(Value, i32)> {
    house.rehearsal("blue")?;
    let session = house.turn("blue", "write a.txt one")?;
    let holder = holder_of(pid_of(&session)?)?;
    Ok((session, holder))
}

fn warnings(session: &Value) -> String {
    session["warnings"].to_string()
}

/// Nothing of the session runs any more, and it can go on.
fn goes_on(house: &House, session: &Value) -> Outcome {
    assert_eq!(marked(&text_of(session, "id")?), Vec::<i32>::new());
    house.json(&["resume", "blue"])?;
    house.turn("blue", "say hello")?;
    Ok(())
}

#[test]
fn a_forced_pause_wakes_a_holder_that_is_stopped() -> Outcome {
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    signal(holder, Signal::STOP)?;
    let begun = Instant::now();
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!(paused["status"], "paused");
    let told = format!("its holder (pid {holder}) did not answer");
    assert!(warnings(&paused).contains(&told), "{paused}");
    goes_on(&house, &session)
}

#[test]
fn a_message_wakes_a_holder_that_is_stopped() -> Outcome {
    let house = House::new()?;
    let (_, holder) = held(&house)?;
    signal(holder, Signal::STOP)?;
    house.turn("blue", "say hello")?;
    let diary = fs::read_to_string(house.home().join("daemon.log"))?;
    assert!(diary.contains(&format!("its holder (pid {holder}) was stopped")), "{diary}");
    Ok(())
}

/// Stops a process again and again, until this is dropped.
struct Stopper(Arc<AtomicBool>);

impl Stopper {
    fn of(pid: i32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) && signal(pid, Signal::STOP).is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self(over)
    }
}

impl Drop for Stopper {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_holder_that_nothing_wakes_is_ended_and_its_tree_is_swept() -> Outcome {
    for verb in [&["pause", "blue", "--mode", "force"][..], &["stop", "blue"]] {
        let house = House::new()?;
        let (session, holder) = held(&house)?;
        let stopper = Stopper::of(holder);
        let begun = Instant::now();
        let ended = house.json(verb)?;
        assert!(begun.elapsed() < BOUND, "{verb:?}");
        drop(stopper);
        let told = format!("its holder (pid {holder}) did not answer and was ended");
        assert!(warnings(&ended).contains(&told), "{ended}");
        assert!(!lives(holder));
        goes_on(&house, &session)?;
    }
    Ok(())
}

#[test]
fn a_holder_whose_socket_is_gone_is_found_by_the_next_daemon() -> Outcome {
    let house = House::new()?;
    let (session, _) = held(&house)?;
    let dir = folder(&house, &text_of(&session, "id")?);
    fs::remove_file(dir.join("hold.sock"))?;
    house.kill_daemon()?;
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert_eq!(paused["status"], "paused");
    goes_on(&house, &session)
}

#[test]
fn a_stopped_holder_without_a_socket_does_not_keep_the_next_daemon() -> Outcome {
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    let dir = folder(&house, &text_of(&session, "id")?);
    signal(holder, Signal::STOP)?;
    fs::remove_file(dir.join("hold.sock"))?;
    house.kill_daemon()?;
    let begun = Instant::now();
    let stopped = house.json(&["stop", "blue"])?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!(stopped["status"], "suspended");
    goes_on(&house, &session)
}

/// A git that hangs as long as a file is there, and the file.
fn hanging_git(house: &mut House) -> Outcome<PathBuf> {
    let bin = house.folder().join("bin");
    fs::create_dir(&bin)?;
    let flag = house.folder().join("hang");
    let path = std::env::var("PATH")?;
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.exists());
    let real = real.ok_or("no git")?;
    let script = format!(
        "#!/bin/sh\nif [ -e '{}' ]; then exec sleep 1000; fi\nexec '{}' \"$@\"\n",
        flag.display(),
        real.display()
    );
    fs::write(bin.join("git"), script)?;
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755))?;
    house.surround("PATH", format!("{}:{path}", bin.display()));
    Ok(flag)
}

#[test]
fn a_git_that_hangs_fails_a_plain_pause_and_the_agent_goes_on() -> Outcome {
    let mut house = House::of_moved_time()?;
    house.configure("[pause]\nsave_secs = 2\n")?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    fs::write(&flag, "")?;
    let refused = house.out_of_time("step", || house.fails(&["pause", "blue"]));
    let (status, error) = refused?;
    assert_eq!(status, 1, "{error}");
    let message = text_of(&error, "message")?;
    assert!(message.contains("no end after"), "{message}");
    assert_eq!(house.show("blue")?["pid"], session["pid"]);
    fs::remove_file(&flag)?;
    house.turn("blue", "say hello")?;
    house.json(&["pause", "blue"])?;
    Ok(())
}

#[test]
fn a_git_that_hangs_does_not_hold_up_a_forced_pause() -> Outcome {
    let mut house = House::of_moved_time()?;
    house.configure("[pause]\nforce_secs = 2\n")?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    fs::write(&flag, "")?;
    let begun = Instant::now();
    let force = ["pause", "blue", "--mode", "force"];
    let paused = house.out_of_time("step", || house.json(&force))?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!((&paused["status"], &paused["pid"]), (&"paused".into(), &Value::Null));
    assert!(warnings(&paused).contains("no snapshot after the stop: no end after"), "{paused}");
    assert!(warnings(&paused).contains("ended sleep (pid"), "{paused}");
    fs::remove_file(&flag)?;
    goes_on(&house, &session)?;
    assert_eq!(fs::read_to_string(house.file("blue", "a.txt")?)?, "one");
    Ok(())
}

#[test]
fn a_stop_wins_over_a_pause_whose_git_hangs() -> Outcome {
    let mut house = House::new()?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    fs::write(&flag, "")?;
    let mut pause = Background::start(house.glis().args(["pause", "blue"]))?;
    house.follow(1)?.until(|e| e["event"] == "terminal_captured")?;
    let begun = Instant::now();
    let stopped = house.json(&["stop", "blue"])?;
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(stopped["status"], "suspended");
    assert_eq!(pause.0.wait()?.code(), Some(4), "the pause was overruled");
    assert_eq!(marked(&text_of(&session, "id")?), Vec::<i32>::new());
    fs::remove_file(&flag)?;
    Ok(())
}

/// A session of a shell that has started a process, whose number is returned.
fn with_child(house: &House) -> Outcome<(Value, i32)> {
    house.command("blue", &["sh", "-c", "sleep 600 & echo $! > child; exec cat"])?;
    let child = house.file("blue", "child")?;
    eventually("the child runs", || fs::read_to_string(&child).is_ok_and(|s| s.ends_with('\n')))?;
    let pid = fs::read_to_string(&child)?.trim().parse()?;
    Ok((house.show("blue")?, pid))
}

#[test]
fn a_process_that_cannot_be_ended_is_named_and_there_is_no_pause() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (_, child) = with_child(&house)?;
    freezer.freeze(child)?;
    let (status, error) = house.fails(&["pause", "blue", "--mode", "force"])?;
    assert_eq!(status, 1, "{error}");
    assert!(text_of(&error, "message")?.contains(&format!("pid {child}")), "{error}");
    let shown = house.show("blue")?;
    assert_eq!(shown["status"], "interrupted");
    assert_eq!(shown["stuck_processes"][0]["pid"], child, "{shown}");
    let doctor = house.glis().arg("doctor").output()?;
    let doctor = String::from_utf8(doctor.stdout)?;
    assert!(doctor.contains(&format!("pid {child}")), "{doctor}");
    // It is looked for again, and nothing else starts beside it.
    assert_eq!(house.fails(&["pause", "blue"])?.0, 1);
    assert_eq!(house.fails(&["resume", "blue"])?.0, 6);
    freezer.thaw()?;
    eventually("it dies once it can", || !lives(child))?;
    let paused = house.json(&["pause", "blue"])?;
    assert_eq!(
        (&paused["status"], &paused["stuck_processes"]),
        (&"paused".into(), &Value::Array(vec![]))
    );
    Ok(())
}

#[test]
fn a_stop_says_what_it_could_not_end() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (_, child) = with_child(&house)?;
    freezer.freeze(child)?;
    let told = house.ok(&["stop", "blue"])?;
    assert!(told.contains("still there") && told.contains(&format!("pid {child}")), "{told}");
    freezer.thaw()
}

#[test]
fn a_holder_that_cannot_even_be_killed_is_named() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    freezer.freeze(holder)?;
    let begun = Instant::now();
    let (status, error) = house.fails(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!(status, 1, "{error}");
    let told = format!("its holder (pid {holder}) did not answer and could not be ended");
    assert!(text_of(&error, "message")?.contains(&told), "{error}");
    freezer.thaw()?;
    eventually("the holder dies once it can", || !lives(holder))?;
    house.json(&["pause", "blue"])?;
    goes_on(&house, &session)
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

#[derive(PartialEq)]
enum Kill {
    Nobody,
    Daemon,
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
fn a_session_does_not_attach_to_itself() -> Outcome {
    let house = House::new()?;
    let glis = env!("CARGO_BIN_EXE_glis");
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
fn a_flood_of_output_does_not_delay_a_forced_pause() -> Outcome {
    let house = House::new()?;
    house.command(
        "blue",
        &["sh", "-c", "yes 'a line that comes again and again, without any end'"],
    )?;
    let id = text_of(&house.show("blue")?, "id")?;
    let output = folder(&house, &id).join("output");
    let bytes = || -> u64 {
        let entries = fs::read_dir(&output).into_iter().flatten().flatten();
        entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
    };
    eventually("there is much output", || bytes() > 60_000_000)?;
    let begun = Instant::now();
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(paused["status"], "paused");
    assert_eq!(marked(&id), Vec::<i32>::new());
    Ok(())
}

#[test]
fn what_the_end_of_the_daemon_leaves_behind_is_named() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    let daemon = house.daemon_pid()?;
    freezer.freeze(holder)?;
    freezer.freeze(pid_of(&session)?)?;
    let output = house.glis().args(["daemon", "stop", "--agents"]).output()?;
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("blue"), "{told}");
    freezer.thaw()?;
    kill_and_wait(daemon)?;
    Ok(())
}

#[test]
fn a_line_that_a_terminal_would_cut_is_refused_and_not_told_as_sent() -> Outcome {
    let house = House::new()?;
    house.command("blue", &["sh", "-c", "while read line; do echo \"got ${#line}\"; done"])?;
    let (status, error) = house.fails(&["send", "blue", &"x".repeat(5000)])?;
    assert_eq!(status, 4, "{error}");
    let message = text_of(&error, "message")?;
    assert!(message.contains("4095") && message.contains("5000"), "{message}");
    assert!(house.talk("blue")?.iter().all(|(_, text)| text.len() < 4096));
    assert_eq!(house.show("blue")?["queued"], 0);
    house.json(&["send", "blue", &"y".repeat(4095)])?;
    eventually("what fits arrives", || {
        house.ok(&["output", "blue"]).is_ok_and(|o| o.contains("got 4095"))
    })?;
    Ok(())
}

#[test]
fn what_an_agent_has_detached_is_kept_where_that_is_configured() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\nchildren = \"keep-detached\"\n")?;
    let script =
        "setsid sh -c 'echo $$ > far; exec sleep 600' & sleep 600 & echo $! > near; exec cat";
    house.command("blue", &["sh", "-c", script])?;
    let pid = |name: &str| -> Outcome<i32> {
        let file = house.file("blue", name)?;
        eventually("it runs", || fs::read_to_string(&file).is_ok_and(|s| s.ends_with('\n')))?;
        Ok(fs::read_to_string(file)?.trim().parse()?)
    };
    let (far, near) = (pid("far")?, pid("near")?);
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(lives(far) && !lives(near), "{paused}");
    assert_eq!(paused["kept_processes"][0]["pid"], far, "{paused}");
    let worktree = paused["worktree"].clone();
    let ended = paused["ended_processes"].as_array().ok_or("no array")?;
    let near = ended.iter().find(|one| one["pid"] == near).ok_or("not recorded")?;
    assert_eq!((&near["command"], &near["cwd"]), (&"sleep 600".into(), &worktree));
    assert!(house.ok(&["show", "blue"])?.contains("left running"));
    // It is no second agent, and a stop ends it with the rest.
    house.json(&["resume", "blue"])?;
    assert!(lives(far));
    house.json(&["stop", "blue"])?;
    assert!(!lives(far));
    Ok(())
}

#[test]
fn a_process_gets_the_limits_of_the_command_that_starts_it() -> Outcome {
    let house = House::new()?;
    house.ok(&["daemon", "start"])?;
    let glis = env!("CARGO_BIN_EXE_glis");
    let mut shell = std::process::Command::new("sh");
    let line = format!(
        "ulimit -n 321; ulimit -c 0; exec {glis} new blue --agent command -- sh -c 'ulimit -n; ulimit -c; sleep 600'"
    );
    shell.args(["-c", &line]).env("GLIS_HOME", house.home()).current_dir(house.repo());
    shell.env_remove("GLIS_SESSION");
    assert!(shell.output()?.status.success());
    eventually("it has the caller's", || {
        house.ok(&["output", "blue"]).is_ok_and(|o| o.replace('\r', "").contains("321\n0\n"))
    })?;
    // Another caller, other limits.
    house.ok(&["stop", "blue"])?;
    let before = house.ok(&["output", "blue"])?.len();
    shell = std::process::Command::new("sh");
    let line = format!("ulimit -n 654; exec {glis} resume blue");
    shell.args(["-c", &line]).env("GLIS_HOME", house.home()).current_dir(house.repo());
    assert!(shell.output()?.status.success());
    eventually("it has the next caller's", || {
        house
            .ok(&["output", "blue"])
            .is_ok_and(|o| o.get(before..).is_some_and(|new| new.contains("654")))
    })?;
    Ok(())
}
