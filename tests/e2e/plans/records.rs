//! The records of runs: whole, apart from each other, and out of the user's way.

use crate::support::house::{House, Outcome, eventually, kill_and_wait};
use crate::support::planned::{LONG, Window, plan, record, record_in, runs, task, until_at_work};
use crate::support::wreck::text_of;
use serde_json::Value;

/// PL-2.
#[test]
fn a_record_has_every_field_and_is_ignored_by_the_exclude_file_alone() -> Outcome {
    let house = House::new()?;
    std::fs::write(house.repo().join(".git/info/exclude"), "*.orig")?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    house.ok(&["execute"])?;
    let run = record(&house, "a-1")?;
    for field in [
        "run_id",
        "task_id",
        "state",
        "provider",
        "provider_session_ref",
        "resumable",
        "repo_root",
        "created_at",
        "updated_at",
        "paused_at",
        "pause_reason",
        "resumed_from_run_id",
        "restart_of_run_id",
        "superseded_by_run_id",
    ] {
        assert!(run.get(field).is_some(), "{field}: {run}");
    }
    let by = house.git(&["check-ignore", "--verbose", ".glis/runs/tidy-up/a-1.json"])?;
    assert!(by.starts_with(".git/info/exclude:2:/.glis/runs/"), "{by}");
    let list = std::fs::read_to_string(house.repo().join(".git/info/exclude"))?;
    assert_eq!(list, "*.orig\n/.glis/runs/\n");
    assert!(!house.repo().join(".gitignore").exists());
    // The next daemon finds it there.
    house.kill_daemon()?;
    house.ok(&["restart", "a", "--yes"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded" && e["run"] == "a-2")?;
    assert_eq!(std::fs::read_to_string(house.repo().join(".git/info/exclude"))?, list);
    Ok(())
}

#[test]
fn a_run_that_ended_with_its_process_or_its_daemon_tells_since_when_and_why_it_is_paused() -> Outcome
{
    for (end, reason) in [("kill", "crash"), ("stop", "shutdown")] {
        let house = House::new()?;
        plan(&house, &[task("a", LONG, &[], None)])?;
        let window = Window::open(&house, &[])?;
        until_at_work(&house, "a-1")?;
        // A window that lives starts the next daemon at once.
        kill_and_wait(window.pid()?)?;
        let session = text_of(&record(&house, "a-1")?, "session")?;
        if end == "kill" {
            kill_and_wait(i32::try_from(house.show(&session)?["pid"].as_i64().ok_or("no pid")?)?)?;
            house.until(&session, "interrupted")?;
        } else {
            house.ok(&["daemon", "stop", "--agents"])?;
        }
        let run = runs(&house, "a")?.pop().ok_or("no run")?;
        assert_eq!((&run["state"], &run["pause_reason"]), (&"paused".into(), &reason.into()));
        assert!(run["paused_at"].is_string() && run["resumable"] == true, "{run}");
        assert_eq!(record(&house, "a-1")?["pause_reason"], reason);
    }
    Ok(())
}

#[test]
fn what_was_not_accepted_goes_on_in_its_conversation_as_another_run() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\nretries = 0\n")?;
    plan(&house, &[task("a", "write a.txt a", &[], Some("test -e b.txt"))])?;
    house.fails(&["execute"])?;
    let failed = record(&house, "a-1")?;
    assert_eq!(failed["state"], "failed");
    house.until("a-1", "suspended")?;
    house.ok(&["resume", "a", "--prompt", "write b.txt b"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded" && e["run"] == "a-2")?;
    eventually("its record says so", || {
        record(&house, "a-2").is_ok_and(|run| run["state"] == "succeeded")
    })?;
    let (first, second) = (record(&house, "a-1")?, record(&house, "a-2")?);
    assert_eq!((&first["state"], &first["updated_at"]), (&failed["state"], &failed["updated_at"]));
    assert_eq!(
        (&second["state"], &second["resumed_from_run_id"]),
        (&"succeeded".into(), &"a-1".into())
    );
    assert_eq!(second["session"], first["session"]);
    assert_eq!(second["provider_session_ref"], first["provider_session_ref"]);
    let told = house.ok(&["runs", "a"])?;
    assert!(told.contains("goes on from a-1"), "{told}");
    let said = house.talk(&text_of(&second, "session")?)?;
    assert_eq!(said.iter().filter(|(voice, _)| voice == "user").count(), 2, "{said:?}");
    // The same once more begins with nothing: there is nothing to mend.
    assert_eq!(house.fails(&["resume", "a"])?.0, 4);
    Ok(())
}

#[test]
fn two_plans_with_a_task_of_the_same_id_have_records_apart() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt a", &[], Some("echo first"))])?;
    house.ok(&["execute"])?;
    let other = task("a", "write b.txt b", &[], Some("echo second"));
    std::fs::write(house.repo().join("other.toml"), other)?;
    house.ok(&["execute", "other.toml"])?;
    let (one, two) = (record(&house, "a-1")?, record_in(&house, "other", "a-1")?);
    assert_ne!((&one["plan"], &one["session"]), (&two["plan"], &two["session"]));
    assert_eq!(runs(&house, "a")?.len(), 2);
    let log = |run: &Value| -> Outcome<String> {
        let path = house.repo().join(".glis/runs").join(text_of(run, "accept_log")?);
        Ok(std::fs::read_to_string(path)?)
    };
    assert_eq!((log(&one)?.as_str(), log(&two)?.as_str()), ("first\n", "second\n"));
    // Which of them is meant has to be said.
    let (status, error) = house.fails(&["restart", "a", "--yes"])?;
    assert_eq!(status, 3, "{error}");
    assert!(text_of(&error, "message")?.contains("more than one plan"), "{error}");
    Ok(())
}

#[test]
fn nothing_is_written_through_a_link_in_the_place_of_the_folder() -> Outcome {
    let house = House::new()?;
    let outside = house.folder().join("outside");
    std::fs::create_dir(&outside)?;
    std::os::unix::fs::symlink(&outside, house.repo().join(".glis"))?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    let (status, error) = house.fails(&["execute"])?;
    assert!(status != 0 && text_of(&error, "message")?.contains("leads out"), "{error}");
    let found: Vec<_> = std::fs::read_dir(&outside)?.flatten().map(|e| e.file_name()).collect();
    assert_eq!(found, ["plan.toml"]);
    assert_eq!(house.json(&["ls"])?, serde_json::json!([]), "nothing was begun");
    // A link that comes later keeps what is next from beginning, and says so.
    std::fs::remove_file(house.repo().join(".glis"))?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    std::os::unix::fs::symlink(&outside, house.repo().join(".glis/runs"))?;
    let (_, error) = house.fails(&["execute"])?;
    assert!(text_of(&error, "message")?.contains(".glis/runs is a symbolic link"), "{error}");
    Ok(())
}

#[test]
fn a_panic_over_one_record_keeps_no_other_from_being_written() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt a", &[], None), task("b", "write b.txt b", &[], None)])?;
    let mut daemon = house.glis();
    daemon.env("GLIS_FAILPOINT", "panic@run_record@a-1").args(["daemon", "start"]);
    assert!(daemon.status()?.success());
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("a: failed") && said.contains("internal error"), "{said}");
    assert_eq!(record(&house, "b-1")?["state"], "succeeded");
    Ok(())
}
