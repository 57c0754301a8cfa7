//! The power fails: whatever was not synced is gone, and every answer that was given is still true.
//!
//! The home lies on a small disk of its own, a file behind a loop device. What programs write stays
//! in the kernel's memory until somebody syncs it, so a copy of that file, taken at the instant an
//! answer arrives, is the disk as a power cut would have left it: with what was synced, without
//! what was not. The copy is mounted in the place of the disk, and a daemon is started on it.
//!
//! Two kinds of disk. One has a journal, as disks have today; there a sync of any file brings all
//! names along that were given before. The other has none: a name lasts only if its folder was
//! synced, as the rules of POSIX have it. On both nothing is written back by itself for as long as
//! the test takes.
//!
//! Worktrees lie elsewhere: what an agent writes is its own to sync, and ours to take a snapshot of.

use crate::support::house::{House, Outcome, kill_and_wait, lives};
use crate::support::skip::skip;
use crate::support::wreck::{SETTLED, accounted_for, agents, each_entry_once, pid_of, text_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Which kind of file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Journal,
    NoJournal,
}

/// A disk that can lose its power.
struct Disk {
    kind: Kind,
    image: PathBuf,
    place: PathBuf,
}

fn run(program: &str, args: &[&str]) -> Outcome<bool> {
    let output = Command::new(program).args(args).output()?;
    if !output.status.success() {
        eprintln!("{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.status.success())
}

impl Disk {
    /// `None` where this is not allowed, which is said aloud.
    fn at(house: &House, kind: Kind) -> Outcome<Option<Self>> {
        let image = house.repo().join("../disk");
        let file = std::fs::File::create(&image)?;
        file.set_len(96 * 1024 * 1024)?;
        let mut make = Command::new("mkfs.ext4");
        make.args(["-q", "-F"]);
        if kind == Kind::NoJournal {
            make.args(["-O", "^has_journal"]);
        }
        let made = make.arg(&image).output();
        let disk = Self { kind, image, place: house.home() };
        std::fs::create_dir_all(&disk.place)?;
        match made {
            Err(fault) => skip(&format!("mkfs.ext4: {fault}"), Some("e2fsprogs"))?,
            Ok(output) if !output.status.success() => {
                return Err(format!("mkfs.ext4: {output:?}").into());
            }
            Ok(_) if disk.mount(&disk.image)? => return Ok(Some(disk)),
            Ok(_) => skip("no disk can be mounted here", None)?,
        }
        Ok(None)
    }

    fn mount(&self, image: &Path) -> Outcome<bool> {
        // Longer than any test between two rounds of writing back.
        let options = match self.kind {
            Kind::Journal => "loop,commit=3000",
            Kind::NoJournal => "loop",
        };
        let (image, place) = (image.to_string_lossy(), self.place.to_string_lossy());
        run("mount", &["-o", options, &image, &place])
    }

    fn unmount(&self) -> Outcome<bool> {
        run("umount", &[&self.place.to_string_lossy()])
    }

    /// The disk as it is at this instant, under a name of its own. Everybody in the house holds
    /// still for it: a copy that is made while somebody writes is of no instant at all.
    fn copy(&self, house: &House, name: &str) -> Outcome<PathBuf> {
        let copy = self.image.with_extension(name);
        let to = copy.to_string_lossy().into_owned();
        let all: Vec<Pid> = house.processes().into_iter().filter_map(Pid::from_raw).collect();
        for pid in &all {
            kill_process(*pid, Signal::STOP).ok();
        }
        let copied = run("cp", &["--sparse=always", &self.image.to_string_lossy(), &to]);
        for pid in &all {
            kill_process(*pid, Signal::CONT).ok();
        }
        assert!(copied?);
        Ok(copy)
    }

    /// Everything that ran is gone, and the disk is what the copy says.
    fn comes_back_as(&self, house: &House, copy: &Path) -> Outcome {
        // A child that was just born, or that is on its way out, still has its hand on the disk.
        let patience = Instant::now() + Duration::from_secs(20);
        loop {
            house.processes().into_iter().try_for_each(kill_and_wait)?;
            if self.unmount()? {
                break;
            }
            assert!(Instant::now() < patience, "somebody does not let go of the disk");
            std::thread::sleep(Duration::from_millis(20));
        }
        // A file of its own each time: the kernel may still remember what was in the former one.
        let image = PathBuf::from(format!("{}-again", copy.display()));
        std::fs::copy(copy, &image)?;
        // Without a journal it is for the checker to put in order what was cut off in the middle.
        let checked = Command::new("e2fsck").args(["-f", "-y"]).arg(&image).output()?;
        assert!(checked.status.code().is_some_and(|code| code <= 2), "{checked:?}");
        assert!(self.mount(&image)?);
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(run("umount", &["--lazy", &self.place.to_string_lossy()]));
    }
}

/// A house whose state is on such a disk.
fn on_disk(kind: Kind) -> Outcome<Option<(House, Disk)>> {
    let house = House::new()?;
    let Some(disk) = Disk::at(&house, kind)? else { return Ok(None) };
    let place = house.repo().join("../worktrees");
    house.configure(&format!("[worktree]\nplace = {:?}\n", place.display().to_string()))?;
    // What a person has written last month is on disk.
    assert!(run("sync", &["-f", &house.home().to_string_lossy()])?);
    Ok(Some((house, disk)))
}

/// The events that somebody was told of.
fn told(house: &House) -> Outcome<Vec<String>> {
    Ok(house.ok(&["events"])?.lines().map(ToOwned::to_owned).collect())
}

fn is_kept(house: &House, before: &[String]) -> Outcome {
    let after = told(house)?;
    assert_eq!(after.get(..before.len()), Some(before), "an event that was told is not there");
    Ok(())
}

fn pauses(kind: Kind) -> Outcome {
    let Some((house, disk)) = on_disk(kind)? else { return Ok(()) };
    let mut cuts: Vec<(PathBuf, Value, String, Vec<String>)> = Vec::new();
    house.rehearsal("blue")?;
    house.in_terminal("red")?;
    for (number, name) in ["blue", "red", "blue", "red"].into_iter().enumerate() {
        house.turn(name, &format!("say word-{number}"))?;
        house.ok(&["send", name, "stream 3 100 ;; touch-slowly slow.txt 100000 50"])?;
        house.until(name, "busy")?;
        house.ok(&["send", name, &format!("say queued-{number}")])?;
        let paused = house.json(&["pause", name])?;
        let copy = disk.copy(&house, &format!("cut{number}"))?;
        assert_eq!(paused["status"], "paused");
        let screen = house.ok(&["screen", name])?;
        let talk: Vec<String> = house.talk(name)?.into_iter().map(|(_, text)| text).collect();
        let mut kept = told(&house)?;
        // Only what was told before the cut was promised.
        let last = kept.iter().rposition(|line| line.contains("\"paused\"")).ok_or("no pause")?;
        kept.truncate(last + 1);
        cuts.push((copy, paused, format!("{screen}\n{}", talk.join("\n")), kept));
        house.json(&["resume", name])?;
        house.until(name, "idle")?;
    }
    for (copy, paused, words, kept) in cuts {
        let name = text_of(&paused, "name")?;
        disk.comes_back_as(&house, &copy)?;
        is_kept(&house, &kept)?;
        let found = house.until(&name, SETTLED)?;
        assert_eq!(found["status"], "paused", "{name}");
        for field in ["agent_session_ref", "generation", "queued", "paused_at", "pause_rule"] {
            assert_eq!(found[field], paused[field], "{name}: {field}");
        }
        let talk: Vec<String> = house.talk(&name)?.into_iter().map(|(_, text)| text).collect();
        let now = format!("{}\n{}", house.ok(&["screen", &name])?, talk.join("\n"));
        assert_eq!(now, words, "{name}: screen and conversation");
        house.json(&["resume", &name])?;
        house.until(&name, "idle")?;
        house.turn(&name, "recall")?;
        let said = house.talk(&name)?.pop().ok_or("nothing said")?.1;
        let number: usize = copy.to_string_lossy().chars().last().map_or(0, |c| c as usize - 48);
        assert!(said.contains(&format!("word-{number}")), "{name} has forgotten: {said}");
        accounted_for(&house, &name, &format!("queued-{number}"))?;
        assert_eq!(agents(&text_of(&found, "id")?).len(), 1);
        each_entry_once(&house, &name)?;
    }
    Ok(())
}

#[test]
fn a_pause_that_was_confirmed_outlives_a_power_cut() -> Outcome {
    pauses(Kind::Journal)
}

#[test]
fn a_pause_that_was_confirmed_outlives_a_power_cut_without_a_journal() -> Outcome {
    pauses(Kind::NoJournal)
}

#[test]
fn every_answer_outlives_a_power_cut() -> Outcome {
    for kind in [Kind::Journal, Kind::NoJournal] {
        let Some((house, disk)) = on_disk(kind)? else { return Ok(()) };
        let mut cuts: Vec<(PathBuf, &str, u64, Vec<String>)> = Vec::new();
        let mut cut = |what: &'static str, queued: u64| -> Outcome {
            // Told first: what is told after the copy was made was never promised by it.
            let kept = told(&house)?;
            let number = cuts.len();
            cuts.push((disk.copy(&house, &format!("cut{number}"))?, what, queued, kept));
            Ok(())
        };
        house.rehearsal("blue")?;
        cut("created", 0)?;
        house.turn("blue", "say first")?;
        cut("interrupted", 0)?;
        house.ok(&["send", "blue", "work 600"])?;
        house.until("blue", "busy")?;
        house.ok(&["send", "blue", "say only-once"])?;
        cut("interrupted", 1)?;
        house.ok(&["stop", "blue"])?;
        cut("suspended", 1)?;
        house.ok(&["restart", "blue", "--yes"])?;
        cut("interrupted", 0)?;
        house.ok(&["stop", "blue"])?;
        house.ok(&["rm", "blue"])?;
        cut("archived", 0)?;
        let id = text_of(&house.json(&["ls", "--all"])?[0], "id")?;
        for (copy, what, queued, kept) in cuts {
            disk.comes_back_as(&house, &copy)?;
            is_kept(&house, &kept)?;
            let found = house.until(&id, SETTLED)?;
            let status = text_of(&found, "status")?;
            assert_eq!(status, what, "{kind:?}: {found}");
            assert!(found["queued"].as_u64() >= Some(queued), "{kind:?} {what}: {found}");
            // What an agent that was running had not synced is its own loss; what it was ended with
            // is ours to keep.
            if what == "suspended" {
                house.json(&["resume", "blue"])?;
                accounted_for(&house, "blue", "only-once")?;
                house.until("blue", "idle")?;
                house.turn("blue", "recall")?;
                let said = house.talk("blue")?.pop().ok_or("nothing said")?.1;
                assert!(said.contains("say first"), "{kind:?}: {said}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_disk_that_turns_read_only_confirms_nothing_and_ends_no_agent() -> Outcome {
    let Some((house, disk)) = on_disk(Kind::Journal)? else { return Ok(()) };
    house.rehearsal("red")?;
    house.turn("red", "write a.txt hello")?;
    house.json(&["pause", "red"])?;
    let blue = house.command("blue", &["sh", "-c", "while read line; do echo got $line; done"])?;
    // What a file system does when its disk fails: no write succeeds any more, also to open files.
    assert!(run("mount", &["-o", "remount,abort", &disk.place.to_string_lossy()])?);
    for verb in [&["send", "blue", "hello"][..], &["resume", "red"], &["pause", "blue"]] {
        let (status, error) = house.fails(verb)?;
        assert!([1, 8].contains(&status), "{verb:?}: {error}");
        let told = error["message"].to_string();
        let reason = ["the event log cannot be written", "Read-only"];
        assert!(reason.iter().any(|words| told.contains(words)), "{verb:?}: {error}");
    }
    assert!(lives(pid_of(&blue)?), "it runs on");
    disk.comes_back_as(&house, &disk.image)?;
    assert_eq!(house.show("red")?["status"], "paused");
    assert_eq!(house.show("blue")?["queued"], 0, "what was refused is not there");
    house.json(&["resume", "red", "--prompt", "recall"])?;
    house.json(&["resume", "blue"])?;
    each_entry_once(&house, "red")
}
