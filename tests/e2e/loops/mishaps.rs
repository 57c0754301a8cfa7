//! What goes wrong around a loop: its file is gone, its name is taken, it is begun twice, it is thrown
//! away, its daemon is replaced.

use crate::daemon::upgrade::later_build;
use crate::support::house::{House, Outcome, eventually};
use crate::support::looped::{
    ASKED, HELD, QUICK, Watch, asked, begin, begin_from, house, is, let_go, lines, state, tell,
    until_asked,
};
use crate::support::wreck::{marked, pid_of, text_of};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A file of the repository with a check list.
fn spec(house: &House) -> Outcome {
    Ok(std::fs::write(house.repo().join("tasks.md"), "- [x] a\n- [ ] b\n")?)
}

fn counts(house: &House) -> Outcome<[Value; 2]> {
    let shown = house.show("l")?;
    Ok(["tasks_done", "tasks_open"].map(|field| shown[field].clone()))
}

#[test]
fn a_spec_that_is_changed_or_deleted_in_mid_loop_is_counted_as_it_is() -> Outcome {
    let house = house()?;
    spec(&house)?;
    begin_from(&house, "tasks.md", &["--max", "3", "--until", ASKED])?;
    until_asked(&house, 1)?;
    let file = house.file("l", "tasks.md")?;
    assert_eq!(counts(&house)?, [json!(1), json!(1)]);
    std::fs::write(&file, "- [x] a\n- [x] b\n- [ ] c\n- [ ] d\n")?;
    assert_eq!(counts(&house)?, [json!(2), json!(2)]);
    tell(&house, "no")?;
    until_asked(&house, 2)?;
    std::fs::remove_file(&file)?;
    assert_eq!(counts(&house)?, [json!(0), json!(0)]);
    assert!(!house.ok(&["ls"])?.contains('\u{2713}'));
    tell(&house, "no")?;
    until_asked(&house, 3)?;
    is(&house, &[("iteration", json!(3)), ("failures", json!(0)), ("spec", json!("tasks.md"))])?;
    // A folder in its place, or a link to nothing, is no list.
    std::fs::create_dir(&file)?;
    assert_eq!(counts(&house)?, [json!(0), json!(0)]);
    tell(&house, "yes")?;
    Watch::of(&house)?.until("loop_done")?;
    Ok(())
}

#[test]
fn a_spec_that_cannot_be_used_is_refused_before_anything_is_made() -> Outcome {
    let house = house()?;
    spec(&house)?;
    std::fs::create_dir(house.repo().join("folder"))?;
    let outside = house.folder().join("outside.md");
    std::fs::write(&outside, "- [ ] a\n")?;
    std::os::unix::fs::symlink(&outside, house.repo().join("link.md"))?;
    let outside = outside.to_string_lossy();
    for file in ["nothing.md", "folder", &outside, "link.md", ".git/config"] {
        let wanted = ["loop", "l", "--agent", "rehearsal", "--headless", "--spec", file];
        let (status, error) = house.fails(&wanted)?;
        assert_eq!(status, 2, "{file}: {error}");
        assert!(error["hint"].is_string(), "{file}: {error}");
    }
    assert_eq!(house.json(&["ls"])?, json!([]));
    assert_eq!(house.git(&["branch", "--list", "glis/*"])?, "");
    Ok(())
}

#[test]
fn what_is_no_loop_is_refused_with_what_helps() -> Outcome {
    let house = house()?;
    let table: [&[&str]; 6] = [
        &["--agent", "rehearsal"],
        &["--agent", "rehearsal", "--prompt", "x", "--spec", "file.txt"],
        &["--agent", "rehearsal", "--prompt", "x", "--in-place", "--auto-commit"],
        &["--prompt", "x", "--", "make"],
        &["--agent", "rehearsal", "--prompt", "x", "--max", "0"],
        &["--agent", "codex", "--prompt", "x", "--max-cost", "1"],
    ];
    for words in table {
        let (status, error) = house.fails(&[&["loop", "l"], words].concat())?;
        assert_eq!(status, 2, "{words:?}: {error}");
    }
    assert_eq!(house.json(&["ls"])?, json!([]));
    Ok(())
}

#[test]
fn a_name_that_is_taken_is_refused_and_the_loop_of_that_name_goes_on() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let again = ["loop", "l", "--agent", "rehearsal", "--headless", "--prompt", QUICK];
    let (status, error) = house.fails(&again)?;
    assert_eq!(status, 4, "{error}");
    house.rehearsal("plain")?;
    let (status, error) =
        house.fails(&["loop", "plain", "--agent", "rehearsal", "--prompt", "x"])?;
    assert_eq!(status, 4, "{error}");
    let_go(&house)?;
    watch.until_held(2)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    assert_eq!((lines(&house)?, house.json(&["ls"])?.as_array().map(Vec::len)), (2, Some(2)));
    Ok(())
}

#[test]
fn two_that_begin_the_same_loop_at_once_begin_one() -> Outcome {
    let house = house()?;
    house.ok(&["daemon", "start"])?;
    let both: Vec<_> = (0..2)
        .map(|_| {
            let mut command = house.glis();
            let usual = ["loop", "l", "--agent", "rehearsal", "--headless", "--max", "2"];
            command.args(usual).args(["--prompt", QUICK]);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        })
        .collect::<Result<_, _>>()?;
    let mut codes = Vec::new();
    for mut one in both {
        codes.push(one.wait()?.code());
    }
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(4)]);
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(lines(&house)?, 2);
    Ok(())
}

#[test]
fn outside_of_a_repository_it_is_refused_and_in_place_it_iterates_there() -> Outcome {
    let house = house()?;
    let plain = house.folder().join("plain");
    std::fs::create_dir(&plain)?;
    let place = plain.to_string_lossy();
    let usual = ["loop", "l", "--agent", "rehearsal", "--headless", "--repo", &place];
    let words = ["--prompt", QUICK, "--max", "2"];
    let (status, error) = house.fails(&[usual.as_slice(), &words].concat())?;
    assert_eq!(status, 2, "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("--in-place")), "{error}");
    house.json(&[usual.as_slice(), &words, &["--in-place"]].concat())?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(std::fs::read_to_string(plain.join("work.txt"))?.lines().count(), 2);
    assert_eq!(state(&house)?["note"], Value::Null);
    Ok(())
}

#[test]
fn a_loop_that_is_thrown_away_stops_and_comes_back_as_it_was() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "5"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let_go(&house)?;
    watch.until_held(2)?;
    assert_eq!(house.fails(&["rm", "l"])?.0, 4, "it runs");
    let id = text_of(&house.show("l")?, "id")?;
    house.ok(&["rm", "l", "--stop"])?;
    assert_eq!(marked(&id), Vec::<i32>::new());
    house.kill_daemon()?;
    assert_eq!(house.json(&["ls"])?, json!([]));
    house.ok(&["trash", "restore", "l"])?;
    is(&house, &[("iteration", json!(2)), ("max", json!(5)), ("failures", json!(0))])?;
    assert_ne!(state(&house)?["state"], "running", "a person has it go on");
    house.ok(&["resume", "l"])?;
    let mut watch = Watch::of(&house)?;
    let_go(&house)?;
    watch.until_held(3)?;
    is(&house, &[("iteration", json!(3)), ("state", json!("running"))])
}

#[test]
fn a_loop_is_thrown_away_while_it_is_looked_back_at() -> Outcome {
    let house = house()?;
    begin(&house, QUICK, &["--max", "5", "--until", ASKED])?;
    until_asked(&house, 1)?;
    house.ok(&["rm", "l", "--stop"])?;
    tell(&house, "no")?;
    house.ok(&["trash", "restore", "l"])?;
    is(&house, &[("iteration", json!(1)), ("max", json!(5))])?;
    assert_ne!(state(&house)?["state"], "running");
    assert_eq!(asked(&house).len(), 1, "nothing has begun by itself");
    Ok(())
}

#[test]
fn a_daemon_that_is_replaced_in_mid_iteration_goes_on_with_the_loop() -> Outcome {
    let house = house()?;
    let next = later_build(house.folder())?;
    begin(&house, HELD, &["--max", "3"])?;
    Watch::of(&house)?.until_held(1)?;
    let agent = pid_of(&house.show("l")?)?;
    let of_next = |words: &[&str]| -> Outcome<Value> {
        let output = house.glis_of(&next).arg("--json").args(words).output()?;
        assert!(output.status.success(), "{words:?}: {output:?}");
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let shown = of_next(&["show", "l"])?;
    assert_eq!((pid_of(&shown)?, &shown["loop"]["iteration"]), (agent, &json!(1)), "{shown}");
    for iteration in 1..=3 {
        let_go(&house)?;
        eventually("it goes on", || {
            let Ok(shown) = of_next(&["show", "l"]) else { return false };
            let own = &shown["loop"];
            own["state"] == "done" || own["iteration"].as_u64() > Some(iteration)
        })?;
    }
    let ended = of_next(&["show", "l"])?;
    assert_eq!((&ended["loop"]["iteration"], &ended["loop"]["failures"]), (&json!(3), &json!(0)));
    let worktree = text_of(&ended, "worktree")?;
    assert_eq!(std::fs::read_to_string(format!("{worktree}/work.txt"))?.lines().count(), 3);
    Ok(())
}

/// A worktree that somebody removes in mid-loop is put back, or the loop says why it does not go on.
#[test]
fn a_worktree_that_is_deleted_between_iterations_comes_back_with_the_next() -> Outcome {
    let house = house()?;
    begin(&house, HELD, &["--max", "2"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let mut window = house.glis();
    let mut window = window.args(["pause", "l"]).spawn()?;
    watch.until("loop_pause_asked")?;
    let_go(&house)?;
    house.until("l", "paused")?;
    window.wait()?;
    let worktree = text_of(&house.show("l")?, "worktree")?;
    std::fs::remove_dir_all(&worktree)?;
    house.ok(&["resume", "l"])?;
    watch.until_held(2)?;
    assert_eq!(lines(&house)?, 2, "what the first one did is there");
    Ok(())
}

/// Ends a stop in order while the command of `--until` takes its time.
#[test]
fn a_daemon_that_is_stopped_in_the_middle_of_until_asks_again_when_it_is_back() -> Outcome {
    let house = house()?;
    begin(&house, QUICK, &["--max", "2", "--until", ASKED])?;
    until_asked(&house, 1)?;
    let mut stop: Command = house.glis();
    stop.args(["daemon", "stop"]).stdout(Stdio::null());
    let stopped = stop.status()?;
    assert!(stopped.success());
    is(&house, &[("state", json!("running")), ("iteration", json!(1))])?;
    until_asked(&house, 2)?;
    tell(&house, "yes")?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(lines(&house)?, 1);
    Ok(())
}
