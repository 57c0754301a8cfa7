//! How the work of a task is judged: as a commit, by a command that leaves nothing behind, again where it was
//! not accepted, and by a person who has the last word.

use crate::support::house::{House, Outcome};

use crate::support::planned::{BRANCH, Window, plan, record, runs, task};
use crate::support::wreck::text_of;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;

/// Nobody is told by itself what was not accepted.
const ONCE: &str = "[plan]\nretries = 0\n";

/// The files of the plan's branch.
fn merged(house: &House) -> Outcome<Vec<String>> {
    let files = house.git(&["ls-tree", "-r", "--name-only", BRANCH])?;
    Ok(files.lines().map(str::to_owned).collect())
}

fn until_succeeded(house: &House, run: &str) -> Outcome {
    house.follow(1)?.until(|e| e["event"] == "run_succeeded" && e["run"] == run).map(drop)
}

#[test]
fn what_accept_writes_is_in_no_commit() -> Outcome {
    let house = House::new()?;
    let accept =
        "echo built > build.out; echo more >> a.txt; mkdir .cache; echo c > .cache/x; rm file.txt";
    plan(&house, &[task("a", "write a.txt a", &[], Some(accept))])?;
    house.ok(&["execute"])?;
    assert_eq!(merged(&house)?, ["a.txt", "file.txt"]);
    assert_eq!(house.git(&["show", &format!("{BRANCH}:a.txt")])?, "a");
    // Nor in one that follows; a snapshot has it.
    let worktree = text_of(&record(&house, "a-1")?, "worktree")?;
    let left = house.git(&["-C", &worktree, "status", "--porcelain"])?;
    assert_eq!(left, "");
    let snapshots = house.ok(&["snapshots", "a-1"])?;
    assert!(snapshots.contains("what `accept` left"), "{snapshots}");
    Ok(())
}

#[test]
fn a_commit_says_what_it_is_about_and_who_did_it() -> Outcome {
    let house = House::new()?;
    let dust = task("dust", "write a.txt a ;; write b.txt b", &[], None);
    plan(&house, &[dust.replace("prompt =", "title = \"Dust the shelves\"\nprompt =")])?;
    house.ok(&["execute"])?;
    let said = house.git(&["log", "-1", "--format=%B", BRANCH])?;
    assert!(said.starts_with("Dust the shelves\n\nwrite a.txt a ;; write b.txt b\n\n"), "{said}");
    assert!(said.contains("\nTask: dust\nAgent: rehearsal\nSession: dust-1 ("), "{said}");
    Ok(())
}

#[test]
fn an_agent_is_told_what_judges_it_and_what_was_not_accepted() -> Outcome {
    let house = House::new()?;
    // A check that fails at the first try, as flaky ones do.
    let tries = house.folder().join("tries");
    let tries = tries.display();
    let accept = format!("echo x >> {tries}; echo first; seq 900; test $(wc -l < {tries}) -ge 2");
    let tasks = [task("a", "write a.txt a", &[], Some(&accept)), task("b", "say b", &["a"], None)];
    plan(&house, &tasks)?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains("2 of 2 tasks are done"), "{said}");
    // What goes on by itself needs nobody.
    assert!(said.contains("a: failed: not accepted") && !said.contains("glis skip a"), "{said}");
    let all = runs(&house, "a")?;
    let states: Vec<&Value> = all.iter().map(|run| &run["state"]).collect();
    assert_eq!(states, ["failed", "succeeded"]);
    assert_eq!(record(&house, "a-2")?["resumed_from_run_id"], "a-1");
    let told: Vec<String> = house
        .talk("a-1")?
        .into_iter()
        .filter(|(who, _)| who == "user")
        .map(|(_, text)| text)
        .collect();
    assert!(told[0].contains(&format!("`{accept}`")), "{told:?}");
    assert!(
        told[1].contains("not accepted") && told[1].contains("exit status: 1\nfirst\n1\n"),
        "{told:?}"
    );
    Ok(())
}

#[test]
fn a_person_has_the_last_word_where_something_is_not_accepted() -> Outcome {
    let house = House::new()?;
    house.configure(ONCE)?;
    let never = Some("test -e never");
    let tasks = [
        task("a", "write a.txt a", &[], never),
        task("b", "write b.txt b", &[], never),
        task("c", "write c.txt c", &[], Some("test -e c2.txt")),
        task("d", "say d", &["a", "b", "c"], None),
    ];
    plan(&house, &tasks)?;
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    for way in ["glis resume a", "glis judge a", "glis accept a", "glis skip a"] {
        assert!(said.contains(way), "{way}: {said}");
    }
    assert_eq!(house.fails(&["accept", "d"])?.0, 4, "nothing was done for it");
    assert_eq!(house.fails(&["accept", "nothing"])?.0, 3);
    // As it is; not at all; and once more, after a hand has mended it.
    assert!(house.ok(&["accept", "a"])?.contains("a is taken as it is"));
    until_succeeded(&house, "a-2")?;
    assert!(house.ok(&["skip", "b"])?.contains("b is skipped"));
    let worktree = text_of(&record(&house, "c-1")?, "worktree")?;
    std::fs::write(format!("{worktree}/c2.txt"), "mended\n")?;
    assert_eq!(house.json(&["judge", "c"])?["resumed_from_run_id"], "c-1");
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(merged(&house)?, ["a.txt", "c.txt", "c2.txt", "file.txt"], "and nothing of b");
    let shown = house.json(&["plan", "show"])?;
    let state = |id: &str| {
        let tasks = shown["tasks"].as_array().into_iter().flatten();
        tasks.clone().find(|task| task["id"] == id).map(|task| task["state"].clone())
    };
    assert_eq!(state("b"), Some("canceled".into()), "{shown}");
    assert_eq!(house.fails(&["skip", "a"])?.0, 4, "it is merged");
    Ok(())
}

#[test]
fn a_review_is_before_the_merge_and_has_four_answers() -> Outcome {
    let house = House::new()?;
    let ids = ["take", "change", "refuse", "leave"];
    let tasks = ids.map(|id| task(id, &format!("write {id}.txt x"), &[], None));
    plan(&house, &tasks)?;
    let (status, said, _) = Window::open(&house, &["--review", "--jobs", "4"])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("take: waiting: your review; `glis diff take-1`"), "{said}");
    assert_eq!(merged(&house)?, ["file.txt"]);
    house.ok(&["accept", "take"])?;
    until_succeeded(&house, "take-1")?;
    // Words go back to its agent; what it has done then is looked at again.
    house.ok(&["resume", "change", "--prompt", "write more.txt y"])?;
    let mut events = house.follow(1)?;
    let waits = |e: &Value| e["event"] == "run_waits" && e["run"] == "change-1";
    events.until(waits)?;
    events.until(waits)?;
    house.ok(&["accept", "change"])?;
    until_succeeded(&house, "change-1")?;
    house.ok(&["reject", "refuse"])?;
    assert_eq!(record(&house, "refuse-1")?["fault"], "rejected");
    house.ok(&["skip", "leave"])?;
    assert_eq!(merged(&house)?, ["change.txt", "file.txt", "more.txt", "take.txt"]);
    let (status, said, _) = Window::open(&house, &["--review"])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("refuse: failed: rejected"), "{said}");
    house.ok(&["skip", "refuse"])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains("2 of 4 tasks are done, 2 are skipped"), "{said}");
    Ok(())
}

#[test]
fn accept_harms_nobody_and_leaves_nothing_running() -> Outcome {
    let house = House::new()?;
    house.configure(ONCE)?;
    let pids = house.folder().join("pids");
    let pids = pids.display();
    let flood = format!(
        "(sleep 300 & echo $! >> {pids}); setsid sleep 300 & echo $! >> {pids}; \
         env -i setsid sh -c 'echo $$ >> {pids}; exec sleep 300' & \
         until test $(wc -l < {pids}) = 3; do :; done; \
         head -c 30000000 /dev/zero; echo the end"
    );
    let tasks = [
        task("flood", "say it", &[], Some(&flood)),
        task("parent", "say it", &[], Some("kill -9 $PPID; sleep 300")),
    ];
    plan(&house, &tasks)?;
    house.ok(&["ls"])?;
    let before = house.json(&["daemon", "status"])?["pid"].clone();
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(record(&house, "flood-1")?["state"], "succeeded");
    assert_eq!(record(&house, "parent-1")?["state"], "failed", "{said}");
    assert_eq!(house.json(&["daemon", "status"])?["pid"], before, "it was not the daemon's child");
    for pid in std::fs::read_to_string(house.folder().join("pids"))?.lines() {
        assert!(!std::path::Path::new(&format!("/proc/{pid}/cwd")).exists(), "{pid} is left");
    }
    let log = house.repo().join(".glis/runs/tidy-up/flood-1.accept.log");
    assert!(std::fs::metadata(&log)?.len() < 2_000_000);
    assert!(std::fs::read(&log)?.ends_with(b"the end\n"));
    Ok(())
}

#[test]
fn hooks_of_the_repository_have_their_say_where_that_is_wanted() -> Outcome {
    let house = House::new()?;
    let hook = house.repo().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(house.repo().join(".git/hooks"))?;
    std::fs::write(&hook, "#!/bin/sh\necho no tabs here; test ! -e tabs.txt\n")?;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755))?;
    plan(&house, &[task("a", "write tabs.txt a", &[], None)])?;
    let (status, said, _) = Window::open(&house, &["--hooks"])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("a hook has refused it") && said.contains("no tabs here"), "{said}");
    assert_eq!(record(&house, "a-1")?["state"], "waiting");
    std::fs::remove_file(house.file("a-1", "tabs.txt")?)?;
    std::fs::write(house.file("a-1", "blanks.txt")?, "x")?;
    house.ok(&["resume", "a"])?;
    until_succeeded(&house, "a-1")
}
