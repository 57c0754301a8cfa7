//! What a plan is: a file of a checkout, with its title, as long as there is something to do.

use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{BRANCH, Window, plan, record, record_in, runs, task};
use crate::support::wreck::text_of;

/// The branch of the second plan of a file.
const SECOND: &str = "glis/plan/tidy-up-2";

/// The user takes in what a plan has done, and goes on by hand.
fn take_in(house: &House) -> Outcome {
    house.git(&["merge", "--quiet", "--no-edit", BRANCH])?;
    std::fs::write(house.repo().join("user.txt"), "by hand\n")?;
    house.git(&["add", "user.txt"])?;
    house.git(&["commit", "--quiet", "-m", "by hand"]).map(drop)
}

#[test]
fn a_plan_that_is_about_something_else_is_another_one() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("core", "write a.txt a", &[], None)])?;
    house.ok(&["execute"])?;
    take_in(&house)?;
    // The same ids, as every draft has them, and even the same words.
    let file = house.repo().join(".glis/plan.toml");
    let text = std::fs::read_to_string(&file)?.replace("Tidy up", "Paint it");
    std::fs::write(&file, text.replace("write a.txt a", "run cat user.txt ;; write b.txt b"))?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains("1 of 1 task is done: branch glis/plan/paint-it"), "{said}");
    assert_eq!(record_in(&house, "paint-it", "core-1")?["state"], "succeeded");
    let files = house.git(&["ls-tree", "--name-only", "glis/plan/paint-it"])?;
    assert!(files.contains("b.txt") && files.contains("user.txt"), "from today's commit: {files}");
    // A task is that of the plan that the file is now; the former one is meant by its name.
    assert_eq!(runs(&house, "core")?.len(), 2);
    assert_eq!(runs(&house, "tidy-up/core")?.len(), 1);
    house.ok(&["restart", "core", "--yes"])?;
    assert_eq!(record_in(&house, "paint-it", "core-2")?["restart_of_run_id"], "core-1");
    Ok(())
}

#[test]
fn what_is_added_to_a_plan_that_was_taken_in_begins_from_there() -> Outcome {
    let house = House::new()?;
    let core = task("core", "write a.txt a", &[], None);
    plan(&house, std::slice::from_ref(&core))?;
    house.ok(&["execute"])?;
    take_in(&house)?;
    house.git(&["branch", "-D", BRANCH])?;
    plan(&house, &[core, task("extra", "run cat user.txt ;; write b.txt b", &["core"], None)])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains(&format!("2 of 2 tasks are done: branch {SECOND}")), "{said}");
    assert_eq!(runs(&house, "core")?.len(), 1, "what is done is not done again");
    assert!(house.git(&["rev-parse", "--verify", BRANCH]).is_err(), "and nothing comes back");
    let files = house.git(&["ls-tree", "--name-only", SECOND])?;
    assert!(["a.txt", "b.txt", "user.txt"].iter().all(|file| files.contains(file)), "{files}");
    Ok(())
}

#[test]
fn a_done_task_that_says_something_else_is_told_and_done_again_only_when_asked() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt old", &[], None), task("b", "say b", &["a"], None)])?;
    house.ok(&["execute", "--task", "a"])?;
    plan(&house, &[task("a", "write a.txt new", &[], None), task("b", "say b", &["a"], None)])?;
    let said = house.ok(&["execute"])?;
    assert!(
        said.contains("a: changed since it was done; `glis restart a` does it again"),
        "{said}"
    );
    assert_eq!(runs(&house, "a")?.len(), 1);
    house.ok(&["restart", "a", "--yes"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded" && e["run"] == "a-2")?;
    assert_eq!(house.git(&["show", &format!("{BRANCH}:a.txt")])?, "new");
    assert!(!house.ok(&["execute"])?.contains("changed"));
    Ok(())
}

#[test]
fn a_linked_worktree_has_a_plan_of_its_own() -> Outcome {
    let house = House::new()?;
    let go = house.folder().join("go");
    let waits = format!("test -e {} || {{ sleep 1; false; }}", go.display());
    let tasks =
        [task("a", "write a.txt a", &[], Some(&waits)), task("b", "write b.txt b", &["a"], None)];
    plan(&house, &tasks)?;
    house.configure("[plan]\nretries = 60\n")?;
    let window = Window::open(&house, &[])?;
    eventually("it works", || record(&house, "a-1").is_ok())?;
    let linked = house.folder().join("feature");
    let path = linked.to_string_lossy().into_owned();
    house.git(&["worktree", "add", "--quiet", "-b", "feature", &path])?;
    house.git(&["-C", &path, "commit", "--quiet", "--allow-empty", "-m", "of the feature"])?;
    std::fs::create_dir_all(linked.join(".glis"))?;
    let own = format!("[plan]\ntitle = \"Tidy up\"\n\n{}", task("w", "write w.txt w", &[], None));
    std::fs::write(linked.join(".glis/plan.toml"), own)?;
    let said = house.glis().arg("execute").current_dir(&linked).output()?;
    let said = String::from_utf8(said.stdout)?;
    assert!(said.contains(&format!("1 of 1 task is done: branch {SECOND}")), "{said}");
    let past = house.git(&["log", "--format=%s", SECOND])?;
    assert!(past.contains("of the feature"), "{past}");
    std::fs::write(&go, "")?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains(&format!("2 of 2 tasks are done: branch {BRANCH}")), "{said}");
    assert!(house.git(&["show", &format!("{BRANCH}:w.txt")]).is_err());
    Ok(())
}

#[test]
fn a_task_that_two_plans_have_is_named_with_its_plan() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    house.ok(&["execute"])?;
    std::fs::write(house.repo().join("other.toml"), task("a", "write b.txt b", &[], None))?;
    house.ok(&["execute", "other.toml"])?;
    let (status, error) = house.fails(&["restart", "a", "--yes"])?;
    assert_eq!(status, 3, "{error}");
    assert!(text_of(&error, "hint")?.contains("PLAN/a"), "{error}");
    assert_eq!(house.json(&["restart", "other/a", "--yes"])?["run_id"], "a-2");
    assert_eq!(record_in(&house, "other", "a-2")?["restart_of_run_id"], "a-1");
    Ok(())
}

#[test]
fn what_a_person_has_skipped_is_no_success_of_the_next_plan() -> Outcome {
    let house = House::new()?;
    let (core, odd) = (task("core", "write a.txt a", &[], None), task("odd", "say o", &[], None));
    plan(&house, &[core.clone(), odd.clone()])?;
    house.ok(&["execute", "--task", "core"])?;
    house.ok(&["skip", "odd"])?;
    assert!(house.ok(&["execute"])?.contains("1 of 2 tasks are done, 1 is skipped"));
    take_in(&house)?;
    plan(&house, &[core, odd, task("extra", "write b.txt b", &["odd"], None)])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains("2 of 3 tasks are done, 1 is skipped"), "{said}");
    let shown = house.json(&["plan", "show"])?;
    assert_eq!(shown["tasks"][1]["state"], "canceled", "{shown}");
    assert_eq!(runs(&house, "odd")?.len(), 0, "nobody wants it done");
    Ok(())
}

#[test]
fn a_plan_whose_work_may_be_lost_says_so_before_it_counts_as_done() -> Outcome {
    let house = House::new()?;
    let core = task("core", "write a.txt a", &[], None);
    plan(&house, std::slice::from_ref(&core))?;
    house.ok(&["execute"])?;
    house.git(&["branch", "-D", BRANCH])?;
    let gone = "is gone, and its commits are not in what is checked out here";
    let said = house.ok(&["execute"])?;
    assert!(said.contains(gone) && said.contains("`glis restart TASK`"), "{said}");
    plan(&house, &[core, task("extra", "write b.txt b", &["core"], None)])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains(gone) && said.contains("all the same: core"), "{said}");
    Ok(())
}
