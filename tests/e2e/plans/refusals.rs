//! Resumes of tasks that cannot be (ER-1): each names the task, its run, the agent and its session id, why,
//! and the way out. Nothing is begun anew by itself.

use crate::support::house::{House, Outcome};
use crate::support::planned::{LONG, Window, plan, record, runs, task, until_at_work};
use crate::support::wreck::text_of;
use serde_json::{Value, json};

/// A task whose agent has these faults, interrupted.
fn interrupted(faults: &str) -> Outcome<(House, String)> {
    let house = House::new()?;
    house.configure(&format!("[persona.odd]\nargs = [{faults}]\n"))?;
    let odd = format!("{}\npersona = \"odd\"\n", task("long", LONG, &[], None).trim_end());
    plan(&house, &[odd])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "long-1")?;
    window.interrupt()?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(130), "{said}{beside}");
    Ok((house, said))
}

/// What a failed resume has to tell.
fn check(house: &House, reference: &str, why: &str) -> Outcome {
    let (status, error) = house.fails(&["resume", "long"])?;
    assert_eq!(status, 6, "{error}");
    let told = text_of(&error, "message")?;
    for named in ["`long`", "long-1", "rehearsal", reference] {
        assert!(told.contains(named), "{named}: {told}");
    }
    assert_eq!(error["kind"], why, "{error}");
    assert!(text_of(&error, "hint")?.contains("glis restart long"), "{error}");
    assert_eq!(runs(house, "long")?.len(), 1, "something was begun anew");
    Ok(())
}

#[test]
fn a_task_whose_agent_told_no_id_is_not_resumable_and_says_so() -> Outcome {
    let (house, said) = interrupted("\"--misbehave\", \"never-id\"")?;
    assert!(said.contains("long cannot be resumed"), "{said}");
    let run = record(&house, "long-1")?;
    assert_eq!((&run["state"], &run["resumable"]), (&json!("paused"), &json!(false)), "{run}");
    assert_eq!(run["provider_session_ref"], Value::Null);
    let listed = house.ok(&["runs", "long"])?;
    assert!(listed.contains("not resumable"), "{listed}");
    check(&house, "session id none", "no_ref")?;
    assert_eq!(record(&house, "long-1")?["state"], "paused");
    house.ok(&["restart", "long", "--yes"])?;
    until_at_work(&house, "long-2")?;
    assert_eq!(record(&house, "long-1")?["superseded_by_run_id"], "long-2");
    Ok(())
}

#[test]
fn a_task_whose_agent_rejects_its_id_stays_paused() -> Outcome {
    let (house, _) = interrupted("\"--misbehave\", \"refuse-resume\"")?;
    let run = record(&house, "long-1")?;
    check(&house, &text_of(&run, "provider_session_ref")?, "rejected")?;
    let after = record(&house, "long-1")?;
    assert_eq!(
        (&after["state"], &after["provider_session_ref"]),
        (&json!("paused"), &run["provider_session_ref"])
    );
    Ok(())
}

#[test]
fn a_task_is_resumed_by_the_provider_that_began_it_whatever_its_file_says() -> Outcome {
    let (house, _) = interrupted("")?;
    let before = record(&house, "long-1")?;
    let other = task("long", LONG, &[], None).replace("rehearsal", "claude");
    plan(&house, &[other])?;
    house.ok(&["resume", "long"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded")?;
    let after = &runs(&house, "long")?[0];
    for field in ["provider", "provider_session_ref", "run_id"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    Ok(())
}
