//! Worktrees that met with an accident: cut short, emptied, in a strange place. Nothing is taken for
//! what it is not.

use crate::disk::full::Small;
use crate::support::house::{House, Outcome, eventually, kill_and_wait};
use crate::support::wreck::{Foreground, text_of};
use rustix::mount::MountFlags;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A session with work that is in no commit; its worktree is where the configuration says.
fn at_work(house: &House, name: &str) -> Outcome<PathBuf> {
    house.rehearsal(name)?;
    house.turn(name, "write work.txt mine")?;
    house.file(name, "")
}

#[test]
fn a_restore_that_the_disk_cut_short_is_no_change_of_anybodys() -> Outcome {
    let house = House::new()?;
    let place = house.repo().join("../small");
    let Some(disk) = Small::at(&place, "size=2m,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    for number in 0..8 {
        fs::write(house.repo().join(format!("b{number}")), vec![b'x'; 100_000])?;
    }
    house.git(&["add", "."])?;
    house.git(&["commit", "-qm", "large"])?;
    house.configure(&format!("[worktree]\nplace = {:?}\n", place.display().to_string()))?;
    let tree = at_work(&house, "blue")?;
    house.json(&["pause", "blue", "--remove-worktree"])?;
    let ballast = disk.fill()?;
    assert_eq!(house.fails(&["resume", "blue"])?.0, 6);
    assert!(!tree.exists(), "half a worktree is no worktree");
    fs::remove_file(ballast)?;
    let session = house.json(&["resume", "blue"])?;
    assert!(session["found"]["restored"].is_object(), "{}", session["found"]);
    assert_eq!(fs::read_to_string(tree.join("work.txt"))?, "mine");
    assert_eq!(fs::read(tree.join("b7"))?.len(), 100_000);
    house.ok(&["stop", "blue"])?;
    Ok(())
}

#[test]
fn a_snapshot_that_is_asked_for_waits_for_the_restore() -> Outcome {
    let house = House::new()?;
    let tree = at_work(&house, "blue")?;
    house.json(&["pause", "blue", "--remove-worktree"])?;
    for _ in 0..5 {
        let mut restore = house.glis();
        let mut restore = restore.args(["restore", "blue"]).spawn()?;
        // Either it comes first and finds no worktree, or it is told to come again, or it sees all
        // of it.
        for verb in ["snapshot", "diff"] {
            let code = house.glis().args([verb, "blue"]).output()?.status.code();
            assert!(matches!(code, Some(0 | 1 | 7)), "{verb}: {code:?}");
        }
        assert!(restore.wait()?.success());
        assert_eq!(fs::read_to_string(tree.join("work.txt"))?, "mine");
        fs::remove_dir_all(&tree)?;
    }
    house.json(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(tree.join("work.txt"))?, "mine");
    Ok(())
}

#[test]
fn what_was_restored_is_what_comes_back() -> Outcome {
    let house = House::new()?;
    let tree = at_work(&house, "blue")?;
    house.json(&["snapshot", "blue"])?;
    let old = house.show("blue")?["snapshot"]["ref"].clone();
    house.turn("blue", "write work.txt newer")?;
    house.json(&["pause", "blue"])?;
    let restored = house.json(&["restore", "blue", "--snapshot", old.as_str().ok_or("ref")?])?;
    assert_eq!(
        (&restored["restored"]["snapshot"]["ref"], &restored["found"]),
        (&old, &Value::Null)
    );
    let shown = house.ok(&["show", "blue"])?;
    assert!(!shown.contains("was gone"), "{shown}");
    fs::remove_dir_all(&tree)?;
    house.json(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(tree.join("work.txt"))?, "mine");
    Ok(())
}

#[test]
fn an_emptied_worktree_inside_another_repository_is_not_taken_for_a_part_of_it() -> Outcome {
    let house = House::new()?;
    let place = house.repo().join(".wt");
    house.configure(&format!("[worktree]\nplace = {:?}\n", place.display().to_string()))?;
    let tree = at_work(&house, "blue")?;
    house.json(&["pause", "blue"])?;
    fs::remove_dir_all(&tree)?;
    fs::create_dir(&tree)?;
    let session = house.json(&["resume", "blue"])?;
    assert!(session["found"]["restored"].is_object(), "{}", session["found"]);
    assert_eq!(fs::read_to_string(tree.join("work.txt"))?, "mine");
    house.json(&["pause", "blue"])?;
    fs::remove_file(tree.join(".git"))?;
    let (status, error) = house.fails(&["resume", "blue"])?;
    assert_eq!(status, 6, "{error}");
    assert!(text_of(&error, "message")?.contains("no longer a worktree"), "{error}");
    house.json(&["restore", "blue"])?;
    house.json(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(tree.join("work.txt"))?, "mine");
    Ok(())
}

#[test]
fn a_broken_repository_refuses_the_pause_in_place() -> Outcome {
    let house = House::new()?;
    house.json(&["new", "blue", "--agent", "rehearsal", "--headless", "--in-place"])?;
    let before = house.turn("blue", "write a.txt hello")?;
    let config = house.repo().join(".git/config");
    let sound = fs::read_to_string(&config)?;
    fs::write(&config, format!("{sound}\n[core\n"))?;
    let (status, error) = house.fails(&["pause", "blue"])?;
    assert_eq!(status, 1, "{error}");
    assert_eq!(house.show("blue")?["pid"], before["pid"]);
    fs::write(&config, sound)?;
    assert_eq!(house.json(&["pause", "blue"])?["warnings"], json!([]));
    Ok(())
}

#[test]
fn a_session_in_no_repository_goes_through_the_trash_too() -> Outcome {
    let house = House::new()?;
    let bare = house.repo().join("../bare");
    fs::create_dir(&bare)?;
    let bare = bare.to_str().ok_or("path")?;
    let new = |name: &str| {
        let args =
            ["new", name, "--agent", "rehearsal", "--headless", "--in-place", "--repo", bare];
        house.json(&args)
    };
    new("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let paused = house.json(&["pause", "blue"])?;
    assert_eq!(paused["warnings"].as_array().map(Vec::len), Some(1), "{}", paused["warnings"]);
    house.json(&["rm", "blue"])?;
    house.json(&["trash", "restore", "blue"])?;
    house.json(&["resume", "blue"])?;
    house.turn("blue", "recall")?;
    house.ok(&["stop", "blue"])?;
    house.json(&["rm", "blue"])?;
    house.json(&["trash", "empty", "blue", "--yes"])?;
    assert_eq!(fs::read_to_string(PathBuf::from(bare).join("a.txt"))?, "hello");
    Ok(())
}

#[test]
fn the_trash_is_emptied_although_the_repository_is_another_one() -> Outcome {
    let house = House::new()?;
    at_work(&house, "blue")?;
    house.json(&["pause", "blue"])?;
    let id = text_of(&house.show("blue")?, "id")?;
    house.json(&["rm", "blue"])?;
    let away = house.repo().join("../away");
    fs::rename(house.repo(), &away)?;
    fs::create_dir(house.repo())?;
    house.git(&["init", "-q"])?;
    house.json(&["trash", "empty", "--all", "--yes"])?;
    assert!(!house.home().join("trash").join(id).exists());
    Ok(())
}

#[test]
fn a_file_above_the_limit_is_no_change_unless_it_changes() -> Outcome {
    let house = House::new()?;
    house.configure("[snapshot]\nfile_megabytes_max = 1\n")?;
    let tree = at_work(&house, "blue")?;
    fs::write(tree.join("large"), vec![b'x'; 3_000_000])?;
    let saved = house.json(&["snapshot", "blue"])?;
    assert_eq!(saved["not_captured"], json!([{"path": "large", "why": "too_large"}]));
    house.json(&["pause", "blue"])?;
    assert_eq!(house.json(&["resume", "blue"])?["found"], "untouched");
    assert_eq!(house.fails(&["pause", "blue", "--remove-worktree"])?.0, 4);
    house.json(&["pause", "blue", "--remove-worktree", "--force"])?;
    assert!(!tree.exists());
    Ok(())
}

#[test]
fn what_was_asked_for_outlives_the_thinning() -> Outcome {
    let house = House::new()?;
    house.configure("[snapshot]\ngap_secs = 0\nkeep_latest = 1\nkeep_max = 1\n")?;
    at_work(&house, "blue")?;
    let id = text_of(&house.show("blue")?, "id")?;
    let saved = |times: usize| -> Outcome {
        let mut events = house.follow(1)?;
        for _ in 0..times {
            events.until(|e| e["occasion"] == "turn_ended" && e["session"] == id.as_str())?;
        }
        Ok(())
    };
    // Nothing has changed since the end of the turn: its snapshot, which will be thinned out, is not
    // the one that was asked for.
    saved(1)?;
    let asked = house.json(&["snapshot", "blue"])?["ref"].clone();
    for number in 0..3 {
        house.turn("blue", &format!("write work.txt {number}"))?;
        saved(number + 2)?;
    }
    let list = house.json(&["snapshots", "blue"])?;
    let names: Vec<_> = list.as_array().ok_or("no array")?.iter().map(|s| &s["ref"]).collect();
    assert!(names.contains(&&asked) && names.len() == 2, "{list}");
    Ok(())
}

#[test]
fn a_copy_elsewhere_takes_neither_the_branch_nor_a_place_inside() -> Outcome {
    let house = House::new()?;
    let tree = at_work(&house, "blue")?;
    house.json(&["pause", "blue", "--remove-worktree"])?;
    let copy = house.repo().join("../copy");
    house.ok(&["restore", "blue", "--to", copy.to_str().ok_or("path")?])?;
    house.json(&["resume", "blue"])?;
    let head = fs::read_to_string(tree.join(".git"))?;
    let head = PathBuf::from(head.trim().trim_start_matches("gitdir: ")).join("HEAD");
    assert_eq!(fs::read_to_string(head)?, "ref: refs/heads/glis/blue\n");
    for inside in [tree.join("inside"), house.repo().join(".git/inside")] {
        let args = ["restore", "blue", "--to", inside.to_str().ok_or("path")?];
        assert_eq!(house.fails(&args)?.0, 2, "{}", inside.display());
    }
    Ok(())
}

#[test]
fn a_set_up_that_a_crash_cut_short_is_not_begun_again() -> Outcome {
    let house = House::new()?;
    let repo = house.repo().canonicalize()?.display().to_string();
    let (count, gate) = (house.repo().join("../count"), house.repo().join("../gate"));
    house.configure(&format!(
        "[repository.{repo:?}]\nsetup = \"echo x >> {}; while [ ! -e {} ]; do sleep 0.05; done\"\n",
        count.display(),
        gate.display()
    ))?;
    let daemon = Foreground::start(&house, &[])?;
    let mut new = house.glis();
    let mut new = new.args(["new", "blue", "--agent", "rehearsal", "--headless"]).spawn()?;
    eventually("the set-up begins", || count.exists())?;
    kill_and_wait(daemon.pid()?)?;
    new.wait()?;
    house.follow(1)?.until(|e| e["event"] == "worktree_made")?;
    let session = house.show("blue")?;
    fs::write(&gate, "")?;
    let notes = session["setup_notes"].to_string();
    assert!(notes.contains("cut short"), "{session}");
    assert_eq!(fs::read_to_string(&count)?, "x\n");
    Ok(())
}

/// A session at whose worktree somebody has worked since the last turn.
fn with_precious(house: &House) -> Outcome<PathBuf> {
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let precious = house.file("blue", "precious")?;
    fs::write(&precious, "not in any commit")?;
    Ok(precious)
}

/// The worktree is deleted, and comes back with everything.
fn comes_back(house: &House, precious: &std::path::Path) -> Outcome {
    fs::remove_dir_all(precious.parent().ok_or("no worktree")?)?;
    house.json(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(precious)?, "not in any commit");
    Ok(())
}

#[test]
fn a_daemon_that_ends_the_agents_saves_what_they_left_before_it_goes() -> Outcome {
    let house = House::new()?;
    let precious = with_precious(&house)?;
    house.ok(&["daemon", "stop", "--agents"])?;
    comes_back(&house, &precious)
}

#[test]
fn what_a_stop_left_is_saved_although_the_daemon_dies_first() -> Outcome {
    let house = House::new()?;
    let precious = with_precious(&house)?;
    house.ok(&["daemon", "stop"])?;
    let daemon = Foreground::start(&house, &[("GLIS_FAILPOINT", "after:suspended")])?;
    // The command line asks the next daemon, which finds it suspended already.
    assert_eq!(house.glis().args(["stop", "blue"]).output()?.status.code(), Some(0));
    daemon.end()?;
    house.json(&["ls"])?;
    eventually("the next daemon saves it", || {
        let refs = house.git(&["for-each-ref", "--format=%(refname)", "refs/glis/snap"]);
        let holds = |name: &str| {
            house.git(&["cat-file", "-e", &format!("{name}:worktree/precious")]).is_ok()
        };
        // The ref comes before the record of it, and only by the record it is found.
        let recorded = house.show("blue").is_ok_and(|shown| shown["snapshot"].is_object());
        recorded && refs.unwrap_or_default().lines().any(holds)
    })?;
    comes_back(&house, &precious)
}

#[test]
fn a_pause_that_would_lose_something_is_refused_before_it_disturbs_the_agent() -> Outcome {
    let house = House::new()?;
    let shown = house.command("blue", &["sleep", "1000"])?;
    fs::write(house.file("blue", ".gitignore")?, ".env\n")?;
    fs::write(house.file("blue", ".env")?, "KEY=1")?;
    let (status, error) = house.fails(&["pause", "blue", "--remove-worktree"])?;
    assert_eq!(status, 4, "{error}");
    assert!(error.to_string().contains(".env"), "{error}");
    assert_eq!(house.show("blue")?["pid"], shown["pid"], "the agent goes on");
    Ok(())
}

#[test]
fn a_worktree_whose_git_file_was_deleted_is_saved_all_the_same() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt one")?;
    let tree = PathBuf::from(text_of(&house.show("blue")?, "worktree")?);
    fs::remove_file(tree.join(".git"))?;
    house.json(&["pause", "blue"])?;
    fs::remove_dir_all(&tree)?;
    house.json(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(tree.join("a.txt"))?, "one");
    Ok(())
}
