//! What is said of tasks that a person has ruled on, and what those that wait leave to others.

use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{BRANCH, Window, plan, record, record_in, runs, task};

/// The last state of a task.
fn state(house: &House, of: &str) -> Outcome<String> {
    let last = runs(house, of)?.pop().ok_or("no run")?;
    Ok(last["state"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn what_is_taken_as_it_is_is_told_as_merged_only_once_it_is() -> Outcome {
    let house = House::new()?;
    let writes = |id: &str| task(id, &format!("write same.txt {id}"), &[], None);
    plan(&house, &[writes("a"), writes("b")])?;
    Window::open(&house, &["--review", "--jobs", "2"])?.end()?;
    let told = house.ok(&["accept", "a"])?;
    assert!(told.contains("is taken as it is, and merged"), "{told}");
    assert_eq!(state(&house, "a")?, "succeeded");
    let told = house.ok(&["accept", "b"])?;
    assert!(
        !told.contains("merged,") && told.contains("have changed the same: same.txt"),
        "{told}"
    );
    assert_eq!(state(&house, "b")?, "waiting");
    Ok(())
}

#[test]
fn a_task_that_was_skipped_is_told_as_such() -> Outcome {
    let house = House::new()?;
    let fails = |id: &str| task(id, "say done", &[], Some("false"));
    plan(&house, &[fails("a"), fails("b")])?;
    house.configure("[plan]\nretries = 0\n")?;
    Window::open(&house, &["--jobs", "2"])?.end()?;
    house.ok(&["skip", "a"])?;
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("a: skipped") && !said.contains("a: failed"), "{said}");
    assert!(said.contains("0 of 2 tasks are done, 1 is skipped"), "{said}");
    Ok(())
}

#[test]
fn what_waits_for_a_person_gives_its_place_to_what_is_ready() -> Outcome {
    let house = House::new()?;
    house.configure("[concurrency]\nlive = 2\n")?;
    let tasks: Vec<_> =
        (0..6).map(|n| task(&format!("t{n}"), &format!("write t{n} x"), &[], None)).collect();
    plan(&house, &tasks)?;
    let (status, said, beside) = Window::open(&house, &["--review", "--jobs", "2"])?.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    for number in 0..6 {
        assert_eq!(state(&house, &format!("t{number}"))?, "waiting", "t{number}: {said}");
    }
    Ok(())
}

#[test]
fn what_was_in_the_way_of_a_merge_is_looked_at_again_by_execute() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt A ;; run mkfifo go && cat go && rm go", &[], None)])?;
    let window = Window::open(&house, &[])?;
    eventually("it is at work", || {
        record(&house, "a-1").is_ok_and(|run| run["worktree"].is_string())
    })?;
    let worktree = record(&house, "a-1")?["worktree"].as_str().ok_or("no worktree")?.to_owned();
    let gate = std::path::Path::new(&worktree).join("go");
    eventually("it waits", || gate.exists())?;
    house.git(&["switch", "--quiet", "--force-create", BRANCH])?;
    std::fs::write(&gate, "")?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("is checked out in"), "{said}");
    house.git(&["switch", "--quiet", "main"])?;
    house.ok(&["execute"])?;
    assert_eq!(state(&house, "a")?, "succeeded");
    Ok(())
}

#[test]
fn what_stands_in_the_file_and_is_not_worked_on_is_told_in_the_end() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt A", &[], None)])?;
    house.ok(&["plan", "add", "more", "--propose", "--prompt", "say x"])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains("more: proposed; `glis plan approve more`"), "{said}");
    assert!(
        said.trim_end().lines().last().is_some_and(|line| line.starts_with("1 of 1")),
        "{said}"
    );
    let path = house.repo().join(".glis/plan.toml");
    let text = std::fs::read_to_string(&path)?.replace("write a.txt A", "write a.txt B");
    plan(&house, &[task("a", "run mkfifo go && cat go && rm go", &[], None)])?;
    std::fs::write(&path, std::fs::read_to_string(&path)?.replace("Tidy up", "Another"))?;
    let window = Window::open(&house, &[])?;
    let at_work = || record_in(&house, "another", "a-1");
    eventually("it is at work", || at_work().is_ok_and(|run| run["worktree"].is_string()))?;
    let worktree = at_work()?["worktree"].as_str().ok_or("no worktree")?.to_owned();
    let gate = std::path::Path::new(&worktree).join("go");
    eventually("it waits", || gate.exists())?;
    std::fs::write(&path, format!("{text}\nx = ["))?;
    std::fs::write(&gate, "")?;
    let (_, said, _) = window.end()?;
    assert!(said.contains("note: ") && said.contains("as it was before that"), "{said}");
    Ok(())
}

#[test]
fn a_branch_in_the_way_of_a_merge_is_told_with_the_way_out() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt A", &[], None)])?;
    house.ok(&["execute"])?;
    house.git(&["branch", "glis/merge"])?;
    let (_, error) = house.fails(&["merge", "tidy-up"])?;
    assert!(error.to_string().contains("git branch -m glis/merge"), "{error}");
    house.git(&["branch", "-m", "glis/merge", "glis/merge-session"])?;
    house.ok(&["merge", "tidy-up"])?;
    let (_, error) = house.fails(&["merge", "tidy-up", "--into", "nowhere"])?;
    assert!(error.to_string().contains("there is no branch nowhere"), "{error}");
    Ok(())
}

#[test]
fn a_file_with_another_title_shows_nothing_as_done() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt A", &[], None)])?;
    house.ok(&["execute"])?;
    assert!(house.ok(&["plan", "show"])?.contains("succeeded"));
    let path = house.repo().join(".glis/plan.toml");
    std::fs::write(&path, std::fs::read_to_string(&path)?.replace("Tidy up", "Another"))?;
    let shown = house.ok(&["plan", "show"])?;
    assert!(!shown.contains("succeeded"), "{shown}");
    Ok(())
}
