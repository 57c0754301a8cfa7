//! Ctrl+C, resume and restart of tasks, by the criteria in `docs/criteria.md`.

use crate::support::house::{House, Outcome, kill_and_wait};
use crate::support::planned::{LONG, Window, plan, record, runs, task, until_at_work};
use crate::support::wreck::text_of;
use serde_json::{Value, json};

/// A plan of two tasks, interrupted in the first.
fn interrupted() -> Outcome<(House, String)> {
    let house = House::new()?;
    plan(&house, &[task("long", LONG, &[], None), task("next", "write next.txt n", &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "long-1")?;
    window.interrupt()?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(130), "{said}{beside}");
    assert!(!beside.contains('\u{1b}'), "keys for a terminal in a pipe: {beside:?}");
    Ok((house, said))
}

#[test]
fn ctrl_c_pauses_execution_and_persists_a_paused_run_record() -> Outcome {
    let (house, said) = interrupted()?;
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert_eq!(
        last,
        ["Restart with: glis restart long", "Paused. Resume with: glis resume long"],
        "{said}"
    );
    let run = record(&house, "long-1")?;
    assert_eq!((&run["state"], &run["resumable"]), (&json!("paused"), &json!(true)), "{run}");
    assert_eq!(run["pause_reason"], "user_interrupt");
    for field in [
        "run_id",
        "task_id",
        "provider",
        "provider_session_ref",
        "repo_root",
        "created_at",
        "updated_at",
        "paused_at",
    ] {
        assert!(run[field].is_string(), "{field}: {run}");
    }
    for field in ["resumed_from_run_id", "restart_of_run_id", "superseded_by_run_id"] {
        assert!(run.get(field).is_some_and(Value::is_null), "{field}: {run}");
    }
    let listed = runs(&house, "long")?;
    assert_eq!(listed, [run]);
    Ok(())
}

#[test]
fn after_pausing_no_further_tasks_are_started_automatically() -> Outcome {
    let (house, _) = interrupted()?;
    assert_eq!(runs(&house, "next")?.len(), 0);
    // Not even by a daemon that starts anew, nor when the paused task is done.
    house.kill_daemon()?;
    house.ok(&["resume", "long"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded")?;
    assert_eq!(runs(&house, "next")?.len(), 0);
    house.ok(&["execute"])?;
    assert_eq!(record(&house, "next-1")?["state"], "succeeded");
    Ok(())
}

#[test]
fn resume_resumes_a_paused_run_in_the_same_conversation() -> Outcome {
    let (house, _) = interrupted()?;
    let before = record(&house, "long-1")?;
    house.ok(&["resume", "long"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded")?;
    let after = runs(&house, "long")?;
    assert_eq!(after.len(), 1, "the same run goes on");
    let known = |run: &Value| (run["provider_session_ref"].clone(), run["session"].clone());
    assert_eq!(after.first().map(known), Some(known(&before)));
    let (status, error) = house.fails(&["resume", "long"])?;
    assert_eq!(status, 4);
    assert!(text_of(&error, "message")?.contains("succeeded"), "{error}");
    Ok(())
}

#[test]
fn resume_requires_the_same_repo_root_as_recorded() -> Outcome {
    let (house, _) = interrupted()?;
    let other = house.folder().join("other");
    std::fs::create_dir(&other)?;
    std::process::Command::new("git")
        .args(["init", "--quiet", "."])
        .current_dir(&other)
        .status()?;
    let output = house.glis().current_dir(&other).args(["--json", "resume", "long"]).output()?;
    assert_eq!(output.status.code(), Some(4));
    let error: Value = serde_json::from_slice(&output.stdout)?;
    let told = text_of(&error["error"], "message")?;
    let run = record(&house, "long-1")?;
    for named in [
        "long-1",
        "rehearsal",
        &text_of(&run, "provider_session_ref")?,
        &text_of(&run, "repo_root")?,
    ] {
        assert!(told.contains(named), "{named}: {told}");
    }
    assert!(text_of(&error["error"], "hint")?.contains("glis restart long"), "{error}");
    assert_eq!(record(&house, "long-1")?["state"], "paused", "nothing has changed");
    Ok(())
}

#[test]
fn if_resume_is_not_possible_it_errors_with_diagnostics_and_points_to_restart() -> Outcome {
    let (house, _) = interrupted()?;
    let run = record(&house, "long-1")?;
    let worktree = text_of(&run, "worktree")?;
    // Another repository stands in the place of its worktree.
    std::fs::rename(&worktree, house.folder().join("away"))?;
    std::fs::create_dir(&worktree)?;
    std::process::Command::new("git")
        .args(["init", "--quiet", "."])
        .current_dir(&worktree)
        .status()?;
    let (status, error) = house.fails(&["resume", "long"])?;
    assert_eq!(status, 6, "{error}");
    let told = text_of(&error, "message")?;
    for named in ["`long`", "long-1", "rehearsal", &text_of(&run, "provider_session_ref")?] {
        assert!(told.contains(named), "{named}: {told}");
    }
    assert!(text_of(&error, "hint")?.contains("glis restart long"), "{error}");
    Ok(())
}

#[test]
fn restart_starts_a_new_run_from_scratch_and_preserves_the_history_of_the_paused_run() -> Outcome {
    let (house, _) = interrupted()?;
    let (status, _) = house.fails(&["restart", "long"])?;
    assert_eq!(status, 2, "it asks, or needs --yes");
    // Its prompt is another one by now.
    let tasks = [
        task("long", "write other.txt s ;; touch-slowly slow.txt 100000 50", &[], None),
        task("next", "write n.txt n", &[], None),
    ];
    plan(&house, &tasks)?;
    house.ok(&["restart", "long", "--yes"])?;
    until_at_work(&house, "long-2")?;
    assert!(house.file("long-2", "other.txt")?.exists(), "its prompt is that of the file");
    let (former, fresh) = (record(&house, "long-1")?, record(&house, "long-2")?);
    assert_eq!(
        (&former["state"], &former["superseded_by_run_id"]),
        (&json!("paused"), &json!("long-2"))
    );
    assert_eq!(fresh["restart_of_run_id"], "long-1");
    assert_ne!(fresh["provider_session_ref"], former["provider_session_ref"]);
    assert_ne!(fresh["worktree"], former["worktree"]);
    assert!(std::path::Path::new(&text_of(&former, "worktree")?).join("slow.txt").exists());
    let (status, error) = house.fails(&["restart", "long", "--yes"])?;
    assert_eq!(status, 4, "one that is at work is not begun anew: {error}");
    let (status, error) = house.fails(&["resume", "long"])?;
    assert_eq!(status, 4, "{error}");
    let hint = text_of(&error, "hint")?;
    assert!(hint.contains("glis pause long") && !hint.contains("restart"), "{hint}");
    Ok(())
}

#[test]
fn a_second_ctrl_c_while_stopping_forces_it_and_that_is_recorded() -> Outcome {
    let house = House::new()?;
    let deaf = "ignore int ;; touch-slowly slow.txt 100000 50";
    plan(&house, &[task("deaf", deaf, &[], None), task("next", "write next.txt n", &[], None)])?;
    let window = Window::open(&house, &[])?;
    let mut events = house.follow(1)?;
    events.until(|e| e["event"] == "tool_began")?;
    window.interrupt()?;
    events.until(|e| e["event"] == "interrupt_began")?;
    window.interrupt()?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(130), "{said}");
    assert!(said.contains("Paused. Resume with: glis resume deaf"), "{said}");
    let run = record(&house, "deaf-1")?;
    assert_eq!((&run["state"], &run["forced"]), (&json!("paused"), &json!(true)), "{run}");
    assert_eq!(runs(&house, "next")?.len(), 0);
    Ok(())
}

#[test]
fn a_window_that_is_closed_pauses_nothing() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("long", LONG, &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "long-1")?;
    kill_and_wait(window.pid()?)?;
    assert_eq!(house.show("long")?["status"], "busy");
    assert_eq!(record(&house, "long-1")?["state"], "running");
    Ok(())
}
