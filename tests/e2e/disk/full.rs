//! Disks that are full, read-only or gone: nothing is confirmed that is not true, agents live on.

use crate::support::house::{House, Outcome, await_gone, eventually, kill_and_wait, lives};
use crate::support::skip::skip;
use crate::support::wreck::{agents, each_entry_once, folder, marked, pid_of, text_of};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde_json::Value;
use std::ffi::CString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A small file system of its own; gone when it is dropped.
pub(crate) struct Small(PathBuf);

impl Small {
    /// `None` where this is not allowed, which is said aloud.
    pub(crate) fn at(place: &Path, options: &str, flags: MountFlags) -> Outcome<Option<Self>> {
        std::fs::create_dir_all(place)?;
        let options = CString::new(options)?;
        match mount("glis-test", place, "tmpfs", flags, options.as_c_str()) {
            Ok(()) => Ok(Some(Self(place.to_owned()))),
            Err(fault) => {
                skip(&format!("no file system can be mounted here: {fault}"), None)?;
                Ok(None)
            }
        }
    }

    /// Leaves no room at all; the file is to be removed to have it back.
    pub(crate) fn fill(&self) -> Outcome<PathBuf> {
        let path = self.0.join("ballast");
        let mut file = std::fs::File::options().create(true).append(true).open(&path)?;
        for piece in [65536, 4096, 512, 1] {
            let bytes = vec![0; piece];
            while file.write(&bytes).is_ok_and(|written| written > 0) {}
        }
        Ok(path)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::DETACH).ok();
    }
}

#[test]
fn a_full_disk_stops_a_pause_and_no_agent() -> Outcome {
    let house = House::new()?;
    let Some(disk) = Small::at(&house.home(), "size=4m,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    house.rehearsal("blue")?;
    let before = house.turn("blue", "write a.txt one")?;
    let ballast = disk.fill()?;
    let (status, error) = house.fails(&["pause", "blue"])?;
    assert!([1, 8].contains(&status), "{error}");
    assert!(lives(pid_of(&before)?), "{error}");
    let again = house.fails(&["send", "blue", "say lost?"]);
    std::fs::remove_file(ballast)?;
    again?;
    // The daemon that could not write may still be on its way out; whatever answers knows the session.
    let answers = |args: &[&str]| house.glis().args(args).output().map(|o| o.status.code());
    eventually("a daemon answers", || match answers(&["show", "blue"]) {
        Ok(Some(3)) => panic!("a daemon that ends says that there is no session"),
        told => matches!(told, Ok(Some(0))),
    })?;
    assert_eq!(house.show("blue")?["pid"], before["pid"]);
    house.turn("blue", "say found")?;
    let paused = house.json(&["pause", "blue"])?;
    assert_eq!(paused["status"], "paused");
    house.ok(&["resume", "blue", "--prompt", "recall"])?;
    each_entry_once(&house, "blue")?;
    let diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
    assert!(!diary.contains("panicked"), "{diary}");
    Ok(())
}

/// What every verb says of a full disk, and how long it takes to.
fn told_in_time(house: &House, verb: &[&str]) -> Outcome<String> {
    let begun = Instant::now();
    let output = house.glis().args(verb).output()?;
    let told = String::from_utf8([output.stdout, output.stderr].concat())?;
    assert!(begun.elapsed() < Duration::from_secs(3), "{verb:?} {:?} {told}", begun.elapsed());
    assert!(!output.status.success(), "{verb:?} {told}");
    Ok(told)
}

#[test]
fn a_full_disk_is_called_that_by_every_verb() -> Outcome {
    let house = House::new()?;
    let Some(disk) = Small::at(&house.home(), "size=12m,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    house.rehearsal("blue")?;
    house.turn("blue", "say first")?;
    let changes: [&[&str]; 4] = [
        &["send", "blue", "say lost?"],
        &["--key", "one", "send", "blue", "say lost?"],
        &["new", "red", "--agent", "rehearsal", "--headless"],
        &["pause", "blue"],
    ];
    let looks: [&[&str]; 3] = [&["ls"], &["show", "blue"], &["doctor"]];
    // What an agent says meanwhile cannot be kept either, and no start waits for it.
    house.ok(&["send", "blue", "stream 4000 20"])?;
    house.until("blue", "busy")?;
    let ballast = disk.fill()?;
    for verb in changes.iter().chain(&changes) {
        let told = told_in_time(&house, verb)?;
        assert!(told.contains("the disk is full: "), "{verb:?} {told}");
        assert!(!told.contains("Invalid path"), "{verb:?} {told}");
    }
    let told = told_in_time(&house, &["doctor"])?;
    assert!(told.contains("disk") && told.contains("is full"), "{told}");
    std::fs::remove_file(ballast)?;
    house.json(&["pause", "blue", "--mode", "force"])?;
    house.ok(&["resume", "blue"])?;
    // An end that has to be written down takes every daemon with it that begins.
    house.ok(&["send", "blue", "work 600"])?;
    let session = house.until("blue", "busy")?;
    let daemon = house.daemon_pid()?;
    let ballast = disk.fill()?;
    kill_and_wait(pid_of(&session)?)?;
    await_gone(daemon)?;
    for verb in changes.iter().chain(&looks) {
        // A daemon that ends gives some of its own back.
        disk.fill()?;
        let told = told_in_time(&house, verb)?;
        assert!(told.contains("the disk is full: "), "{verb:?} {told}");
        assert!(told.contains("free some space"), "{verb:?} {told}");
    }
    std::fs::remove_file(ballast)?;
    assert_eq!(house.until("blue", "interrupted")?["pid"], Value::Null);
    house.ok(&["resume", "blue"])?;
    house.turn("blue", "say found")?;
    each_entry_once(&house, "blue")
}

#[test]
fn on_a_full_disk_an_agent_is_ended_all_the_same_and_the_truth_is_told() -> Outcome {
    for verb in [&["stop", "blue"][..], &["pause", "blue", "--mode", "force"]] {
        let house = House::new()?;
        let Some(disk) = Small::at(&house.home(), "size=4m,mode=700", MountFlags::empty())? else {
            return Ok(());
        };
        house.rehearsal("blue")?;
        let before = house.turn("blue", "run sleep 600 >/dev/null 2>&1 & ;; write a.txt one")?;
        let id = text_of(&before, "id")?;
        let daemon = house.daemon_pid()?;
        // What is still to be recorded would end the daemon before it is asked for anything.
        house.follow(1)?.until(|e| e["event"] == "worktree_saved")?;
        let ballast = disk.fill()?;
        let begun = std::time::Instant::now();
        let (status, error) = house.fails(verb)?;
        assert!(begun.elapsed() < std::time::Duration::from_secs(40), "{verb:?} {error}");
        let message = text_of(&error, "message")?;
        assert_eq!(status, 1, "{error}");
        let pid = pid_of(&before)?;
        assert!(message.contains(&format!("its agent (pid {pid}) and all")), "{message}");
        assert!(message.contains("could not be written down"), "{message}");
        assert!(text_of(&error, "hint")?.contains("free some space"), "{error}");
        assert!(!lives(pid) && marked(&id).is_empty(), "{message}");
        std::fs::remove_file(ballast)?;
        await_gone(daemon)?;
        // It is found as it is: ended, and not paused.
        let found = house.show("blue")?;
        assert_eq!((&found["status"], &found["pid"]), (&"interrupted".into(), &Value::Null));
        house.json(&["resume", "blue"])?;
        house.turn("blue", "say found")?;
        assert_eq!(std::fs::read_to_string(house.file("blue", "a.txt")?)?, "one");
        each_entry_once(&house, "blue")?;
        house.json(&["pause", "blue"])?;
    }
    Ok(())
}

#[test]
fn on_a_full_disk_an_agent_at_work_is_ended_too() -> Outcome {
    // What it does meanwhile cannot be recorded either, and may end the daemon at any moment.
    for verb in [
        &["stop", "blue"][..],
        &["pause", "blue", "--mode", "force"],
        &["pause", "--all", "--mode", "force"],
    ] {
        let house = House::new()?;
        let Some(disk) = Small::at(&house.home(), "size=4m,mode=700", MountFlags::empty())? else {
            return Ok(());
        };
        house.rehearsal("blue")?;
        house.ok(&["send", "blue", "stream 4000 20"])?;
        let before = house.until("blue", "busy")?;
        let id = text_of(&before, "id")?;
        let ballast = disk.fill()?;
        let begun = std::time::Instant::now();
        let mut output = house.glis().args(verb).output()?;
        for _ in 0..5 {
            if output.status.code() != Some(8) {
                break;
            }
            // The daemon died of another record while it was asked: the next one is asked.
            output = house.glis().args(verb).output()?;
        }
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(begun.elapsed() < std::time::Duration::from_secs(40), "{verb:?} {told}");
        assert_eq!(output.status.code(), Some(1), "{verb:?} {told}");
        assert!(!lives(pid_of(&before)?) && marked(&id).is_empty(), "{verb:?} {told}");
        std::fs::remove_file(ballast)?;
        let found = house.until("blue", "interrupted")?;
        assert_eq!(found["pid"], Value::Null);
        house.json(&["resume", "blue"])?;
        each_entry_once(&house, "blue")?;
    }
    Ok(())
}

#[test]
fn a_disk_that_fills_up_while_the_agent_talks_loses_no_word() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let id = text_of(&house.show("blue")?, "id")?;
    let place = folder(&house, &id);
    let Some(disk) = Small::at(&place, "size=1m,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    // What the agent prints has room: it is the conversation that cannot be written.
    let output = Small::at(&place.join("output"), "size=1m,mode=700", MountFlags::empty())?;
    assert!(output.is_some(), "one could be mounted just now");
    let before = house.turn("blue", "say first")?;
    house.ok(&["send", "blue", "work 0.3 ;; stream 40 200 ;; work 0.2"])?;
    house.until("blue", "busy")?;
    let ballast = disk.fill()?;
    // Nothing tells from outside that the words have met the full disk, except the diary.
    let mut diary = String::new();
    for _ in 0..100 {
        diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
        if diary.contains("No space left") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(diary.contains("No space left"), "{diary}");
    let during = house.show("blue")?;
    std::fs::remove_file(ballast)?;
    assert_eq!((&during["pid"], &during["status"]), (&before["pid"], &"busy".into()));
    house.until("blue", "idle")?;
    let talk = house.talk("blue")?;
    let words = talk.iter().filter(|(_, text)| text.starts_with("word")).count();
    assert_eq!((words, &house.show("blue")?["output_gap_at"]), (40, &Value::Null), "{talk:?}");
    each_entry_once(&house, "blue")?;
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    Ok(())
}

#[test]
fn what_a_program_was_told_counts_as_delivered_once_it_is_written_down() -> Outcome {
    let house = House::new()?;
    // The event log has room, and the conversation has none.
    let place = house.home().join("sessions");
    let Some(disk) = Small::at(&place, "size=1m,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    house.command("tool", &["bash", "--norc"])?;
    let told_in_vain = |word: &str| -> Outcome<(PathBuf, Value)> {
        let ballast = disk.fill()?;
        let trace = house.folder().join(word);
        // More than there may be left in the last page of the file.
        let words = format!("touch '{}' #{}", trace.display(), "x".repeat(5000));
        let sent = house.json(&["send", "tool", &words])?;
        eventually("the program does it", || trace.exists())?;
        Ok((ballast, sent["message"].clone()))
    };
    let heard = |word: &str| house.talk("tool").map(|talk| talk.iter().any(|t| t.1.contains(word)));
    let (ballast, message) = told_in_vain("one")?;
    std::fs::remove_file(ballast)?;
    let taken = |e: &Value| e["event"] == "message_taken" && e["message"] == message;
    house.follow(1)?.until(taken)?;
    assert!(heard("one")?);
    // A daemon that dies before that leaves the question whether it was told.
    let (ballast, _) = told_in_vain("two")?;
    house.kill_daemon()?;
    std::fs::remove_file(ballast)?;
    let asked = house.until("tool", "waiting")?;
    assert_eq!(asked["waiting_for"]["kind"], "doubt", "{asked}");
    Ok(())
}

#[test]
fn output_that_the_disk_does_not_take_is_told_as_a_gap() -> Outcome {
    let house = House::new()?;
    let id = text_of(&house.rehearsal("blue")?, "id")?;
    let place = folder(&house, &id).join("output");
    std::fs::create_dir_all(folder(&house, &id))?;
    let Some(_disk) = Small::at(&place, "size=64k,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    let session = house.turn("blue", "flood 1")?;
    assert!(session["output_gap_at"].is_u64(), "{session}");
    assert_eq!(agents(&id), [pid_of(&session)?]);
    assert_eq!(house.turn("blue", "say still here")?["status"], "idle");
    Ok(())
}

#[test]
fn a_home_that_cannot_be_written_is_refused_with_a_reason() -> Outcome {
    let house = House::new()?;
    let Some(_disk) = Small::at(&house.home(), "size=1m", MountFlags::RDONLY)? else {
        return Ok(());
    };
    let (status, error) = house.fails(&["ls"])?;
    assert_eq!(status, 8);
    assert!(error["message"].to_string().contains("Read-only"), "{error}");
    Ok(())
}

#[test]
fn a_home_that_is_deleted_leaves_no_daemon_that_confirms_into_nothing() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    house.ok(&["send", "blue", "work 1"])?;
    let session = house.until("blue", "busy")?;
    let daemon = house.daemon_pid()?;
    std::fs::rename(house.home(), house.repo().join("gone"))?;
    // The end of the turn cannot be written down where anybody would find it.
    crate::support::house::await_gone(daemon)?;
    assert!(lives(pid_of(&session)?));
    if house.home().exists() {
        // The agent itself keeps its transcript where it was told to.
        let made = std::fs::read_dir(house.home())?.filter_map(|e| Some(e.ok()?.file_name()));
        assert_eq!(made.collect::<Vec<_>>(), ["rehearsal"]);
        std::fs::remove_dir_all(house.home())?;
    }
    std::fs::rename(house.repo().join("gone"), house.home())?;
    let after = house.until("blue", "idle")?;
    assert_eq!(after["pid"], session["pid"]);
    Ok(())
}

#[test]
fn a_repository_without_room_refuses_the_pause_until_there_is_some() -> Outcome {
    let house = House::new()?;
    let place = house.repo().join("../small");
    let Some(disk) = Small::at(&place, "size=6m,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    let repo = place.join("repo");
    house.git(&["clone", "-q", ".", repo.to_str().ok_or("path")?])?;
    let repo = repo.to_str().ok_or("path")?;
    house.json(&["new", "blue", "--agent", "rehearsal", "--headless", "--repo", repo])?;
    let before = house.turn("blue", "write a.txt one")?;
    let ballast = disk.fill()?;
    std::fs::write(house.file("blue", "a.txt")?, "x".repeat(100_000))?;
    let (status, error) = house.fails(&["pause", "blue"])?;
    assert_eq!(status, 1, "{error}");
    assert!(text_of(&error, "message")?.starts_with("failed to stash changes: "), "{error}");
    let after = house.show("blue")?;
    assert_eq!((&after["status"], &after["pid"]), (&"idle".into(), &before["pid"]));
    std::fs::remove_file(ballast)?;
    house.json(&["pause", "blue", "--remove-worktree"])?;
    house.json(&["resume", "blue"])?;
    let file = house.file("blue", "a.txt")?;
    assert_eq!(std::fs::read_to_string(file)?.len(), 100_000);
    house.ok(&["stop", "blue"])?;
    Ok(())
}
