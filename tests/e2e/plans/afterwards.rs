//! One task at a time by its name, and what becomes of a plan when it is done.

use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{BRANCH, LONG, Window, plan, record, runs, task, until_at_work};
use crate::support::wreck::text_of;
use serde_json::json;
use std::fs;

#[test]
fn a_task_that_is_resumed_runs_alone_and_execute_does_the_rest() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\nretries = 0\n")?;
    let tasks = [
        task("a", "write bad.txt x", &[], Some("test -f good.txt")),
        task("b", "write b.txt b", &["a"], None),
    ];
    plan(&house, &tasks)?;
    assert_eq!(house.fails(&["execute"])?.0, 1);
    house.until("a-1", "suspended")?;
    house.ok(&["resume", "a", "--prompt", "write good.txt yes"])?;
    eventually("it is done", || {
        record(&house, "a-2").is_ok_and(|run| run["state"] == "succeeded")
    })?;
    let shown = house.json(&["plan", "show"])?;
    assert_eq!(shown["tasks"][1]["state"], "ready", "nobody has asked for more: {shown}");
    let said = house.ok(&["execute"])?;
    assert!(said.contains("2 of 2 tasks are done"), "{said}");
    Ok(())
}

#[test]
fn who_restarts_the_session_of_a_task_begins_the_task_anew() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    house.ok(&["execute"])?;
    house.ok(&["restart", "a-1", "--yes"])?;
    let all = runs(&house, "a")?;
    assert_eq!((all.len(), &all[1]["restart_of_run_id"]), (2, &"a-1".into()), "{all:?}");
    assert_eq!(all[0]["superseded_by_run_id"], "a-2");
    Ok(())
}

#[test]
fn a_session_and_a_task_of_one_name_are_told_apart() -> Outcome {
    let house = House::new()?;
    house.rehearsal("a")?;
    plan(&house, &[task("a", LONG, &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    for verb in ["pause", "stop", "resume", "show"] {
        let (_, error) = house.fails(&[verb, "a"])?;
        assert!(text_of(&error, "hint")?.contains("`session:a`"), "{verb}: {error}");
    }
    assert_eq!(house.show("session:a")?["name"], "a");
    assert_eq!(house.show("tidy-up/a")?["name"], "a-1");
    house.ok(&["pause", "tidy-up/a"])?;
    window.end()?;
    assert_eq!(record(&house, "a-1")?["state"], "paused");
    Ok(())
}

#[test]
fn a_plan_that_is_done_is_merged_and_cleaned_up() -> Outcome {
    let house = House::new()?;
    let tasks = [task("a", "write a.txt a", &[], None), task("b", "write b.txt b", &["a"], None)];
    plan(&house, &tasks)?;
    house.ok(&["execute"])?;
    let merged = house.json(&["merge", "tidy-up"])?;
    let next = text_of(&merged, "next")?;
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    house.git(&words)?;
    assert!(house.repo().join("b.txt").exists(), "{merged}");
    let said = house.ok(&["merge", "tidy-up"])?;
    assert!(said.contains("already has everything of `tidy-up`"), "{said}");
    let listed = house.ok(&["plan", "ls"])?;
    let row = listed.lines().nth(1).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row[..6], ["tidy-up", "done", "2", "of", "2", BRANCH], "{listed}");
    let runs = house.ok(&["runs"])?;
    assert!(runs.starts_with("RUN ") && runs.contains("tidy-up"), "{runs}");
    let (_, error) = house.fails(&["merge", "tidy-down"])?;
    assert!(text_of(&error, "message")?.contains("no session `tidy-down`"), "{error}");
    let cleaned = house.ok(&["plan", "clean"])?;
    assert!(cleaned.contains("in the trash: a-1, b-1"), "{cleaned}");
    eventually("both are in the trash", || {
        let trash = house.json(&["trash", "list"]);
        trash.is_ok_and(|trash| trash.as_array().is_some_and(|all| all.len() == 2))
    })?;
    assert!(house.ok(&["plan", "clean"])?.contains("nothing to clean up"));
    // Their branches go with them: the plan's has everything.
    house.ok(&["trash", "empty", "--all", "--yes"])?;
    eventually("their branches are gone", || {
        let left = house.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/glis"]);
        left.is_ok_and(|left| left.contains(BRANCH) && !left.contains("-1"))
    })?;
    Ok(())
}

#[test]
fn what_is_merged_is_cleared_away_at_once_where_that_is_wanted() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\nclean = true\n")?;
    let all: Vec<String> =
        (0..6).map(|n| task(&format!("t{n}"), &format!("write t{n}.txt x"), &[], None)).collect();
    plan(&house, &all)?;
    house.ok(&["execute", "--jobs", "2"])?;
    let checkouts = || fs::read_dir(house.home().join("worktrees/repo")).map_or(0, Iterator::count);
    eventually("no checkout is left", || checkouts() == 0)?;
    eventually("no session is left", || house.json(&["ls"]).is_ok_and(|all| all == json!([])))
}

#[test]
fn of_a_checkout_that_is_cleared_away_a_snapshot_is_kept_and_what_git_ignores_is_kept_too()
-> Outcome {
    let house = House::new()?;
    let built = "write .gitignore built ;; write built x";
    let tasks = [task("a", "write a.txt a", &[], None), task("b", built, &[], None)];
    plan(&house, &tasks)?;
    house.ok(&["execute"])?;
    let places = ["a-1", "b-1"].map(|run| record(&house, run).map(|run| run["worktree"].clone()));
    // Their agents may still be on their way out.
    eventually("both are in the trash", || {
        let trash = house.ok(&["plan", "clean"]).and_then(|_| house.json(&["trash", "list"]));
        trash.is_ok_and(|trash| trash.as_array().is_some_and(|all| all.len() == 2))
    })?;
    // What git ignores is in no snapshot.
    let listed = house.git(&["worktree", "list"])?;
    assert_eq!(listed.lines().filter(|line| line.contains("/trash/")).count(), 1, "{listed}");
    for (place, (run, file)) in places.into_iter().zip([("a-1", "a.txt"), ("b-1", "built")]) {
        let place = place?;
        house.ok(&["trash", "restore", run])?;
        let place = std::path::Path::new(place.as_str().ok_or("no worktree")?);
        assert!(place.join(file).exists(), "{run}");
        assert_eq!(house.turn(run, "say back")?["status"], "idle");
    }
    Ok(())
}

#[test]
fn what_cannot_be_worked_on_here_is_found_before_anything_begins() -> Outcome {
    let house = House::new()?;
    let with = |key: &str| format!("[[task]]\nid = \"a\"\nprompt = \"say x\"\n{key}\n");
    let file = house.repo().join(".glis/plan.toml");
    fs::create_dir_all(house.repo().join(".glis"))?;
    for (text, why) in [
        (with("agent = \"nonesuch\""), "there is no agent"),
        (with("agent = \"command\""), "needs a program"),
        (with("agent = \"rehearsal\"\npersona = \"nobody\""), "nobody"),
        (with("agent = \"opencode\""), "the agent `opencode` is not installed"),
        ("[plan]\ntitle = \"x\"\n".to_owned(), "there are no tasks"),
        (
            with("agent = \"rehearsal\"\naccept = \"nonesuch --all\""),
            "`nonesuch` of its `accept` is not there",
        ),
        (with("agent = \"rehearsal\"\naccept = \"ls \u{202e}x\""), "are not seen: ls \\u{202e}x"),
    ] {
        fs::write(&file, &text)?;
        for verb in [&["plan", "check"][..], &["execute"]] {
            let output = house.glis().args(verb).env("PATH", "/usr/bin:/bin").output()?;
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said)?;
            assert_eq!(output.status.code(), Some(1), "{verb:?}: {said}");
            assert!(said.contains(why) && said.contains("plan.toml:1"), "{verb:?} {why}: {said}");
        }
    }
    Ok(())
}

#[test]
fn commits_that_are_not_signed_are_told_where_the_repository_wants_them_signed() -> Outcome {
    let house = House::new()?;
    house.git(&["config", "commit.gpgsign", "true"])?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    let said = house.ok(&["execute"])?;
    assert!(
        said.starts_with("note: commit.gpgsign is set, and the commits of a plan are not"),
        "{said}"
    );
    Ok(())
}

#[test]
fn a_plan_is_that_of_the_repository_that_one_is_in() -> Outcome {
    let house = House::new()?;
    let other = house.folder().join("other");
    house.git(&["clone", "--quiet", ".", &other.to_string_lossy()])?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    fs::create_dir_all(other.join(".glis"))?;
    fs::copy(house.repo().join(".glis/plan.toml"), other.join(".glis/plan.toml"))?;
    house.ok(&["execute"])?;
    let there = |args: &[&str]| -> Outcome<String> {
        let output = house.glis().args(args).current_dir(&other).output()?;
        assert!(output.status.success(), "{args:?}: {output:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    there(&["execute"])?;
    let merged = there(&["merge", "plan:tidy-up", "--json"])?;
    assert!(merged.contains("glis/merge/tidy-up"), "{merged}");
    let tip = |place: &std::path::Path| {
        let mut git = std::process::Command::new("git");
        let made = git.args(["rev-parse", "--verify", "glis/merge/tidy-up"]).current_dir(place);
        made.output().is_ok_and(|said| said.status.success())
    };
    assert_eq!((tip(&other), tip(&house.repo())), (true, false), "it went into the other one");
    Ok(())
}
