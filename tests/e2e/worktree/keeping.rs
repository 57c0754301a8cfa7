//! What is kept: snapshots at every stop, and worktrees that come back.

use super::compared::{disordered, git, is_as, portrait};
use crate::support::house::{Background, House, Outcome, kill_and_wait};
use crate::support::wreck::text_of;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Does the worst that git can do.
fn destroy(house: &House, tree: &Path) -> Outcome {
    let branch = git(tree, &["rev-parse", "--abbrev-ref", "HEAD"])?.trim().to_owned();
    let path = tree.to_str().ok_or("path")?;
    house.git(&["worktree", "remove", "--force", "--force", path])?;
    house.git(&["branch", "-D", &branch])?;
    // Not all of them: the stash is one.
    house.git(&["reflog", "expire", "--expire=now", "HEAD"])?;
    house.git(&["gc", "--quiet", "--prune=now"])?;
    assert!(!tree.exists());
    Ok(())
}

#[test]
fn a_worktree_that_was_destroyed_comes_back_with_its_merge_conflict() -> Outcome {
    let house = House::new()?;
    let tree = disordered(&house, "blue")?;
    let before = portrait(&tree)?;
    let head = git(&tree, &["rev-parse", "HEAD"])?;
    let stages = git(&tree, &["ls-files", "--stage"])?;
    assert!(stages.contains(" 2\tboth.txt"), "there is a conflict");
    destroy(&house, &tree)?;
    let session = house.json(&["resume", "blue"])?;
    assert!(session["found"]["restored"]["snapshot"]["ref"].is_string(), "{}", session["found"]);
    is_as(&before, &tree)?;
    assert_eq!(git(&tree, &["rev-parse", "HEAD"])?, head);
    house.turn("blue", "write again.txt yes")?;
    git(&tree, &["add", "both.txt"])?;
    git(&tree, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "merged"])?;
    assert_eq!(git(&tree, &["rev-list", "--count", "--merges", "HEAD"])?.trim(), "1");
    Ok(())
}

#[test]
fn two_sessions_of_one_repository_pause_and_resume_at_once_and_each_gets_its_own() -> Outcome {
    let house = House::new()?;
    house.git(&["commit", "-q", "--allow-empty", "-m", "something"])?;
    fs::write(house.repo().join("foreign.txt"), "foreign\n")?;
    house.git(&["stash", "push", "-q", "--include-untracked"])?;
    let stash = house.git(&["stash", "list", "--format=%H %gs"])?;
    let trees = [disordered(&house, "blue")?, disordered(&house, "green")?];
    house.ok(&["resume", "blue", "green"])?;
    let before = [portrait(&trees[0])?, portrait(&trees[1])?];
    house.ok(&["pause", "--all"])?;
    for tree in &trees {
        destroy(&house, tree)?;
    }
    house.ok(&["resume", "--all"])?;
    for (tree, before) in trees.iter().zip(&before) {
        is_as(before, tree)?;
    }
    assert_eq!(house.git(&["stash", "list", "--format=%H %gs"])?, stash);
    Ok(())
}

#[test]
fn what_somebody_changed_meanwhile_is_kept_and_told() -> Outcome {
    let house = House::new()?;
    let tree = disordered(&house, "blue")?;
    let by_agent = house.json(&["show", "blue"])?["snapshot"].clone();
    fs::write(tree.join("by-agent.txt"), "by somebody else")?;
    fs::remove_file(tree.join("untracked.txt"))?;
    let before = portrait(&tree)?;
    let session = house.json(&["resume", "blue"])?;
    let changed = &session["found"]["changed"];
    assert_eq!(changed["paths"]["first"], json!(["by-agent.txt", "untracked.txt"]));
    is_as(&before, &tree)?;
    assert_ne!(changed["snapshot"], by_agent);
    house.turn("blue", "say hello")?;
    house.turn("blue", "say again")?;
    let told: Vec<_> = house.talk("blue")?.into_iter().filter(|(who, _)| who == "user").collect();
    let notes = told.iter().filter(|(_, text)| text.contains("by-agent.txt, untracked.txt"));
    assert_eq!(notes.count(), 1, "{told:?}");
    let place = house.repo().join("../as-it-was");
    let args = ["restore", "blue", "--snapshot", by_agent["ref"].as_str().ok_or("ref")?];
    house.ok(&[&args[..], &["--to", place.to_str().ok_or("path")?]].concat())?;
    assert_eq!(fs::read_to_string(place.join("by-agent.txt"))?, "blue");
    Ok(())
}

#[test]
fn an_untouched_worktree_is_not_spoken_of() -> Outcome {
    let house = House::new()?;
    disordered(&house, "blue")?;
    assert_eq!(house.json(&["resume", "blue"])?["found"], "untouched");
    house.turn("blue", "say hello")?;
    let talk = house.talk("blue")?;
    assert!(talk.iter().all(|(_, text)| !text.contains("[glis]")), "{talk:?}");
    Ok(())
}

#[test]
fn a_stale_lock_of_a_dead_agent_is_set_aside_and_a_living_one_is_not() -> Outcome {
    let house = House::new()?;
    let tree = disordered(&house, "blue")?;
    let lock = git(&tree, &["rev-parse", "--git-path", "index.lock"])?;
    let lock = tree.join(lock.trim());
    // Somebody holds it.
    let held = fs::File::create(&lock)?;
    house.ok(&["resume", "blue"])?;
    assert!(lock.exists());
    drop(held);
    house.ok(&["pause", "blue"])?;
    house.ok(&["resume", "blue"])?;
    assert!(!lock.exists());
    let names = fs::read_dir(lock.parent().ok_or("parent")?)?;
    let kept = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    assert!(kept.into_iter().any(|name| name.starts_with("index.lock.stale-")));
    Ok(())
}

#[test]
fn a_worktree_goes_with_its_pause_and_comes_back_with_its_resume() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let tree = house.file("blue", "")?;
    let before = portrait(&tree)?;
    let paused = house.json(&["pause", "blue", "--remove-worktree"])?;
    assert_eq!((&paused["worktree_removed"], &paused["warnings"]), (&json!(true), &json!([])));
    assert!(!tree.exists());
    assert!(house.git(&["branch", "--list", "glis/blue"])?.contains("glis/blue"));
    assert_eq!(house.json(&["pause", "blue", "--remove-worktree"])?["already"], true);
    assert_eq!(house.json(&["resume", "blue"])?["worktree_removed"], false);
    is_as(&before, &tree)?;
    Ok(())
}

#[test]
fn what_is_in_no_snapshot_keeps_the_worktree_unless_it_may_go() -> Outcome {
    let house = House::new()?;
    fs::write(house.repo().join(".gitignore"), "secret\n")?;
    house.git(&["add", ".gitignore"])?;
    house.git(&["commit", "-qm", "ignore"])?;
    house.rehearsal("blue")?;
    let session = house.turn("blue", "write secret s3")?;
    let (status, error) = house.fails(&["pause", "blue", "--remove-worktree"])?;
    assert_eq!((status, &error["kind"]), (4, &json!("refused")));
    assert!(error["message"].as_str().is_some_and(|text| text.contains("secret")), "{error}");
    let after = house.show("blue")?;
    assert_eq!((&after["status"], &after["pid"]), (&json!("idle"), &session["pid"]));
    let tree = house.file("blue", "")?;
    house.json(&["pause", "blue", "--remove-worktree", "--force"])?;
    assert!(!tree.exists());
    Ok(())
}

#[test]
fn a_folder_that_is_not_ours_is_never_removed() -> Outcome {
    let house = House::new()?;
    let args = ["new", "blue", "--agent", "rehearsal", "--headless", "--in-place"];
    house.json(&args)?;
    house.turn("blue", "write a.txt hello")?;
    assert_eq!(house.fails(&["pause", "blue", "--remove-worktree", "--force"])?.0, 4);
    house.json(&["pause", "blue"])?;
    assert_eq!(house.fails(&["restore", "blue"])?.0, 4);
    house.json(&["rm", "blue"])?;
    house.json(&["trash", "empty", "blue", "--yes"])?;
    assert_eq!(fs::read_to_string(house.repo().join("a.txt"))?, "hello");
    Ok(())
}

#[test]
fn a_pause_that_cannot_save_is_refused_and_the_agent_goes_on() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let before = house.turn("blue", "write a.txt hello")?;
    // Whoever may write anywhere is stopped by what is no folder.
    let objects = house.repo().join(".git/objects/pack");
    let away = objects.with_extension("away");
    fs::rename(&objects, &away)?;
    fs::write(&objects, "in the way")?;
    fs::write(house.file("blue", "a.txt")?, "changed")?;
    let (status, error) = house.fails(&["pause", "blue"])?;
    assert_eq!(status, 1, "{error}");
    let message = text_of(&error, "message")?;
    assert!(message.starts_with("failed to stash changes: `blue`: "), "{message}");
    let after = house.show("blue")?;
    assert_eq!((&after["status"], &after["pid"]), (&json!("idle"), &before["pid"]));
    fs::remove_file(&objects)?;
    fs::create_dir(&objects)?;
    // The snapshots before are broken now; the next one is taken all the same.
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    assert_eq!(house.json(&["resume", "blue"])?["found"], "untouched");
    drop(away);
    Ok(())
}

#[test]
fn a_turn_that_ends_is_saved_and_few_are_kept() -> Outcome {
    let house = House::new()?;
    house.configure("[snapshot]\ngap_secs = 0\nkeep_latest = 3\nkeep_max = 3\n")?;
    let id = text_of(&house.rehearsal("blue")?, "id")?;
    for number in 0..6 {
        house.turn("blue", &format!("write a.txt {number}"))?;
        let saved = |e: &Value| e["occasion"] == "turn_ended" && e["session"] == id.as_str();
        let mut events = house.follow(1)?;
        for _ in 0..=number {
            events.until(saved)?;
        }
    }
    let list = house.json(&["snapshots", "blue"])?;
    let list = list.as_array().ok_or("no array")?;
    assert_eq!(list.len(), 3, "{list:?}");
    assert_eq!(list[2]["since_before"], json!({"first": ["a.txt"], "total": 1}));
    assert!(list.iter().all(|s| s["why"] == "a turn ended" && s["changed"] == 1), "{list:?}");
    // The machine burns down in the middle of the next turn, and the disk with the worktree on it.
    house.ok(&["send", "blue", "touch-slowly slow.txt 100000 50"])?;
    house.until("blue", "busy")?;
    let tree = house.file("blue", "")?;
    for pid in house.processes() {
        kill_and_wait(pid)?;
    }
    fs::remove_dir_all(tree)?;
    house.until("blue", "interrupted")?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(house.file("blue", "a.txt")?)?, "5");
    Ok(())
}

#[test]
fn a_stop_and_a_death_are_saved_too() -> Outcome {
    let house = House::new()?;
    house.configure("[snapshot]\nat_turn_end = false\n")?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt one")?;
    house.ok(&["stop", "blue"])?;
    let ended = |e: &Value| e["occasion"] == "process_ended";
    house.follow(1)?.until(ended)?;
    fs::remove_dir_all(house.file("blue", "")?)?;
    house.turn("blue", "say awake")?;
    assert_eq!(fs::read_to_string(house.file("blue", "a.txt")?)?, "one");
    let found = house.show("blue")?["found"].clone();
    assert!(found["restored"].is_object(), "{found}");
    Ok(())
}

#[test]
fn a_diff_shows_what_was_committed_and_what_was_not() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt one")?;
    let tree = house.file("blue", "")?;
    git(&tree, &["add", "a.txt"])?;
    git(&tree, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "one"])?;
    house.turn("blue", "write b.txt two")?;
    let patch = house.ok(&["diff", "blue"])?;
    assert!(patch.contains("+one") && patch.contains("+two"), "{patch}");
    let stat = house.ok(&["diff", "blue", "--stat"])?;
    assert!(stat.ends_with("2 files, +2 -0\n"), "{stat}");
    let last = house.json(&["snapshot", "blue"])?["ref"].clone();
    house.turn("blue", "write c.txt three")?;
    let since = house.json(&["diff", "blue", "--since", last.as_str().ok_or("ref")?])?;
    assert_eq!(since["files"], json!([{"path": "c.txt", "added": 1, "removed": 0}]));
    house.json(&["pause", "blue", "--remove-worktree"])?;
    assert_eq!(
        house.ok(&["diff", "blue", "--stat"])?.lines().count(),
        4,
        "also without a worktree"
    );
    Ok(())
}

#[test]
fn a_pause_while_others_commit_and_collect_garbage() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let tree = house.file("blue", "")?;
    let script = "while :; do echo x >> c.txt; git add c.txt; git -c user.name=n -c user.email=e \
                  commit -qm c; git gc -q --prune=now; done";
    let mut other = Command::new("sh");
    other.args(["-c", script]).current_dir(house.repo()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let other = Background::start(&mut other)?;
    for number in 0..8 {
        fs::write(tree.join("a.txt"), format!("{number}"))?;
        house.json(&["pause", "blue"])?;
        house.json(&["resume", "blue"])?;
    }
    drop(other);
    house.json(&["pause", "blue", "--remove-worktree"])?;
    house.json(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(tree.join("a.txt"))?, "7");
    Ok(())
}
