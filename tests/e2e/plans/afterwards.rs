//! One task at a time by its name, and what becomes of a plan when it is done.

use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{LONG, Window, plan, record, runs, task, until_at_work};
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
    assert!(said.contains("All 2 tasks are done"), "{said}");
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
    assert_eq!(record(&house, "a-1")?["state"], "paused");
    window.end().map(drop)
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
    let (_, error) = house.fails(&["merge", "tidy-down"])?;
    assert!(text_of(&error, "message")?.contains("no session `tidy-down`"), "{error}");
    let cleaned = house.ok(&["plan", "clean"])?;
    assert!(cleaned.contains("in the trash: a-1, b-1"), "{cleaned}");
    eventually("both are in the trash", || {
        let trash = house.json(&["trash", "list"]);
        trash.is_ok_and(|trash| trash.as_array().is_some_and(|all| all.len() == 2))
    })?;
    assert!(house.ok(&["plan", "clean"])?.contains("nothing to clean up"));
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
