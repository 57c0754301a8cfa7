//! What is in the way of a plan by its name, changes at once, and plain answers.

use crate::support::house::{House, Outcome};
use crate::support::planned::{LONG, Window, plan, task, until_at_work};
use crate::support::wreck::text_of;
use std::process::Child;

#[test]
fn a_session_called_plan_or_merge_is_in_nobodys_way() -> Outcome {
    let house = House::new()?;
    for name in ["plan", "merge"] {
        house.ok(&[
            "new",
            name,
            "--agent",
            "rehearsal",
            "--headless",
            "--prompt",
            "write x.txt x",
        ])?;
        house.until(name, "idle")?;
        assert_eq!(house.show(name)?["branch"], format!("glis/{name}-session"));
    }
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    house.ok(&["execute"])?;
    assert!(house.ok(&["merge", "plan"])?.contains("glis/merge/plan"));
    Ok(())
}

#[test]
fn a_branch_above_those_of_plans_is_found_before_a_task_fails_by_it() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "glis/plan"])?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    let (_, error) = house.fails(&["execute"])?;
    assert!(text_of(&error, "hint")?.contains("git branch -m glis/plan "), "{error}");
    house.git(&["branch", "-m", "glis/plan", "other"])?;
    house.ok(&["execute"]).map(drop)
}

#[test]
fn tasks_that_are_added_at_once_are_all_in_the_plan() -> Outcome {
    let house = House::new()?;
    let names: Vec<String> = (0..8).map(|n| format!("p{n}")).collect();
    let add = |name: &String| -> Outcome<Child> {
        Ok(house.glis().args(["plan", "add", name, "--prompt", "say it"]).spawn()?)
    };
    let all = names.iter().map(add).collect::<Outcome<Vec<Child>>>()?;
    for mut one in all {
        assert!(one.wait()?.success());
    }
    let shown = house.json(&["plan", "show"])?;
    assert_eq!(shown["tasks"].as_array().map(Vec::len), Some(8), "{shown}");
    Ok(())
}

#[test]
fn yes_is_a_yes_and_the_choices_are_named() -> Outcome {
    for (answer, done) in [("yes", true), ("Y", true), ("no", false)] {
        let house = House::new()?;
        plan(&house, &[task("a", "approve go on? ;; write a.txt a", &[], None)])?;
        let window = Window::open(&house, &[])?;
        house.follow(1)?.until(|e| e["event"] == "asked")?;
        house.until("a", "waiting")?;
        let (_, error) = house.fails(&["resume", "a"])?;
        assert!(text_of(&error, "hint")?.contains("--answer yes|no"), "{error}");
        // Where nobody could answer, the window has ended and says how.
        let (status, said, _) = window.end()?;
        assert_eq!(status, Some(1), "{said}");
        house.ok(&["resume", "a", "--answer", answer])?;
        house.glis().arg("execute").output()?;
        assert!(said.contains("go on? (`glis resume a --answer yes|no`)"), "{said}");
        assert_eq!(house.file("a-1", "a.txt")?.exists(), done, "{answer}");
    }
    Ok(())
}

#[test]
fn a_message_to_a_paused_task_does_not_end_it() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", LONG, &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    house.ok(&["pause", "a"])?;
    window.end()?;
    house.ok(&["send", "a-1", "what are you doing?"])?;
    house.ok(&["resume", "a"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded")?;
    let told = house.talk("a-1")?;
    let told: Vec<_> = told.iter().filter(|(who, _)| who == "user").map(|(_, text)| text).collect();
    let last = told.last().ok_or("nothing was said")?;
    assert!(last.contains("Continue from where we left off"), "{told:?}");
    assert!(told.iter().any(|text| text.contains("what are you doing?")), "{told:?}");
    Ok(())
}
