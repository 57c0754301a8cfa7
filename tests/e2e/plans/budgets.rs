//! What may be spent on a task and on a plan: money that its agents tell, and time.

use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{LONG, Window, plan, record, runs, task, until_at_work};
use serde_json::{Value, json};
use std::path::Path;

/// A task with more keys.
fn with(task: &str, keys: &str) -> String {
    task.replace("\nprompt =", &format!("\n{keys}\nprompt ="))
}

/// A plan of this budget.
fn limited(house: &House, budget: &str, tasks: &[String]) -> Outcome {
    plan(house, tasks)?;
    let path = house.repo().join(".glis/plan.toml");
    let text = std::fs::read_to_string(&path)?;
    Ok(std::fs::write(&path, text.replace("[plan]\n", &format!("[plan]\n{budget}\n")))?)
}

#[test]
fn a_plan_begins_nothing_more_once_it_has_cost_what_it_may_and_goes_on_when_executed_again()
-> Outcome {
    let house = House::new()?;
    let paid = |id: &str| task(id, &format!("write {id}.txt x ;; cost 0.6"), &[], None);
    limited(&house, "max_cost = 1.0", &[paid("a"), paid("b"), paid("c"), paid("d"), paid("e")])?;
    let (status, said, beside) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    assert!(said.contains("2 of 5 tasks are done"), "{said}");
    assert!(said.contains("is spent: `glis execute` grants as much again"), "{said}");
    // A daemon that begins anew knows what was spent.
    house.kill_daemon()?;
    assert_eq!(runs(&house, "c")?, Vec::<Value>::new());
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("4 of 5 tasks are done"), "{said}");
    house.ok(&["execute"])?;
    assert_eq!(runs(&house, "e")?.len(), 1);
    Ok(())
}

#[test]
fn a_plan_whose_time_is_over_lets_what_is_worked_on_come_to_its_end() -> Outcome {
    let house = House::of_moved_time()?;
    let waits = "write began.txt yes ;; run mkfifo go && cat go && rm go";
    limited(
        &house,
        "max_time = \"8h\"",
        &[task("a", waits, &[], None), task("b", "say b", &[], None)],
    )?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    house.pass_minutes(8 * 60);
    house.follow(1)?.until(|e| e["event"] == "plan_stopped" && e["why"] == "budget")?;
    let worktree = record(&house, "a-1")?["worktree"].clone();
    let gate = Path::new(worktree.as_str().ok_or("a path")?).join("go");
    eventually("it waits", || gate.exists())?;
    std::fs::write(gate, "")?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("1 of 2 tasks are done"), "{said}");
    assert_eq!(runs(&house, "b")?, Vec::<Value>::new());
    house.ok(&["execute"])?;
    Ok(())
}

#[test]
fn a_task_whose_time_is_over_is_paused_and_what_does_not_need_it_goes_on() -> Outcome {
    let house = House::of_moved_time()?;
    let told = house.folder().join("told");
    house.configure(&format!("[notify]\ncommand = \"cat >> {}\"\n", told.display()))?;
    let slow = with(&task("slow", LONG, &[], None), "max_time = \"30m\"");
    plan(&house, &[slow, task("b", "say b", &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "slow-1")?;
    house.pass_minutes(31);
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    assert!(said.contains("slow: paused, its `max_time` is over; `glis resume slow`"), "{said}");
    let paused = record(&house, "slow-1")?;
    assert_eq!((&paused["state"], &paused["pause_reason"]), (&json!("paused"), &json!("budget")));
    assert_eq!(record(&house, "b-1")?["state"], "succeeded");
    let is_told = || {
        let told = std::fs::read_to_string(&told).unwrap_or_default();
        told.contains("the `max_time` of its task is over")
    };
    house.while_time_flies(|| eventually("a person is told", is_told))?;
    // Who has it go on gives it its time once more, also beyond a daemon that dies.
    house.ok(&["resume", "slow", "--prompt", LONG])?;
    until_running(&house)?;
    house.kill_daemon()?;
    // What the former one has shown of its timers is not the next one's.
    std::fs::remove_file(house.folder().join("time/set"))?;
    house.until("slow-1", "busy")?;
    eventually("its timer is set", || house.timers_set("budget") > 0)?;
    assert_eq!(record(&house, "slow-1")?["state"], "running");
    house.pass_minutes(31);
    eventually("it is paused", || {
        record(&house, "slow-1").is_ok_and(|run| run["pause_reason"] == "budget")
    })
}

fn until_running(house: &House) -> Outcome {
    eventually("it runs", || record(house, "slow-1").is_ok_and(|run| run["state"] == "running"))
}

#[test]
fn an_agent_whose_task_has_cost_what_it_may_is_not_told_to_try_again() -> Outcome {
    let house = House::new()?;
    let dear = with(&task("a", "cost 2.5 ;; say done", &[], Some("false")), "max_cost = 2");
    let cheap = with(&task("b", "cost 0.1 ;; say done", &[], Some("false")), "max_cost = 2");
    plan(&house, &[dear, cheap])?;
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("it is not tried again: its max_cost of $2.00 is reached"), "{said}");
    assert_eq!((runs(&house, "a")?.len(), runs(&house, "b")?.len()), (1, 3));
    // A person may have it go on.
    house.ok(&["resume", "a", "--prompt", "say once more"])?;
    eventually("it is judged again", || {
        runs(&house, "a").is_ok_and(|runs| runs.last().is_some_and(|run| run["state"] == "failed"))
    })
}

#[test]
fn a_budget_that_means_nothing_is_told_by_line() -> Outcome {
    let house = House::new()?;
    let wrong = [
        with(&task("a", "say a", &[], None), "max_cost = -1"),
        with(&task("b", "say b", &[], None), "max_time = \"soon\""),
        with(&task("c", "say c", &[], None), "accept_secs = 0"),
    ];
    plan(&house, &wrong)?;
    let said = checked(&house)?;
    for told in [
        "`max_cost` must be an amount of dollars, such as 5 or 2.50",
        "`max_time` must be a time, such as \"90s\", \"30m\" or \"2h\"",
        "`accept_secs` must be a time",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    // Nor can one be kept that nobody counts for.
    let silent = task("a", "say a", &[], None).replace("rehearsal", "codex");
    plan(&house, &[with(&silent, "max_cost = 1")])?;
    let said = checked(&house)?;
    let told = "`a` cannot be worked on: its agent does not tell what it costs, so `max_cost` could not be kept";
    assert!(said.contains(told), "{said}");
    Ok(())
}

/// What is wrong with the plan, where there is a program called codex.
fn checked(house: &House) -> Outcome<String> {
    let programs = house.folder().join("programs");
    std::fs::create_dir_all(&programs)?;
    std::fs::copy("/bin/true", programs.join("codex"))?;
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let output = house.glis().args(["plan", "check"]).env("PATH", path).output()?;
    assert!(!output.status.success());
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn a_task_may_have_its_own_time_to_be_judged_in() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\nretries = 0\n")?;
    let hangs = task("a", "say a", &[], Some("sleep 600"));
    plan(&house, &[with(&hangs, "accept_secs = 1")])?;
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("`sleep 600`: no end after 1 s"), "{said}");
    Ok(())
}

#[test]
fn work_can_be_judged_in_a_fresh_checkout_of_its_commit() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\naccept_in = \"clean\"\nretries = 0\n")?;
    std::fs::write(house.repo().join(".gitignore"), "built.txt\n.glis/\n")?;
    house.git(&["add", ".gitignore"])?;
    house.git(&["commit", "-qm", "ignore what is built"])?;
    let work = "write built.txt stale ;; write a.txt a";
    let accept = "test -e a.txt && test ! -e built.txt && echo judged > left.txt";
    plan(&house, &[task("a", work, &[], Some(accept))])?;
    house.ok(&["execute"])?;
    let worktree = record(&house, "a-1")?["worktree"].clone();
    let worktree = Path::new(worktree.as_str().ok_or("a path")?).to_owned();
    assert!(worktree.join("built.txt").exists() && !worktree.join("left.txt").exists());
    let all = house.git(&["worktree", "list", "--porcelain"])?;
    assert_eq!(all.matches("worktree ").count(), 2, "nothing of it stays: {all}");
    Ok(())
}
