//! A git that hangs while a worktree is saved.

use crate::support::held::{BOUND, goes_on, held, warnings};
use crate::support::house::{Background, House, Outcome, await_gone, eventually};
use crate::support::wreck::{marked, text_of};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A git that hangs as long as a file is there, and the file. Each that hangs adds its number to it.
/// One that looks at the very moment when the file is removed does not make it again, and works. A
/// second file can say in which folder, or in which words of a call, it hangs.
fn hanging_git(house: &mut House) -> Outcome<PathBuf> {
    let bin = house.folder().join("bin");
    fs::create_dir(&bin)?;
    let flag = house.folder().join("hang");
    let path = std::env::var("PATH")?;
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.exists());
    let real = real.ok_or("no git")?;
    let script = format!(
        "#!/bin/sh\nif [ -e '{flag}' ]; then case \"$PWD $*\" in *\"$(cat '{flag}.at')\"*)\n\
         echo $$ | dd of='{flag}' oflag=append conv=nocreat,notrunc status=none 2>/dev/null \\\n\
         && exec sleep 1000;; esac; fi\nexec '{}' \"$@\"\n",
        real.display(),
        flag = flag.display(),
    );
    fs::write(flag.with_extension("at"), "")?;
    fs::write(bin.join("git"), script)?;
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755))?;
    house.surround("PATH", format!("{}:{path}", bin.display()));
    Ok(flag)
}

/// The processes of git that hang, or did.
fn hung(flag: &Path) -> Vec<i32> {
    let told = fs::read_to_string(flag).unwrap_or_default();
    told.lines().filter_map(|line| line.parse().ok()).collect()
}

fn awaits_hung(flag: &Path) -> Outcome {
    eventually("git hangs", || !hung(flag).is_empty())
}

/// None of them is left.
fn none_hangs(flag: &Path) -> Outcome {
    hung(flag).into_iter().try_for_each(await_gone)
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
    assert!(message.contains("not done after"), "{message}");
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
    assert!(warnings(&paused).contains("no snapshot after the stop: not done after"), "{paused}");
    // It may have been ended before it came to its sleep.
    let named = ["ended sleep (pid", "ended git "].map(|who| warnings(&paused).contains(who));
    assert!(named.contains(&true), "{paused}");
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
    awaits_hung(&flag)?;
    let before = hung(&flag);
    let begun = Instant::now();
    let stopped = house.json(&["stop", "blue"])?;
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(stopped["status"], "suspended");
    assert_eq!(pause.0.wait()?.code(), Some(4), "the pause was overruled");
    assert_eq!(marked(&text_of(&session, "id")?), Vec::<i32>::new());
    // What is saved after the stop hangs as well, and has its own time.
    before.into_iter().try_for_each(await_gone)?;
    fs::remove_file(&flag)?;
    Ok(())
}

#[test]
fn a_stop_of_a_start_whose_git_hangs_ends_both_at_once() -> Outcome {
    let mut house = House::new()?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    house.json(&["stop", "blue"])?;
    house.ok(&["snapshot", "blue"])?;
    fs::write(&flag, "")?;
    let mut resume = Background::start(house.glis().args(["resume", "blue"]))?;
    awaits_hung(&flag)?;
    let begun = Instant::now();
    assert_eq!(house.json(&["stop", "blue"])?["status"], "suspended");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(resume.0.wait()?.code(), Some(4), "the start was called off");
    none_hangs(&flag)?;
    fs::remove_file(&flag)?;
    goes_on(&house, &session)
}

/// Whatever is done with its files, a stop ends what hangs in it, and the session is free again.
#[test]
fn a_stop_ends_a_restore_and_a_removal_whose_git_hangs() -> Outcome {
    let mut house = House::new()?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    house.json(&["pause", "blue"])?;
    fs::write(house.file("blue", "a.txt")?, "two")?;
    for (verb, code) in [("restore", 1), ("rm", 0)] {
        fs::write(&flag, "")?;
        let mut under_way = Background::start(house.glis().args([verb, "blue"]))?;
        awaits_hung(&flag)?;
        let begun = Instant::now();
        let stopped = house.json(&["stop", &text_of(&session, "id")?])?;
        assert!(begun.elapsed() < Duration::from_secs(20), "{verb}: {:?}", begun.elapsed());
        assert!(stopped["pid"].is_null(), "{stopped}");
        assert_eq!(under_way.0.wait()?.code(), Some(code), "{verb}");
        none_hangs(&flag)?;
        fs::remove_file(&flag)?;
    }
    // Its git was ended, not the removal: what could be moved is in the trash.
    house.json(&["trash", "restore", "blue"])?;
    assert_eq!(fs::read_to_string(house.file("blue", "a.txt")?)?, "two");
    house.json(&["resume", "blue"])?;
    Ok(())
}

#[test]
fn a_forced_pause_of_a_start_whose_git_hangs_calls_it_off() -> Outcome {
    let mut house = House::of_moved_time()?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    house.json(&["stop", "blue"])?;
    house.ok(&["snapshot", "blue"])?;
    fs::write(&flag, "")?;
    let mut resume = Background::start(house.glis().args(["resume", "blue"]))?;
    awaits_hung(&flag)?;
    let (status, error) = house.fails(&["pause", "blue"])?;
    assert_eq!(status, 7, "{error}");
    assert!(text_of(&error, "hint")?.contains("glis pause blue --mode force"), "{error}");
    let force = ["pause", "blue", "--mode", "force"];
    let paused = house.out_of_time("step", || house.json(&force))?;
    assert_eq!(paused["status"], "paused");
    assert_eq!(resume.0.wait()?.code(), Some(4), "the start was called off");
    assert!(warnings(&paused).contains("no snapshot before the stop"), "{paused}");
    none_hangs(&flag)?;
    fs::remove_file(&flag)?;
    goes_on(&house, &session)?;
    assert_eq!(fs::read_to_string(house.file("blue", "a.txt")?)?, "one");
    Ok(())
}

#[test]
fn a_worktree_that_is_never_made_holds_a_stop_up_for_a_while_and_no_longer() -> Outcome {
    let mut house = House::of_moved_time()?;
    let flag = hanging_git(&mut house)?;
    fs::write(flag.with_extension("at"), "worktree add")?;
    fs::write(&flag, "")?;
    let words =
        ["new", "blue", "--agent", "rehearsal", "--headless", "--prompt", "say a long thing"];
    let mut new = Background::start(house.glis().args(words))?;
    awaits_hung(&flag)?;
    let (status, error) = house.out_of_time("step", || house.fails(&["stop", "blue"]))?;
    let message = text_of(&error, "message")?;
    assert_eq!(status, 1, "{error}");
    assert!(message.contains("create the worktree") && message.contains("ended sleep"), "{error}");
    // What was said to it is nowhere else but in the log.
    assert!(message.contains("never got: say a long thing"), "{error}");
    assert!(text_of(&error, "hint")?.contains("glis new blue --prompt"), "{error}");
    assert!(!new.0.wait()?.success());
    none_hangs(&flag)?;
    // Nothing of it is in the way of another try.
    fs::remove_file(&flag)?;
    house.rehearsal("blue")?;
    Ok(())
}

#[test]
fn a_look_whose_git_hangs_is_ended_and_hides_no_other_session() -> Outcome {
    let mut house = House::of_moved_time()?;
    let flag = hanging_git(&mut house)?;
    held(&house)?;
    house.rehearsal("green")?;
    for name in ["blue", "green"] {
        house.turn(name, "write b.txt two")?;
        house.json(&["pause", name])?;
    }
    fs::write(house.file("blue", "b.txt")?, "three")?;
    fs::write(flag.with_extension("at"), text_of(&house.show("blue")?, "worktree")?)?;
    fs::write(&flag, "")?;
    let (status, error) = house.while_time_flies(|| house.fails(&["diff", "blue"]))?;
    let message = text_of(&error, "message")?;
    assert_eq!(status, 1, "{error}");
    assert!(message.contains("it hangs") && message.contains("sleep (pid"), "{error}");
    none_hangs(&flag)?;
    house.ok(&["diff", "green"])?;
    let doctor = house.while_time_flies(|| house.glis().args(["doctor", "--json"]).output())?;
    let findings: Value = serde_json::from_slice(&doctor.stdout)?;
    let of = |name: &str| -> Vec<String> {
        let all = findings["findings"].as_array().or(findings.as_array());
        let own = all.into_iter().flatten().filter(|f| f["subject"] == format!("session {name}"));
        own.map(Value::to_string).collect()
    };
    assert!(of("blue").concat().contains("it could not be looked at"), "{findings}");
    assert!(of("green").iter().any(|f| f.contains("worktree /")), "{findings}");
    none_hangs(&flag)?;
    fs::remove_file(&flag)?;
    house.ok(&["diff", "blue"])?;
    Ok(())
}

#[test]
fn a_git_that_does_nothing_is_ended_and_named_whatever_waits_for_it() -> Outcome {
    let mut house = House::of_moved_time()?;
    let flag = hanging_git(&mut house)?;
    let (session, _) = held(&house)?;
    house.json(&["stop", "blue"])?;
    house.ok(&["snapshot", "blue"])?;
    fs::write(&flag, "")?;
    let new = ["new", "green", "--agent", "rehearsal", "--headless"];
    for (verb, status) in [(&["snapshot", "blue"][..], 1), (&["resume", "blue"], 6), (&new, 1)] {
        if verb == new {
            fs::write(flag.with_extension("at"), "worktree add")?;
        }
        let (code, error) = house.while_time_flies(|| house.fails(verb))?;
        assert_eq!(code, status, "{verb:?}: {error}");
        let message = text_of(&error, "message")?;
        assert!(message.contains("it hangs") && message.contains("ended sleep (pid"), "{message}");
        assert!(message.contains(") in /"), "{message}");
        none_hangs(&flag)?;
    }
    fs::remove_file(&flag)?;
    goes_on(&house, &session)?;
    house.rehearsal("green")?;
    Ok(())
}
