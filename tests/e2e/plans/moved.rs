//! A repository that is somewhere else by now: its sessions, its plans and their records follow.

use crate::support::house::{House, Outcome};
use crate::support::planned::{Window, plan, runs, task};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The same repository, elsewhere.
fn move_away(house: &House) -> Outcome<PathBuf> {
    let to = house.folder().join("elsewhere");
    fs::rename(house.repo(), &to)?;
    Ok(to)
}

#[test]
fn a_plan_goes_on_where_its_repository_is_now() -> Outcome {
    let house = House::new()?;
    let fails = task("b", "write half.txt b ;; fail Not logged in", &["a"], None);
    let tasks = [task("a", "write a.txt a", &[], None), fails, task("c", "say c", &["b"], None)];
    plan(&house, &tasks)?;
    assert_eq!(Window::open(&house, &[])?.end()?.0, Some(1));
    let to = move_away(&house)?;
    let at = |args: &[&str]| house.glis().current_dir(&to).args(args).output();
    let told = at(&["runs", "--json"])?;
    let told: serde_json::Value = serde_json::from_slice(&told.stdout)?;
    let roots: Vec<_> =
        told.as_array().ok_or("runs")?.iter().map(|run| &run["repo_root"]).collect();
    assert_eq!(roots, [&json!(to), &json!(to)]);
    let resumed = at(&["resume", "b", "--prompt", "write b.txt b"])?;
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    let done = at(&["execute"])?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.contains("3 of 3 tasks are done"), "{said}");
    let record = fs::read_to_string(to.join(".glis/runs/tidy-up/a-1.json"))?;
    assert!(record.contains(&format!("{:?}", to.display().to_string())), "{record}");
    fs::rename(&to, house.repo())?;
    assert_eq!(runs(&house, "a")?.len(), 1, "and back again");
    Ok(())
}

#[test]
fn a_person_says_where_a_repository_is_and_its_sessions_come_back_there() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt one")?;
    house.ok(&["pause", "blue"])?;
    let old = house.repo();
    let to = move_away(&house)?;
    let glis = |args: &[&str]| house.glis().current_dir(&to).args(args).output();
    let (was, is) = (old.to_string_lossy().into_owned(), to.to_string_lossy().into_owned());
    let said = |args: &[&str]| -> Outcome<String> {
        let output = glis(args)?;
        assert!(!output.status.success(), "{args:?}");
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // A clone has the same commits, and is another one.
    let clone = house.folder().join("clone");
    let cloned = Command::new("git").args(["clone", "-q"]).arg(&to).arg(&clone).status()?;
    assert!(cloned.success());
    let another = said(&["repo", "moved", &was, &clone.to_string_lossy()])?;
    assert!(another.contains("it has no snapshot of a session and no plan of"), "{another}");
    assert!(said(&["repo", "moved", "/nowhere", &is])?.contains(&was), "what is gone is named");
    let moved = glis(&["repo", "moved", &was, &is, "--json"])?;
    let moved: serde_json::Value = serde_json::from_slice(&moved.stdout)?;
    assert_eq!((&moved[0]["name"], &moved[0]["repo_root"]), (&json!("blue"), &json!(is)));
    assert!(said(&["repo", "moved", &is, &is])?.contains("is still there"));
    for args in [&["resume", "blue"][..], &["wait", "blue", "--for", "idle"], &["merge", "blue"]] {
        let output = glis(args)?;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(to.join("a.txt").exists() || is_merged(&to)?);
    Ok(())
}

/// Whether the work is in the branch that it was merged into.
fn is_merged(repo: &Path) -> Outcome<bool> {
    let log = Command::new("git")
        .args(["log", "--all", "--format=%s", "--", "a.txt"])
        .current_dir(repo)
        .output()?;
    Ok(!log.stdout.is_empty())
}
