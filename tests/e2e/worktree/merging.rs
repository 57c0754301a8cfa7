//! `merge`: a session's work in a branch, while every checkout stays as it is.

use crate::support::house::{House, Outcome, eventually, lives};

/// A session that has written a file and is idle.
fn worker(house: &House, name: &str, text: &str) -> Outcome {
    house.rehearsal(name)?;
    house.turn(name, &format!("write file.txt {text}"))?;
    Ok(())
}

fn head(house: &House) -> Outcome<(String, String)> {
    Ok((house.git(&["rev-parse", "main"])?, house.git(&["status", "--porcelain"])?))
}

#[test]
fn work_is_merged_beside_a_branch_that_is_checked_out() -> Outcome {
    let house = House::new()?;
    worker(&house, "blue", "two")?;
    let before = head(&house)?;
    let told = house.ok(&["merge", "blue"])?;
    assert!(told.starts_with("file.txt  +1 -1\n1 file, +1 -1\nmain is checked out in "), "{told}");
    assert!(told.ends_with("\n  git merge --ff-only glis/merge/blue\n"), "{told}");
    assert_eq!(head(&house)?, before);
    house.git(&["merge", "--ff-only", "--quiet", "glis/merge/blue"])?;
    assert_eq!(house.git(&["show", "main:file.txt"])?, "two");
    let author = house.git(&["log", "-1", "--format=%an <%ae>", "main"])?;
    assert_eq!(author, "Test <test@example.org>");
    let again = house.json(&["merge", "blue"])?;
    assert_eq!((&again["already"], &again["branch"]), (&true.into(), &"main".into()));
    let told = house.ok(&["merge", "blue"])?;
    assert!(told.starts_with("main already has everything of `blue`"), "{told}");
    assert_eq!(house.show("blue")?["status"], "idle");
    Ok(())
}

#[test]
fn files_that_came_with_a_message_are_kept_and_in_no_commit() -> Outcome {
    let house = House::new()?;
    let notes = house.folder().join("notes.txt");
    std::fs::write(&notes, "for the agent alone")?;
    house.rehearsal("blue")?;
    let file = notes.to_str().ok_or("path")?;
    house.ok(&["send", "blue", "write file.txt two", "--file", file])?;
    house.until("blue", "idle")?;
    // Neither does the agent's own commit take them along.
    house.turn(
        "blue",
        "write more.txt x ;; run git add --all && git commit --quiet --message=mine",
    )?;
    house.turn("blue", "write last.txt y")?;
    house.ok(&["merge", "blue"])?;
    let merged = house.git(&["ls-tree", "-r", "--name-only", "glis/merge/blue"])?;
    assert_eq!(merged.lines().collect::<Vec<_>>(), ["file.txt", "last.txt", "more.txt"]);
    // The worktree goes and comes back with them: nothing of it is said to be lost.
    let sent = house.file("blue", ".glis/files/notes.txt")?;
    house.ok(&["pause", "blue", "--remove-worktree"])?;
    assert!(!sent.exists());
    house.ok(&["resume", "blue"])?;
    assert_eq!(std::fs::read_to_string(sent)?, "for the agent alone");
    Ok(())
}

#[test]
fn a_branch_that_is_checked_out_nowhere_gets_the_work_itself() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "target"])?;
    worker(&house, "blue", "two")?;
    let merged = house.json(&["merge", "blue", "--into", "target"])?;
    assert_eq!((&merged["branch"], &merged["checked_out"]), (&"target".into(), &().into()));
    assert_eq!(house.git(&["show", "target:file.txt"])?, "two");
    let (status, error) = house.fails(&["merge", "blue", "--into", "nothing"])?;
    assert_eq!(status, 2, "{error}");
    Ok(())
}

#[test]
fn a_conflict_is_told_with_its_files_and_leaves_nothing_behind() -> Outcome {
    let house = House::new()?;
    worker(&house, "blue", "two")?;
    std::fs::write(house.repo().join("file.txt"), "three\n")?;
    house.git(&["commit", "--quiet", "--all", "--message=three"])?;
    let before = head(&house)?;
    let (status, error) = house.fails(&["merge", "blue"])?;
    assert_eq!(status, 4, "{error}");
    let told = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    assert!(
        told("message").contains("file.txt") && told("hint").contains("glis send blue"),
        "{error}"
    );
    assert_eq!(head(&house)?, before);
    assert!(house.git(&["rev-parse", "--verify", "glis/merge/blue"]).is_err());
    // Its agent resolves it.
    house.turn("blue", "run git commit -qam mine; git merge -q -s ours main")?;
    house.ok(&["merge", "blue"])?;
    assert_eq!(house.git(&["show", "glis/merge/blue:file.txt"])?, "two");
    Ok(())
}

#[test]
fn what_is_at_work_or_in_place_is_not_merged() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "work 60"])?;
    house.until("blue", "busy")?;
    assert_eq!(house.fails(&["merge", "blue"])?.0, 4);
    house.json(&["new", "own", "--agent", "rehearsal", "--headless", "--in-place"])?;
    assert_eq!(house.fails(&["merge", "own"])?.0, 4);
    assert_eq!(house.fails(&["merge", "nothing"])?.0, 3);
    Ok(())
}

#[test]
fn a_merge_that_is_killed_can_be_repeated() -> Outcome {
    let mut house = House::new()?;
    worker(&house, "blue", "two")?;
    house.kill_daemon()?;
    house.surround("GLIS_FAILPOINT", "abort@merge@blue");
    let before = head(&house)?;
    let mut killed = house.glis();
    killed.args(["--json", "merge", "blue"]);
    assert!(!killed.output()?.status.success());
    assert_eq!(head(&house)?, before);
    house.spare("GLIS_FAILPOINT");
    let merged = house.json(&["merge", "blue"])?;
    assert_eq!(
        (&merged["committed"], &merged["branch"]),
        (&false.into(), &"glis/merge/blue".into())
    );
    assert_eq!(house.git(&["show", "glis/merge/blue:file.txt"])?, "two");
    Ok(())
}

/// Whatever a branch is checked out for: a worktree of the user's, or one that will come back to it.
#[test]
fn a_branch_that_is_checked_out_in_any_worktree_is_never_moved() -> Outcome {
    let house = House::new()?;
    worker(&house, "blue", "two")?;
    let beside = house.folder().join("beside");
    let beside = beside.to_string_lossy();
    house.git(&["worktree", "add", "--quiet", "-b", "target", &beside])?;
    let before = house.git(&["rev-parse", "target"])?;
    let aside = |merged: &serde_json::Value| {
        assert_eq!(merged["branch"], "glis/merge/blue", "{merged}");
        assert!(
            merged["checked_out"].as_str().is_some_and(|at| at.ends_with("beside")),
            "{merged}"
        );
    };
    aside(&house.json(&["merge", "blue", "--into", "target"])?);
    assert_eq!(house.git(&["rev-parse", "target"])?, before);
    // In the middle of a rebase nothing stands on it, and it would be moved back over our work.
    let in_beside = |args: &[&str]| house.git(&[&["-C", &*beside], args].concat());
    std::fs::write(house.folder().join("beside/file.txt"), "three\n")?;
    in_beside(&["commit", "--quiet", "--all", "--message=three"])?;
    assert!(in_beside(&["rebase", "glis/blue"]).is_err(), "it conflicts");
    let before = house.git(&["rev-parse", "target"])?;
    let merged = house.json(&["merge", "blue", "--into", "target"]);
    if let Ok(merged) = merged {
        aside(&merged);
    }
    assert_eq!(house.git(&["rev-parse", "target"])?, before);
    Ok(())
}

/// A hook of the repository.
fn hook(house: &House, name: &str, program: &str) -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;
    let path = house.repo().join(".git/hooks").join(name);
    std::fs::create_dir_all(house.repo().join(".git/hooks"))?;
    std::fs::write(&path, format!("#!/bin/sh\n{program}\n"))?;
    Ok(std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?)
}

const HOOKS: &str = "pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge \
                     reference-transaction post-index-change post-rewrite";

/// Every hook of the repository notes here that it was run.
fn noting_hooks(house: &House) -> Outcome<std::path::PathBuf> {
    let ran = house.folder().join("ran");
    for name in HOOKS.split_whitespace() {
        hook(house, name, &format!("basename \"$0\" >> {}", ran.display()))?;
    }
    Ok(ran)
}

#[test]
fn no_hook_and_no_program_of_the_repository_is_run() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "target"])?;
    let ran = noting_hooks(&house)?;
    worker(&house, "blue", "two")?;
    // Both sides have work, so that there is a commit of a merge.
    house.json(&["merge", "blue", "--into", "target"])?;
    house.turn("blue", "write other.txt more")?;
    house.json(&["merge", "blue"])?;
    assert!(!ran.exists(), "{}", std::fs::read_to_string(&ran)?);
    // The hooks are there, and run for who asks git itself.
    house.git(&["commit", "--quiet", "--allow-empty", "--message=own"])?;
    assert!(ran.exists());
    Ok(())
}

#[test]
fn hooks_are_run_for_who_asks_for_them_in_the_environment_of_the_command() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "target"])?;
    worker(&house, "blue", "two")?;
    worker(&house, "red", "two")?;
    house.turn("red", "write red.txt red")?;
    let ran = noting_hooks(&house)?;
    // It sees what is to be committed, and may add to it.
    let formats =
        "git diff --cached --name-only > \"$SEEN\"; echo tidy > tidy.txt; git add tidy.txt";
    hook(&house, "pre-commit", formats)?;
    hook(&house, "commit-msg", "echo \"Reviewed-by: $REVIEWER\" >> \"$1\"")?;
    let seen = house.folder().join("seen");
    let mut merge = house.glis();
    merge.env("SEEN", &seen).env("REVIEWER", "Ada").args(["--json", "merge", "blue", "--hooks"]);
    let told = merge.args(["--into", "target"]).output()?;
    assert!(told.status.success(), "{told:?}");
    assert_eq!(std::fs::read_to_string(&seen)?, "file.txt\n");
    assert_eq!(house.git(&["show", "target:tidy.txt"])?, "tidy");
    let said = house.git(&["log", "-1", "--format=%B", "target"])?;
    assert!(said.trim_end().ends_with("Reviewed-by: Ada"), "{said}");
    // What its own `git add` has run is its own affair.
    let ran = std::fs::read_to_string(&ran)?;
    let ran: Vec<&str> = ran.lines().filter(|name| *name != "post-index-change").collect();
    assert_eq!(ran, ["prepare-commit-msg", "post-commit"]);
    let worktree = house.file("blue", "")?;
    let state = house.git(&["-C", &worktree.to_string_lossy(), "status", "--porcelain"])?;
    assert_eq!(state, "", "everything is in the commit");
    // The message of the commit that joins the two is theirs as well.
    let told = house.glis().args(["merge", "red", "--into", "target", "--hooks"]).output()?;
    assert!(told.status.success(), "{told:?}");
    assert_eq!(house.git(&["log", "-1", "--format=%p", "target"])?.split(' ').count(), 2);
    let said = house.git(&["log", "-1", "--format=%B", "target"])?;
    assert!(said.contains("Merge `red`") && said.contains("Reviewed-by:"), "{said}");
    Ok(())
}

#[test]
fn a_hook_that_refuses_keeps_the_work_where_it_is() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "target"])?;
    worker(&house, "blue", "two")?;
    let before = (house.git(&["rev-parse", "target"])?, house.git(&["rev-parse", "glis/blue"])?);
    for name in ["pre-commit", "commit-msg"] {
        hook(&house, name, "echo not like this >&2; exit 3")?;
        let (status, error) = house.fails(&["merge", "blue", "--into", "target", "--hooks"])?;
        assert_eq!(status, 4, "{error}");
        let told = error["message"].as_str().unwrap_or_default();
        for part in [name, "exit status: 3", "not like this", "nothing was merged"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let after = (house.git(&["rev-parse", "target"])?, house.git(&["rev-parse", "glis/blue"])?);
        assert_eq!(after, before);
        assert_eq!(std::fs::read_to_string(house.file("blue", "file.txt")?)?.trim_end(), "two");
        hook(&house, name, "exit 0")?;
    }
    // One that never ends is ended, with what it has started.
    house.configure("[worktree]\nsetup_secs_max = 1\n")?;
    let pids = house.folder().join("pids");
    let hangs = format!("sleep 1000 & echo $! > {0}; echo $$ >> {0}; wait", pids.display());
    hook(&house, "pre-commit", &hangs)?;
    let (status, error) = house.fails(&["merge", "blue", "--into", "target", "--hooks"])?;
    assert_eq!(status, 4, "{error}");
    assert!(error["message"].as_str().is_some_and(|told| told.contains("no end")), "{error}");
    for pid in std::fs::read_to_string(&pids)?.lines() {
        let pid = pid.parse()?;
        eventually("nothing of it is left", || !lives(pid))?;
    }
    house.ok(&["merge", "blue", "--into", "target"])?;
    assert_eq!(house.git(&["show", "target:file.txt"])?, "two");
    Ok(())
}

#[test]
fn what_a_branch_has_meanwhile_it_has_afterwards() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "target"])?;
    worker(&house, "blue", "two")?;
    house.rehearsal("red")?;
    house.turn("red", "write red.txt red")?;
    // From two terminals at once, more than once.
    for _ in 0..3 {
        let both: Vec<_> = ["blue", "red"]
            .map(|name| house.glis().args(["--json", "merge", name, "--into", "target"]).spawn())
            .into_iter()
            .collect::<Result<_, _>>()?;
        for mut one in both {
            one.wait()?;
        }
    }
    assert_eq!(house.git(&["show", "target:file.txt"])?, "two");
    assert_eq!(house.git(&["show", "target:red.txt"])?, "red");
    let log = house.git(&["reflog", "show", "--format=%H", "target"])?;
    for former in log.lines() {
        // It has only ever gone forward.
        house.git(&["merge-base", "--is-ancestor", former, "target"])?;
    }
    Ok(())
}

#[test]
fn the_work_of_a_loop_and_of_what_is_at_rest_is_merged_alike() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "target"])?;
    let usual = ["loop", "l", "--agent", "rehearsal", "--headless", "--max", "2", "--auto-commit"];
    house.json(&[usual.as_slice(), &["--prompt", "append work.txt x\\n"]].concat())?;
    house.follow(1)?.until(|event| event["event"] == "loop_done")?;
    house.turn("l", "write late.txt late")?;
    house.ok(&["pause", "l"])?;
    let told = house.ok(&["merge", "l", "--into", "target"])?;
    assert!(told.contains("2 files, +3 -0"), "{told}");
    assert_eq!(house.git(&["show", "target:work.txt"])?, "x\nx");
    assert_eq!(house.git(&["show", "target:late.txt"])?, "late");
    assert_eq!(house.show("l")?["status"], "paused");
    Ok(())
}
