//! Plans from their first task to their last: order, bases, acceptance, conflicts, reviews.

use crate::support::house::{House, Outcome};
use crate::support::planned::{BRANCH, LONG, Window, plan, record, runs, task, until_at_work};
use serde_json::json;

#[test]
fn tasks_are_done_in_order_each_from_what_it_needs_and_merged_into_the_plans_branch() -> Outcome {
    let house = House::new()?;
    plan(
        &house,
        &[
            task("dust", "write dust.txt a", &[], None),
            task(
                "sweep",
                "write sweep.txt b",
                &["dust"],
                Some("cat dust.txt && test -f sweep.txt"),
            ),
            task(
                "wax",
                "write wax.txt c",
                &["sweep"],
                Some("test -f dust.txt && test -f sweep.txt"),
            ),
        ],
    )?;
    let head = house.git(&["rev-parse", "HEAD"])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains(&format!("3 of 3 tasks are done: branch {BRANCH}")), "{said}");
    let files = house.git(&["ls-tree", "--name-only", BRANCH])?;
    assert_eq!(files.lines().collect::<Vec<_>>(), ["dust.txt", "file.txt", "sweep.txt", "wax.txt"]);
    // The user's own checkout is as it was, and so is what git would commit.
    assert_eq!(house.git(&["rev-parse", "HEAD"])?, head);
    assert_eq!(
        house.git(&["status", "--porcelain", "--untracked-files=all"])?.trim(),
        "?? .glis/plan.toml"
    );
    let log = std::fs::read_to_string(house.repo().join(".glis/runs/tidy-up/sweep-1.accept.log"))?;
    assert_eq!(log, "a", "the output of `accept` is kept");
    let shown = house.ok(&["plan", "show"])?;
    assert!(shown.contains("\u{2713} succeeded wax"), "{shown}");
    // What is done is not done again.
    house.ok(&["execute"])?;
    assert_eq!(runs(&house, "dust")?.len(), 1);
    assert_eq!(record(&house, "wax-1")?["state"], "succeeded");
    Ok(())
}

#[test]
fn a_task_that_is_not_accepted_has_failed_and_its_worktree_is_kept_and_named() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\nretries = 0\n")?;
    let tasks = [
        task("dust", "write dust.txt a", &[], Some("echo no; exit 3")),
        task("sweep", "write sweep.txt b", &["dust"], None),
        task("air", "write air.txt c", &[], None),
    ];
    plan(&house, &tasks)?;
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    let run = record(&house, "dust-1")?;
    assert_eq!(run["state"], "failed");
    let worktree = run["worktree"].as_str().ok_or("no worktree")?;
    assert!(std::path::Path::new(worktree).join("dust.txt").exists(), "{worktree}");
    assert!(said.contains(worktree) && said.contains("exit status: 3"), "{said}");
    // What does not need it is done, and what does is not.
    assert_eq!(record(&house, "air-1")?["state"], "succeeded");
    assert_eq!(runs(&house, "sweep")?, Vec::<serde_json::Value>::new());
    // Its agent is told why, and goes on in the same conversation.
    house.until("dust-1", "suspended")?;
    let run = house.json(&["resume", "dust"])?;
    assert_eq!(run["resumed_from_run_id"], "dust-1", "{run}");
    house.follow(1)?.until(|e| e["event"] == "run_failed" && e["run"] == "dust-2")?;
    let said = house.talk("dust-1")?;
    let why = |(voice, text): &(String, String)| voice == "user" && text.contains("not accepted");
    assert!(said.iter().any(why), "{said:?}");
    Ok(())
}

#[test]
fn work_in_conflict_waits_with_the_files_and_its_agent_resolves_it() -> Outcome {
    let house = House::new()?;
    plan(
        &house,
        &[
            task("one", "write file.txt one", &[], None),
            task("two", "work 1 ;; write file.txt two", &[], None),
        ],
    )?;
    let (status, said, _) = Window::open(&house, &["--jobs", "2"])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    let waits = if record(&house, "one-1")?["state"] == "waiting" { "one" } else { "two" };
    let run = record(&house, &format!("{waits}-1"))?;
    assert_eq!(run["state"], "waiting");
    assert_eq!(run["unmerged"]["conflict"]["files"]["first"], json!(["file.txt"]), "{run}");
    assert!(said.contains("file.txt") && said.contains(&format!("glis resume {waits}")), "{said}");
    // Who looks at sessions sees it, with its files and the way out.
    let listed = house.ok(&["ls"])?;
    assert!(listed.contains(&format!("task {waits} waits: conflict in file.txt")), "{listed}");
    let shown = house.ok(&["show", waits])?;
    assert!(shown.contains(&format!("glis resume {waits}")), "{shown}");
    assert!(house.show(waits)?["unmerged"]["conflict"].is_object());
    // The next daemon knows it too.
    house.kill_daemon()?;
    assert!(house.show(waits)?["unmerged"]["conflict"].is_object());
    // The rehearsal agent does what it is told in its own words.
    let resolve = format!("run git merge --strategy-option=ours {BRANCH} --message=both");
    house.ok(&["resume", waits, "--prompt", &resolve])?;
    house.ok(&["execute"])?;
    assert_eq!(record(&house, &format!("{waits}-1"))?["state"], "succeeded");
    let kept = house.git(&["show", &format!("{BRANCH}:file.txt")])?;
    assert_eq!(kept.trim(), waits);
    assert!(house.show(waits)?["unmerged"].is_null());
    Ok(())
}

#[test]
fn a_task_whose_needs_are_in_conflict_does_not_begin_before_that_is_resolved() -> Outcome {
    let house = House::new()?;
    let tasks = [
        task("one", "write file.txt one", &[], None),
        task("two", "write file.txt two", &[], None),
        task("both", "write both.txt b", &["one", "two"], Some("test -f file.txt")),
    ];
    plan(&house, &tasks)?;
    let (status, said, _) = Window::open(&house, &["--jobs", "2"])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(runs(&house, "both")?.len(), 0);
    let waits = if record(&house, "one-1")?["state"] == "waiting" { "one" } else { "two" };
    assert!(said.contains(&format!("{waits}: waiting")) && said.contains("file.txt"), "{said}");
    let resolve = format!("run git merge --strategy-option=ours {BRANCH} --message=both");
    house.ok(&["resume", waits, "--prompt", &resolve])?;
    house.ok(&["execute"])?;
    let run = record(&house, "both-1")?;
    assert_eq!(run["state"], "succeeded", "{run}");
    assert_eq!(house.git(&["show", &format!("{BRANCH}:file.txt")])?.trim(), waits);
    Ok(())
}

#[test]
fn one_task_alone_is_done_and_what_it_needs_is_named() -> Outcome {
    let house = House::new()?;
    plan(
        &house,
        &[task("a", "write a.txt a", &[], None), task("b", "write b.txt b", &["a"], None)],
    )?;
    let (_, said, _) = Window::open(&house, &["--task", "b"])?.end()?;
    assert!(said.contains("`b` needs a first"), "{said}");
    house.ok(&["execute", "--task", "a"])?;
    assert_eq!((runs(&house, "a")?.len(), runs(&house, "b")?.len()), (1, 0));
    assert_eq!(house.fails(&["execute", "--task", "nothing"])?.0, 3);
    Ok(())
}

#[test]
fn a_plan_goes_on_without_a_window_and_is_joined_by_the_next() -> Outcome {
    let house = House::new()?;
    plan(
        &house,
        &[
            task("a", "work 2 ;; write a.txt a", &[], None),
            task("b", "write b.txt b", &["a"], None),
        ],
    )?;
    let window = Window::open(&house, &[])?;
    house.follow(1)?.until(|e| e["event"] == "session_created")?;
    crate::support::house::kill_and_wait(window.pid()?)?;
    house.kill_daemon()?;
    house.ok(&["execute"])?;
    assert_eq!((runs(&house, "a")?.len(), runs(&house, "b")?.len()), (1, 1));
    Ok(())
}

#[test]
fn a_branch_of_the_plans_name_that_no_plan_has_made_is_not_taken_for_nothing() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    house.git(&["branch", BRANCH])?;
    let (_, error) = house.fails(&["execute"])?;
    assert!(error["message"].as_str().is_some_and(|told| told.contains(BRANCH)), "{error}");
    Ok(())
}

#[test]
fn resume_resumes_a_waiting_run_with_its_answer() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("ask", "question Which colour? ;; write a.txt a", &[], None)])?;
    let window = Window::open(&house, &[])?;
    house.follow(1)?.until(|e| e["event"] == "asked")?;
    house.until("ask", "waiting")?;
    assert_eq!(runs(&house, "ask")?.last().map(|run| run["state"].clone()), Some(json!("waiting")));
    let (status, error) = house.fails(&["resume", "ask"])?;
    assert_eq!(status, 4);
    assert!(
        error["message"].as_str().is_some_and(|told| told.contains("Which colour?")),
        "{error}"
    );
    // Nothing goes on without a person, and nobody is at a pipe: it has ended, with the way on.
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("`glis resume ask --answer TEXT`"), "{said}");
    house.ok(&["resume", "ask", "--answer", "blue"])?;
    house.ok(&["execute"]).map(drop)
}

#[test]
fn no_other_task_begins_when_a_person_pauses_the_session_of_one() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", LONG, &[], None), task("b", "write b.txt b", &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    house.ok(&["pause", "a"])?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(record(&house, "a-1")?["state"], "paused");
    assert_eq!(runs(&house, "b")?.len(), 0);
    Ok(())
}

#[test]
fn a_plan_of_one_task_is_told_as_one() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("only", "write only.txt x", &[], None)])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains(&format!("\n1 of 1 task is done: branch {BRANCH}")), "{said}");
    Ok(())
}

#[test]
fn a_group_that_says_something_is_worked_on_when_all_of_it_is_done() -> Outcome {
    let house = House::new()?;
    let below = |text: String| text.replace("needs", "parent = \"all\"\nneeds");
    let tasks = [
        task("all", "write all.txt g", &[], Some("test -f x.txt && test -f y.txt")),
        below(task("x", "write x.txt x", &[], None)),
        below(task("y", "write y.txt y", &["x"], None)),
        task("after", "write after.txt a", &["all"], Some("test -f all.txt")),
    ];
    plan(&house, &tasks)?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains(&format!("4 of 4 tasks are done: branch {BRANCH}")), "{said}");
    let mut begun: Vec<String> = Vec::new();
    for event in house.ok(&["events"])?.lines() {
        let event: serde_json::Value = serde_json::from_str(event)?;
        if event["event"] == "run_began" {
            begun.extend(event["run"].as_str().map(str::to_owned));
        }
    }
    assert_eq!(begun, ["x-1", "y-1", "all-1", "after-1"]);
    Ok(())
}
