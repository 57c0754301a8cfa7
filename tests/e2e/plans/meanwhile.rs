//! What happens around a plan while it is executed: its file is changed, other windows are opened, its
//! repository goes away, the daemon dies while a task is judged, everything is paused.

use crate::support::house::{House, Outcome, eventually, program};
use crate::support::planned::{BRANCH, LONG, Window, plan, record, runs, task, until_at_work};
use crate::support::wreck::text_of;

/// Work that ends when a file lies beside the repository.
fn held(file: &str, house: &House) -> String {
    let gate = house.folder().join("go");
    format!("write {file} yes ;; run while [ ! -e {} ]; do sleep 0.02; done", gate.display())
}

fn open(house: &House) -> Outcome {
    Ok(std::fs::write(house.folder().join("go"), "")?)
}

#[test]
fn two_windows_on_a_plan_show_the_same_and_no_task_is_done_twice() -> Outcome {
    let house = House::new()?;
    let first = held("a.txt", &house);
    plan(&house, &[task("a", &first, &[], None), task("b", "write b.txt b", &["a"], None)])?;
    let windows = [Window::open(&house, &[])?, Window::open(&house, &[])?];
    until_at_work(&house, "a-1")?;
    let late = Window::open(&house, &["--jobs", "2"])?;
    house.follow(1)?.until(|e| e["event"] == "plan_continued")?;
    open(&house)?;
    for window in windows.into_iter().chain([late]) {
        let (status, said, beside) = window.end()?;
        assert_eq!(status, Some(0), "{said}{beside}");
        assert!(said.contains(&format!("2 of 2 tasks are done: branch {BRANCH}")), "{said}");
    }
    assert_eq!((runs(&house, "a")?.len(), runs(&house, "b")?.len()), (1, 1));
    Ok(())
}

#[test]
fn a_file_that_is_changed_meanwhile_reaches_what_is_not_begun() -> Outcome {
    let house = House::new()?;
    let first = held("a.txt", &house);
    let tasks = [task("a", &first, &[], None), task("b", "write b.txt old", &["a"], None)];
    plan(&house, &tasks)?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    // What is no plan changes nothing of what is executed.
    std::fs::write(
        house.repo().join(".glis/plan.toml"),
        "[[task]]\nid = \"a\"\nneeds = [\"x\"]\n",
    )?;
    let (status, error) = house.fails(&["execute"])?;
    assert!(status == 1 && text_of(&error, "message")?.contains("no such task"), "{error}");
    assert_eq!(house.show("a")?["status"], "busy");
    let tasks = [
        task("a", "write other.txt x", &[], None),
        task("b", "write b.txt new", &["a"], None),
        task("c", "write c.txt c", &["b"], None),
    ];
    plan(&house, &tasks)?;
    house.follow(1)?.until(|e| e["event"] == "plan_revised")?;
    open(&house)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    assert!(said.contains("3 of 3 tasks are done"), "{said}");
    // What was under way went on as it had begun; what came after it is as the file has it now.
    let files = house.git(&["ls-tree", "--name-only", BRANCH])?;
    assert_eq!(files.lines().collect::<Vec<_>>(), ["a.txt", "b.txt", "c.txt", "file.txt"]);
    assert_eq!(house.git(&["show", &format!("{BRANCH}:b.txt")])?, "new");
    assert_eq!(runs(&house, "a")?.len(), 1);
    let shown = house.ok(&["plan", "show"])?;
    assert!(shown.contains("succeeded (changed since) a"), "{shown}");
    Ok(())
}

#[test]
fn what_is_changed_by_command_reaches_it_and_what_is_taken_out_is_paused_and_not_merged() -> Outcome
{
    let house = House::new()?;
    let (first, second) = (held("a.txt", &house), held("x.txt", &house));
    let tasks = [
        task("a", &first, &[], None),
        task("x", &second, &[], None),
        task("b", "write b.txt old", &["a"], None),
    ];
    plan(&house, &tasks)?;
    let window = Window::open(&house, &["--jobs", "2"])?;
    until_at_work(&house, "a-1")?;
    until_at_work(&house, "x-1")?;
    let said = house.ok(&["plan", "edit", "b", "--prompt", "write b.txt new"])?;
    assert!(
        said.contains("`b` is changed; the plan that is executed has taken that over"),
        "{said}"
    );
    let said = house.ok(&["plan", "edit", "a", "--prompt", "write other.txt x"])?;
    assert!(said.contains("it was begun as it was, and `glis restart a` begins it anew"), "{said}");
    house.ok(&["plan", "add", "c", "--agent", "rehearsal", "--prompt", "write c.txt c"])?;
    house.ok(&["plan", "rm", "x"])?;
    house.ok(&["wait", "x-1", "--for", "paused"])?;
    open(&house)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    let files = house.git(&["ls-tree", "--name-only", BRANCH])?;
    assert_eq!(files.lines().collect::<Vec<_>>(), ["a.txt", "b.txt", "c.txt", "file.txt"]);
    assert_eq!(house.git(&["show", &format!("{BRANCH}:b.txt")])?, "new");
    assert_eq!(record(&house, "x-1")?["state"], "paused");
    Ok(())
}

#[test]
fn a_repository_that_goes_away_makes_its_tasks_wait_and_nothing_is_lost() -> Outcome {
    let house = House::new()?;
    let first = held("a.txt", &house);
    plan(&house, &[task("a", &first, &[], None), task("b", "write b.txt b", &["a"], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    let (repo, away) = (house.repo(), house.folder().join("away"));
    std::fs::rename(&repo, &away)?;
    open(&house)?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("a: waiting") && said.contains("glis resume a"), "{said}");
    std::fs::rename(&away, &repo)?;
    assert_eq!(runs(&house, "b")?.len(), 0);
    house.ok(&["resume", "a"])?;
    house.ok(&["execute"])?;
    assert_eq!((runs(&house, "a")?.len(), runs(&house, "b")?.len()), (1, 1));
    assert_eq!(record(&house, "b-1")?["state"], "succeeded");
    Ok(())
}

#[test]
fn accept_that_a_crash_cuts_short_is_run_again_and_its_processes_end() -> Outcome {
    let house = House::new()?;
    let (gate, pids) = (house.folder().join("go"), house.folder().join("pids"));
    let accept = format!(
        "echo $$ >> {}; while [ ! -e {} ]; do sleep 0.02; done; test -f a.txt",
        pids.display(),
        gate.display()
    );
    plan(&house, &[task("a", "write a.txt a", &[], Some(&accept))])?;
    let window = Window::open(&house, &[])?;
    let judging = |times: usize| {
        let told = std::fs::read_to_string(&pids).unwrap_or_default();
        told.lines().count() == times && told.ends_with('\n')
    };
    eventually("it is judged", || judging(1))?;
    let first = std::fs::read_to_string(&pids)?.trim().to_owned();
    house.kill_daemon()?;
    // The window starts the next daemon, which judges it anew.
    eventually("it is judged again", || judging(2))?;
    assert!(!std::path::Path::new(&format!("/proc/{first}/cwd")).exists(), "{first} is left");
    open(&house)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    assert_eq!(runs(&house, "a")?.len(), 1);
    Ok(())
}

#[test]
fn accept_that_takes_longer_than_it_may_is_ended_and_the_task_is_not_accepted() -> Outcome {
    let house = House::new()?;
    house.configure("[plan]\naccept_secs = 1\nretries = 0\n")?;
    plan(&house, &[task("a", "write a.txt a", &[], Some("echo begun; exec sleep 100000"))])?;
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("no end after 1 s"), "{said}");
    assert_eq!(record(&house, "a-1")?["state"], "failed");
    Ok(())
}

#[test]
fn a_task_that_is_paused_while_everything_is_stops_its_plan() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", LONG, &[], None), task("b", "write b.txt b", &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    house.ok(&["pause", "--all", "--mode", "interrupt"])?;
    house.ok(&["pause", "a"])?;
    house.ok(&["resume", "--all"])?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(house.show("a")?["status"], "paused");
    assert_eq!(runs(&house, "b")?.len(), 0, "something else has begun");
    house.ok(&["resume", "a"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded")?;
    assert_eq!(runs(&house, "b")?.len(), 0);
    Ok(())
}

/// S11.
#[test]
fn the_session_of_a_task_may_be_idle_for_longer_than_others() -> Outcome {
    let house = House::new()?;
    let tasks = [
        task("one", "write file.txt one", &[], None),
        task("two", "write file.txt two", &[], None),
    ];
    plan(&house, &tasks)?;
    house.configure("[idle]\ntask_timeout = \"45m\"\n")?;
    let (status, said, _) = Window::open(&house, &["--jobs", "2"])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    let waits = if record(&house, "one-1")?["state"] == "waiting" { "one" } else { "two" };
    assert_eq!(house.show(waits)?["idle_timeout_secs"], 2700);
    house.rehearsal("chat")?;
    assert_eq!(house.show("chat")?["idle_timeout_secs"], 600);
    Ok(())
}

#[test]
fn a_task_that_an_agent_proposes_is_worked_on_once_a_person_approves_it() -> Outcome {
    let house = House::new()?;
    house.configure(&format!(
        "[notify]\ncommand = \"cat >> {}/told\"\n",
        house.folder().display()
    ))?;
    let glis = program().display().to_string();
    let proposes = |id: &str| {
        format!(
            "run {glis} plan add {id} --propose --title More --prompt 'write {id}.txt x' --agent rehearsal"
        )
    };
    let both = format!("{} ;; {}", proposes("more"), proposes("less"));
    plan(&house, &[task("a", &both, &[], None)])?;
    // From where the agent works, which has no such file itself.
    let (status, said, beside) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    assert!(said.contains("1 of 1 task is done"), "{said}");
    let shown = house.ok(&["plan", "show"])?;
    assert!(shown.contains("? proposed") && shown.contains("more"), "{shown}");
    eventually("a person is told", || {
        let told = std::fs::read_to_string(house.folder().join("told")).unwrap_or_default();
        told.contains("an agent proposes the task more (More); `glis plan approve more`")
    })?;
    house.ok(&["plan", "approve", "more"])?;
    house.ok(&["plan", "rm", "less"])?;
    let done = house.ok(&["execute"])?;
    assert!(done.contains("2 of 2 tasks are done"), "{done}");
    assert_eq!(house.fails(&["runs", "less"])?.0, 3, "nobody has worked on it");
    let (_, told) = house.fails(&["plan", "approve", "nobody"])?;
    assert!(told.to_string().contains("nobody"), "{told}");
    Ok(())
}

#[test]
fn a_plan_that_is_only_proposed_says_how_it_is_begun() -> Outcome {
    let house = House::new()?;
    let args = ["plan", "add", "a", "--propose", "--agent", "rehearsal", "--prompt", "say a"];
    house.ok(&args)?;
    let (_, told) = house.fails(&["execute"])?;
    assert!(told.to_string().contains("`glis plan approve ID`"), "{told}");
    house.ok(&["plan", "approve", "a"])?;
    house.ok(&["execute"])?;
    Ok(())
}
