//! What a person, or somebody else, does to a plan's repository while it is executed, and repositories that
//! are not as usual.

use crate::support::house::{House, Outcome};
use crate::support::planned::{BRANCH, LONG, Window, plan, record, runs, task, until_at_work};
use crate::support::wreck::text_of;
use std::process::Command;

/// A plan whose second task works until it may end, and a third that needs it.
fn at_work() -> Outcome<(House, Window)> {
    let house = House::new()?;
    let gate = house.folder().join("go");
    let held =
        format!("write a.txt a ;; run while [ ! -e {} ]; do sleep 0.02; done", gate.display());
    let tasks = [
        task("z", "write z.txt z", &[], None),
        task("a", &held, &["z"], None),
        task("b", "write b.txt b", &["a"], Some("test -e a.txt && test -e z.txt")),
    ];
    plan(&house, &tasks)?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    Ok((house, window))
}

/// A repository can carry a link to anything, and somebody can put a pipe there.
#[test]
fn what_is_no_file_of_the_repository_is_no_plan() -> Outcome {
    let house = House::new()?;
    let file = house.repo().join(".glis/plan.toml");
    std::fs::create_dir_all(house.repo().join(".glis"))?;
    let refused = |why: &str| -> Outcome {
        for args in [&["plan", "check"][..], &["plan", "show"], &["execute"]] {
            let (exit, error) = house.fails(args)?;
            assert_eq!(exit, 1, "{args:?}: {error}");
            assert!(text_of(&error, "message")?.contains(why), "{args:?}: {error}");
        }
        std::fs::remove_file(&file)?;
        Ok(())
    };
    for target in ["/dev/zero", "/etc/hostname"] {
        std::os::unix::fs::symlink(target, &file)?;
        refused("leads out of the repository")?;
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, 0o600.into())?;
    refused("not a regular file")?;
    std::fs::File::create(&file)?.set_len(8 << 20)?;
    refused("larger than")?;
    // A loop's check list alike.
    let spec = house.repo().join("LIST.md");
    rustix::fs::mkfifoat(rustix::fs::CWD, &spec, 0o600.into())?;
    for given in ["/dev/zero", spec.to_str().ok_or("path")?] {
        let made = ["loop", "x", "--agent", "rehearsal", "--headless", "--spec", given];
        assert_eq!(house.fails(&made)?.0, 2, "{given}");
    }
    Ok(())
}

fn open(house: &House) -> Outcome {
    Ok(std::fs::write(house.folder().join("go"), "")?)
}

/// Everything was done, once.
fn all_is_done(house: &House) -> Outcome {
    for id in ["z", "a", "b"] {
        let known = runs(house, id)?;
        assert_eq!(known.len(), 1, "{known:?}");
        assert_eq!(record(house, &format!("{id}-1"))?["state"], "succeeded");
    }
    let files = house.git(&["ls-tree", "--name-only", BRANCH])?;
    assert_eq!(files.lines().collect::<Vec<_>>(), ["a.txt", "b.txt", "file.txt", "z.txt"]);
    Ok(())
}

#[test]
fn a_plan_whose_file_is_deleted_or_becomes_a_circle_goes_on_as_it_was() -> Outcome {
    let (house, window) = at_work()?;
    let file = house.repo().join(".glis/plan.toml");
    std::fs::remove_file(&file)?;
    let (status, error) = house.fails(&["execute"])?;
    assert!(status == 3 && text_of(&error, "message")?.contains("plan.toml"), "{error}");
    assert_eq!(runs(&house, "a")?.len(), 1, "what is executed is still known");
    plan(&house, &[task("a", "x", &["b"], None), task("b", "x", &["a"], None)])?;
    let (status, error) = house.fails(&["execute"])?;
    assert_eq!(status, 1, "{error}");
    let told = text_of(&error, "message")?;
    assert!(told.contains("plan.toml:"), "the line is named: {told}");
    assert_eq!(house.show("a")?["status"], "busy", "and nothing was disturbed");
    std::fs::remove_file(&file)?;
    open(&house)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    all_is_done(&house)
}

#[test]
fn a_plans_branch_that_is_deleted_comes_back_with_all_that_was_merged() -> Outcome {
    let (house, window) = at_work()?;
    house.git(&["branch", "--quiet", "-D", BRANCH])?;
    open(&house)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    all_is_done(&house)
}

#[test]
fn a_plans_branch_that_is_checked_out_is_not_moved_and_its_task_waits() -> Outcome {
    let (house, window) = at_work()?;
    let beside = house.folder().join("beside");
    let beside = beside.to_string_lossy();
    house.git(&["worktree", "add", "--quiet", &beside, BRANCH])?;
    let before = house.git(&["rev-parse", BRANCH])?;
    open(&house)?;
    let (status, said, _) = window.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("a: waiting") && said.contains(&*beside), "{said}");
    assert_eq!(house.git(&["rev-parse", BRANCH])?, before);
    let state = house.git(&["-C", &beside, "status", "--porcelain"])?;
    assert_eq!(state, "", "the checkout is as it was");
    house.git(&["-C", &beside, "switch", "--quiet", "--detach"])?;
    house.ok(&["resume", "a"])?;
    house.ok(&["execute"])?;
    all_is_done(&house)
}

#[test]
fn a_worktree_that_is_removed_while_its_task_is_paused_comes_back() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", LONG, &[], None)])?;
    let window = Window::open(&house, &[])?;
    until_at_work(&house, "a-1")?;
    window.interrupt()?;
    assert_eq!(window.end()?.0, Some(130));
    let worktree = text_of(&record(&house, "a-1")?, "worktree")?;
    std::fs::remove_dir_all(&worktree)?;
    house.ok(&["resume", "a"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded")?;
    assert_eq!(house.git(&["show", &format!("{BRANCH}:began.txt")])?, "yes");
    Ok(())
}

/// Nothing is judged or merged then, and nothing is told to be done.
#[test]
fn a_worktree_that_is_removed_while_its_agent_works_makes_the_task_wait() -> Outcome {
    let (house, window) = at_work()?;
    let worktree = text_of(&record(&house, "a-1")?, "worktree")?;
    house.ok(&["snapshot", "a"])?;
    std::fs::remove_dir_all(&worktree)?;
    open(&house)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    assert!(said.contains("a: waiting"), "{said}");
    assert_eq!(runs(&house, "b")?.len(), 0);
    // What was saved of it is brought back, and its work is merged.
    house.ok(&["stop", "a"])?;
    house.ok(&["restore", "a"])?;
    house.ok(&["resume", "a"])?;
    house.ok(&["execute"])?;
    all_is_done(&house)
}

/// Their records would be in the user's commits.
#[test]
fn a_list_of_what_is_ignored_that_cannot_be_written_is_told_before_anything_begins() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    // Whoever may write everything is stopped by this as well.
    let info = house.repo().join(".git/info");
    std::fs::remove_dir_all(&info)?;
    std::fs::write(&info, "")?;
    let (status, error) = house.fails(&["execute"])?;
    assert_eq!(status, 2, "{error}");
    assert!(text_of(&error, "message")?.contains("info/exclude"), "{error}");
    assert!(text_of(&error, "hint")?.contains("/.glis/runs/"), "{error}");
    assert_eq!(house.json(&["ls"])?, serde_json::json!([]), "nothing was begun");
    assert!(house.git(&["rev-parse", BRANCH]).is_err());
    // Ignored otherwise, they are ignored.
    std::fs::write(house.repo().join(".gitignore"), ".glis/\n")?;
    house.ok(&["execute"])?;
    assert_eq!(record(&house, "a-1")?["state"], "succeeded");
    Ok(())
}

#[test]
fn a_plan_is_executed_from_a_detached_head_and_not_without_a_commit_or_a_worktree() -> Outcome {
    let house = House::new()?;
    plan(&house, &[task("a", "write a.txt a", &[], None)])?;
    house.git(&["checkout", "--quiet", "--detach"])?;
    house.ok(&["execute"])?;
    assert_eq!(house.git(&["show", &format!("{BRANCH}:a.txt")])?, "a");
    let text = std::fs::read(house.repo().join(".glis/plan.toml"))?;
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(house.folder()).status();
    for (how, folder) in [("--quiet", "fresh"), ("--bare", "bare")] {
        assert!(git(&["init", "--quiet", how, folder])?.success());
        let folder = house.folder().join(folder);
        std::fs::create_dir(folder.join(".glis"))?;
        std::fs::write(folder.join(".glis/plan.toml"), &text)?;
        let told = house.glis().current_dir(&folder).args(["--json", "execute"]).output()?;
        let status = told.status.code();
        assert!(status.is_some_and(|status| [1, 2, 4].contains(&status)), "{told:?}");
        let error: serde_json::Value = serde_json::from_slice(&told.stdout)?;
        assert!(error["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{error}");
    }
    assert_eq!(house.json(&["ls"])?.as_array().map(Vec::len), Some(1), "nothing else has begun");
    Ok(())
}
